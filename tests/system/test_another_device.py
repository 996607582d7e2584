"""Training and evaluation on a device that is not the CPU: the numbers are the CPU's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from support import another_device, trained_project
from support.stages import MECHANISMS

from pondering.data.frozen import freeze
from pondering.params.read import load_params
from pondering.project.paths import Layout
from pondering.tasks import make_task

DEVICES = ["stand-in", *(["cuda"] if torch.cuda.is_available() else [])]
TOLERANCE = {"stand-in": 1e-4, "cuda": 1e-3}
COMMON = trained_project.COMMON.replace("log_points: 1", "log_points: 3, clip: 0.1")
VALIDATED = COMMON.replace("log_points: 3", "log_points: 3, validation: VALUES").replace(
    "VALUES", "{per_epoch: 1000, patience: 1, factor: 0.5, stop_patience: 9}"
)
EXPERIMENTS = f"""
parity:
  common:
    task: {{name: parity, bits: 8, layout: leading, train_nonzero: [1, 8], test_nonzero: {{test: [1, 8]}}}}
    network: {{cell: tanh_rnn, hidden: 32}}{COMMON}
addition:
  common:
    task: {{name: addition, digits: 2, length: [1, 3], test_length: 3}}
    network: {{cell: lstm, hidden: 32}}{COMMON}
wikipedia:
  common:
    task: {{name: wikipedia, source: generated, sequence: 5}}
    network: {{cell: gru, hidden: 32}}{COMMON}
mnist:
  common:
    task: {{name: digits, data: sklearn_digits, train_rotation: 0.0, test_rotations: [], test_angles: [], validation: 200}}
    network: {{cell: conv_mlp, hidden: 8}}{VALIDATED}
"""  # noqa: E501


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def project(folder: Path, path: str, names: list[str]) -> Path:
    """The tasks' data, made; nothing trained."""
    head = trained_project.HEAD.replace("compute: {", f"compute: {{path: {path}, ")
    (folder / "params.yaml").write_text(f"{head}experiments: {names}\n{EXPERIMENTS}")
    layout = Layout(folder, "quick")
    for experiment, config in load_params(folder / "params.yaml").experiments.items():
        frozen = layout.frozen(experiment)
        freeze(make_task(config.task, experiment, frozen), layout.raw, frozen, 4)
    return folder


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("path", "names"),
    [("fast", ["parity", "addition", "wikipedia", "mnist"]), ("readable", ["parity", "mnist"])],
)
def test_every_stage_gives_what_it_gives_on_the_cpu(
    path: str, names: list[str], device: str, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    here, there = project(tmp_path / "here", path, names), tmp_path / "there"
    shutil.copytree(here, there)
    command = [sys.executable, another_device.__file__, device, str(there), str(here)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("going on from update 1\n") == 2 * len(names) * len(MECHANISMS)
    layouts = Layout(there, "quick"), Layout(here, "quick")
    for experiment in names:
        curves = [("curves", experiment, mechanism) for mechanism in MECHANISMS]
        for mechanism in MECHANISMS:
            records = [read(layout.run(experiment, mechanism) / "run.json") for layout in layouts]
            assert records[0] == records[1]
            assert ("diverged" in str(records)) == (experiment == names[0])
        for kind, *of in [*curves, ("table", experiment)]:
            pair = [pd.read_csv(getattr(layout, kind)(*of)) for layout in layouts]
            pd.testing.assert_frame_equal(*pair, rtol=TOLERANCE[device], atol=1e-5)


def test_the_stand_in_refuses_what_a_gpu_refuses() -> None:
    lines = """
import pytest, torch
from support.another_device import stand_in
with stand_in() as device:
    there = torch.ones(3, device=device)
    number, index = torch.ones(()), torch.tensor([0, 2])
    assert there.is_cuda and (there + 1).device == device and (there + 1).tolist() == [2.0] * 3
    assert (there + number).tolist() == [2.0] * 3 and there[index].tolist() == [1.0] * 2
    for call in (
        lambda: there + torch.ones(3),
        lambda: torch.stack([there.sum(), number]),
        lambda: number.add_(there.sum()),
        lambda: torch.arange(4)[index.to(device)],
        lambda: there.index_put_((index,), torch.ones(2)),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            call()
    with pytest.raises(RuntimeError, match="generator"):
        torch.rand(3, device=device, generator=torch.Generator())
    with pytest.raises(TypeError, match="to numpy"):
        there.numpy()
    assert there.cpu().numpy().sum() == 3 and float(there.sum()) == 3
"""
    here = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", lines], cwd=here, check=True, timeout=300)
