"""The papers' values: those that are drawn are those of which claims.yaml tells."""

from __future__ import annotations

from support.published import CLAIMS

from pondering.report.figures import paper

TOLD = {claim.id: " ".join(claim.paper_value.split()) for claim in CLAIMS}


def test_what_is_drawn_is_what_claims_tell() -> None:
    for figure, claim in (("test", "B1"), ("extrapolation", "B2")):
        for point in paper.ACCURACY_AND_STEPS[figure].values():
            shown = f"{100 * point.accuracy:g}%", f"{point.steps:g}"
            assert all(each in TOLD[claim] for each in shown), (claim, shown)
    low, middle, high = paper.LONG_PRIOR
    assert f"Median {middle} steps, quartiles {low} and {high}" in TOLD["B5"]
    parity, logic, sort = (paper.ERRORS[name] for name in ("parity", "logic", "sort"))
    assert "Almost 40%" in TOLD["G1"] and parity.plain == 0.4
    assert f"below {parity.small:.0%} for every τ ≤ {parity.most}" in TOLD["G1"]
    assert f"About {logic.plain:.0%} error without ACT" in TOLD["G4"]
    assert f"About {sort.plain:.0%} error without ACT, about {sort.best:.0%}" in TOLD["G8"]
    solved = paper.SOLVED_AT["parity"]["repeat", 2.0], paper.SOLVED_AT["addition"]["repeat", 5.0]
    assert all(f"{update:,}" in TOLD["F1"] for update in solved)
