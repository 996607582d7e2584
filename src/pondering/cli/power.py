"""`pondering power`: how many seeds, and core-hours, repeat a published verdict."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pondering.cli import options
from pondering.params.read import load_params
from pondering.params.replica import read_variant
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.project.progress import duration

if TYPE_CHECKING:
    from pondering.claims.claims import Claim
    from pondering.results.results import Results

DRAWS = 200
ENOUGH = 0.8
NO_VERDICT = ("not run", "cannot be judged at this scale", "not learned here")


@click.command("power")
@click.argument("claim_id", metavar="CLAIM")
@options.published
@options.root
def power_command(claim_id: str, profile: str, root: Path) -> None:
    """Say how many seeds repeat the verdict on CLAIM, and what they cost.

    \b
    pondering power B5
    """
    from pondering.claims.claims import load_register
    from pondering.results.results import Results

    layout = Layout(root, load_params(root / "params.yaml", profile).profile)
    claims = {each.id: each for each in load_register(root / "claims.yaml").claims}
    if (name := claim_id.upper()) not in claims:
        raise UserError(f"CLAIM: {name!r} is unknown; allowed: {', '.join(claims)}")
    results = Results.load(root / "reports", layout.profile)
    for line in lines(claims[name], results, layout):
        wrapped = textwrap.wrap(line, options.width(), break_on_hyphens=False)
        click.echo("\n".join(wrapped))


def lines(claim: Claim, results: Results, layout: Layout, draws: int = DRAWS) -> Iterator[str]:
    """What is printed, line by line.

    Args:
        claim: what is claimed.
        results: of the profile.
        layout: where the records of its trainings lie.
        draws: of each number of seeds.

    Raises:
        UserError: the record of a training cannot be read.
    """
    from pondering.claims.power import COUNTS, by_criteria, repeated
    from pondering.claims.verdicts import judge

    published, judged = judge(claim, results), by_criteria(claim, results)
    yield f"{claim.id}: {claim.title}"
    yield f"Profile {layout.profile}: {published.verdict}. {published.reason}"
    if published.reason != judged.reason:
        yield f"The least number of seeds left aside: {judged.verdict}. {judged.reason}"
    if judged.verdict in NO_VERDICT:
        yield "That is no verdict for other seeds to repeat."
        return
    costs = {run: _cost(results, layout, run) for run in judged.runs}
    yield ""
    yield f"{'seeds':>5}  {'same verdict':>12}  {'core-hours':>10}"
    enough, later = None, ""
    for each in repeated(judged, results, draws):
        hours = sum(count * costs[_stage_of(run)][0] for run, count in each.networks.items()) / 3600
        few = each.seeds < claim.minimum_seeds
        note = f"  fewer than the claim asks for ({claim.minimum_seeds})" if few else ""
        cost = f"{hours:.2g}" if hours < 10 else f"{hours:,.0f}"
        yield f"{each.seeds:5}  {each.share:12.0%}  {cost:>10}{note}"
        if enough and each.share < ENOUGH:
            later = f"; with {each.seeds} in only {each.share:.0%}"
        if enough is None and not few and each.share >= ENOUGH:
            enough = f"{each.seeds} seeds of each setting, {cost} core-hours"
    yield ""
    yield (
        f"First with “{judged.verdict}” in {ENOUGH:.0%} of the draws: "
        f"{enough or f'none up to {COUNTS[-1]} seeds'}{later}."
    )
    yield (
        f"Each share is of {draws} draws, with replacement, from the {judged.seeds} seeds that "
        "were published. What none of these shows no draw can show, so the shares are too high, "
        "the more so the fewer were published."
    )
    parts = [f"{run} {duration(seconds)} on {device}" for run, (seconds, device) in costs.items()]
    yield (
        "Core-hours are of training alone, of every network that the claim reads, each at the "
        f"mean over its stage, where networks train in stacks: {'; '.join(parts)}."
    )


def _stage_of(run: str) -> str:
    """The train stage of a mechanism of a table, which may be a variant, of an experiment."""
    experiment, _, variant = run.partition("-")
    return f"{experiment}-{read_variant(variant)[0]}"


def _cost(results: Results, layout: Layout, run: str) -> tuple[float, str]:
    """Core-seconds of one network of a train stage, by its record, and where it ran."""
    from pondering.track.stages import seconds

    experiment, _, mechanism = run.partition("-")
    path = layout.provenance(experiment, mechanism)
    table = results.tables[experiment]
    own = table[table["mechanism"].map(lambda name: read_variant(name)[0]) == mechanism]
    networks = len(own.drop_duplicates(["mechanism", "setting", "seed"]))
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return seconds(record) * record["threads"] / networks, str(record["device"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UserError(f"{path}: not the record of a training ({problem})") from None
