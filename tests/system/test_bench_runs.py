"""The benchmark's three scripts, run whole on tiny sizes, for `.ci/run`.

They take most of a minute, and `make test` has none to spare: pytest must be told.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_bench

FOLDER, bench = test_bench.FOLDER, test_bench.bench


def test_a_smoke_run_fills_the_whole_table(bench: Any, tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "bench.py"), "--quick", "--device", "cpu"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    (written,) = tmp_path.glob("*.json")
    result = json.loads(written.read_text())
    page = written.with_suffix(".md").read_text()
    case = bench["cases"].Case
    found = [case(*(row[key] for key in case._fields)) for row in result["rows"]]
    assert found == bench["cases"].cases(gpu=False, quick=True)
    names = {"parity", "logic", "addition", "mnist", "sort", "wikipedia"}
    assert {each.experiment for each in found} == names
    aims = bench["cases"].aims(gpu=False, quick=True)
    for row in result["rows"]:
        assert_measured(row, result["processes"])
        assert ("ratio_alone" in row) == (case(*(row[key] for key in case._fields)) in aims)
    tables = [result[key] for key in ("rows", "targets", "parts", "gpu_by_count")]
    assert page.count("\n| ") == sum(map(len, tables)) + 2 * len(tables)
    assert_parts(result["parts"], aims)
    assert_counted(result["gpu_by_count"])
    for target, answer in zip(bench["cases"].TARGETS, result["targets"], strict=True):
        assert f"| {target.name} |" in page
        assert (answer["measured"] == "not measured") == target.gpu
        assert answer["met"] is None  # tiny sizes prove nothing


def assert_parts(parts: list[dict[str, Any]], aims: list[Any]) -> None:
    """Each aim has its parts; of a tiny update the loop's own lines are a tenth, or less."""
    assert len(parts) == len(aims)
    for row in parts:
        ours = {name for name, ms in row["ms"].items() if ms > 0}
        assert len(ours) == len(row["ms"]) and 0.8 < row["share"] < 1


def assert_counted(counts: list[dict[str, Any]]) -> None:
    """The fast path launches less than the readable one and computes no more."""
    for readable, fast in zip(counts[::2], counts[1::2], strict=True):
        assert (readable["path"], fast["path"]) == ("readable", "fast")
        assert 0 < fast["launches"] < readable["launches"]
        assert 0 < fast["operations"] <= readable["operations"]
        assert min(fast["waits"], fast["bytes"], readable["waits"]) > 0


def assert_measured(row: dict[str, Any], processes: int) -> None:
    """Every number of a row is there, finite and possible."""
    assert "note" not in row
    assert row["processes"] == processes and 0 <= row["at_the_same_time"] <= 1
    ranges = ("updates_per_s", "run_updates_per_s", "useful_share", "matrix_gflop_per_s")
    for key in (*ranges, "plain_updates_per_s", "ratio"):
        least, median, most = (row[key][part] for part in ("least", "median", "most"))
        assert 0 < least <= median <= most < math.inf
    for key in ("useful_gflop_per_update", "peak_mib", "drawing_share"):
        assert 0 < row[key] < math.inf
    speed, runs = row["updates_per_s"]["median"], row["run_updates_per_s"]["median"]
    assert runs == pytest.approx(row["replicas"] * speed)
    assert row["useful_share"]["most"] < 1
    if row["regime"] == "spread":
        assert row["ponder_max"] == 20 and row["ponder_mean"] > 2
    else:
        steps = 4 if row["mechanism"] == "pondernet" else 2
        assert row["ponder_mean"] == row["ponder_max"] == steps


def test_growth_and_agreement_write_their_tables_and_figures(tmp_path: Path) -> None:
    for script, options in (("growth.py", ["--quick"]), ("agreement.py", ["--updates", "8"])):
        command = [sys.executable, str(FOLDER / script), "--device", "cpu", *options]
        done = subprocess.run(
            [*command, "--out", str(tmp_path)], capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr
    growth = json.loads((tmp_path / "growth-quick.json").read_text())
    for line in growth["growth"]:
        assert [row["seconds"] > 0 and row["mib"] >= 0 for row in line["rows"]] == [True, True]
    assert len(growth["paper"]) == 6 and all(row["hours"] > 0 for row in growth["paper"])
    assert "| parity | act | 740 | 16,000,000 |" in (tmp_path / "growth-quick.md").read_text()
    (agreement,) = tmp_path.glob("agreement-*.json")
    curves = json.loads(agreement.read_text())["curves"]
    assert list(curves["act"]) == ["readable", "fast", "compiled"]
    for paths in curves.values():
        for each in paths.values():  # eight updates in: rounding has not grown yet
            np.testing.assert_allclose(each["error"], paths["readable"]["error"], atol=0.02)
    assert len(list(tmp_path.glob("*.png"))) == 3
