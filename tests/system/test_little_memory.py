"""More replicas than memory: one line with the remedy, and every earlier result as it was."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from support import faults, stages, tiny

ACT = ("train", *stages.QUICK, "--mechanism", "act")
LINE = (
    "error: out of memory: lower training.batch or compute.replicas_at_once in params.yaml, "
    "and run the same command again\n"
)


def asking(tmp_path: Path, hidden: int, seeds: int) -> Path:
    """The finished project, whose parameters now ask for other networks, two for each seed."""
    folder = tmp_path / "project"
    shutil.copytree(stages.finished_project(), folder)
    plan = {"updates": 2, "log_points": 1}
    values = tiny.document(network={"hidden": hidden}, seeds=list(range(seeds)), training=plan)
    values["compute"]["checkpoint_seconds"] = 1e-9
    tiny.write(folder, values)
    return folder


def test_training(tmp_path: Path) -> None:
    """Wherever it runs out, building, training or saving; with enough it ends well."""
    project = asking(tmp_path, hidden=512, seeds=20)
    before, refusals, mebibytes = stages.contents(project), 0, 50
    while True:
        done = stages.run(project, *ACT, before=partial(faults.little_memory, mebibytes))
        if done.status == 0:
            break
        assert (done.status, done.err) == (1, LINE), f"{mebibytes} MiB"
        assert stages.contents(project) == before
        refusals, mebibytes = refusals + 1, mebibytes + 100
        assert mebibytes < 5000
    assert refusals >= 3
    assert stages.contents(project) != before


def test_evaluation(tmp_path: Path) -> None:
    project = asking(tmp_path, hidden=256, seeds=10)
    for mechanism in stages.MECHANISMS:
        assert stages.run(project, *ACT[:-1], mechanism).status == 0
    before = stages.contents(project)
    for mebibytes in (0, 4, 8):
        fault = partial(faults.little_memory, mebibytes)
        done = stages.run(project, "evaluate", *stages.QUICK, before=fault)
        assert (done.status, done.err) == (1, LINE), f"{mebibytes} MiB"
        assert stages.contents(project) == before
    assert stages.run(project, "evaluate", *stages.QUICK).status == 0
