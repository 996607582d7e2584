"""What pyproject.toml and constraints.txt promise: extras, declared imports, pinned versions."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
HOMES = packages_distributions()
MODEL = ROOT / "src/pondering/model"
COMPILED, KERNELS = MODEL / "paths/compiled", MODEL / "paths/kernels"
TOOLS = {"mypy", "pdoc", "ruff", "pytest-xdist", "ruamel-yaml-clib"}  # used without an import


def declared(*extras: str) -> dict[str, Requirement]:
    """The distributions that the library and some extras need, with the extras that these name."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    found: dict[str, Requirement] = {}
    for each in map(Requirement, lines):
        own = each.name == "pondering"
        found |= declared(*each.extras) if own else {canonicalize_name(each.name): each}
    return found


@cache
def packages(path: Path) -> set[str]:
    """The packages that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module]
        found |= {module.partition(".")[0] for module in modules}
    return found


def imported(paths: list[Path]) -> dict[str, set[str]]:
    """The packages of others that files import, and the distributions that have them."""
    names = {top.name for folder in ("tests", "benchmarks") for top in (ROOT / folder).iterdir()}
    own = {"pondering", *(name.removesuffix(".py") for name in names)}
    foreign = set().union(*map(packages, paths)) - own - sys.stdlib_module_names
    homes = {name: HOMES.get(name, [name]) for name in foreign}  # Triton may be missing here
    return {name: {canonicalize_name(home) for home in own} for name, own in homes.items()}


def files(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))]


LIBRARY = [path for path in files(MODEL) if {COMPILED, KERNELS}.isdisjoint(path.parents)]
LIBRARY += [COMPILED / "__init__.py", KERNELS / "__init__.py", ROOT / "src/pondering/__init__.py"]
PIPELINE = files(ROOT / "src", ROOT / "pipeline")


@pytest.mark.parametrize(
    ("extras", "paths"),
    [
        ((), LIBRARY),
        (("compiled", "kernels"), files(MODEL)),
        (("pipeline", "kernels"), [path for path in PIPELINE if path.name != "ray.py"]),
        (("cluster", "kernels"), PIPELINE),
        (("dev", "kernels"), PIPELINE + files(ROOT / "tests", ROOT / "benchmarks")),
    ],
)
def test_what_is_imported_is_declared(extras: tuple[str, ...], paths: list[Path]) -> None:
    allowed = set(declared(*extras))
    undeclared = {name for name, homes in imported(paths).items() if not homes & allowed}
    assert not undeclared


def test_what_is_declared_is_used() -> None:
    found = imported(PIPELINE + files(ROOT / "tests", ROOT / "benchmarks"))
    assert set(declared("dev")) <= set().union(*found.values()) | TOOLS


def pins() -> dict[str, str]:
    """What constraints.txt pins: distribution -> version."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    found = {canonicalize_name(name): version for name, version in pairs}
    assert len(found) == len(pairs), "one is pinned twice"
    return found


def test_all_that_is_needed_is_pinned_with_what_it_needs_in_turn() -> None:
    waiting, seen = list(declared("dev").values()), set()
    while waiting:
        each = waiting.pop()
        key = canonicalize_name(each.name), frozenset(each.extras)
        if key in seen:
            continue
        seen.add(key)
        for need in map(Requirement, distribution(each.name).requires or []):
            if any(need.marker is None or need.marker.evaluate({"extra": extra})
                   for extra in ("", *each.extras)):  # fmt: skip
                waiting.append(need)
    assert {name for name, _ in seen} <= pins().keys()


def test_the_pins_satisfy_what_is_declared() -> None:
    found = pins()
    for name, each in declared("dev").items():
        assert each.specifier.contains(found[name]), each


def test_the_records_of_the_published_results_name_the_pinned_versions() -> None:
    """But those of a GPU, whose machine had torch for CUDA installed, and say which."""
    found, paths = pins(), sorted((ROOT / "reports").glob("*/provenance/**/*.json"))
    assert paths
    for path in paths:
        record = json.loads(path.read_bytes())
        for name, version in record["versions"].items():
            if name != "python" and not record["device"].startswith("NVIDIA"):
                assert version.partition("+")[0] == found[canonicalize_name(name)], path


def test_the_command_names_the_extra_that_is_missing() -> None:
    code = (
        "import sys; sys.modules['pandas'] = None; sys.argv[1:] = ['claims']\n"
        "from pondering.cli.__main__ import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == "error: pandas is missing: pip install 'pondering[pipeline]'\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_version_authors_and_papers_are_those_of_citation_and_changelog() -> None:
    cited = YAML(typ="safe").load(ROOT / "CITATION.cff")
    newest = re.search(r"^## (\S+), \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest and newest[1] == cited["version"] == PROJECT["version"]
    assert [each["name"] for each in cited["authors"]] == [
        each["name"] for each in PROJECT["authors"]
    ]
    assert {each["url"] for each in cited["references"]} == set(PROJECT["urls"].values())


def test_the_pythons_that_it_names_are_those_that_ci_runs() -> None:
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    jobs = YAML(typ="safe").load(ROOT / ".github/workflows/ci.yml")["jobs"]
    assert set(jobs["test"]["strategy"]["matrix"]["python"]) == named
    assert PROJECT["requires-python"] == f">={min(named, key=lambda v: int(v[2:]))}"
    assert re.search(r"Python 3\.11\+", (ROOT / "README.md").read_text())
