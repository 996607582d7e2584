"""Runs command lines of the project in this process."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path

import click
from click.testing import CliRunner, Result

from pondering.cli.main import main

PIPELINE = Path(__file__).parents[2] / "pipeline"
EVERY = [*main.commands, *sorted(path.name for path in PIPELINE.glob("*.py"))]


@cache
def script(name: str) -> click.Command:
    """The command of a stage script such as `train.py`."""
    command: click.Command = runpy.run_path(str(PIPELINE / name))["main"]
    return command


def run(*words: str) -> Result:
    """Run `pondering WORDS`, or a stage script if the first word is its file name."""
    if words[0].endswith(".py"):
        return CliRunner().invoke(script(words[0]), words[1:])
    return CliRunner().invoke(main, words)


def output(*words: str) -> str:
    """The output of a command that succeeds."""
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return done.stdout


def refusal(*words: str) -> str:
    """The error line of a command that exits with status 2, without Click's usage lines."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    line = re.fullmatch(r"(?:Usage: .*\n\n)?([Ee]rror: [^\n]+\n)", done.stderr, re.DOTALL)
    assert line, done.stderr
    return line[1]
