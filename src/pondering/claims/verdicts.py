"""From the claims and the tidy results of a profile to verdicts.

A claim names a measure, and the criteria its quantities must meet. The core criteria decide the
verdict; `MEANINGS` says how. Before them come the preconditions. Where the networks have not
learned the task, the claim is not reproduced if the task was of the paper's size, and too small to
tell if it was smaller. A part of a claim that is judged apart has its own criteria and verdict.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import pandas as pd

from pondering.claims.claims import Claim, Criterion, Outcome, PaperSize, Verdict
from pondering.claims.measures.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.measures.quantities import Quantity, quantity_text
from pondering.claims.stability import at_setting, choices
from pondering.results.results import Results
from pondering.results.units import number_text

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

MEANINGS: dict[Verdict, str] = {
    "reproduced": "every criterion holds",
    "mostly reproduced": "every core criterion holds, or nearly: its estimate meets the bound and "
    "its whole interval a weaker one; some other criterion does not hold",
    "not reproduced": "a core criterion fails: its whole interval misses the bound, or its "
    "estimate where the estimate is asked; or the networks have not learned the task at the "
    "paper's own size",
    "too small to tell": "the networks have not learned the task, which is smaller than the "
    "paper's; or the task is too easy at this size, or the sizes, seeds or data are not enough",
    "undecided": "no core criterion fails, but the interval of one lies on both sides of its "
    "bound; or runs are missing, or unfair to what is compared",
}
"""What each verdict says, for the pages."""

ANSWERS: dict[Verdict, str] = {
    "reproduced": "yes",
    "mostly reproduced": "yes",
    "not reproduced": "no",
    "too small to tell": "undecided",
    "undecided": "undecided",
}
"""What each verdict comes to in the metrics."""


@dataclass(frozen=True)
class Finding:
    """One criterion against what was measured; `apart` is the part of the claim it belongs to."""

    label: str
    measured: str
    needed: str
    outcome: Outcome
    core: bool
    apart: str = ""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and all it rests on.

    Args:
        claim: what was claimed.
        verdict: the verdict.
        reason: which criteria decided it, in a sentence.
        apart: part -> verdict and reason, of what is judged apart.
        quantities: everything that was measured, empty where nothing could be.
        findings: the criteria, one by one.
        seeds: fewest seeds behind a setting that was looked at; 0 where nothing was.
        replicas, diverged: how many replicas were looked at and how many of them diverged.
        runs: the train stages behind it, as "experiment-mechanism".
        unfinished: those of them that had not reached the end of their plan.
        sizes: experiment -> easiest and hardest difficulty evaluated.
        profile: whose results they were.
        flips: verdicts that settings about as good as the best would give, a sentence each.
    """

    claim: Claim
    verdict: Verdict
    reason: str
    apart: dict[str, tuple[Verdict, str]]
    quantities: tuple[Quantity, ...]
    findings: tuple[Finding, ...]
    seeds: int
    replicas: int
    diverged: int
    runs: tuple[str, ...]
    unfinished: tuple[str, ...]
    sizes: dict[str, tuple[float, float]]
    profile: str
    flips: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Why the verdict is so: the claim's own words for this profile, else `reason`."""
        remark = self.claim.remarks.get(self.profile)
        if not remark or remark.verdict != self.verdict or not self.quantities:
            return self.reason
        try:
            return remark.why.format_map({_key(each): _Told(each) for each in self.quantities})
        except KeyError:  # other runs, which lack a quantity that the published ones have
            return self.reason

    @property
    def cause(self) -> str:
        """What made the result so, as far as was found; "" where nothing is said."""
        remark = self.claim.remarks.get(self.profile)
        return remark.cause if remark and remark.verdict == self.verdict else ""

    @property
    def change(self) -> str:
        """What would change the verdict."""
        remark = self.claim.remarks.get(self.profile)
        if not remark or remark.verdict != self.verdict or not self.quantities:
            return _CHANGE[self.verdict]
        return remark.change


_CHANGE: dict[Verdict, str] = {
    "reproduced": "Runs of the paper's own size in which a core criterion fails.",
    "mostly reproduced": "Runs in which the criteria that do not hold do, or a core one fails.",
    "not reproduced": "Runs nearer to the paper's size and length, whose core criteria all hold.",
    "too small to tell": "Runs nearer to the paper's size and length, of as many seeds as asked.",
    "undecided": "More seeds, which narrow the interval of what is undecided, or the missing runs.",
}
"""What would change a verdict of which the claim says nothing itself."""


def _key(quantity: Quantity) -> str:
    """The name of a quantity in a sentence: letters, digits and _, its part behind `_in_`."""
    name = f"{quantity.name} in {quantity.part}" if quantity.part else quantity.name
    return re.sub(r"\W+", "_", name.lower())


class _Told:
    """A quantity in a sentence: `{}` with its interval, `{:value}` without, `{:count}` k of n."""

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def __format__(self, spec: str) -> str:
        if spec == "count":
            return f"{round(self.quantity.value * self.quantity.seeds)} of {self.quantity.seeds}"
        text = quantity_text(self.quantity)
        return text.partition(" (")[0] if spec == "value" else text


def from_seed(results: Results, first: int, repeated: int | None = None) -> Results:
    """The results of the seeds that count: see `Claim.fresh_from` and `Claim.repeated_from`."""
    if not first and repeated is None:
        return results

    def fresh(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows[rows["seed"] >= first]
        if repeated is None:
            return rows
        again = rows["seed"] >= repeated
        return rows[again | ~again.groupby([rows["mechanism"], rows["setting"]]).transform("any")]

    def kept(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        return {name: left for name, rows in tables.items() if len(left := fresh(rows))}

    return replace(
        results,
        tables=kept(results.tables),
        curves=kept(results.curves),
        exits=kept(results.exits),
        readouts=kept(results.readouts),
    )


def judge_all(claims: Sequence[Claim], results: Results) -> tuple[Judgement, ...]:
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
    for choice in choices(claim, results) if found.findings else ():
        other = _judged(claim, at_setting(results, choice))
        if other.verdict != found.verdict:
            flips.append(f"{choice.words()}: {other.verdict}.")
    return replace(found, flips=tuple(flips))


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
    return Judgement(
        claim,
        verdict,
        reason,
        parts,
        quantities,
        findings,
        min(evidence.seeds, default=0),
        sum(evidence.replicas.values()),
        sum(evidence.diverged.values()),
        tuple(evidence.runs),
        tuple(sorted(evidence.unfinished)),
        dict(evidence.sizes),
        results.profile,
    )


Decided = tuple[Verdict, str]


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


def _verdict(
    findings: Sequence[Finding], sizes: dict[str, PaperSize], evidence: Evidence
) -> Decided:
    """The verdict from the criteria, and which of them decided it."""

    def told(finding: Finding) -> str:
        label = finding.label.removeprefix(f"{finding.apart}: ")  # the part is named already
        if finding.outcome == "not measured":
            return label
        return f"{label}, {finding.measured}, where {finding.needed} is needed"

    def names(outcome: Outcome, *, core: bool | None = None) -> str:
        return "; ".join(
            told(each)
            for each in findings
            if each.outcome == outcome and (core is None or each.core == core)
        )

    if all(each.outcome == "holds" for each in findings):
        return "reproduced", "Every criterion holds."
    if failed := names("fails", core=True):
        others = names("fails", core=False)
        beside = f"; also fails: {others}" if others else ""
        less = _less(sizes, evidence)
        tried = f"Tried {less}. " if less else ""
        return "not reproduced", f"{tried}Fails: {failed}{beside}."
    if missing := names("not measured", core=True):
        lacking = "; ".join(dict.fromkeys(evidence.missing))
        return _found("undecided", lacking or f"could not be measured: {missing}")
    words: dict[str, Outcome] = {
        "undecided": "undecided", "holds nearly": "nearly", "fails": "fails",
        "not measured": "not measured",
    }  # fmt: skip
    parts = ((how, names(outcome)) for how, outcome in words.items())
    open_ = any(each.core and each.outcome == "undecided" for each in findings)
    verdict: Verdict = "undecided" if open_ else "mostly reproduced"
    return _found(verdict, "; ".join(f"{how}: {what}" for how, what in parts if what))


def _obstacle(claim: Claim, evidence: Evidence) -> Decided | None:
    """Why a claim cannot be judged on these results, whatever they say, or None."""
    profile, cards = evidence.results.profile, evidence.results.cards
    seeds = min(evidence.seeds, default=0)
    reason = None
    if profile not in claim.judged_at:
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
    sizes: dict[str, PaperSize],
    quantities: Sequence[Quantity],
) -> Decided | None:
    """The verdict by the first precondition that is not met, or None."""
    smaller = "here" if claim.own else _smaller(sizes, evidence)
    for condition in (each for each in claim.preconditions if each.apart == part):
        if not condition.learned and smaller is None:
            continue
        quantity = _named(quantities, condition.quantity)
        if quantity is None or math.isnan(quantity.value):
            if evidence.missing:
                return _found("undecided", "; ".join(dict.fromkeys(evidence.missing)))
            if not condition.learned:
                return "too small to tell", f"Could not be measured: {condition.quantity}."
            found = f"{condition.quantity} could not be measured"
        elif condition.met(quantity.value):
            continue
        else:
            value = number_text(quantity.value, quantity.unit)
            found = f"{quantity.label} {value}, {condition.words(quantity.unit)} needed"
        reason = f"{condition.because} ({found})."
        if not condition.learned:
            return "too small to tell", reason
        if smaller is not None:
            return "too small to tell", f"Not learned {smaller}: {reason}"
        return "not reproduced", f"{_trained(sizes, evidence)}: {reason}"
    return None


def _smaller(sizes: dict[str, PaperSize], evidence: Evidence) -> str | None:
    """In what the runs are smaller than the paper's, or None."""
    for name, (_, hardest) in evidence.sizes.items():
        size = sizes.get(name)
        if size and evidence.results.cards[name].stand_in:
            return "on data that stand in for the paper's"
        if size and size.difficulty is not None and hardest < size.difficulty:
            return f"at difficulties up to {hardest:g}, in the paper up to {size.difficulty:g}"
        if size and size.data and evidence.results.cards[name].source != size.data:
            return f"on {evidence.results.cards[name].source}, in the paper {size.data}"
    return None


def _less(sizes: dict[str, PaperSize], evidence: Evidence) -> str:
    """In what the runs are smaller than the paper's and shorter, "" where in neither."""
    return ", ".join(filter(None, (_smaller(sizes, evidence), _shorter(sizes, evidence))))


def _trained(sizes: dict[str, PaperSize], evidence: Evidence) -> str:
    """How long networks of the paper's size were trained, which have not learned."""
    trained = _updates(sizes, evidence)
    if not all(trained.values()):
        return "Not learned at the paper's size; without curves it is not known in how many updates"
    if shorter := _shorter(sizes, evidence):
        return f"Not reproduced {shorter}"
    return f"Not learned at the paper's size after {min(trained.values()):,.0f} updates"


def _shorter(sizes: dict[str, PaperSize], evidence: Evidence) -> str | None:
    """Within how many updates, where the paper has more, or None."""
    trained = {name: found for name, found in _updates(sizes, evidence).items() if found}
    stated = {name: size.updates for name, size in sizes.items() if size.updates}
    shares = {name: trained[name] / stated[name] for name in stated if name in trained}
    least = min(shares, key=shares.__getitem__, default=None)
    if least is None or shares[least] >= 1:
        return None
    return f"within {trained[least]:,.0f} updates (the paper: {stated[least]:,})"


def _updates(sizes: dict[str, PaperSize], evidence: Evidence) -> dict[str, float]:
    """Experiment -> the updates that all its mechanisms looked at were trained for, 0: unknown."""
    runs = [run.partition("-") for run in evidence.runs]
    return {
        experiment: evidence.common_updates(
            experiment, [mechanism for name, _, mechanism in runs if name == experiment]
        )
        for experiment in sizes
    }


def _findings(criterion: Criterion, quantities: Sequence[Quantity]) -> list[Finding]:
    """How a criterion fares, in every part that its quantity was measured in."""
    core, apart = criterion.core, criterion.apart
    return [
        Finding(
            f"{each.part}: {each.label}" if each.part else each.label,
            quantity_text(each),
            criterion.words(each.unit),
            criterion.outcome(each),
            core,
            apart,
        )
        for each in quantities
        if each.name == criterion.quantity
    ] or [Finding(criterion.quantity, "not measured", "", "not measured", core, apart)]


def _named(quantities: Sequence[Quantity], name: str) -> Quantity | None:
    return next((quantity for quantity in quantities if quantity.name == name), None)


def _found(verdict: Verdict, reason: str) -> Decided:
    return verdict, sentence(reason)


def sentence(text: str) -> str:
    """A text with a capital letter and one full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."
