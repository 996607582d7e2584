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
from support import another_device, tiny, trained_project
from support.stages import MECHANISMS

from pondering.project.paths import Layout

DEVICES = ["stand-in", *(["cuda"] if torch.cuda.is_available() else [])]
TOLERANCE = {"stand-in": 1e-4, "cuda": 1e-3}
COMMON = trained_project.COMMON.replace("log_points: 1", "log_points: 3, clip: 0.1")
VALIDATED = COMMON.replace("log_points: 3", "log_points: 3, validation: VALUES").replace(
    "VALUES", "{per_epoch: 1000, patience: 1, factor: 0.5, stop_patience: 9}"
)
NAMES = ["parity", "wikipedia", "mnist"]
EXPERIMENTS = f"""
parity:
  common:
    task: {{name: parity, bits: 8, layout: leading, train_nonzero: [1, 8], test_nonzero: {{test: [1, 8]}}}}
    network: {{cell: tanh_rnn, hidden: 32}}{COMMON}
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


def project(folder: Path) -> Path:
    """The tasks' data, made; nothing trained."""
    head = trained_project.HEAD.replace("compute: {", "compute: {path: fast, ")
    (folder / "params.yaml").write_text(f"{head}{EXPERIMENTS}")
    tiny.freeze_all(folder)
    return folder


@pytest.mark.parametrize("device", DEVICES)
def test_every_stage_gives_what_it_gives_on_the_cpu(device: str, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    here, there = project(tmp_path / "here"), tmp_path / "there"
    shutil.copytree(here, there)
    command = [sys.executable, another_device.__file__, device, str(there), str(here)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("going on from update 1\n") == 2 * len(NAMES) * len(MECHANISMS)
    layouts = Layout(there, "quick"), Layout(here, "quick")
    for experiment in NAMES:
        curves = [("curves", experiment, mechanism) for mechanism in MECHANISMS]
        for mechanism in MECHANISMS:
            records = [read(layout.run(experiment, mechanism) / "run.json") for layout in layouts]
            assert records[0] == records[1]
            assert ("diverged" in str(records)) == (experiment == NAMES[0])
        for kind, *of in [*curves, ("table", experiment)]:
            pair = [pd.read_csv(getattr(layout, kind)(*of)) for layout in layouts]
            pd.testing.assert_frame_equal(*pair, rtol=TOLERANCE[device], atol=1e-5)
