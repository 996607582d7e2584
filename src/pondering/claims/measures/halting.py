"""Whether halting follows the input (Q2), and what it costs at evaluation (Q6)."""

from __future__ import annotations

from collections.abc import Sequence

from pondering.claims.evidence import Evidence, small_taus
from pondering.claims.networks import (
    audit,
    count_of,
    mean_over_networks,
    networks,
    of_each,
    options_text,
    parted,
    variants,
)
from pondering.claims.quantities import Measured
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import REPLICA

FEWEST = 5
"""Networks that solve a task, where fewer say nothing of what halting costs."""


def learned_repetition(evidence: Evidence, *, experiment: str, tau_at_most: float) -> Measured:
    """What a network's mean halting distribution, given to every input, costs it (Q2).

    Networks whose N never varies are counted apart: for them the difference is zero by
    construction.

    Args:
        tau_at_most: the largest time penalty of the networks.
    """
    act = networks(evidence, experiment, ["act"], *small_taus(tau_at_most))
    rows = audit(evidence, experiment, "mean_halting")
    known = act[act["solved"]].merge(rows[[*REPLICA, "own", "mean_halting", "ponder_sd"]])
    known["difference"] = known["mean_halting"] - known["own"]
    varying, constant = known[known["ponder_sd"] > 0], known[known["ponder_sd"] == 0]
    return {
        "solved_networks_with_varying_n": count_of(varying),
        "error_difference": mean_over_networks(varying, "difference"),
        "solved_networks_of_one_n": count_of(constant),
        "own_error": mean_over_networks(varying, "own"),
    }


def cost_of_halting(evidence: Evidence, *, experiments: Sequence[str], trained: str) -> Measured:
    """Accuracy and steps by a mechanism's own halting against all of its N steps (Q6).

    accuracy_difference and steps_saved are over the networks that solve the task at N steps, where
    FEWEST do, since one that has learned nothing loses nothing by halting.

    Args:
        trained: the mechanism.
    """

    def of(experiment: str) -> Measured:
        rows = audit(evidence, experiment, "max_steps")
        found: Measured = {}
        for name in variants(evidence, experiment, trained):
            known = networks(evidence, experiment, [name])[REPLICA].merge(rows, on=REPLICA)
            known["difference"] = known["depth"] - known["own"]
            known["saved"] = 1 - known["ponder_time"] / known["max_steps"]
            known["accuracy"] = 1 - known["own"]
            knows = known[known["depth"] < SOLVED_ERROR]
            own: Measured = {}
            if len(knows) >= FEWEST:
                own["accuracy_difference"] = mean_over_networks(knows, "difference")
                own["steps_saved"] = mean_over_networks(knows, "saved")
            own["accuracy"] = mean_over_networks(known, "accuracy")
            own["accuracy_difference_of_all"] = mean_over_networks(known, "difference")
            own["solved_networks"] = count_of(knows)
            found |= parted(own, options_text(name))
        return found

    return of_each(evidence, experiments, of)
