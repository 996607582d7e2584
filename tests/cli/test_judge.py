"""`pondering judge`: verdicts on a user's tables, in the words of `pondering claims`."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from support.argv import output, refusal
from support.claim_cases import CASES
from support.published import REGISTER, ROOT
from support.synthetic_results import card_of

from pondering.claims.verdicts import judge
from pondering.cli.claims_text import full
from pondering.results.results import Results

IDS = [claim.id for claim in REGISTER.claims]
MISSING = "Not judged, for what is missing:"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the claims alone."""
    shutil.copy(ROOT / "claims.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def write_tables(folder: Path, source: Results) -> list[str]:
    """Write tables and their cards; returns them as arguments of the command."""
    words = []
    for name, table in source.tables.items():
        table.to_csv(folder / f"my-{name}.csv", index=False)
        card = replace(card_of(name), stand_in=False)
        (folder / f"{name}.json").write_text(json.dumps(asdict(card)))
        words += [f"my-{name}.csv", "--card", f"{name}.json"]
    return words


def parse(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The blocks of the judged claims and the lines about the others, by id."""
    _, *blocks = text.strip().split("\n\n")
    lines = blocks.pop().splitlines()[1:] if blocks[-1].startswith(MISSING) else []
    return {each.split()[0]: each for each in blocks}, {each.split()[0]: each for each in lines}


def test_a_published_folder_gets_its_published_verdicts(project: Path) -> None:
    """The folder has two of the published experiments; remarks are of the published runs alone."""
    reduced = ROOT / "reports/reduced"
    for kind in ("tables", "cards", "traces"):
        (project / "mine" / kind).mkdir(parents=True)
        for path in (*reduced.glob(f"{kind}/logic.*"), *reduced.glob(f"{kind}/mnist.*")):
            shutil.copy(path, project / "mine" / kind)
    shutil.copytree(reduced / "curves/logic", project / "mine/curves/logic")
    text = output("judge", "mine", "--profile", "reduced")
    blocks, missing = parse(text)
    assert sorted([*blocks, *missing]) == sorted(IDS)
    assert text.startswith(f"{len(blocks)} of {len(IDS)} claims can be judged from ")
    published = json.loads((reduced / "claims.json").read_text())["claims"]
    verdicts = {each["id"]: each["verdict"] for each in published}
    assert {*blocks} == {"G4", "G5", "M1"}
    for name, block in blocks.items():
        assert re.match(rf"{name} +{verdicts[name]} ", block)
        remark = REGISTER.claims[IDS.index(name)].remark
        assert remark and remark.change not in " ".join(block.split())


@pytest.mark.parametrize("name", ["G1", "M2"])
def test_a_table_and_its_card_decide_their_claims(project: Path, name: str) -> None:
    source = CASES[name][0]
    blocks, missing = parse(output("judge", *write_tables(project, source)))
    wanted = judge(REGISTER.claims[IDS.index(name)], replace(source, curves={}, traces={}))
    assert wanted.verdict == "reproduced"
    changes = REGISTER.changes_of(name)
    assert re.sub(r"\x1b\[\d+m", "", full(wanted, changes)) == blocks[name]
    assert sorted([*blocks, *missing]) == sorted(IDS)
    assert missing["G9"] == "G9  Wikipedia has not been run."


def test_the_document_names_the_claims_that_need_more_than_a_table() -> None:
    text = " ".join((ROOT / "docs/library.md").read_text(encoding="utf-8").split())
    sentence = re.search(r"card are enough for every verdict but those of (\w+) and (\w+)", text)
    undecided = [
        claim.id
        for claim in REGISTER.claims
        if not claim.ours
        and judge(claim, replace(CASES[claim.id][0], curves={}, traces={})).verdict == "undecided"
    ]
    assert sentence and sorted(sentence.groups()) == sorted(undecided)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("my-parity.csv",), "my-parity.csv: no data card of 'parity'"),
        (("other.csv", "--card", "other.json"), "other.csv: no claim is about 'other'; they are"),
    ],
)
def test_a_table_that_cannot_be_judged_is_one_error_line(
    project: Path, words: tuple[str, ...], expected: str
) -> None:
    write_tables(project, CASES["G1"][0])
    table = CASES["G1"][0].tables["parity"].assign(experiment="other")
    table.to_csv(project / "other.csv", index=False)
    shutil.copy(project / "parity.json", project / "other.json")
    assert refusal("judge", *words).startswith(f"error: {expected}")
