"""Which way steps run with difficulty (Q1), and what the direction of the KL changes (Q7)."""

from __future__ import annotations

import pandas as pd

from pondering.claims.evidence import Evidence, require
from pondering.claims.frames import count_of, mean_over_networks
from pondering.claims.quantities import Measured
from pondering.params.ranges import setting_text
from pondering.params.replica import read_variant, title_of
from pondering.results.exits import ORACLE
from pondering.results.tables import REPLICA

P_PRIOR, PRIOR_P = "p_prior", "prior_p"


def steps_and_difficulty(
    evidence: Evidence, *, experiment: str, at_least: int, settings: int
) -> Measured:
    """Q1: how the steps of solved networks follow difficulty, of ACT and of PonderNet.

    PonderNet's are those with its default beta and KL. need_correlation is that of the first step
    from which PonderNet's answer is right and stays right, need_never the share of inputs without
    one, which count as if it were the last.

    Args:
        at_least: fewer solved networks than this without a prior have no correlation.
        settings: so many of each mechanism are asked for.
    """
    act = evidence.networks(experiment, ["act"])
    every = evidence.networks(experiment, evidence.variants(experiment, "pondernet"))
    beta = every["mechanism"].map(_beta)
    usual, without = every[every["mechanism"] == "pondernet"], every[beta == 0]
    others = every[(every["mechanism"] != "pondernet") & (beta != 0) & (every["setting"] > 0)]
    if without.empty:
        evidence.not_run(f"{experiment} has no runs of PonderNet with beta 0")
    for name, each in {"ACT": act, "PonderNet": usual}.items():
        require(each["setting"].nunique(), settings, f"settings of {name}")
    solved_act, solved, apart, elsewhere = (
        each[each["solved"]] for each in (act, usual, without, others)
    )
    needs = _needs(evidence, experiment, solved)
    found: Measured = {
        "solved_networks_of_each": count_of(min((solved_act, solved), key=len)),
        "pondernet_correlation": mean_over_networks(solved, "trend"),
        "act_correlation": mean_over_networks(solved_act, "trend"),
        "correlation_without_prior": mean_over_networks(
            apart if len(apart) >= at_least else apart[:0], "trend"
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
        for name, own in elsewhere.groupby("mechanism", sort=False):
            found[f"correlation_of_{name}"] = mean_over_networks(own, "trend")
            found[str(name)] = title_of(str(name))
    return found


def _needs(evidence: Evidence, experiment: str, solved: pd.DataFrame) -> pd.DataFrame:
    """Solved networks with the trend of the oracle's steps and its error, `never`."""
    rows = evidence.results.exits.get(experiment)
    if rows is None:
        return solved.assign(never=float("nan"))[:0]
    needs = rows[rows["rule"] == ORACLE][[*REPLICA, "trend", "error"]].fillna({"trend": 0.0})
    needs = needs.rename(columns={"error": "never"})
    return solved[REPLICA].merge(needs, on=REPLICA)


def _beta(variant: str) -> float:
    """What a variant names; 1 stands for the default, which is above 0."""
    return float(dict(read_variant(variant)[1]).get("beta", 1.0))


def reversed_kl(evidence: Evidence, *, experiment: str, correlated: str) -> Measured:
    """Q7: what KL(prior || p) changes against KL(p || prior), at the same beta, prior and seed.

    Where there are several priors or betas, the same of each: opposite effects cancel in a mean.

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
            for value, own in pairs.groupby(column, sort=False):
                at = f"{named} {setting_text(value)}" if value else f"the usual {named}"
                found |= _differences(own, trends, f"_at_{at.replace(' ', '_')}")
                found[at.replace(" ", "_")] = at
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
