"""From the claims and the tidy results of a profile to verdicts.

A claim names a measure, and the criteria its quantities must meet. The core criteria decide the
verdict; `MEANINGS` says how. Before them come the preconditions. Where the networks have not
learned the task, the claim is not reproduced if the task was of the paper's size, and too small to
tell if it was smaller. A part of a claim that is judged apart has its own criteria and verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from pondering.claims import words
from pondering.claims.claims import Claim, Criterion, Outcome, Verdict
from pondering.claims.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.frames import best, by, near_best
from pondering.claims.quantities import Quantity, quantity_text
from pondering.params.replica import read_variant, title_of
from pondering.results.results import Results
from pondering.results.tables import headline
from pondering.results.units import number_text


@dataclass(frozen=True)
class Finding:
    """One criterion against what was measured; `apart` is the part of the claim it belongs to."""

    label: str
    measured: str
    needed: str
    outcome: Outcome
    core: bool
    apart: str = ""

    def __str__(self) -> str:
        label = self.label.removeprefix(f"{self.apart}: ")  # the part is named already
        if self.outcome == "not measured":
            return label
        return f"{label}, {self.measured}, where {self.needed} is needed"


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and all it rests on.

    Args:
        claim: what was claimed.
        verdict: the verdict.
        reason: which criteria decided it, in a sentence.
        why, change, cause: what is said of it; see `Remark`.
        apart: part -> verdict and reason, of what is judged apart.
        quantities: everything that was measured, empty where nothing could be.
        findings: the criteria, one by one.
        seeds, most_seeds: fewest and most seeds behind a setting that was looked at; 0 where
            nothing was.
        replicas, diverged: how many replicas were looked at and how many of them diverged.
        runs: the train stages behind it, as "experiment-mechanism".
        unfinished: those of them that had not reached the end of their plan.
        sizes: experiment -> easiest and hardest difficulty evaluated.
        flips: verdicts that settings about as good as the best would give, a sentence each.
    """

    claim: Claim
    verdict: Verdict
    reason: str
    why: str
    change: str
    cause: str
    apart: dict[str, tuple[Verdict, str]]
    quantities: tuple[Quantity, ...]
    findings: tuple[Finding, ...]
    seeds: int
    most_seeds: int
    replicas: int
    diverged: int
    runs: tuple[str, ...]
    unfinished: tuple[str, ...]
    sizes: dict[str, tuple[float, float]]
    flips: tuple[str, ...] = ()


def from_seed(results: Results, first: int, repeated: int | None = None) -> Results:
    """The results of the seeds that count: see `Claim.fresh_from` and `Claim.repeated_from`."""
    if not first and repeated is None:
        return results

    def fresh(_: str, rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows[rows["seed"] >= first]
        if repeated is None:
            return rows
        again = rows["seed"] >= repeated
        return rows[again | ~again.groupby([rows["mechanism"], rows["setting"]]).transform("any")]

    return results.filtered(fresh)


def judge_all(claims: Iterable[Claim], results: Results) -> tuple[Judgement, ...]:
    """Judge every claim against the results of one profile, in the order given."""
    return tuple(judge(claim, results) for claim in claims)


def judge(claim: Claim, results: Results) -> Judgement:
    """Judge one claim, and again with other settings where it chooses the best.

    Args:
        claim: what is claimed, with every threshold.
        results: the tables, curves, traces and cards of one profile.

    Returns:
        The verdict with estimates, intervals, seeds and runs. What can be measured is reported
        even where it cannot be judged.
    """
    if results.profile in claim.judged_at:
        results = from_seed(results, claim.fresh_from, claim.repeated_from)
    found = _judged(claim, results)
    flips = []
    for experiment, mechanism, setting in _as_good(claim, results) if found.findings else ():
        other = _judged(claim, _at_setting(results, experiment, mechanism, setting)).verdict
        if other != found.verdict:
            chosen = f"{title_of(read_variant(mechanism)[0])} at {setting:g}"
            flips.append(f"With {chosen}, as good within one standard error: {other}.")
    return replace(found, flips=tuple(flips))


def _as_good(claim: Claim, results: Results) -> Iterator[tuple[str, str, float]]:
    """Settings whose mean error is within one standard error of the lowest, one at a time.

    A verdict should not hang on which of them is chosen.

    Yields:
        Experiment, mechanism as tables write it, and setting; none where the claim chooses none.
    """
    for experiment, mechanism in product(claim.paper_size, claim.chooses):
        rows = headline(results.tables[experiment])
        rows = rows[rows["mechanism"] == mechanism]
        errors = by(rows[rows["setting"] > 1] if mechanism == "repeat" else rows, "error")
        others = (each for each in near_best(errors) if each != best(errors))
        yield from ((experiment, mechanism, each) for each in others)


def _at_setting(results: Results, experiment: str, mechanism: str, setting: float) -> Results:
    """The results without the other settings of a mechanism; traces and the plain network stay."""

    def kept(name: str, rows: pd.DataFrame) -> pd.DataFrame:
        own = (rows["mechanism"] == mechanism) & ~np.isclose(rows["setting"], setting)
        plain = (mechanism == "repeat") & (rows["setting"] == 1)
        return rows[~own | plain] if name == experiment else rows

    return results.filtered(kept)


Decided = tuple[Verdict, str]


def _judged(claim: Claim, results: Results) -> Judgement:
    """The verdict at the best settings."""
    evidence = Evidence(results)
    quantities: tuple[Quantity, ...] = ()
    findings: tuple[Finding, ...] = ()
    try:
        quantities = claim.measured_in(evidence)
    except NotRunError as problem:
        parts = dict.fromkeys(claim.parts, _found("undecided", str(problem)))
    except InsufficientError as problem:
        parts = dict.fromkeys(claim.parts, _found("too small to tell", str(problem)))
    else:
        findings = tuple(f for each in claim.criteria for f in _findings(each, quantities))
        parts = {
            each: _of_part(each, claim, evidence, quantities, findings) for each in claim.parts
        }
    verdict, reason = parts.pop("")
    told = words.remark(claim, results.profile, verdict, reason, quantities)
    return Judgement(
        claim=claim,
        verdict=verdict,
        reason=reason,
        why=told.why,
        change=told.change,
        cause=told.cause,
        apart=parts,
        quantities=quantities,
        findings=findings,
        seeds=min(evidence.seeds, default=0),
        most_seeds=max(evidence.seeds, default=0),
        replicas=sum(evidence.replicas.values()),
        diverged=sum(evidence.diverged.values()),
        runs=tuple(evidence.runs),
        unfinished=tuple(sorted(evidence.unfinished)),
        sizes=evidence.sizes,
    )


def _findings(criterion: Criterion, quantities: Sequence[Quantity]) -> list[Finding]:
    """How a criterion fares, in every part that its quantity was measured in."""
    core, apart = criterion.core, criterion.apart
    return [
        Finding(
            f"{each.part}: {each.label}" if each.part else each.label,
            quantity_text(each),
            criterion.words(each.unit),
            outcome(criterion, each),
            core,
            apart,
        )
        for each in quantities
        if each.name == criterion.quantity
    ] or [Finding(criterion.quantity, "not measured", "", "not measured", core, apart)]


def outcome(criterion: Criterion, quantity: Quantity) -> Outcome:
    """How a measured quantity fares.

    Returns:
        By estimate: holds or fails. By interval: it holds where the whole interval meets the
        bound, and fails where the whole interval misses it. Between these it is nearly met where
        the estimate meets the bound and the whole interval the weaker bound; else it is undecided.
    """
    if math.isnan(quantity.value):
        return "not measured"
    met = criterion.met(quantity.value)
    if criterion.by == "estimate":
        return "holds" if met else "fails"
    if quantity.low is None or quantity.high is None:
        return "undecided"
    if criterion.met(quantity.low) and criterion.met(quantity.high):
        return "holds"
    if quantity.high < criterion.at_least or quantity.low > criterion.at_most:
        return "fails"
    least, most = criterion.weaker()
    return "nearly" if met and least <= quantity.low and quantity.high <= most else "undecided"


def _of_part(
    part: str,
    claim: Claim,
    evidence: Evidence,
    quantities: Sequence[Quantity],
    findings: Sequence[Finding],
) -> Decided:
    """The verdict on the claim itself, or on a part that is judged apart."""
    sizes = {name: size for name, size in claim.paper_size.items() if size.apart == part}
    unfair = "" if part else claim.undecided_at.get(evidence.results.profile, "")
    return (
        _obstacle(claim, evidence)
        or _unmet(part, claim, evidence, sizes, quantities)
        or (_found("undecided", unfair) if unfair else None)
        or _verdict([each for each in findings if each.apart == part], sizes, evidence)
    )


def _obstacle(claim: Claim, evidence: Evidence) -> Decided | None:
    """Why a claim cannot be judged on these results, whatever they say, or None."""
    cards, seeds = evidence.results.cards, min(evidence.seeds, default=0)
    reason = None
    if evidence.results.profile not in claim.judged_at:
        reason = f"Judged from {claim.judged_at[0]} on: {claim.scale_reason}"
    elif claim.real_data and any(cards[name].stand_in for name in evidence.sizes):
        reason = f"The data are a stand-in: {claim.scale_reason}"
    elif seeds < claim.minimum_seeds:
        reason = f"Seeds of a setting: {seeds}; {claim.minimum_seeds} are needed."
    return ("too small to tell", reason) if reason else None


def _unmet(
    part: str,
    claim: Claim,
    evidence: Evidence,
    sizes: words.Sizes,
    quantities: Sequence[Quantity],
) -> Decided | None:
    """The verdict by the first precondition that is not met, or None."""
    smaller = "here" if claim.own else words.smaller(sizes, evidence)
    for condition in claim.preconditions:
        if condition.apart != part or not (condition.learned or smaller):
            continue
        quantity = next((each for each in quantities if each.name == condition.quantity), None)
        if quantity is None or math.isnan(quantity.value):
            if evidence.missing:
                return _missing(evidence)
            if not condition.learned:
                return "too small to tell", f"Could not be measured: {condition.quantity}."
            found = f"{condition.quantity} could not be measured."
        elif condition.met(quantity.value):
            continue
        else:
            value, unit = number_text(quantity.value, quantity.unit), quantity.unit
            missed = Finding(quantity.label, value, condition.words(unit), "fails", False, part)
            found = f"{missed}."
        if not condition.learned:
            return "too small to tell", f"Too easy {smaller}: {found}"
        if smaller:
            return "too small to tell", f"Not learned {smaller}: {found}"
        return "not reproduced", f"{words.not_learned(sizes, evidence)}: {found}"
    return None


def _verdict(findings: Sequence[Finding], sizes: words.Sizes, evidence: Evidence) -> Decided:
    """The verdict from the criteria, and which of them decided it."""

    def names(outcome: Outcome, *, core: bool) -> str:
        return "; ".join(str(f) for f in findings if f.outcome == outcome and f.core == core)

    if all(each.outcome == "holds" for each in findings):
        return "reproduced", "Every criterion holds."
    if failed := names("fails", core=True):
        others = names("fails", core=False)
        beside = f"; also fails: {others}" if others else ""
        less = filter(None, (words.smaller(sizes, evidence), words.shorter(sizes, evidence)))
        tried = ", ".join(less)
        return "not reproduced", f"{f'Tried {tried}. ' if tried else ''}Fails: {failed}{beside}."
    if missing := names("not measured", core=True):
        if evidence.missing:
            return _missing(evidence)
        return _found("undecided", f"could not be measured: {missing}")
    open_ = any(each.core and each.outcome == "undecided" for each in findings)
    reason = words.outcomes((each.outcome, str(each)) for each in findings)
    return _found("undecided" if open_ else "mostly reproduced", reason)


def _missing(evidence: Evidence) -> Decided:
    return _found("undecided", "; ".join(dict.fromkeys(evidence.missing)))


def _found(verdict: Verdict, reason: str) -> Decided:
    return verdict, words.sentence(reason)
