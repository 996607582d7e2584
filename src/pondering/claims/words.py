"""What verdicts mean, and the sentences that are said of one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import get_args

from pondering.claims.claims import Claim, Outcome, PaperSize, Remark, Verdict
from pondering.claims.evidence import Evidence
from pondering.claims.quantities import Quantity, in_words, plain_estimate

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

FARES: dict[Outcome, str] = {
    "undecided": "undecided",
    "nearly": "holds nearly",
    "fails": "fails",
    "not measured": "not measured",
}
"""How criteria fare that do not hold, in the order in which a reason names them."""

CHANGE: dict[Verdict, str] = {
    "reproduced": "Runs of the paper's own size in which a core criterion fails.",
    "mostly reproduced": "Runs in which the criteria that do not hold do, or a core one fails.",
    "not reproduced": "Runs nearer to the paper's size and length, whose core criteria all hold.",
    "too small to tell": "Runs nearer to the paper's size and length, of as many seeds as asked.",
    "undecided": "More seeds, which narrow the interval of what is undecided, or the missing runs.",
}
"""What would change a verdict of which the claim says nothing itself."""


def remark(claim: Claim, verdict: Verdict, reason: str, quantities: Sequence[Quantity]) -> Remark:
    """What is said of a verdict: the claim's remark, if it is on this one, else `reason`."""
    written = claim.remark
    if not written or written.verdict != verdict or not quantities:
        return Remark(verdict=verdict, why=reason, change=CHANGE[verdict])
    estimates = [plain_estimate(each) for each in quantities]
    try:
        why = re.sub(r"{(.+?)}", lambda found: in_words(found[1], estimates), written.why)
    except LookupError:  # other runs, which lack a quantity that the published ones have
        why = reason
    return written.model_copy(update={"why": why})


Sizes = Mapping[str, PaperSize]


def smaller(sizes: Sizes, evidence: Evidence) -> str:
    """In what the runs are smaller than the paper's, "" where in nothing."""
    for name, (_, hardest) in evidence.sizes.items():
        size, card = sizes.get(name), evidence.results.cards[name]
        if size and card.stand_in:
            return "on data that stand in for the paper's"
        if size and size.difficulty is not None and hardest < size.difficulty:
            return f"at difficulties up to {hardest:g}, in the paper up to {size.difficulty:g}"
        if size and size.data and card.source != size.data:
            return f"on {card.source}, in the paper {size.data}"
    return ""


def shorter(sizes: Sizes, evidence: Evidence) -> str:
    """Within how many updates, where the paper has more; "" where it does not, or as is known."""
    shares = {
        updates / size.updates: (updates, size.updates)
        for name, updates in _updates(sizes, evidence).items()
        if updates and (size := sizes[name]).updates
    }
    if not shares or min(shares) >= 1:
        return ""
    updates, paper = shares[min(shares)]
    return f"within {updates:,.0f} updates (the paper: {paper:,})"


def not_learned(sizes: Sizes, evidence: Evidence) -> str:
    """How long networks of the paper's size were trained, which have not learned."""
    trained = _updates(sizes, evidence)
    if not all(trained.values()):
        return "Not learned at the paper's size; without curves it is not known in how many updates"
    if less := shorter(sizes, evidence):
        return f"Not reproduced {less}"
    return f"Not learned at the paper's size after {min(trained.values()):,.0f} updates"


def _updates(sizes: Sizes, evidence: Evidence) -> dict[str, float]:
    """Experiment -> the updates that all its mechanisms looked at were trained for, 0: unknown."""
    runs = [run.partition("-") for run in evidence.runs]
    return {
        experiment: evidence.common_updates(
            experiment, [mechanism for name, _, mechanism in runs if name == experiment]
        )
        for experiment in sizes
    }


def sentence(text: str) -> str:
    """A text with a capital letter and one full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."
