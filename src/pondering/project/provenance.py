"""Where a number came from: the code, the data, the packages and the machine behind it."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pondering.project.atomic import sha256_file

PACKAGE = Path(__file__).parents[1]
PACKAGES = (
    "torch",
    "numpy",
    "numba",
    "scipy",
    "pandas",
    "dvc",
    "mlflow",
    "pydantic",
    "safetensors",
)


def import_closure(files: Iterable[Path]) -> list[Path]:
    """The files of this package that `files` import, directly or not, themselves left out.

    Read from the source, so that nothing runs. Imports under `if TYPE_CHECKING:` do not count.

    Returns:
        sorted paths inside the package.
    """
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        for path in _imported(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return sorted(found)


def _imported(file: Path) -> set[Path]:
    """The package's files that one file imports, the `__init__` of their folders with them."""
    paths: set[Path] = set()
    for node in _running_nodes(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                paths |= files_of(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            paths |= files_of(node.module)
            for alias in node.names:
                paths |= files_of(f"{node.module}.{alias.name}")
    return paths


def _running_nodes(tree: ast.AST) -> Iterable[ast.AST]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield node
            children = ast.iter_child_nodes(node)  # of them no expression can hold an import
            waiting += (child for child in children if not isinstance(child, ast.expr))


def files_of(module: str) -> set[Path]:
    """The files of a module of this package and of the packages above it; none for any other."""
    parts = module.split(".")
    if parts[0] != PACKAGE.name:
        return set()
    found = {PACKAGE / "__init__.py"}
    for depth in range(1, len(parts)):
        stem = PACKAGE.joinpath(*parts[1 : depth + 1])
        for path in (stem / "__init__.py", stem.with_suffix(".py")):
            if path.is_file():
                found.add(path)
    return found


def hash_files(files: Iterable[Path]) -> str:
    """One sha256 over names and contents."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def hash_values(value: Any) -> str:
    """The sha256 of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def record(
    root: Path,
    config: Any,
    data_hash: str,
    device: str,
    threads: int,
    command: str,
    path: str | None = None,
) -> dict[str, Any]:
    """What every record of a computation begins with; whoever computed adds its seconds.

    Args:
        root: the project's folder.
        config: the parameters that it depends on, as plain data.
        data_hash: of the data it read; see `data_hash`.
        device: the processor or GPU, in words.
        threads: of torch.
        command: what makes the same again.
        path: by which a network trained, if one did.
    """
    lock = root / "dvc.lock"
    trained = {} if path is None else {"path": path}
    return {
        "commit": git_commit(root),
        "lock_hash": sha256_file(lock) if lock.is_file() else "none",
        "params_hash": hash_values(config),
        "config": config,
        "data_hash": data_hash,
        "device": device,
        "threads": threads,
        "versions": versions(),
        "command": command,
        **trained,
    }


def data_hash(task: object, frozen: Path) -> str:
    """Of what a task trains on: the sha256 of its frozen data, if it reads any.

    Raises:
        OSError: it reads `frozen`, which is not there.
    """
    return sha256_file(frozen) if hasattr(task, "path") else "drawn online"


def git_commit(root: Path) -> str:
    """The commit checked out, with `+changes` if tracked code differs from it; or `unknown`."""
    code = ("src", "pipeline", "params.yaml", "dvc.yaml")
    try:
        commit = _git(root, "rev-parse", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", *code)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return commit + ("+changes" if changed else "")


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    return answer.stdout.strip()


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of Python and of packages, those that all numbers depend on, where installed."""
    found = {"python": platform.python_version()}
    for name in packages:
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
