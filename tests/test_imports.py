"""Imports go one way: who may know of whom, read from the source and tried in fresh processes."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import pondering

ROOT = Path(pondering.__file__).parent
HEAVY = ("torch", "mlflow", "dvc", "matplotlib", "sklearn", "pandas", "numpy", "pooch")
NETWORK = {"pooch", "requests", "httpx", "aiohttp", "urllib3", "ftplib", "urllib.request"}
NETWORK |= {"http.client"}

# Modules of the package that a module may import, itself and its own package apart.
KNOWS = {
    "cells": set(),
    "halting": set(),
    "network": {"cells", "halting", "packing", "fused", "unrolled", "compiled"},
    "packing": {"halting"},
    "kernels": {"cells"},
    "fused": {"halting", "kernels", "packing"},
    "unrolled": {"cells", "halting", "kernels"},
    "compiled": {"cells", "halting", "kernels", "fused", "unrolled", "loops"},
    "loops": set(),
    "replicas": {"halting", "network"},
    "tasks": {"errors"},
    "statistics": set(),
}
# Third-party packages that a module may import.
USES = {
    "cells": {"torch"},
    "halting": {"torch"},
    "network": {"torch"},
    "packing": {"torch"},
    "kernels": {"torch"},
    "fused": {"torch"},
    "unrolled": {"torch"},
    "compiled": {"torch", "numpy", "scipy", "threadpoolctl"},
    "loops": {"numpy", "numba"},
    "replicas": {"torch"},
    "tasks": {"torch", "numpy", "sklearn", "PIL"},
    "statistics": {"numpy", "pandas"},
}
WITHOUT_TORCH = ("figures", "claims", "statistics", "report", "claim_measures", "verdicts")
WITHOUT_TORCH += ("aggregates", "results", "config", "files", "errors", "download")


def sources(name: str) -> list[Path]:
    """The files of a module, or of a package of that name."""
    found = [ROOT / f"{name}.py"] if (ROOT / f"{name}.py").exists() else []
    return found + sorted((ROOT / name).rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
    """Names of everything a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path.name}: a relative import"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def own(names: set[str]) -> set[str]:
    """The project's modules among the names, first part below the package."""
    tops = {name.split(".")[1] for name in names if name.startswith("pondering.")}
    return {top for top in tops if sources(top)}


def foreign(names: set[str]) -> set[str]:
    tops = {name.split(".")[0] for name in names}
    return {top for top in tops if top not in sys.stdlib_module_names and top != "pondering"}


def everything() -> list[Path]:
    pipeline = sorted((ROOT.parents[1] / "pipeline").glob("*.py"))
    assert pipeline, "the stage scripts are read too"
    return sorted(ROOT.rglob("*.py")) + pipeline


def in_fresh_process(code: str) -> list[str]:
    """Run code that prints a JSON list."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    result: list[str] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.parametrize("name", [*KNOWS, *WITHOUT_TORCH, "tracking", "training", "evaluation"])
def test_the_modules_exist(name: str) -> None:
    assert sources(name), f"src/pondering/{name}.py or a package of that name"


@pytest.mark.parametrize("name", KNOWS)
def test_a_module_knows_only_what_it_may(name: str) -> None:
    for path in sources(name):
        names = imports_of(path)
        assert own(names) - {name} <= KNOWS[name], path.name
        assert foreign(names) <= USES[name], path.name


def test_cells_halting_and_tasks_never_know_of_each_other() -> None:
    vocabularies = {"cells", "halting", "tasks"}
    for name in vocabularies:
        for path in sources(name):
            assert not own(imports_of(path)) & (vocabularies - {name}), path.name


def importers(*packages: str) -> set[str]:
    """First part below the package (or the script's file name) of each file that imports one."""
    found = set()
    for path in everything():
        names = imports_of(path)
        if any(n == p or n.startswith(f"{p}.") for n in names for p in packages):
            inside = path.is_relative_to(ROOT)
            found.add(module_of(path).split(".")[1] if inside else path.name)
    return found


def test_tracking_alone_imports_mlflow() -> None:
    assert importers("mlflow") == {"tracking"}


def test_download_alone_reaches_the_network() -> None:
    assert importers(*NETWORK) == {"download"}


def test_nothing_imports_a_test_or_a_stage_script() -> None:
    for path in everything():
        assert not foreign(imports_of(path)) & {"tests", "pipeline", "oracle", "pytest"}, path.name


def test_figures_claims_statistics_and_report_run_without_torch() -> None:
    """Transitively, and every file of the packages: the first import that brings torch is named."""
    modules = [module_of(path) for name in WITHOUT_TORCH for path in sources(name)]
    assert len(modules) > len(WITHOUT_TORCH)
    code = (
        "import importlib, json, sys\n"
        "guilty = []\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        "    if not guilty and ({'torch', 'mlflow', 'dvc'} & set(sys.modules)):\n"
        "        guilty.append(name)\n"
        "print(json.dumps(guilty))"
    )
    assert in_fresh_process(code) == []


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import json, sys, pondering\n"
        f"heavy = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "print(json.dumps(heavy + [m for m in sys.modules if m.startswith('pondering.')]))"
    )
    assert in_fresh_process(code) == []


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import contextlib, io, json, sys\n"
        "from pondering.cli.main import COMMANDS, main\n"
        "with contextlib.redirect_stdout(io.StringIO()) as said:\n"
        "    main(['--help'], standalone_mode=False)\n"
        "missing = [name for name in COMMANDS if name not in said.getvalue()]\n"
        f"print(json.dumps(missing + [m for m in {HEAVY!r} if m in sys.modules]))"
    )
    assert in_fresh_process(code) == []


def test_a_name_of_the_library_loads_torch_and_no_tools() -> None:
    code = (
        "import json, sys\n"
        "from pondering import Network\n"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    loaded = set(in_fresh_process(code))
    assert "torch" in loaded
    assert not loaded & {"mlflow", "dvc", "matplotlib", "sklearn", "pandas", "pooch"}


def test_training_loads_no_reporting() -> None:
    code = (
        "import json, sys\n"
        "import pondering.train.sweep\n"
        "loaded = [m for m in ('mlflow', 'dvc', 'matplotlib', 'sklearn') if m in sys.modules]\n"
        "print(json.dumps(loaded))"
    )
    assert in_fresh_process(code) == []


def test_every_public_name_resolves() -> None:
    for name in pondering.__all__:
        assert getattr(pondering, name).__name__ == name
    with pytest.raises(AttributeError, match="Netwrok"):
        _ = pondering.Netwrok


def test_the_oracle_shares_no_code_with_the_package() -> None:
    here = Path(__file__).parent
    for name in ("oracle.py", "oracle_cells.py"):
        names = {
            alias.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(ast.parse((here / name).read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        roots = {str(n).split(".")[0] for n in names}
        assert roots <= sys.stdlib_module_names | {"numpy", "oracle_cells"}
