"""Any command line of the project, run in this process."""

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
    """The command of a stage script, as `train.py`."""
    command: click.Command = runpy.run_path(str(PIPELINE / name))["main"]
    return command


def run(*words: str) -> Result:
    """`pondering WORDS`; where the first is a file name, that stage script."""
    if words[0].endswith(".py"):
        return CliRunner().invoke(script(words[0]), words[1:])
    return CliRunner().invoke(main, words)


def shown(*words: str) -> str:
    """What a command prints that ends well."""
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return done.stdout


def refused(*words: str) -> str:
    """The one line that a mistake ends in; Click's own follows two lines of usage."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    line = re.fullmatch(r"(?:Usage: .*\n\n)?([Ee]rror: [^\n]+\n)", done.stderr, re.DOTALL)
    assert line, done.stderr
    return line[1]
