"""From the claims and the tidy results of a profile to verdicts.

A claim names a measure, and the criteria its quantities must meet. The core criteria decide the
verdict; `MEANINGS` says how. Before them come the preconditions. Where the networks have not
learned the task, the claim is not reproduced if the task was of the paper's size, and too small to
tell if it was smaller. A part of a claim that is judged apart has its own criteria and verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from pondering.claims import words
from pondering.claims.claims import Claim, Criterion, Outcome, Remark, Verdict
from pondering.claims.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.frames import near_best
from pondering.claims.quantities import Quantity, quantity_text
from pondering.params.replica import read_variant, title_of
from pondering.results.results import Results
from pondering.results.tables import headline
from pondering.results.units import number_text

Decided = tuple[Verdict, str]
"""A verdict and its reason."""


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
    """A claim with its verdict and all it rests on."""

    claim: Claim
    verdict: Verdict
    reason: str  # which criteria decided it, in a sentence
    remark: Remark  # what is said of it
    apart: dict[str, Decided]  # of each part that is judged apart
    quantities: tuple[Quantity, ...]  # all that was measured, empty where nothing could be
    findings: tuple[Finding, ...]  # the criteria, one by one
    evidence: Evidence  # what was looked at
    flips: tuple[str, ...] = ()  # other verdicts that settings about as good as the best would give


def from_seed(results: Results, first: int, repeated: int | None) -> Results:
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
    """Judge one claim by a profile's results, and again with other settings where it chooses.

    What can be measured is reported even where it cannot be judged.
    """
    if claim.judged_in(results.profile):
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
    for experiment, mechanism in product(claim.experiments, claim.chooses):
        rows = headline(results.tables[experiment])
        rows = rows[rows["mechanism"] == mechanism]
        rows = rows[rows["setting"] > 1] if mechanism == "repeat" else rows
        yield from ((experiment, mechanism, each) for each in sorted(near_best(rows)[1:]))


def _at_setting(results: Results, experiment: str, mechanism: str, setting: float) -> Results:
    """The results without the other settings of a mechanism; traces and the plain network stay."""

    def keep(name: str, rows: pd.DataFrame) -> pd.DataFrame:
        others = (rows["mechanism"] == mechanism) & ~np.isclose(rows["setting"], setting)
        plain = (mechanism == "repeat") & (rows["setting"] == 1)
        return rows[~others | plain] if name == experiment else rows

    return results.filtered(keep)


def _judged(claim: Claim, results: Results) -> Judgement:
    """The verdict at the best settings."""
    evidence = Evidence(results)
    quantities: tuple[Quantity, ...] = ()
    findings: tuple[Finding, ...] = ()
    names = ["", *claim.apart]
    try:
        quantities = claim.measured_in(evidence)
    except NotRunError as problem:
        found = dict.fromkeys(names, _found("undecided", str(problem)))
    except InsufficientError as problem:
        found = dict.fromkeys(names, _found("too small to tell", str(problem)))
    else:
        findings = tuple(_findings(claim, quantities))
        found = {each: _decided(each, claim, evidence, quantities, findings) for each in names}
    verdict, reason = found.pop("")
    remark = words.remark(claim, verdict, reason, quantities)
    return Judgement(claim, verdict, reason, remark, found, quantities, findings, evidence)


def _findings(claim: Claim, quantities: Sequence[Quantity]) -> Iterator[Finding]:
    """How every criterion fares, in each task or mechanism that its quantity was measured of."""
    for name, criterion in claim.criteria.items():
        core, parts = name in claim.core, set[str]()
        for each in (each for each in quantities if each.name == name):
            apart, needed = claim.apart_of(each), criterion.words(each.unit)
            parts.add(apart)
            label = ": ".join(filter(None, (each.part, each.label)))
            fares = outcome(criterion, each)
            yield Finding(label, quantity_text(each), needed, fares, core, apart)
        for apart in ["", *(claim.apart if core else ())]:
            if apart not in parts:
                yield Finding(name, "not measured", "", "not measured", core, apart)


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


def _decided(
    apart: str,
    claim: Claim,
    evidence: Evidence,
    quantities: Sequence[Quantity],
    findings: Sequence[Finding],
) -> Decided:
    """The verdict on the claim itself, or on a part that is judged apart."""
    part_of = {experiment: part for part, experiment in claim.apart.items()}
    sizes = {name: x for name, x in claim.paper_size.items() if part_of.get(name, "") == apart}
    own = {each.name: each for each in reversed(quantities) if claim.apart_of(each) == apart}
    return (
        _obstacle(claim, evidence)
        or _unmet(claim, evidence, sizes, own)
        or _verdict([each for each in findings if each.apart == apart], sizes, evidence)
    )


def _obstacle(claim: Claim, evidence: Evidence) -> Decided | None:
    """Why a claim cannot be judged on these results, whatever they say, or None."""
    cards, seeds = evidence.results.cards, evidence.fewest_seeds
    reason = None
    if not claim.judged_in(evidence.results.profile):
        reason = f"Judged from {claim.judged_from} on."
    elif claim.judged_from != "quick" and any(cards[name].stand_in for name in evidence.sizes):
        reason = "The claim is about real data, not about a stand-in."
    elif seeds < claim.minimum_seeds:
        reason = f"Seeds of a setting: {seeds}; {claim.minimum_seeds} are needed."
    return ("too small to tell", reason) if reason else None


def _unmet(
    claim: Claim, evidence: Evidence, sizes: words.Sizes, quantities: Mapping[str, Quantity]
) -> Decided | None:
    """The verdict by the first precondition that is not met, or None."""
    smaller = "here" if claim.ours else words.smaller(sizes, evidence)
    asked = [(False, each) for each in claim.hard.items() if smaller]
    asked += [(True, each) for each in claim.learned.items()]
    for learned, (name, condition) in asked:
        quantity = quantities.get(name)
        if quantity and condition.met(quantity.value):
            continue
        if quantity and not math.isnan(quantity.value):
            unit = quantity.unit
            value, needed = number_text(quantity.value, unit), condition.words(unit)
            found = f"{quantity.label}, {value}, where {needed} is needed."
        elif evidence.missing:
            return _missing(evidence)
        elif not learned:
            return "too small to tell", f"Could not be measured: {name}."
        else:
            found = f"{name} could not be measured."
        if smaller:
            why = "Not learned" if learned else "Too easy"
            return "too small to tell", f"{why} {smaller}: {found}"
        return "not reproduced", f"{words.not_learned(sizes, evidence)}: {found}"
    return None


def _verdict(findings: Sequence[Finding], sizes: words.Sizes, evidence: Evidence) -> Decided:
    """The verdict from the criteria, and which of them decided it."""
    core = [each for each in findings if each.core]
    further = [each for each in findings if not each.core]

    def names(outcome: Outcome, among: Sequence[Finding]) -> str:
        return "; ".join(str(each) for each in among if each.outcome == outcome)

    if all(each.outcome == "holds" for each in findings):
        return "reproduced", "Every criterion holds."
    if failed := names("fails", core):
        others = names("fails", further)
        beside = f"; also fails: {others}" if others else ""
        less = filter(None, (words.smaller(sizes, evidence), words.shorter(sizes, evidence)))
        tried = ", ".join(less)
        return "not reproduced", f"{f'Tried {tried}. ' if tried else ''}Fails: {failed}{beside}."
    if missing := names("not measured", core):
        if evidence.missing:
            return _missing(evidence)
        return _found("undecided", f"could not be measured: {missing}")
    parts = {said: names(how, findings) for how, said in words.FARES.items()}
    reason = "; ".join(f"{said}: {text}" for said, text in parts.items() if text)
    return _found("undecided" if names("undecided", core) else "mostly reproduced", reason)


def _missing(evidence: Evidence) -> Decided:
    return _found("undecided", "; ".join(dict.fromkeys(evidence.missing)))


def _found(verdict: Verdict, reason: str) -> Decided:
    return verdict, words.sentence(reason)
