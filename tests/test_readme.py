"""Examples, commands and links of the README and the pages work."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.argv import run

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_library_examples_run() -> None:
    pages = TEXT + (ROOT / "docs/library.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", pages, re.S)
    scope: dict[str, Any] = {}
    for code in examples:
        assert len(code.strip().splitlines()) <= 12
        exec(compile(code, "README.md", "exec"), scope)
        if code is examples[0]:
            check_a_network(scope)
    assert scope["losses"].shape == (40,) and scope["losses"].isfinite().all()
    assert scope["steps"].shape == (10, 40, 32)
    assert scope["card"].name == "parity/act" and 0 <= scope["card"].error <= 0.5


def check_a_network(scope: dict[str, Any]) -> None:
    network, pondered = scope["network"], scope["pondered"]
    assert pondered.mixture.shape == (10, 32, 15)
    steps = pondered.ponder_time[scope["mask"]]
    assert 1 <= float(steps.min()) <= float(steps.max()) <= 20
    assert network.heads.weight.grad.abs().sum() > 0


def test_the_readmes_show_command_answers_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (words,) = re.findall(r"^pondering (show .+)$", TEXT, re.M)
    assert "right" in run(*words.split()).output


def test_every_make_target_of_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:^|`)make (\w+)", TEXT, re.M)):
        assert re.search(rf"^{target}:", makefile, re.M), target


PAGES = [
    *("README.md", "CONTRIBUTING.md", "reports/reduced/NOTES.md", "reports/reduced/report.md"),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))),
]


@pytest.mark.parametrize("page", PAGES)
def test_every_linked_file_is_in_git(page: str) -> None:
    path = ROOT / page
    for link in re.findall(r"\]\((?!https:)([^)#]+)\)", path.read_text(encoding="utf-8")):
        found = subprocess.run(
            ["git", "-C", str(path.parent), "ls-files", "--", link], capture_output=True
        )
        assert found.stdout, link
