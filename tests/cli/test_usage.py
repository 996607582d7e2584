"""Wrong arguments and commands outside of a project: one error line with status 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.argv import EVERY, output, refusal


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder is empty."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", EVERY)
def test_every_command_refuses_an_unknown_option_and_prints_its_help(name: str) -> None:
    assert "No such option" in refusal(name, "--nosuch")
    assert output(name, "--help").startswith("Usage: ")


@pytest.mark.parametrize("words", ["claims", "ui", "show parity", "exits parity", "report"])
def test_outside_of_a_project_a_command_writes_nothing(words: str, tmp_path: Path) -> None:
    missing = "claims.yaml" if words == "claims" else "params.yaml"
    expected = f"error: {missing}: no such file; run from the project's root\n"
    assert refusal(*words.split()) == expected
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_ends_a_command_without_a_message() -> None:
    """`git log | head` behaves like this."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "pondering.cli"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
