"""Which trainings use kernels on a GPU, and why others do not. No kernel runs here."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny

from pondering.model.paths import kernels as paths
from pondering.params.read import load_params
from pondering.train import kernels
from pondering.train.batches import Stream
from pondering.train.news import News
from pondering.train.shard import Shard

GPU = torch.device("cuda")


@pytest.fixture(autouse=True)
def _gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that this machine has a GPU and Triton."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr(paths, "version", lambda name: "3.7.1")


def shard(folder: Path, mechanism: str = "act", path: str = "auto", **quick: Any) -> Shard:
    """A shard of the tiny project on a GPU."""
    values = tiny.document(**tiny.BEYOND | quick)
    values["compute"]["path"] = path
    params = load_params(tiny.write(folder, values))
    return replace(tiny.shard(params, mechanism), device=GPU)


def test_act_repeat_and_pondernet_train_by_kernels_on_a_gpu(tmp_path: Path) -> None:
    lstm = shard(tmp_path, network={"cell": "lstm"})
    for found in (*(shard(tmp_path, each) for each in ("act", "repeat", "pondernet")), lstm):
        assert found.path == "compiled"
    assert shard(tmp_path, path="fast").path == "fast"


@pytest.mark.parametrize(
    ("mechanism", "quick", "reason"),
    [
        ("dact", {}, "no kernels for DACT around TanhRNN"),
        ("act", {"task": tiny.SUMS}, "no kernels for addition around TanhRNN"),
        ("act", {"network": {"cell": "gru"}}, "no kernels for ACT around GRU"),
        ("pondernet", {"network": {"cell": "lstm"}}, "no kernels for PonderNet around LSTM"),
        ("act", {"network": {"cell": "lstm"}, "halting": {"carry": "last"}},
         "no kernels for carry: last around LSTM"),
        ("act", {"network": {"cell": "lstm"}, "halting": {"reads": "state"}},
         "no kernels for reads: state"),
        ("act", {"network": {"hidden": 24}},
         "no kernels for 24 hidden units; there are for 16, 32, 64, 128"),
        ("act", {"halting": {"first_step_flag": False}},
         "no kernels for a cell without first_step_flag"),
    ],
)  # fmt: skip
def test_a_training_without_kernels_takes_the_fast_path(
    tmp_path: Path, mechanism: str, quick: dict[str, Any], reason: str
) -> None:
    found = shard(tmp_path, mechanism, **quick)
    assert found.path == "fast"
    assert kernels.missing(found.config, mechanism, GPU) == reason


def test_an_old_gpu_and_another_triton_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny.config()
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    reason = "kernels need a GPU of compute capability 8.0; this one has 7.5"
    assert kernels.missing(config, "act", GPU) == reason
    monkeypatch.setattr(paths, "version", lambda name: "2.1.0")
    reason = "kernels are written for Triton 3.6 and 3.7, not for 2.1.0"
    assert kernels.missing(config, "act", GPU) == reason

    def none(name: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(paths, "version", none)
    assert "pip install 'pondering[kernels]'" in str(kernels.missing(config, "act", GPU))


def test_a_run_without_kernels_says_so_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """This machine and a cluster both begin with `News`."""
    cut = [shard(tmp_path, "dact"), shard(tmp_path, "dact"), shard(tmp_path, "act")]
    News(cut, lambda rows: None)
    reason = "tiny dact: no kernels for DACT around TanhRNN; it trains by torch's own calls\n"
    assert capsys.readouterr().out == reason


def test_blocks_drawn_ahead_equal_blocks_drawn_in_turn() -> None:
    """Updates run in order, or start in the middle as after a checkpoint."""
    task, seeds = tiny.sweep(tiny.config()).task, [0, 7]
    plain, ahead = Stream(task, seeds, 8), Stream(kernels.DrawnAhead(task, seeds), seeds, 8)  # type: ignore[arg-type]
    for update in (0, 63, 64, 65, 200, 5):
        for want, got in zip(plain.batch(update), ahead.batch(update), strict=True):
            assert torch.equal(want, got)
