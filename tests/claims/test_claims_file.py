"""claims.yaml itself: what is refused and how, and the table in the terminal."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from claim_cases import CASES
from click.testing import CliRunner

from pondering.claims.claims import Claim, load_claims
from pondering.claims.verdicts import judge_all
from pondering.cli.claims import terminal_table
from pondering.params.read import load_params
from pondering.project.errors import UserError

ROOT = Path(__file__).parents[2]
CLAIMS = load_claims(ROOT / "claims.yaml")


BAD = {
    "claims.G1: unknown key 'x'": (
        "title: ACT solves parity",
        "x: 1\n    title: ACT solves parity",
    ),
    "claims.G1: measure 'guess'": ("measure: error_with_and_without", "measure: guess"),
    "claims.G1": ("solved_below: 0.05}", "solved_blow: 0.05}"),
    "claims.G1.criteria.0.at_least": ("at_least: 0.30, partly: 0.20", "at_least: high"),
    "claims.G1.criteria.0": ("at_least: 0.30, partly: 0.20", "at_least: 0.30, partly: 0.40"),
    "claims.G1.judged_at.0": ("judged_at: [reduced, paper]", "judged_at: [huge]"),
    "claims.G1.minimum_seeds": ("minimum_seeds: 3", "minimum_seeds: 0"),
    "claims: id 'G1' is given twice": ("- id: G2", "- id: G1"),
    "not valid YAML": ("claims:\n", "claims: [\n"),
}


@pytest.mark.parametrize("said", BAD)
def test_a_malformed_claim_is_one_line_with_file_key_and_remedy(said: str, tmp_path: Path) -> None:
    old, new = BAD[said]
    text = (ROOT / "claims.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "claims.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as problem:
        load_claims(path)
    message = str(problem.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert said.split(":")[0].split(" ")[0] in message
    assert any(word in message for word in ("allowed", "must", "give", "twice", "YAML", "exactly"))


def test_a_missing_file_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load_claims(tmp_path / "claims.yaml")


def test_every_claim_has_its_own_words() -> None:
    def words(claim: Claim) -> set[str]:
        return {claim.statement, claim.title, claim.scale_reason, claim.measured}

    texts = [words(claim) for claim in CLAIMS]
    assert all(len(each) == 4 and all(each) for each in texts)


def test_the_cost_of_a_constant_n_is_said_as_long_as_it_is_one() -> None:
    (claim,) = (claim for claim in CLAIMS if claim.id == "B3")
    constant = [
        load_params(ROOT / "params.yaml", profile).experiments["parity_interpolation"]
        for profile in claim.judged_at
    ]
    assert all(config.mechanism("pondernet").own["epsilon"] is None for config in constant)
    for words in ("constant N", "the claim cannot hold", "pondernet.epsilon"):
        assert words in claim.measured


def test_the_terminal_table_holds_every_claim_within_its_width() -> None:
    judgements = judge_all(CLAIMS, CASES["G1"][0])
    text = terminal_table(judgements, "reduced", 100)
    lines = CliRunner().invoke(_echo(text)).output.splitlines()
    assert [line.split()[0] for line in lines if line[:1] in set("GBMF")] == [
        claim.id for claim in CLAIMS
    ]
    assert max(map(len, lines)) <= 100
    assert "1 reproduced" in lines[-1] and "17" not in lines[0]


def _echo(text: str) -> click.Command:
    """A command that prints, so that click takes the colours off as it does in a pipe."""
    return click.command()(lambda: click.echo(text))
