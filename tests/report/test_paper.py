"""Figures draw the papers' values of claims.yaml."""

from __future__ import annotations

from support.published import CLAIMS

from pondering.report.figures import paper

VALUES = {claim.id: " ".join(claim.paper_value.split()) for claim in CLAIMS}


def test_figures_draw_the_values_of_claims() -> None:
    for figure, claim in (("test", "B1"), ("extrapolation", "B2")):
        for point in paper.ACCURACY_AND_STEPS[figure].values():
            shown = f"{100 * point.accuracy:g}%", f"{point.steps:g}"
            assert all(each in VALUES[claim] for each in shown), (claim, shown)
    low, middle, high = paper.LONG_PRIOR
    assert f"Median {middle} steps, quartiles {low} and {high}" in VALUES["B5"]
    parity, logic, sort = (paper.ERRORS[name] for name in ("parity", "logic", "sort"))
    assert f"Plain almost {parity.plain:.0%}, ACT below {parity.small:.0%}" in VALUES["G1"]
    assert f"of ACT for every τ ≤ {parity.most}" in VALUES["G1"]
    assert f"Plain about {logic.plain:.0%}" in VALUES["G4"]
    assert f"Plain about {sort.plain:.0%}, ACT about {sort.best:.0%}" in VALUES["G8"]
    parity, addition = (paper.SOLVED_AT[name] for name in ("parity_fojo", "addition"))
    solved = parity["repeat", 2.0], addition["repeat", 5.0]
    assert all(f"{update:,}" in VALUES["F1"] for update in solved)
