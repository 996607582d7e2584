"""DVC's own files, mended where a kill cut them off: it writes them in place."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
import psutil
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pondering.project.atomic import atomic_write

CLOCKS = 1.0  # seconds by which the clocks of files and of processes may differ


def mend_rwlock(root: Path = Path()) -> None:
    """Take from DVC's list of files in use what would stop every later run for nothing.

    That is a list that is cut off, and files held by a DVC that was killed while its number is
    still taken: by itself until its parent asks for its end, or by another process since. Nothing
    is done while a DVC writes the list.
    """
    path = root / ".dvc" / "tmp" / "rwlock"
    if not path.is_file():
        return
    from dvc.lock import LockError, make_lock

    try:
        with make_lock(str(path.with_name("rwlock.lock")), tmp_dir=str(path.parent)):
            _free(path)
    except LockError:
        return


def _free(path: Path) -> None:
    """`mend_rwlock`, of a list that nobody else changes."""
    try:
        found = {"write": {}, "read": {}} | json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        path.unlink()
        return
    except TypeError:
        return  # of another form: DVC's to refuse
    written = path.stat().st_mtime
    try:
        write = {n: who for n, who in found["write"].items() if not _is_gone(who["pid"], written)}
        read = {
            name: [who for who in readers if not _is_gone(who["pid"], written)]
            for name, readers in found["read"].items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        return
    if (write, read) != (found["write"], found["read"]):
        atomic_write(path, json.dumps({"write": write, "read": read}).encode())
        click.echo("repro: a killed DVC still seemed to use some files; they are free again")


def _is_gone(pid: int, written: float) -> bool:
    """Whether the process that had this number when the list was written has ended."""
    try:
        process = psutil.Process(pid)
        is_another: bool = process.create_time() > written + CLOCKS
        return is_another or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def mend_lock(root: Path = Path()) -> None:
    """Put dvc.lock back as it last was sound where a kill has cut it off: DVC writes it in place.

    What has been done since is looked at again. A file with marks of a merge is the user's to mend.
    """
    path, copy = root / "dvc.lock", root / ".dvc" / "tmp" / "dvc.lock"
    last = copy.read_bytes() if copy.is_file() else None
    for seconds in (0.5, 0.0):
        if not path.is_file() or (found := path.read_bytes()) == last or b"<<<<<<<" in found:
            return
        if _sound(found):
            atomic_write(copy, found)
            return
        time.sleep(seconds)
    if last is None:
        path.unlink()
    else:
        atomic_write(path, last)
    click.echo("repro: dvc.lock was cut off; what it held is looked at again")


def _sound(lock: bytes) -> bool:
    """Whether DVC would take it."""
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from voluptuous import Invalid

    try:
        COMPILED_LOCKFILE_SCHEMA(YAML(typ="safe").load(lock))
    except (Invalid, YAMLError, ValueError):
        return False
    return True
