"""Whether halting follows the input, and what it costs (Q1, Q2, Q3, Q6, Q7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, require
from pondering.claims.frames import SEED_AND_SETTING, average, count
from pondering.claims.quantities import Measured, parted
from pondering.params.replica import options_listed, read_variant, setting_text, title_of
from pondering.results.exits import ORACLE
from pondering.results.statistics import SOLVED_ERROR, Interval, interval, rate, rate_difference
from pondering.results.tables import REPLICA

P_PRIOR, PRIOR_P = "p_prior", "prior_p"
FEWEST = 5
"""Networks that solve a task; fewer say nothing of their steps."""
FEWEST_SETTINGS = 3
"""Of each mechanism, to say how its steps follow difficulty."""


def steps_and_difficulty(evidence: Evidence, *, experiment: str) -> Measured:
    """Q1: how the steps of solved networks follow difficulty, of ACT and of PonderNet.

    PonderNet's are those with its default beta and KL. need_correlation is that of the first step
    from which PonderNet's answer is right and stays right, need_never the share of inputs without
    one, which count as if it were the last.
    """
    act = evidence.networks(experiment, ["act"])
    every = evidence.networks(experiment, evidence.variants(experiment, "pondernet"))
    # none where it is the default, which is above 0
    beta = every["mechanism"].map(lambda name: dict(read_variant(name)[1]).get("beta"))
    usual, without = every[every["mechanism"] == "pondernet"], every[beta == 0]
    others = every[(every["mechanism"] != "pondernet") & (beta != 0) & (every["setting"] > 0)]
    if without.empty:
        evidence.not_run(f"{experiment} has no runs of PonderNet with beta 0")
    for name, each in {"ACT": act, "PonderNet": usual}.items():
        require(each["setting"].nunique(), FEWEST_SETTINGS, f"settings of {name}")
    solved_act, solved, apart, elsewhere = (
        each[each["solved"]] for each in (act, usual, without, others)
    )
    needs = _needs(evidence, experiment, solved)
    found: Measured = {
        "solved_networks_of_each": count_of(min((solved_act, solved), key=len)),
        "pondernet_correlation": mean_over_networks(solved, "trend"),
        "act_correlation": mean_over_networks(solved_act, "trend"),
        "correlation_without_prior": mean_over_networks(
            apart if len(apart) >= FEWEST else apart[:0], "trend"
        ),
        "need_correlation": mean_over_networks(needs, "trend"),
        "need_never": mean_over_networks(needs, "never"),
        "solved_act": count_of(solved_act),
        "solved_pondernet": count_of(solved),
    }
    if len(without):
        found["solved_without_prior"] = count_of(apart)
    found["pondernet_all"] = mean_over_networks(usual, "trend")
    found["act_all"] = mean_over_networks(act, "trend")
    if len(others):
        found["other_settings"] = mean_over_networks(elsewhere, "trend")
        found["solved_elsewhere"] = count_of(elsewhere)
        for name, group in elsewhere.groupby("mechanism", sort=False):
            found[f"correlation, {title_of(str(name))}"] = mean_over_networks(group, "trend")
    return found


def _needs(evidence: Evidence, experiment: str, solved: pd.DataFrame) -> pd.DataFrame:
    """Solved networks with the trend of the oracle's steps and its error, `never`."""
    rows = evidence.results.exits.get(experiment)
    if rows is None:
        return solved.assign(never=float("nan"))[:0]
    needs = rows[rows["rule"] == ORACLE][[*REPLICA, "trend", "error"]].fillna({"trend": 0.0})
    needs = needs.rename(columns={"error": "never"})
    return solved[REPLICA].merge(needs, on=REPLICA)


def reversed_kl(evidence: Evidence, *, experiment: str, correlated: str) -> Measured:
    """Q7: what KL(prior || p) changes against KL(p || prior), at the same beta, prior and seed.

    Where there are several priors or betas, each is a part: opposite effects cancel in a mean.

    Args:
        correlated: the experiment whose steps are held against difficulty, as in Q1; of pairs that
            are both solved.
    """
    pairs = _pairs(evidence, experiment)
    trends = experiment == correlated
    found = _differences(pairs, trends) | {"networks": count_of(pairs)}
    if trends:
        found["solved_networks"] = count_of(pairs[pairs["solved"]])
    for column, named in {"setting": "lambda_p", "mechanism": "beta"}.items():
        if pairs[column].nunique() > 1:
            for value, group in pairs.groupby(column, sort=False):
                part = f"{named} {setting_text(value)}" if value else f"the usual {named}"
                found |= parted(_differences(group, trends, f"_at_{named}"), part)
    return found


def _differences(pairs: pd.DataFrame, trends: bool, at: str = "") -> Measured:
    """Of error and steps, means over pairs; if `trends` of the correlation of the solved ones."""
    found: Measured = {
        f"error_difference{at}": mean_over_networks(pairs, "error"),
        f"steps_difference{at}": mean_over_networks(pairs, "ponder_time"),
    }
    if trends:
        solved = pairs[pairs["solved"]]
        found[f"correlation_difference{at}"] = mean_over_networks(solved, "trend")
    return found


def _pairs(evidence: Evidence, experiment: str) -> pd.DataFrame:
    """The differences of each pair: error, steps, trend; solved where both are."""
    every = evidence.networks(experiment, evidence.variants(experiment, "pondernet"))
    options = every["mechanism"].map(lambda name: dict(read_variant(name)[1]))
    every["kl"] = options.map(lambda each: each.get("kl", P_PRIOR))
    every["mechanism"] = options.map(lambda each: each.get("beta", ""))
    every = every[(every["mechanism"] != 0.0) & (every["setting"] > 0)]
    first, second = (every[every["kl"] == kl].set_index(REPLICA) for kl in (PRIOR_P, P_PRIOR))
    together = first.index.intersection(second.index)
    if together.empty:
        raise evidence.not_run(f"{experiment} has no runs of PonderNet with both directions")
    columns = ["error", "ponder_time", "trend"]
    pairs = first.loc[together, columns] - second.loc[together, columns]
    pairs["solved"] = first.loc[together, "solved"] & second.loc[together, "solved"]
    return pairs.reset_index()


def learned_repetition(evidence: Evidence, *, experiment: str, tau_at_most: float) -> Measured:
    """Q2: what a network's mean halting distribution, given to every input, costs it.

    Networks whose N never varies are counted apart: for them the difference is zero by
    construction.
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
        measured: Measured = {}
        if len(knows) >= FEWEST:
            measured["accuracy_difference"] = mean_over_networks(knows, "difference")
            measured["steps_saved"] = mean_over_networks(knows, "saved")
        measured["accuracy"] = mean_over_networks(known, "accuracy")
        measured["accuracy_difference_of_all"] = mean_over_networks(known, "difference")
        measured["solved_networks"] = count_of(knows)
        found |= parted(measured, ", ".join(options_listed(read_variant(name)[1])))
    return found


LEFT, BACK = 1.05, 1.5
"""A network has fallen to one step below the first mean N, and is back above the second."""
ROOM = 0.75
"""A larger share of the usual bias leaves no room for a quarter more."""


def initial_bias(evidence: Evidence, *, experiment: str, usual: float) -> Measured:
    """Q3: networks that solve by the halting bias they start with, and N through training.

    solved_more_at_bias_B is of each other bias against the usual one, both without warm-up, and
    solved_more_at_bias_B_warmed with one, on a task that any network solves and the usual bias
    leaves a quarter of unsolved. fell_to_one_step counts the networks of all biases whose mean N
    was below LEFT; returned_from_one_step is the share of them with N above BACK later,
    above_one_step_at_end that with a last N above LEFT.

    Args:
        experiment: has ACT at one penalty with several biases, with and without warm-up.
        usual: the bias of the networks without that option.
    """
    names = evidence.variants(experiment, "act")
    every = evidence.networks(experiment, names)
    starts = {_start(name, usual): every[every["mechanism"] == name] for name in names}
    if (usual, False) not in starts:
        raise evidence.not_run(f"{experiment} has no runs of ACT with bias {usual:g}")
    first = starts.pop((usual, False))["solved"]
    found: Measured = {}
    asked = every["solved"].any() and first.mean() <= ROOM
    for (bias, warmed), networks in sorted(starts.items()) if asked else ():
        name = f"solved_more_at_bias_{bias:g}{'_warmed' if warmed else ''}"
        found[name] = rate_difference(rate(networks["solved"]), rate(first))
    found |= _fallen(evidence, experiment, names)
    return found | {f"solved_at_bias_{usual:g}": rate(first)}


def _start(variant: str, usual: float) -> tuple[float, bool]:
    """Bias, and whether the penalty is warmed up."""
    options = dict(read_variant(variant)[1])
    return float(options.get("halt_bias", usual)), "tau_warmup" in options


def _fallen(evidence: Evidence, experiment: str, names: Sequence[str]) -> Measured:
    """How many networks fell to one step, and if any the shares of these that left it again."""
    curves = [
        steps
        for name in names
        for _, steps in evidence.curves(experiment, name).groupby(SEED_AND_SETTING)["ponder_time"]
    ]
    fell = [each[(each < LEFT).cummax()] for each in curves if (each < LEFT).any()]
    if not fell:
        return {"fell_to_one_step": count(0, 0)}
    return {
        "fell_to_one_step": count(len(fell), 0),
        "returned_from_one_step": rate([(each > BACK).any() for each in fell]),
        "above_one_step_at_end": rate([each.iloc[-1] > LEFT for each in fell]),
    }


def count_of(networks: pd.DataFrame) -> Interval:
    """How many networks there are."""
    return count(len(networks), networks["seed"].nunique())


def mean_over_networks(networks: pd.DataFrame, column: str) -> Interval:
    """The mean of a column over networks, with the jackknife over seeds; NaN without a network."""
    table = networks.pivot(index="seed", columns=["mechanism", "setting"], values=column)
    return interval(average, table if len(networks) else np.empty((0, 1)))
