"""Checkpoints: whole or refused in one line, replaced in one step, and never a pickle."""

from __future__ import annotations

import ast
import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest
import torch
from safetensors.torch import save as to_bytes
from support import tiny

import pondering
from pondering.params.read import ExperimentConfig
from pondering.project import atomic
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train import checkpoint
from pondering.train.plateau import Plateau
from pondering.train.trainer import Trainer


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ExperimentConfig:
    return tiny.config(tmp_path_factory.mktemp("tiny"))


def make(config: ExperimentConfig, updates: int = 0) -> Trainer:
    batch = make_task(config.task, "tiny").training_block(9, 0, 4).torch()
    return tiny.train(tiny.sweep(config, plateau=Plateau(batch, 5, 0.5, 2, 9, 4)), updates)


@pytest.fixture
def saved(config: ExperimentConfig, tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint.safetensors"
    sweep = make(config, 7)
    sweep.seconds = 12.5
    checkpoint.save(sweep, path, "key")
    return path


def refused(config: ExperimentConfig, path: Path, key: str = "key") -> str:
    """The one line that is said of a file, which is left alone."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(UserError) as caught:
        checkpoint.load(make(config), path, key)
    assert before is None or path.read_bytes() == before
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    return message


def check_is_as_saved(sweep: Trainer, before: Trainer) -> None:
    assert sweep.update == sweep.optimiser.updates == 7
    assert sweep.seconds == 12.5
    for name, parameter in before.parameters.items():
        assert torch.equal(sweep.parameters[name], parameter)
        assert sweep.parameters[name].requires_grad
    for name, tensor in before.optimiser.state().items():
        assert torch.equal(sweep.optimiser.state()[name], tensor)
    for name in ("alive", "diverged", "window", "computed_steps"):
        assert torch.equal(getattr(sweep, name), getattr(before, name))
    assert torch.equal(torch.stack(sweep.curves), torch.stack(before.curves))
    assert sweep.plateau is not None and before.plateau is not None
    assert torch.equal(sweep.plateau.best, before.plateau.best)
    assert sweep.plateau.best.min() >= 0


def test_what_is_saved_comes_back(config: ExperimentConfig, saved: Path) -> None:
    sweep = make(config)
    checkpoint.load(sweep, saved, "key")
    check_is_as_saved(sweep, make(config, 7))


def test_another_configuration_and_no_file_are_refused(
    config: ExperimentConfig, saved: Path
) -> None:
    assert "no such file" in refused(config, saved.with_name("none"))
    said = "key: a checkpoint of another configuration; delete it"
    assert said in refused(config, saved, "other")


def test_a_cut_off_or_changed_file_is_refused(config: ExperimentConfig, saved: Path) -> None:
    whole = saved.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    for length in (0, 7, header // 2, header, len(whole) - 1):
        saved.write_bytes(whole[:length])
        assert "truncated or damaged" in refused(config, saved), length
    words = [whole.index(word) + len(word) - 2 for word in (b'"update":"7"', b'"seconds":"12.5"')]
    for place in (*words, header, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert "sha256" in refused(config, saved), place


@pytest.mark.parametrize(
    "name", ["parameter.heads.weight", "adam.mean.0", "alive", "plateau.best", "update"]
)
def test_a_missing_part_is_refused(config: ExperimentConfig, saved: Path, name: str) -> None:
    """With the checksum of what is left."""
    tensors, metadata = checkpoint.read(saved)
    tensors.pop(name, None)
    said = {k: v for k, v in metadata.items() if k not in (name, "sha256")}
    saved.write_bytes(to_bytes(tensors, said | {"sha256": checkpoint._checksum(tensors, said)}))
    assert "not a whole checkpoint" in refused(config, saved)


def full_disk(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_failed_write_leaves_the_last_checkpoint(
    config: ExperimentConfig, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    sweep = make(config, 9)
    monkeypatch.setattr(atomic.os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(sweep, saved, "key")
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_nothing_in_the_package_can_load_a_pickle() -> None:
    """No import of a pickle module, no torch.load, and np.load only with pickles forbidden."""
    root = Path(pondering.__file__).parent
    for path in [*root.rglob("*.py"), *(root.parents[1] / "pipeline").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.split(".")[0] for alias in node.names}
                names.add(str(getattr(node, "module", "")).split(".")[0])
                assert not names & {"pickle", "joblib", "shelve", "dill", "marshal"}, path
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("torch.load", "pd.read_pickle", "pandas.read_pickle"), path
                if called.endswith((".read_pickle", "np.load", "numpy.load")):
                    arguments = {k.arg: ast.unparse(k.value) for k in node.keywords}
                    assert arguments.get("allow_pickle", "False") == "False", path
