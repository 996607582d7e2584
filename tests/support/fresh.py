"""Commands as processes of their own that import the package from a project's own `src` folder.

A server process has loaded what the package needs of others' code, torch above all, and is forked
for each command, which loads the package itself.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import NamedTuple

NEEDED = ("torch", "pandas", "click", "pydantic", "ruamel.yaml", "jinja2", "matplotlib.figure")


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


def run(project: Path, *commands: str) -> list[Done]:
    """Run stage scripts (`train --profile quick`) and `pondering` commands, one after the other."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps([str(project), *commands]) + "\n")
    server.stdin.flush()
    return [Done(*each) for each in json.loads(server.stdout.readline())]


@cache
def _server() -> subprocess.Popen[str]:
    command, pipe = [sys.executable, __file__], subprocess.PIPE
    environment = os.environ | {"PONDERING_TRACKING": "off", "COLUMNS": "100"}
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
    atexit.register(server.communicate)  # it ends when its input does
    return server


def _serve() -> None:
    for needed in NEEDED:
        importlib.import_module(needed)
    for line in sys.stdin:
        project, *commands = json.loads(line)
        print(json.dumps([_forked(project, command) for command in commands]), flush=True)


def _forked(project: str, command: str) -> tuple[int, str, str]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os._exit(_work(project, command))
        _, end = os.waitpid(pid, 0)
        for file in (out, err):
            file.seek(0)
        return os.waitstatus_to_exitcode(end), out.read().decode(), err.read().decode()


def _work(project: str, command: str) -> int:
    """In a forked process: one command to its end, and its exit status."""
    os.chdir(project)
    sys.path[:1] = ["pipeline", f"{project}/src"]
    name, *arguments = command.split()
    script = Path("pipeline", f"{name}.py")
    sys.argv = [str(script), *arguments] if script.is_file() else ["pondering", name, *arguments]
    try:
        if script.is_file():
            runpy.run_path(str(script), run_name="__main__")
        else:
            runpy.run_module("pondering.cli", run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    _serve()
