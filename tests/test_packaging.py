"""pyproject.toml and constraints.txt: extras, declared imports, pinned versions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML
from support.imports import packages_of

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
HOMES = packages_distributions()
MODEL = ROOT / "src/pondering/model"
COMPILED, KERNELS = MODEL / "paths/compiled", MODEL / "paths/kernels"
TOOLS = {"mypy", "pdoc", "ruff", "pytest-xdist", "ruamel-yaml-clib"}  # used without an import


def requirements(*extras: str) -> dict[str, Requirement]:
    """The requirements of the library and of some extras, by distribution."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    found: dict[str, Requirement] = {}
    for each in map(Requirement, lines):
        ours = each.name == "pondering"
        found |= requirements(*each.extras) if ours else {canonicalize_name(each.name): each}
    return found


def imports_of(paths: list[Path]) -> dict[str, set[str]]:
    """Other packages that files import, and the distributions that contain them."""
    names = {top.name for folder in ("tests", "benchmarks") for top in (ROOT / folder).iterdir()}
    ours = {"pondering", *(name.removesuffix(".py") for name in names)}
    others = set().union(*map(packages_of, paths)) - ours
    return {  # Triton may be missing here
        name: {canonicalize_name(home) for home in HOMES.get(name, [name])} for name in others
    }


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
def test_every_import_is_declared(extras: tuple[str, ...], paths: list[Path]) -> None:
    allowed = set(requirements(*extras))
    undeclared = {name for name, homes in imports_of(paths).items() if not homes & allowed}
    assert not undeclared


def test_every_requirement_is_imported() -> None:
    found = imports_of(PIPELINE + files(ROOT / "tests", ROOT / "benchmarks"))
    assert set(requirements("dev")) <= set().union(*found.values()) | TOOLS


def pins() -> dict[str, str]:
    """The pinned version of each distribution in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    found = {canonicalize_name(name): version for name, version in pairs}
    assert len(found) == len(pairs), "a distribution is pinned twice"
    return found


def test_every_direct_and_indirect_requirement_is_pinned() -> None:
    waiting, visited = list(requirements("dev").values()), set()
    while waiting:
        each = waiting.pop()
        key = canonicalize_name(each.name), frozenset(each.extras)
        if key in visited:
            continue
        visited.add(key)
        for need in map(Requirement, distribution(each.name).requires or []):
            if any(need.marker is None or need.marker.evaluate({"extra": extra})
                   for extra in ("", *each.extras)):  # fmt: skip
                waiting.append(need)
    assert {name for name, _ in visited} <= pins().keys()


def test_the_pins_satisfy_the_requirements() -> None:
    found = pins()
    for name, each in requirements("dev").items():
        assert each.specifier.contains(found[name]), each


def test_published_records_have_the_pinned_versions() -> None:
    """Records of a GPU have torch for CUDA and are left out."""
    found, paths = pins(), sorted((ROOT / "reports").glob("*/provenance/**/*.json"))
    assert paths
    for path in paths:
        record = json.loads(path.read_bytes())
        for name, version in record["versions"].items():
            if name != "python" and not record["device"].startswith("NVIDIA"):
                assert version.partition("+")[0] == found[canonicalize_name(name)], path


def test_the_command_names_a_missing_extra() -> None:
    code = (
        "import sys; sys.modules['pandas'] = None; sys.argv[1:] = ['claims']\n"
        "from pondering.cli.__main__ import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == "error: pandas is missing: pip install 'pondering[pipeline]'\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_version_authors_and_papers_equal_citation_and_changelog() -> None:
    cited = YAML(typ="safe").load(ROOT / "CITATION.cff")
    newest = re.search(r"^## (\S+), \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest and newest[1] == cited["version"] == PROJECT["version"]
    assert [each["name"] for each in cited["authors"]] == [
        each["name"] for each in PROJECT["authors"]
    ]
    assert {each["url"] for each in cited["references"]} == set(PROJECT["urls"].values())


def test_declared_pythons_are_those_of_ci() -> None:
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    jobs = YAML(typ="safe").load(ROOT / ".github/workflows/ci.yml")["jobs"]
    assert set(jobs["test"]["strategy"]["matrix"]["python"]) == named
    assert PROJECT["requires-python"] == f">={min(named, key=lambda v: int(v[2:]))}"
    assert re.search(r"Python 3\.11\+", (ROOT / "README.md").read_text())
