"""Checkpoints: whole or refused in one line, and never a pickle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support import tiny

import pondering
from pondering.params.read import ExperimentConfig
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train import checkpoint
from pondering.train.plateau import Plateau
from pondering.train.replica import read_tensors
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
    trainer = make(config, 7)
    trainer.seconds = 12.5
    checkpoint.save(trainer, path, "key")
    return path


def refused(config: ExperimentConfig, path: Path) -> str:
    """The one line that is said of a file, which is left alone."""
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        checkpoint.load(make(config), path)
    assert path.read_bytes() == before
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    return message


def test_what_is_saved_comes_back(config: ExperimentConfig, saved: Path) -> None:
    trainer, again = make(config), saved.with_name("again")
    checkpoint.load(trainer, saved)
    checkpoint.save(trainer, again, "key")
    (_, first), (_, second) = (read_tensors(path, "pt") for path in (saved, again))
    assert first == second, "with a sha256 of all tensors"


def test_a_checkpoint_that_lacks_a_part_is_refused(config: ExperimentConfig, saved: Path) -> None:
    """As one that another version has written."""
    checkpoint.save(tiny.sweep(config), saved, "key")
    assert "of another version ('best')" in refused(config, saved)


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
