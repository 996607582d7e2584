"""Which trace of an experiment is shown, and what a legend calls it."""

from __future__ import annotations

import math
from typing import Any

from pondering.report.figures import style
from pondering.results.results import Results

Trace = dict[str, Any]


def choose_traces(results: Results, experiment: str, kind: str) -> list[Trace]:
    """ACT's traces of one replica: of the setting that the evaluation traced, the smallest seed.

    Args:
        results: the results of one profile.
        experiment: whose traces.
        kind: sequence or text.

    Returns:
        The traces; empty without any. The seed is never chosen by its result.
    """
    traces = results.traces.get(experiment, [])
    own = [t for t in traces if t["kind"] == kind and t["mechanism"] == "act" and t["steps"]]
    seed = min((t["seed"] for t in own), default=None)
    return [t for t in own if t["seed"] == seed]


def replica_name(trace: Trace) -> str:
    """Setting and seed of a trace, for the title of a legend."""
    return f"{style.setting_name(trace['mechanism'], trace['setting'])}, seed {trace['seed']}"


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
    chosen = choose_traces(results, experiment, kind)
    if not chosen:
        return ""
    shown, seed = float(chosen[0]["setting"]), chosen[0]["seed"]
    same = math.isclose(shown, setting, rel_tol=1e-6)
    beside = "as in the paper" if same else f"not the paper's {style.number(setting)}"
    which = f"seed {seed}" if kind == "sequence" else f"the first seed is {seed}"
    return f"Shown is {style.setting_symbol('act', shown)}, {beside}; {which}."
