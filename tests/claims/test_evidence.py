"""What the evidence behind a claim remembers."""

from __future__ import annotations

from oracle.claim_oracle import table
from support.claim_tables import results

from pondering.claims.measures.evidence import Evidence

TAUS = (0.0, 0.001, 0.004, 0.01)


def test_what_was_looked_at_is_remembered() -> None:
    """Runs, replicas, seeds and sizes of the split asked for; the fewest seeds of any setting."""
    act = table("parity", "act", TAUS, (2, 4, 9), gone=[(0.004, 5)])
    act = act[~((act["setting"] == 0.01) & (act["seed"] == 8))]
    act["status"] = act["status"].mask((act["setting"] == 0.0) & (act["seed"] == 2), "running")
    source = results([act, table("parity", "repeat", [1, 2], (1, 2, 7))])
    evidence = Evidence(source)
    sweep = evidence.sweep("parity", "act")
    assert (sweep.error.shape, sweep.settings.tolist()) == ((4, 4, 3), list(TAUS))
    assert evidence.sizes == {"parity": (2.0, 9.0)}
    evidence.plain("parity")
    evidence.sweep("parity", "act", "decoy")
    assert evidence.runs == ["parity-act", "parity-repeat"]
    assert evidence.sizes == {"parity": (1.0, 9.0)}
    assert evidence.replicas == {"parity-act": 15, "parity-repeat": 8}
    assert evidence.diverged == {"parity-act": 1, "parity-repeat": 0}
    assert (evidence.unfinished, evidence.seeds) == ({"parity-act"}, [3, 4, 3])
