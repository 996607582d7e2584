"""Which settings are compared with which, and by which seeds."""

from __future__ import annotations

import pandas as pd
from support.synthetic_results import FEW, table_of

from pondering.results.changes import Setting, changes

BEFORE = table_of("parity_extrapolation", FEW, 3)


def pairs(after: pd.DataFrame, split: str = "interpolation") -> list[tuple[object, object]]:
    found = changes(BEFORE, after)
    return [(each.before, each.after) for each in found if each.split == split]


def with_settings(**settings: list[float]) -> pd.DataFrame:
    return table_of("parity_extrapolation", FEW | settings, 3)


def moved(name: str, setting: float) -> pd.DataFrame:
    """One setting's errors beyond the trained range are others."""
    after = BEFORE.copy()
    own = (after["mechanism"] == name) & (after["setting"] == setting)
    after.loc[own & (after["split"] == "extrapolation"), "error"] += 0.1 * (1 + after["seed"])
    return after


def test_only_a_setting_and_split_with_other_numbers_is_a_change() -> None:
    assert list(changes(BEFORE, BEFORE.sample(frac=1, random_state=0).sort_index())) == []
    (found,) = changes(BEFORE, moved("act", 0.01))
    assert (found.split, found.before, found.after) == (
        "extrapolation",
        ("act", 0.01),
        found.before,
    )
    gap = found.difference("error")
    assert gap is not None and gap.round(9).to_dict() == {0: 0.1, 1: 0.2, 2: 0.3}


def test_a_new_setting_replaces_the_one_that_is_gone() -> None:
    one: Setting = ("pondernet", 0.9)
    rest = [value for value in FEW["pondernet"] if value != 0.9]
    alike = [pair for pair in pairs(with_settings(pondernet=[*rest, 0.8])) if pair[0] != pair[1]]
    assert alike == [(one, ("pondernet", 0.8))]
    gone = [pair for pair in pairs(with_settings(pondernet=rest)) if pair[0] != pair[1]]
    assert gone == [(one, None)]
    more = pairs(with_settings(pondernet=[*rest, 0.7, 0.8]))
    apart = [pair for pair in more if pair[0] != pair[1]]
    assert apart == [(None, ("pondernet", 0.7)), (None, ("pondernet", 0.8)), (one, None)]


def test_other_seeds_have_no_difference() -> None:
    after = BEFORE[~((BEFORE["mechanism"] == "act") & (BEFORE["seed"] == 2))]
    found = [each for each in changes(BEFORE, after) if each.after == ("act", 0.1)]
    assert len(found) == 2  # splits
    assert all(each.difference("ponder_time") is None for each in found)
    assert [len(each) for each in found[0].per_seed("error")] == [3, 2]
