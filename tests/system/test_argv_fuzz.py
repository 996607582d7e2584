"""Command lines under attack: each is accepted, or refused in one line before any work."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from dvc.repo import Repo
from hypothesis import given, settings
from hypothesis import strategies as st
from support.argv import EVERY, PIPELINE, command, run
from support.trained_project import trained

from pondering.project.errors import Interrupted

ODD = ["", "-", "--", "--=", "-x", "nan", "-inf", "-1", "0", "1e999", "9" * 5000, "\u0663", "1,,2"]
ODD += ["a\nb", "\u2028", "\x1b[2J", "\udcff", "../x", "~", "%s", "{}", "x" * 300, "quick-parity-x"]
GOOD = {
    "profile": ["quick", "reduced", "paper"],
    "experiment": ["parity", "logic", "mnist"],
    "mechanism": ["repeat", "act", "pondernet"],
    "stages": ["train@quick-parity-act"],
    "claim_id": ["G1", "b3"],
    "paths": ["reports/quick", "reports/quick/tables/parity.csv"],
    "cards": ["reports/quick/cards/parity.json"],
    "figure": ["graves-04", "mnist-angle"],
    "setting": ["0.1", "0.3", "3"],
    "settings": ["0.1,0.01"],
    "rates": ["0.1"],
    "seed": ["0", "1"],
    "written": ["+-+0", "1 01 10"],
    "updates": ["1"],
    "points": ["1"],
    "port": ["5000"],
    "root": ["."],
}
KNOWN = ["--help", "--profile", *(word for words in GOOD.values() for word in words)]
LETTERS = st.characters(exclude_characters="\0", exclude_categories=())
WORDS = st.sampled_from(KNOWN) | st.sampled_from(ODD) | st.text(LETTERS, max_size=6)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A trained project as the working folder, in which nothing trains and no server starts."""
    folder = tmp_path_factory.mktemp("argv") / "project"
    shutil.copytree(trained(), folder)
    shutil.copy(PIPELINE.parent / "dvc.yaml", folder)
    shutil.copytree(PIPELINE, folder / "pipeline")
    Repo.init(str(folder), no_scm=True).close()

    def begun(*_: object) -> None:
        raise Interrupted("begun")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PONDERING_TRACKING", "off")
        patch.setattr("pondering.train.stage.run", begun)
        patch.setattr("pondering.track.load.load", begun)
        yield folder


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """A command with some of its own options and any words."""
    name = draw(st.sampled_from(EVERY))
    words = [name]
    for each in command(name).params:
        good = st.sampled_from(GOOD.get(str(each.name), KNOWN))
        if each.required or draw(st.integers(0, 2)) == 0:
            words += [each.opts[0]] * isinstance(each, click.Option)
            words.append(draw(WORDS if draw(st.integers(0, 4)) == 0 else good))
    if draw(st.integers(0, 5)) == 0:
        words.insert(draw(st.integers(0, len(words))), draw(WORDS))
    return words


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(words=lines())
def test_any_command_line_is_accepted_or_refused_in_one_line(
    project: Path, words: list[str]
) -> None:
    before = files(project)
    result = run(*words)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.exit_code in (0, 1, 2, 130)
    if result.exit_code:
        said = re.fullmatch(r"(?:Usage: .*\n\n)?([^\n]+)\n", result.stderr, re.DOTALL)
        assert said, result.stderr
        assert re.match(r"[Ee]rror: \S" if result.exit_code < 130 else "begun", said[1])
    if result.exit_code == 2:
        assert result.stdout == ""
        assert files(project) == before
