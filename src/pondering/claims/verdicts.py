"""From the claims and the tidy results of a profile to verdicts.

A claim names a measure, and the criteria its quantities must meet. The verdict follows from the
criteria alone: reproduced if all hold, not reproduced if a core criterion fails, partly otherwise.
Before them come the preconditions. Where the networks have not learned the task, the claim is not
reproduced if the task was of the paper's size, and was not learned here if it was smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pondering.claims.bounds import WHOLE, Criterion, Outcome
from pondering.claims.claims import Claim
from pondering.claims.measures import MEASURES
from pondering.claims.measures.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.measures.quantities import Quantity, number_text, quantity_text
from pondering.results.results import Results

Verdict = Literal[
    "reproduced",
    "partly",
    "not reproduced",
    "not learned here",
    "cannot be judged at this scale",
    "not run",
]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

MEANINGS: dict[Verdict, str] = {
    "reproduced": "every criterion holds",
    "partly": "no core criterion fails in its weaker form, which is asked of the estimate alone, "
    "but not every criterion holds; one is undecided where its whole interval must meet a bound "
    "and the estimate alone does",
    "not reproduced": "a core criterion fails even in its weaker form, or the networks have not "
    "learned the task at the paper's own size",
    "not learned here": "the networks have not learned the task, which is smaller than the "
    "paper's, or on stand-in data",
    "cannot be judged at this scale": "the task is too easy at this size, or the sizes, settings, "
    "seeds or data that the claim needs are not there",
    "not run": "the runs that the claim is about do not exist",
}
"""What each verdict says, for the pages."""


@dataclass(frozen=True)
class Finding:
    """One criterion against what was measured."""

    label: str
    measured: str
    needed: str
    outcome: Outcome
    core: bool


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and all it rests on.

    Args:
        claim: what was claimed.
        verdict: the verdict.
        reason: why, in a sentence.
        quantities: everything that was measured, empty where nothing could be.
        findings: the criteria, one by one.
        seeds: fewest seeds behind a setting that was looked at; 0 where nothing was.
        replicas, diverged: how many replicas were looked at and how many of them diverged.
        runs: the train stages behind it, as "experiment-mechanism".
        unfinished: those of them that had not reached the end of their plan.
        sizes: experiment -> easiest and hardest difficulty evaluated.
    """

    claim: Claim
    verdict: Verdict
    reason: str
    quantities: tuple[Quantity, ...]
    findings: tuple[Finding, ...]
    seeds: int
    replicas: int
    diverged: int
    runs: tuple[str, ...]
    unfinished: tuple[str, ...]
    sizes: dict[str, tuple[float, float]]


def judge_all(claims: Sequence[Claim], results: Results) -> tuple[Judgement, ...]:
    """Judge every claim against the results of one profile, in the order given."""
    return tuple(judge(claim, results) for claim in claims)


def judge(claim: Claim, results: Results) -> Judgement:
    """Judge one claim.

    Args:
        claim: what is claimed, with every threshold.
        results: the tables, curves, traces and cards of one profile.

    Returns:
        The verdict with estimates, intervals, seeds and runs. What can be measured is reported
        even where it cannot be judged.
    """
    return weigh(claim, Evidence(results))


def weigh(claim: Claim, evidence: Evidence) -> Judgement:
    """Judge one claim by evidence that nothing was asked of yet; see `judge`."""
    try:
        quantities = tuple(MEASURES[claim.measure](evidence, **claim.arguments))
    except NotRunError as problem:
        return _judgement(claim, evidence, "not run", sentence(str(problem)))
    except InsufficientError as problem:
        reason = sentence(str(problem))
        return _judgement(claim, evidence, "cannot be judged at this scale", reason)
    findings = tuple(_finding(c, _named(quantities, c.quantity)) for c in claim.criteria)
    verdict, reason = (
        _obstacle(claim, evidence)
        or _unmet(claim, evidence, quantities)
        or _unmeasured(findings, evidence)
        or _verdict(findings, claim, evidence)
    )
    return _judgement(claim, evidence, verdict, reason, quantities, findings)


def _verdict(findings: Sequence[Finding], claim: Claim, evidence: Evidence) -> tuple[Verdict, str]:
    """The verdict from the criteria, and which of them decided it."""

    def told(finding: Finding) -> str:
        if finding.outcome == "not measured":
            return finding.label
        needed = finding.needed.removesuffix(WHOLE)
        return f"{finding.label}, {finding.measured}, where {needed} is needed"

    def names(outcome: Outcome, *, core: bool | None = None) -> str:
        return "; ".join(
            told(each)
            for each in findings
            if each.outcome == outcome and (core is None or each.core == core)
        )

    if all(each.outcome == "holds" for each in findings):
        return "reproduced", "Every criterion holds."
    if missing := names("not measured", core=True):
        return "cannot be judged at this scale", f"Could not be measured: {missing}."
    if failed := names("fails", core=True):
        others = names("fails", core=False)
        beside = f"; also fails: {others}" if others else ""
        less = _less(claim, evidence)
        tried = f"Tried {less}. " if less else ""
        return "not reproduced", f"{tried}Fails: {failed}{beside}."
    words: dict[str, Outcome] = {
        "holds only partly": "partly", "undecided": "undecided", "fails": "fails",
        "not measured": "not measured",
    }  # fmt: skip
    parts = ((how, names(outcome)) for how, outcome in words.items())
    return "partly", sentence("; ".join(f"{how}: {what}" for how, what in parts if what))


def _unmeasured(findings: Sequence[Finding], evidence: Evidence) -> tuple[Verdict, str] | None:
    """What was not there, where the verdict hangs on it, or None.

    A criterion that is not core decides only where all others hold.
    """
    unmeasured = [each for each in findings if each.outcome == "not measured"]
    if not evidence.missing or not unmeasured:
        return None
    others = {each.outcome for each in findings} - {"not measured"}
    if any(each.core for each in unmeasured) or others <= {"holds"}:
        return "not run", sentence("; ".join(dict.fromkeys(evidence.missing)))
    return None


def _obstacle(claim: Claim, evidence: Evidence) -> tuple[Verdict, str] | None:
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
    return ("cannot be judged at this scale", reason) if reason else None


def _unmet(
    claim: Claim, evidence: Evidence, quantities: Sequence[Quantity]
) -> tuple[Verdict, str] | None:
    """The verdict by the first precondition that is not met, or None."""
    smaller = _smaller(claim, evidence)
    for condition in claim.preconditions:
        if not condition.learned and smaller is None:
            continue
        quantity = _named(quantities, condition.quantity)
        if quantity is None or math.isnan(quantity.value):
            if not condition.learned:
                reason = f"Could not be measured: {condition.quantity}."
                return "cannot be judged at this scale", reason
            found = f"{condition.quantity} could not be measured"
        elif condition.met(quantity.value):
            continue
        else:
            value = number_text(quantity.value, quantity.unit)
            found = f"{quantity.label} {value}, {condition.words(quantity.unit)} needed"
        reason = f"{condition.because} ({found})."
        if not condition.learned:
            return "cannot be judged at this scale", reason
        if smaller is not None:
            return "not learned here", f"Not learned {smaller}: {reason}"
        return "not reproduced", f"{_trained(claim, evidence)}: {reason}"
    return None


def _smaller(claim: Claim, evidence: Evidence) -> str | None:
    """In what the runs are smaller than the paper's, or None."""
    for name, (_, hardest) in evidence.sizes.items():
        size = claim.paper_size.get(name)
        if size and evidence.results.cards[name].stand_in:
            return "on data that stand in for the paper's"
        if size and size.difficulty is not None and hardest < size.difficulty:
            return f"at difficulties up to {hardest:g}, in the paper up to {size.difficulty:g}"
        if size and size.data and evidence.results.cards[name].source != size.data:
            return f"on {evidence.results.cards[name].source}, in the paper {size.data}"
    return None


def _less(claim: Claim, evidence: Evidence) -> str:
    """In what the runs are smaller than the paper's and shorter, "" where in neither."""
    return ", ".join(filter(None, (_smaller(claim, evidence), _shorter(claim, evidence))))


def _trained(claim: Claim, evidence: Evidence) -> str:
    """How long networks of the paper's size were trained, which have not learned."""
    trained = _updates(claim, evidence)
    if not all(trained.values()):
        return "Not learned at the paper's size; without curves it is not known in how many updates"
    if shorter := _shorter(claim, evidence):
        return f"Not reproduced {shorter}"
    return f"Not learned at the paper's size after {min(trained.values()):,.0f} updates"


def _shorter(claim: Claim, evidence: Evidence) -> str | None:
    """Within how many updates, where the paper has more, or None."""
    trained = {name: found for name, found in _updates(claim, evidence).items() if found}
    stated = {name: size.updates for name, size in claim.paper_size.items() if size.updates}
    shares = {name: trained[name] / stated[name] for name in stated if name in trained}
    least = min(shares, key=shares.__getitem__, default=None)
    if least is None or shares[least] >= 1:
        return None
    return f"within {trained[least]:,.0f} updates (the paper: {stated[least]:,})"


def _updates(claim: Claim, evidence: Evidence) -> dict[str, float]:
    """Experiment -> the updates that all its mechanisms looked at were trained for, 0: unknown."""
    runs = [run.partition("-") for run in evidence.runs]
    return {
        experiment: evidence.common_updates(
            experiment, *(mechanism for name, _, mechanism in runs if name == experiment)
        )
        for experiment in claim.paper_size
    }


def _judgement(
    claim: Claim,
    evidence: Evidence,
    verdict: Verdict,
    reason: str,
    quantities: tuple[Quantity, ...] = (),
    findings: tuple[Finding, ...] = (),
) -> Judgement:
    return Judgement(
        claim,
        verdict,
        reason,
        quantities,
        findings,
        min(evidence.seeds, default=0),
        sum(evidence.replicas.values()),
        sum(evidence.diverged.values()),
        tuple(evidence.runs),
        tuple(sorted(evidence.unfinished)),
        dict(evidence.sizes),
    )


def _finding(criterion: Criterion, quantity: Quantity | None) -> Finding:
    if quantity is None:
        return Finding(criterion.quantity, "not measured", "", "not measured", criterion.core)
    measured, needed = quantity_text(quantity), criterion.words(quantity.unit)
    outcome = criterion.outcome(quantity)
    return Finding(quantity.label, measured, needed, outcome, criterion.core)


def _named(quantities: Sequence[Quantity], name: str) -> Quantity | None:
    return next((quantity for quantity in quantities if quantity.name == name), None)


def sentence(text: str) -> str:
    """A text with a capital letter and one full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."
