"""What `pondering show --list` says of what is trained."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
from support.trained_project import TRAINED, refused, shown


def test_list_says_what_is_trained(project: Path) -> None:
    rows = [
        {
            "experiment": "parity", "mechanism": "act", "setting": 0.001, "seed": seed,
            "split": split, "difficulty": level, "prediction": "mixture", "error": error,
            "ponder_time": 2.0 + seed, "status": "finished",
        }
        for seed in (0, 1)
        for split, level, error in (("test", 1, 0.0), ("test", 2, 0.2 + seed / 5), ("other", 3, 1))
    ]  # fmt: skip
    path = project / "reports" / "quick" / "tables" / "parity.csv"
    path.parent.mkdir(parents=True)
    pd.DataFrame(rows).to_csv(path, index=False)
    output = shown("--list")
    found = re.findall(r"^quick · (\w+) · (\w+)$", output, re.MULTILINE)
    assert sorted(found) == sorted(TRAINED)
    assert "data/runs/quick/parity/act" in output
    line = next(line for line in output.splitlines() if "tau 0.001" in line)
    told = "tau 0.001 seeds 0, 1 finished error 15.0% (10.0 to 20.0), 2.50 steps"
    assert " ".join(line.split()) == told
    assert "rho 3            seeds 0, 1  finished   not evaluated" in output
    assert "parity" not in shown("--list", "mnist")
    assert "nothing is trained" in shown("--list", "--profile", "paper")


def test_list_and_show_notice_other_parameters(project: Path) -> None:
    path = project / "params.yaml"
    path.write_text(path.read_text().replace("hidden: 6", "hidden: 7", 1))
    said = " ".join(shown("--list").split())
    assert said.count("of other parameters than params.yaml; with `profile: quick` in") == 3
    assert "other parameters than params.yaml" in refused("parity")
    record = project / "data/runs/quick/logic/act/run.json"
    for damaged in ("{", record.read_text().replace('"seed": 0', '"seed": Infinity')):
        record.write_text(damaged)
        assert "run.json is damaged" in shown("--list")
        assert "damaged" in refused("logic")
