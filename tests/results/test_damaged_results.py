"""Files that users write, under attack: each loads, or is refused in one line that names it."""

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
from support.synthetic_results import FEW, card_of, table_of

from pondering.claims.claims import load_register
from pondering.results import submission

CLAIMS = Path(__file__).parents[2] / "claims.yaml"
Load = Callable[[Path], object]


def judged(root: Path) -> object:
    """As `pondering judge` reads them."""
    return submission.load([root / "parity.csv"], [root / "cards/parity.json"], "quick")


LOADERS: dict[str, Load] = {
    "parity.csv": judged,
    "cards/parity.json": judged,
    "claims.yaml": lambda root: load_register(root / "claims.yaml").claims,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small file of each kind."""
    root = tmp_path_factory.mktemp("damaged")
    table_of("parity", FEW, 1).head(3).to_csv(root / "parity.csv", index=False)
    (root / "cards").mkdir()
    (root / "cards/parity.json").write_text(json.dumps(asdict(card_of("parity"))))
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
    for name, load in LOADERS.items():
        assert what_a_user_sees(partial(load, project)) is None, name


@pytest.mark.parametrize("name", LOADERS)
def test_a_damaged_file_loads_or_is_named_in_one_line(project: Path, name: str) -> None:
    path = project / name
    whole = path.read_bytes()

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(content=damages(whole))
    def attack(content: bytes) -> None:
        path.write_bytes(content)
        line = what_a_user_sees(partial(LOADERS[name], project))
        if line is not None:
            assert len(line.splitlines()) == 1
            assert line.startswith(f"{path}: ")
            assert line.isprintable()

    try:
        attack()
    finally:
        path.write_bytes(whole)
