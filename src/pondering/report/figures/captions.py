"""What a caption must add in one profile: which setting is shown, who trained how long.

Both depend on the runs there are, so they are read from the results and not written down.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import style
from pondering.report.figures.traces import choose_traces
from pondering.results.results import Results

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


def unequal_sizes(results: Results, experiments: Sequence[str]) -> str:
    """That a figure compares experiments of different size, with what their data cards say."""
    texts = [str(results.cards[name]["what"]) for name in experiments if name in results.cards]
    sizes = [found.group() for text in texts if (found := re.search(r"\d+ [a-z]+", text))]
    if len(set(sizes)) < 2:
        return ""
    return f"{' against '.join(sizes)}: not a controlled comparison."


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
    shorter = {} if across or len(experiments) == 1 else _one_apart(updates, differ)
    if shorter:
        shares = [
            f"{name.replace('_', ' ')} {short:,} of {long:,}"
            for name, (_, short, long) in shorter.items()
        ]
        (which,) = {mechanism for mechanism, *_ in shorter.values()}
        return f"Not trained equally long here; updates {TRAINED[which]}: {'; '.join(shares)}."
    parts = []
    for name in differ:
        told = ", ".join(f"{value:,} {TRAINED[each]}" for each, value in updates[name].items())
        parts.append(f"{name.replace('_', ' ')} {told}" if len(experiments) > 1 else told)
    return f"Not trained equally long here; updates: {'; '.join(parts)}." if parts else ""


def _one_apart(
    updates: dict[str, dict[str, int]], differ: Sequence[str]
) -> dict[str, tuple[str, int, int]]:
    """Where the same one mechanism differs in every experiment: it, its updates, the others'."""
    found = {}
    for name in differ:
        each = updates[name]
        for mechanism, own in each.items():
            others = {value for other, value in each.items() if other != mechanism}
            if len(each) > 2 and len(others) == 1:
                found[name] = (mechanism, own, others.pop())
    same = len({mechanism for mechanism, *_ in found.values()}) == 1
    return found if same and len(found) == len(differ) else {}
