"""Which traces of an experiment are shown."""

from __future__ import annotations

from typing import Any

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
