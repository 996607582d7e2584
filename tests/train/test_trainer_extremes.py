"""A replica that never halts and one that always halts at once: shown as that, harming nobody."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file
from support import stages, tiny
from torch import Tensor

from pondering.params.read import ExperimentConfig
from pondering.train.trainer import Trainer

BIAS = {"never": -60.0, "at once": 60.0}
STEPS = {"never": 4.0, "at once": 1.0}  # the most there are, and one
SICK, HEALTHY = 1, [0, 2, 3]  # of two settings and two seeds
SHARE = 5  # the column of `Trainer.curves` that the whole sweep shares


@pytest.fixture(params=["vector", "sequence"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> ExperimentConfig:
    if request.param == "vector":
        return tiny.config(tmp_path)
    return tiny.config_of_sequences(tmp_path)


def trained(config: ExperimentConfig, mechanism: str, bias: float | None) -> Trainer:
    """All replicas, one of them with a halting unit of its own from the start."""
    sweep = tiny.sweep(config, mechanism)
    if bias is not None:
        with torch.no_grad():
            sweep.parameters["heads.bias"][SICK, -1] = bias
    return tiny.train(sweep)


def kept(sweep: Trainer) -> dict[str, Tensor]:
    """All that a sweep knows of the healthy replicas by themselves."""
    names = {name: p.detach()[HEALTHY] for name, p in sweep.parameters.items()}
    names |= {f"adam {name}": t[HEALTHY] for name, t in sweep.optimiser.state().items()}
    curves = torch.stack(sweep.curves)[:, HEALTHY]
    curves[..., SHARE] = 0.0
    return names | {"curves": curves, "computed steps": sweep.computed_steps[HEALTHY]}


@pytest.mark.parametrize("extreme", BIAS)
@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_in_training(config: ExperimentConfig, mechanism: str, extreme: str) -> None:
    usual = trained(config, mechanism, None)
    sweep = trained(config, mechanism, BIAS[extreme])
    assert sweep.status() == ["finished"] * 4
    rows = sweep.rows()
    assert len(rows) == len(usual.rows())
    mine = [row for k, row in enumerate(rows) if k % 4 == SICK]
    for row in mine:
        assert row["ponder_time"] == pytest.approx(STEPS[extreme], rel=1e-6)
        assert math.isfinite(row["loss"]) and 0 <= row["error"] <= 1
    found, want = kept(sweep), kept(usual)
    assert found.keys() == want.keys()
    for name in want:
        assert torch.equal(found[name], want[name]), name


@pytest.mark.parametrize("extreme", BIAS)
def test_in_the_tables(tmp_path: Path, extreme: str) -> None:
    project = tmp_path / "project"
    shutil.copytree(stages.finished_project(), project)
    path = project / "data/results/quick/tables/tiny.csv"
    before = pd.read_csv(path)
    for mechanism in ("act", "pondernet"):
        file = project / f"data/results/quick/networks/tiny/{mechanism}/parameters.safetensors"
        tensors = {name: tensor.clone() for name, tensor in load_file(file).items()}
        tensors["heads.bias"][SICK, -1] = BIAS[extreme]
        save_file(tensors, file)
    assert stages.run(project, "evaluate", *stages.QUICK).status == 0
    after = pd.read_csv(path)
    first = {"act": 0.01, "pondernet": 0.3}
    mine = (after["setting"] == after["mechanism"].map(first)) & (after["seed"] == 7)
    assert sorted(after[mine]["prediction"]) == ["expected"] * 3 + ["mixture"] * 3 + ["sampled"] * 3
    pd.testing.assert_frame_equal(after[~mine], before[~mine], check_exact=True)
    sick = after[mine]
    assert (sick["status"] == "finished").all()
    assert (sick["ponder_time"] == STEPS[extreme]).all()
    assert (sick["ponder_sd"].abs() < 1e-6).all()
    assert sick["error"].between(0, 1).all() and sick["loss"].notna().all()
    assert (sick[sick["mechanism"] == "act"]["remainder"] == 1).all()
