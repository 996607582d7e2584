"""The library's pages are built again, and its notebook runs again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import pondering

ROOT = Path(__file__).parents[2]
NOTEBOOK = json.loads((ROOT / "docs" / "own_cell_and_task.ipynb").read_text(encoding="utf-8"))
CODE = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_the_pages_are_built_without_a_warning_and_have_every_public_name(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "api.py", tmp_path], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = (tmp_path / "pondering.html").read_text(encoding="utf-8")
    for name in pondering.__all__:
        section = re.search(rf'<section id="{name}">(.*?)</section>', page, re.S)
        assert section and 'class="docstring"' in section[1], name
    for path in tmp_path.rglob("*.html"):
        links = re.findall(r'href="([^"#:$]+)(?:#[^"]*)?"', path.read_text(encoding="utf-8"))
        for link in links:
            assert (path.parent / link).exists(), (path.name, link)


def test_the_notebook_runs_and_its_networks_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    scope: dict[str, Any] = {}
    for cell in CODE:
        exec(compile("".join(cell["source"]), "own_cell_and_task.ipynb", "exec"), scope)
    solved = (scope["errors"][-1] < 0.02).float().mean(1)
    assert solved.shape == (2,) and solved.min() >= 0.5
    cheap, expensive = scope["by_level"].mean((0, 2)).tolist()
    assert expensive < cheap - 0.5


def test_the_notebook_is_committed_with_its_outputs() -> None:
    assert [cell["execution_count"] for cell in CODE] == [n + 1 for n in range(len(CODE))]
    outputs = [output for cell in CODE for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data"}
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1
