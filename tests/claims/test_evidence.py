"""The evidence of a claim records what its measure reads."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest
from support.claim_tables import results, rows

from pondering.claims.evidence import Evidence, InsufficientError

TAUS, SEEDS = (0.0, 0.001, 0.004, 0.01), (2, 3, 5, 8)


def table(mechanism: str, settings: Sequence[float], levels: Sequence[float]) -> pd.DataFrame:
    """Parity with four seeds; the replica (0.004, 5) diverged; no claim reads the split decoy."""
    return pd.concat(
        rows(
            "parity", mechanism, settings, lambda s, k, d: 0.1, levels=levels, split=split,
            seeds=SEEDS, status=lambda s, k: "diverged" if (s, k) == (0.004, 5) else "finished",
        )
        for split in ("test", "decoy")
    )  # fmt: skip


def test_evidence_records_runs_replicas_seeds_and_sizes() -> None:
    """The number of seeds is the smallest of any setting."""
    act = table("act", TAUS, (2, 4, 9))
    act = act[~((act["setting"] == 0.01) & (act["seed"] == 8))]
    act["status"] = act["status"].mask((act["setting"] == 0.0) & (act["seed"] == 2), "running")
    source = results([act, table("repeat", [1, 2], (1, 2, 7))])
    evidence = Evidence(source)
    sweep = evidence.sweep("parity", "act")
    assert len(sweep) == 3 * 15 and sorted(sweep["setting"].unique()) == list(TAUS)
    assert evidence.sizes == {"parity": (2.0, 9.0)}
    evidence.plain("parity")
    evidence.sweep("parity", "act", "decoy")
    assert evidence.runs == ["parity-act", "parity-repeat"]
    assert evidence.sizes == {"parity": (1.0, 9.0)}
    assert (evidence.replicas, evidence.diverged) == (19, 1)
    assert (evidence.unfinished, evidence.seeds) == (["parity-act"], [3, 4, 3])
    evidence.sweep("parity", "act", above=0, at_most=0.004)
    assert (evidence.replicas, evidence.seeds[-1]) == (8 + 4, 4)
    with pytest.raises(InsufficientError, match=r"^no setting above 0 and up to 0.0001 was run$"):
        evidence.sweep("parity", "act", above=0, at_most=0.0001)


def test_a_variant_belongs_to_the_stage_of_its_mechanism() -> None:
    evidence = Evidence(results([table("pondernet[epsilon=0.05]", [0.2], (1, 2))]))
    evidence.sweep("parity", "pondernet[epsilon=0.05]")
    assert evidence.runs == ["parity-pondernet"]
