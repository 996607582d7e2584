"""Verdicts as plain data: what claims.json holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pondering.claims.claims import Verdict
from pondering.claims.quantities import plain_estimate
from pondering.claims.verdicts import Judgement
from pondering.claims.words import ANSWERS
from pondering.results.results import Results


def claims_json(judgements: Sequence[Judgement], results: Results) -> dict[str, Any]:
    """The verdicts on results as plain data for claims.json; equal results give equal data.

    Returns:
        profile, experiments, those unfinished, verdicts (id -> yes, no or undecided), claims.
    """
    tables = results.tables
    running = [name for name, table in tables.items() if (table["status"] == "running").any()]
    return {
        "profile": results.profile,
        "experiments": sorted(tables),
        "unfinished": sorted(running),
        "verdicts": {  # for `dvc metrics`
            name: ANSWERS[verdict] for each in judgements for name, verdict in _verdicts(each)
        },
        "claims": [_plain(judgement) for judgement in judgements],
    }


CLAIM = {
    "id", "paper", "figure", "figures", "title", "statement", "paper_value", "measured",
}  # fmt: skip
"""What is said of a claim itself."""


def _plain(judgement: Judgement) -> dict[str, Any]:
    evidence = judgement.evidence
    return judgement.claim.model_dump(mode="json", include=CLAIM) | {
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "why": judgement.remark.why,
        "change": judgement.remark.change,
        "cause": judgement.remark.cause,
        "apart": {
            part: {"verdict": verdict, "reason": reason}
            for part, (verdict, reason) in judgement.apart.items()
        },
        "flips": list(judgement.flips),
        "judged_on_unfinished_runs": evidence.unfinished,
        "seeds": evidence.fewest_seeds,
        "replicas": evidence.replicas,
        "diverged": evidence.diverged,
        "runs": evidence.runs,
        "difficulties": {name: list(size) for name, size in evidence.sizes.items()},
        "estimates": [plain_estimate(quantity) for quantity in judgement.quantities],
        "criteria": [asdict(finding) for finding in judgement.findings],
    }


def _verdicts(judgement: Judgement) -> list[tuple[str, Verdict]]:
    """The claim's own, and those of what is judged apart."""
    name = judgement.claim.id
    apart = [(f"{name} {part}", verdict) for part, (verdict, _) in judgement.apart.items()]
    return [(name, judgement.verdict), *apart]
