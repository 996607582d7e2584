"""Result files under attack: each loads, or is refused in one line that names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import what_a_user_sees
from support.synthetic_results import FEW, card_of, curves_of, table_of, traces_of

from pondering.claims.claims import load_register
from pondering.cli.verify import same_machine
from pondering.evaluate.standings import standings
from pondering.project.paths import Layout
from pondering.report.pages import build_index
from pondering.report.pages.provenance import origins
from pondering.results import submission
from pondering.results.results import Results

CLAIMS = Path(__file__).parents[2] / "claims.yaml"
ORIGIN = {"commit": "c0ffee", "versions": {"torch": "2"}, "wall_seconds": 3.5, "updates": 30}
JUDGED = {
    "unfinished": [],
    "missing": [],
    "claims": [{"id": "G1", "title": "Parity", "verdict": "reproduced"}],
}
Load = Callable[[Path], object]


def read_all(root: Path) -> object:
    """As a report does."""
    return Results.load(root / "reports", "quick")


def read_origins(root: Path) -> object:
    return origins(Layout(root, "quick"), "parity", ["act"])


LOADERS: dict[str, tuple[Load, ...]] = {
    "reports/quick/tables/parity.csv": (
        read_all,
        lambda root: standings(Layout(root, "quick"), "parity"),
        lambda root: submission.load(
            [root / "reports/quick/tables/parity.csv"],
            [root / "reports/quick/cards/parity.json"],
            "quick",
        ),
    ),
    "reports/quick/curves/parity-act.csv": (read_all,),
    "reports/quick/traces/sort.json": (read_all,),
    "reports/quick/cards/parity.json": (read_all,),
    "reports/quick/models/parity/index.json": (read_all,),
    "reports/quick/provenance/parity-act.json": (
        read_origins,
        lambda root: same_machine(root, "quick"),
    ),
    "reports/quick/provenance/parity.json": (read_origins,),
    "reports/quick/claims.json": (lambda root: build_index(root / "reports"),),
    "claims.yaml": (lambda root: load_register(root / "claims.yaml").claims,),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small file of each kind."""
    root = tmp_path_factory.mktemp("damaged")
    for name in LOADERS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    reports = root / "reports/quick"
    table_of("parity", FEW, 1).head(3).to_csv(reports / "tables/parity.csv", index=False)
    curves = curves_of("parity", {"act": [0.1]}, 1, points=3)
    curves.to_csv(reports / "curves/parity-act.csv", index=False)
    trace = traces_of("sort")[0]
    content = {"traces": [trace | {"steps": trace["steps"][:2]}]}
    (reports / "traces/sort.json").write_text(json.dumps(content))
    (reports / "cards/parity.json").write_text(json.dumps(asdict(card_of("parity"))))
    index = {"act": {"setting": 0.1, "seed": 0, "published": True}}
    (reports / "models/parity/index.json").write_text(json.dumps(index))
    for name in ("parity-act", "parity"):
        (reports / f"provenance/{name}.json").write_text(json.dumps(ORIGIN))
    (reports / "claims.json").write_text(json.dumps(JUDGED))
    text = re.sub(r"(?m)^#.*\n", "", CLAIMS.read_text(encoding="utf-8"))
    (root / "claims.yaml").write_text(text.split("\n\n  - id: G2")[0] + "\n", encoding="utf-8")
    return root


NEW = [
    b"", b"inf", b"-1", b"nan", b"1e999", b"0.5", b"9" * 30, b"9" * 400, b"9" * 5000, b"null",
    b"true", b"[]", b"{}", b"[[]]", b'""', b'"x"', b'"', b",", b":", b"\n", b"\n\n", b"\r", b"\0",
    b"\xff", b"\xc2\x85", b"\x1b[2J", b"[" * 5000, b"[" * 600 + b"]" * 600, b"{a: " * 999, b"*a",
    b"&a ", b"!!int x", b"2001-13-45",
]  # fmt: skip
VALUE = re.compile(rb'"[^"]*"|[^\s,:\[\]{}"]+|\[[^\[\]]*\]|\{[^{}]*\}')


@st.composite
def damages(draw: st.DrawFn, content: bytes) -> bytes:
    """A value replaced, or any bytes changed, cut out or doubled."""
    if draw(st.integers(0, 3)):
        start, end = draw(st.sampled_from([found.span() for found in VALUE.finditer(content)]))
    else:
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 20) | st.just(len(content))))
    new = draw(st.sampled_from([*NEW, content[start:end] * 2]) | st.binary(max_size=3))
    return content[:start] + new + content[end:]


def test_all_load_as_long_as_they_are_whole(project: Path) -> None:
    for name, loaders in LOADERS.items():
        for load in loaders:
            assert what_a_user_sees(partial(load, project)) is None, name


@pytest.mark.parametrize("name", LOADERS)
def test_a_damaged_file_loads_or_is_named_in_one_line(project: Path, name: str) -> None:
    path = project / name
    whole = path.read_bytes()

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(content=damages(whole))
    def attack(content: bytes) -> None:
        path.write_bytes(content)
        for load in LOADERS[name]:
            line = what_a_user_sees(partial(load, project))
            if line is not None:
                assert len(line.splitlines()) == 1
                assert line.startswith(f"{path}: ")
                assert line.isprintable()

    try:
        attack()
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("name", [name for name, own in LOADERS.items() if read_all in own])
def test_what_git_could_not_merge_is_named_with_a_way_out(project: Path, name: str) -> None:
    path = project / name
    whole = path.read_text()
    try:
        path.write_text(f"<<<<<<< HEAD\n{whole}\n=======\n{whole}\n>>>>>>> other\n")
        line = what_a_user_sees(partial(read_all, project))
    finally:
        path.write_text(whole)
    assert line and line.startswith(f"{path}: git could not merge it; ")
    assert f"`git checkout HEAD -- {path}`" in line
