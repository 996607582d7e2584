"""Whether halting follows the input (Q2), and what it costs at evaluation (Q6)."""

from __future__ import annotations

from pondering.claims.evidence import Evidence
from pondering.claims.frames import count_of, mean_over_networks
from pondering.claims.quantities import Measured, parted
from pondering.params.replica import options_listed, read_variant
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import REPLICA

FEWEST = 5
"""Networks that solve a task, where fewer say nothing of what halting costs."""


def learned_repetition(evidence: Evidence, *, experiment: str, tau_at_most: float) -> Measured:
    """Q2: what a network's mean halting distribution, given to every input, costs it.

    Networks whose N never varies are counted apart: for them the difference is zero by
    construction.

    Args:
        tau_at_most: the largest time penalty of the networks.
    """
    act = evidence.networks(experiment, ["act"], above=0, at_most=tau_at_most)
    rows = evidence.audit(experiment)
    known = act[act["solved"]].merge(rows[[*REPLICA, "own", "mean_halting", "ponder_sd"]])
    known["difference"] = known["mean_halting"] - known["own"]
    varying, constant = known[known["ponder_sd"] > 0], known[known["ponder_sd"] == 0]
    return {
        "solved_networks_with_varying_n": count_of(varying),
        "error_difference": mean_over_networks(varying, "difference"),
        "solved_networks_of_one_n": count_of(constant),
        "own_error": mean_over_networks(varying, "own"),
    }


def cost_of_halting(evidence: Evidence, *, experiment: str, trained: str) -> Measured:
    """Q6: accuracy and steps by a mechanism's own halting against all of its N steps.

    accuracy_difference and steps_saved are over the networks that solve the task at N steps, where
    FEWEST do, since one that has learned nothing loses nothing by halting.

    Args:
        trained: the mechanism, each of whose variants is a part.
    """
    rows = evidence.audit(experiment)
    found: Measured = {}
    for name in evidence.variants(experiment, trained):
        known = evidence.networks(experiment, [name])[REPLICA].merge(rows, on=REPLICA)
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
        found |= parted(own, ", ".join(options_listed(read_variant(name)[1])))
    return found
