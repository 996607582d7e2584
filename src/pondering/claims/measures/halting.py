"""Whether halting follows the input (Q2), and what it costs at evaluation (Q6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pondering.claims.measures.evidence import Evidence, small_taus
from pondering.claims.measures.networks import (
    audit,
    count_of,
    mean_over_networks,
    networks,
    of_each,
    variants,
)
from pondering.claims.measures.quantities import Quantity
from pondering.params.replica import options_listed, read_variant
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import REPLICA

FEWEST = 5
"""Networks that solve a task, where fewer say nothing of what halting costs."""


def learned_repetition(
    evidence: Evidence, *, experiment: str, tau_at_most: float
) -> list[Quantity]:
    """What a network's mean halting distribution, given to every input, costs it (Q2).

    Args:
        tau_at_most: the largest time penalty of the networks.

    Returns:
        solved_networks_with_varying_n, error_difference of these; solved_networks_of_one_n, apart,
        since for them the difference is zero by construction; own_error.
    """
    act = networks(evidence, experiment, ["act"], *small_taus(tau_at_most))
    rows = audit(evidence, experiment, "mean_halting")
    known = act[act["solved"]].merge(rows[[*REPLICA, "own", "mean_halting", "ponder_sd"]])
    known["difference"] = known["mean_halting"] - known["own"]
    varying = known[known["ponder_sd"] > 0]
    label = "error with the mean halting distribution less the network's own"
    constant = known[known["ponder_sd"] == 0]
    return [
        count_of("solved_networks_with_varying_n", "solved, N varies", varying),
        mean_over_networks("error_difference", label, "points", varying, "difference"),
        count_of("solved_networks_of_one_n", "solved, N never varies", constant),
        mean_over_networks("own_error", "their own error", "share", varying, "own"),
    ]


def cost_of_halting(
    evidence: Evidence, *, experiments: Sequence[str], trained: str
) -> list[Quantity]:
    """Accuracy and steps by a mechanism's own halting against all of its N steps (Q6).

    Args:
        trained: the mechanism.

    Returns:
        by task and options: accuracy_difference and steps_saved, over the networks that solve it at
        N steps and where FEWEST do, since one that has learned nothing loses nothing by halting;
        solved_networks, how many these are; accuracy of all, by their own halting, and
        accuracy_difference_of_all, in which networks count too that err more at N steps.
    """

    def of(experiment: str) -> list[Quantity]:
        rows = audit(evidence, experiment, "max_steps")
        found: list[Quantity] = []
        for name in variants(evidence, experiment, trained):
            known = networks(evidence, experiment, [name])[REPLICA].merge(rows, on=REPLICA)
            known["difference"] = known["depth"] - known["own"]
            known["saved"] = 1 - known["ponder_time"] / known["max_steps"]
            known["accuracy"] = 1 - known["own"]
            knows = known[known["depth"] < SOLVED_ERROR]
            decisive = [
                mean_over_networks("accuracy_difference", _LESS, "points", knows, "difference"),
                mean_over_networks("steps_saved", "steps saved", "share", knows, "saved"),
            ]
            more = f"{_LESS}, all networks"
            own = [
                *(decisive if len(knows) >= FEWEST else []),
                mean_over_networks(
                    "accuracy", "accuracy where it halts", "share", known, "accuracy"
                ),
                mean_over_networks(
                    "accuracy_difference_of_all", more, "points", known, "difference"
                ),
                count_of("solved_networks", _KNOWS, knows),
            ]
            part = ", ".join(options_listed(read_variant(name)[1]))
            found += [replace(each, part=part) for each in own]
        return found

    return of_each(evidence, experiments, of)


_KNOWS = f"below {SOLVED_ERROR:.0%} of errors at N steps"
_LESS = "accuracy where it halts less accuracy at N steps"
