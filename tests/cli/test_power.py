"""`pondering power`: what is printed, core-hours by hand, and where there is nothing to repeat."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from support.argv import refused, shown
from support.claim_cases import settled as of_steps

from pondering.claims.claims import load_register
from pondering.cli.power import lines
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.results.results import Results

ROOT = Path(__file__).parents[2]
CLAIMS = {claim.id: claim for claim in load_register(ROOT / "claims.yaml").claims}
NAME = "parity_interpolation"
RUN = f"{NAME}-pondernet"


settled = partial(of_steps, [0.1, 0.4])  # two priors


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Twelve networks of six seeds: 3600 s on two threads, and as much before."""
    found = Layout(tmp_path, "reduced")
    path = found.provenance(NAME, "pondernet")
    path.parent.mkdir(parents=True)
    record = {"wall_seconds": 3600, "threads": 2, "device": "an abacus"}
    path.write_text(json.dumps(record | {"earlier": [{"wall_seconds": 3600, "replicas": []}]}))
    return found


def printed(name: str, source: Results, layout: Layout) -> str:
    return "\n".join(lines(CLAIMS[name], source, layout, 20))


def table_of(text: str) -> dict[int, tuple[str, float, str]]:
    found = re.findall(r"(?m)^ +(\d+) +(\d+%) +([\d.,]+)(.*)$", text)
    return {int(n): (share, float(hours.replace(",", "")), note) for n, share, hours, note in found}


def test_shares_and_core_hours_of_each_number_of_seeds(layout: Layout) -> None:
    """7200 s on two threads for twelve networks: a third of a core-hour each."""
    text = printed("B5", settled((9.0,) * 6), layout)
    table = table_of(text)
    assert list(table) == [3, 5, 10, 20, 40, 80]
    for seeds, (share, hours, _) in table.items():
        # B5 reads both priors, whichever it is about; two digits are printed
        assert share == "100%" and hours == pytest.approx(2 * seeds * 14400 / 12 / 3600, rel=0.04)
    assert [
        n for n, (*_, note) in table.items() if "fewer than the claim asks for (5)" in note
    ] == [3]
    assert "First with “not reproduced” in 80% of the draws: 5 seeds of each setting, " in text
    assert "from the 6 seeds that were published" in text and "too high" in text
    assert f"{RUN} 20.0 min on an abacus" in text
    assert text == printed("B5", settled((9.0,) * 6), layout)


def test_none_where_the_verdict_is_a_toss_up(layout: Layout) -> None:
    """Three seeds settle low and three do not: their mean median stays between."""
    text = printed("B5", settled((3.0, 3.0, 3.0, 9.0, 9.0, 9.0)), layout)
    assert "partly" in text.splitlines()[1]  # a median of 6
    assert "in 80% of the draws: none up to 80 seeds." in text


def test_it_says_where_more_seeds_repeat_it_less_often(layout: Layout) -> None:
    """Of few draws the shares go up and down."""
    text = printed("B5", settled((3.0, 3.0, 3.0, 9.0, 9.0)), layout)
    shares = {n: int(share.strip("%")) for n, (share, *_) in table_of(text).items()}
    first = min(n for n, share in shares.items() if n >= 5 and share >= 80)
    later = [n for n, share in shares.items() if n > first and share < 80]
    assert later and f"draws: {first} seeds of each setting, " in text
    assert f"core-hours; with {later[-1]} in only {shares[later[-1]]}%.\n" in text


def test_where_seeds_alone_are_wanting_the_criteria_speak(layout: Layout) -> None:
    text = printed("B5", settled((3.0, 3.0, 3.0)), layout)
    assert text.splitlines()[1].endswith("Seeds of a setting: 3; 5 are needed.")
    assert "The least number of seeds left aside: reproduced. Every criterion holds." in text
    assert "First with “reproduced”" in text


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("B5", settled((3.0,) * 6, error=0.4), "not learned here"),
        ("B5", settled((3.0,) * 3, error=0.4), "The least number of seeds left aside: not learned"),
        ("B4", settled((3.0,) * 6), "not run"),
    ],
)
def test_without_a_verdict_it_says_so(
    name: str, source: Results, said: str, layout: Layout
) -> None:
    text = printed(name, source, layout)
    assert said in text and text.endswith("That is no verdict for other seeds to repeat.")
    assert not table_of(text)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"wall_seconds": 3}'])
def test_without_a_record_it_is_one_line(layout: Layout, content: str | None) -> None:
    path = layout.provenance(NAME, "pondernet")
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(UserError, match=re.escape(f"{path}: not the record of a training")):
        printed("B5", settled((9.0,) * 6), layout)


def test_an_unknown_claim_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert refused("power", "Q1").startswith("error: CLAIM: 'Q1' is unknown")


def test_the_command_reads_what_is_published_and_prints_the_lines_wrapped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("pondering.cli.power.lines", partial(lines, draws=2))
    told = shown("power", "b3", "--profile", "reduced")
    assert told.startswith("B3: ") and max(map(len, told.splitlines())) <= 80
    assert "core-hours" in told
