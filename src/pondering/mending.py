"""DVC's own files, mended where a kill cut them off: it writes them in place."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
import psutil
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pondering.files import atomic_write


def mend_rwlock(root: Path = Path()) -> None:
    """Take from DVC's list of files in use what would stop every later run for nothing.

    That is a list that is cut off (one that is being written now is looked at again), and files
    held by a process of DVC that was killed, but whose number is still taken: by itself until its
    parent asks for its end, or by another program since.
    """
    path = root / ".dvc" / "tmp" / "rwlock"
    for seconds in (0.5, 0.0):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except ValueError:
            time.sleep(seconds)
            continue
        left = _in_use(found)
        if left != found:
            atomic_write(path, json.dumps(left).encode())
        return
    path.unlink(missing_ok=True)


def _in_use(found: Any) -> Any:
    """What of the list someone holds still; a list of another form as it is."""
    try:
        return {
            "write": {name: who for name, who in found.get("write", {}).items() if _holds(who)},
            "read": {
                name: left
                for name, readers in found.get("read", {}).items()
                if (left := [who for who in readers if _holds(who)])
            },
        }
    except (AttributeError, KeyError, TypeError):
        return found


def _holds(who: dict[str, Any]) -> bool:
    """Whether the process is there and what it was; one that may not be looked at is."""
    try:
        process = psutil.Process(who["pid"])
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return "dvc" in " ".join(process.cmdline()) or "dvc" not in who["cmd"]
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


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
