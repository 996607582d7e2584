"""Where a number came from: the code, the data, the packages and the machine behind it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

from pondering.project.atomic import sha256_file

PACKAGES = (
    "torch", "numpy", "numba", "scipy", "pandas", "dvc", "mlflow", "pydantic", "safetensors",
)  # fmt: skip


def hash_values(value: Any) -> str:
    """The sha256 of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def record(root: Path, data_hash: str, device: str, threads: int, command: str) -> dict[str, Any]:
    """What every record of a computation begins with; whoever computed adds values and seconds.

    Args:
        root: the project's folder.
        data_hash: of the data it read.
        device: the processor or GPU, in words.
        threads: of torch.
        command: what makes the same again.
    """
    lock = root / "dvc.lock"
    return {
        "commit": git_commit(root),
        "lock_hash": sha256_file(lock) if lock.is_file() else "none",
        "data_hash": data_hash,
        "device": device,
        "threads": threads,
        "versions": versions(),
        "command": command,
    }


def git_commit(root: Path) -> str:
    """The commit checked out, with `+changes` if tracked code differs from it; or `unknown`."""
    commit = git(root, "rev-parse", "--quiet", "--verify", "HEAD")
    code = ("src", "pipeline", "params.yaml", "dvc.yaml")
    changed = git(root, "status", "--porcelain", "--untracked-files=no", "--", *code)
    if commit is None or changed is None:
        return "unknown"
    return commit.strip() + ("+changes" if changed else "")


def git(root: Path, *words: str) -> str | None:
    """What git says; None where there is no repository, no such commit, or no git."""
    try:
        answer = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    except OSError:
        return None
    return answer.stdout if answer.returncode == 0 else None


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that all numbers depend on, where installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The processor's name, family, model and stepping: what decides the last bit of a float."""
    wanted = ("model name", "cpu family", "model", "stepping")
    found: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in wanted:
                found.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    if not found:
        return platform.processor() or platform.machine()
    name, *numbers = (found.get(key, "?") for key in wanted)
    return f"{name} ({'-'.join(numbers)})"
