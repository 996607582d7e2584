"""The evidence of a claim records what its measure reads."""

from __future__ import annotations

import pytest
from oracle.claim_oracle import table
from support.claim_tables import results

from pondering.claims.evidence import Evidence, InsufficientError

TAUS = (0.0, 0.001, 0.004, 0.01)


def test_evidence_records_runs_replicas_seeds_and_sizes() -> None:
    """The number of seeds is the smallest of any setting."""
    act = table("parity", "act", TAUS, (2, 4, 9), diverged=[(0.004, 5)])
    act = act[~((act["setting"] == 0.01) & (act["seed"] == 8))]
    act["status"] = act["status"].mask((act["setting"] == 0.0) & (act["seed"] == 2), "running")
    source = results([act, table("parity", "repeat", [1, 2], (1, 2, 7))])
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
    rows = table("parity", "pondernet", [0.2], (1, 2)).assign(mechanism="pondernet[epsilon=0.05]")
    evidence = Evidence(results([rows]))
    evidence.sweep("parity", "pondernet[epsilon=0.05]")
    assert evidence.runs == ["parity-pondernet"]
