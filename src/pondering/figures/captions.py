"""What a caption must add in one profile: which setting is shown, who trained how long.

Both depend on the runs there are, so they are read from the results and not written down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pondering.figures import style
from pondering.figures.traces import choose_traces
from pondering.mechanisms import MECHANISMS
from pondering.results import Results

TRAINED = {name: f"with {each.title}" for name, each in MECHANISMS.items()}
TRAINED["repeat"] = "for the plain network and fixed repeats"


def setting_shown(results: Results, experiment: str, kind: str, setting: float) -> str:
    """The time penalty and seed of the traces shown, and whether it is the paper's.

    Args:
        results: the results of one profile.
        experiment: whose traces.
        kind: sequence or text.
        setting: the paper's time penalty.

    Returns:
        A sentence; empty without such a trace.
    """
    chosen = choose_traces(results.traces.get(experiment, []), kind, setting)
    if not chosen:
        return ""
    shown, seed = float(chosen[0]["setting"]), chosen[0]["seed"]
    same = math.isclose(shown, setting, rel_tol=1e-6)
    beside = "as in the paper" if same else f"not the paper's {style.number(setting)}"
    which = f"seed {seed}" if kind == "sequence" else f"the first seed is {seed}"
    return f"Shown is τ = {style.number(shown)}, {beside}; {which}."


def unequal_training(
    results: Results,
    experiments: Sequence[str],
    mechanisms: Sequence[str] = ("repeat", "act"),
    *,
    across: bool = False,
) -> str:
    """How many updates each mechanism was trained for, where they differ.

    Args:
        results: the results of one profile.
        experiments, mechanisms: those of a figure.
        across: whether the figure compares experiments too, not mechanisms alone.

    Returns:
        A sentence; empty where all were trained equally long. The longest training of each
        mechanism counts, for single seeds may have stopped early or diverged.
    """
    updates: dict[str, dict[str, int]] = {}
    for name in experiments:
        if name in results.curves:
            ends = results.curves[name].groupby("mechanism")["update"].max()
            updates[name] = {each: int(ends[each]) for each in mechanisms if each in ends}
    differ = [name for name, each in updates.items() if len(set(each.values())) > 1]
    if across and len({value for each in updates.values() for value in each.values()}) > 1:
        differ = list(updates)
    parts = []
    for name in differ:
        told = ", ".join(f"{value:,} {TRAINED[each]}" for each, value in updates[name].items())
        parts.append(f"{name} {told}" if len(experiments) > 1 else told)
    return f"Not trained equally long here; updates: {'; '.join(parts)}." if parts else ""
