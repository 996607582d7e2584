"""Which way steps run with difficulty (Q1), and what the direction of the KL changes (Q7)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pondering.claims.measures.evidence import Evidence, require
from pondering.claims.measures.networks import (
    count_of,
    mean_over_networks,
    networks,
    of_each,
    variants,
)
from pondering.claims.measures.quantities import Quantity
from pondering.params.ranges import setting_text
from pondering.params.replica import options_listed, read_variant
from pondering.results.exits import ORACLE
from pondering.results.tables import REPLICA
from pondering.results.units import Unit

P_PRIOR, PRIOR_P = "p_prior", "prior_p"


def steps_and_difficulty(
    evidence: Evidence, *, experiment: str, at_least: int, settings: int
) -> list[Quantity]:
    """How the steps of solved networks follow difficulty, of ACT and of PonderNet (Q1).

    Args:
        at_least: fewer solved networks than this without a prior have no correlation.
        settings: so many of each mechanism are asked for.

    Returns:
        solved_networks_of_each, the smaller count of ACT's and of PonderNet's with its default
        beta and KL; act_correlation, pondernet_correlation, correlation_without_prior; beside them
        the same of all networks, and of PonderNet's other settings, each and together, if any;
        need_correlation, that of the first step from which PonderNet's answer is right and stays
        right, and need_never, the share of inputs without one, which count as if it were the last.
    """
    act = networks(evidence, experiment, ["act"])
    every = networks(evidence, experiment, variants(evidence, experiment, "pondernet"))
    beta = every["mechanism"].map(_beta)
    usual, without = every[every["mechanism"] == "pondernet"], every[beta == 0]
    others = every[(every["mechanism"] != "pondernet") & (beta != 0) & (every["setting"] > 0)]
    solved = {"act": act[act["solved"]], "pondernet": usual[usual["solved"]]}
    fewest = min(solved.values(), key=len)
    apart, elsewhere = without[without["solved"]], others[others["solved"]]
    if not len(without):
        evidence.not_run(f"{experiment} has no runs of PonderNet with beta 0")
    for name, each in {"ACT": act, "PonderNet": usual}.items():
        require(each["setting"].nunique(), settings, f"settings of {name}")
    found = "correlation of steps with difficulty"

    def of(name: str, label: str, frame: pd.DataFrame) -> Quantity:
        return mean_over_networks(name, label, "correlation", frame, "trend")

    few = len(apart) < at_least
    needs = _needs(evidence, experiment, solved["pondernet"])
    more = [
        of("other_settings", f"PonderNet, other beta and KL: {found}", elsewhere),
        count_of("solved_elsewhere", "PonderNet, other beta and KL: solved", elsewhere),
        *(
            of(
                f"correlation_of_{name}",
                f"PonderNet, {', '.join(options_listed(read_variant(name)[1]))}: {found}",
                own,
            )
            for name, own in elsewhere.groupby("mechanism", sort=False)
        ),
    ]
    return [
        count_of("solved_networks_of_each", "solved, the fewer of the two", fewest),
        of("pondernet_correlation", f"PonderNet: {found}", solved["pondernet"]),
        of("act_correlation", f"ACT: {found}", solved["act"]),
        of("correlation_without_prior", f"beta 0: {found}", apart[:0] if few else apart),
        of("need_correlation", f"PonderNet: correlation of the {_NEED} with difficulty", needs),
        mean_over_networks(
            "need_never", f"PonderNet: inputs without a {_NEED}", "share", needs, "never"
        ),
        count_of("solved_act", "ACT: solved", solved["act"]),
        count_of("solved_pondernet", "PonderNet: solved", solved["pondernet"]),
        *([count_of("solved_without_prior", "beta 0: solved", apart)] if len(without) else ()),
        of("pondernet_all", f"PonderNet, all networks: {found}", usual),
        of("act_all", f"ACT, all networks: {found}", act),
        *(more if len(others) else ()),
    ]


_NEED = "first step that is right and stays right"


def _needs(evidence: Evidence, experiment: str, solved: pd.DataFrame) -> pd.DataFrame:
    """Solved networks with the trend of the oracle's steps and its error, `never`."""
    rows = evidence.results.exits.get(experiment)
    if rows is None:
        return solved.assign(never=float("nan"))[:0]
    needs = rows[rows["rule"] == ORACLE][[*REPLICA, "trend", "error"]].fillna({"trend": 0.0})
    needs = needs.rename(columns={"error": "never"})
    return solved.drop(columns="trend").merge(needs, on=REPLICA)


def _beta(variant: str) -> float:
    """What a variant names; 1 stands for the default, which is above 0."""
    return float(dict(read_variant(variant)[1]).get("beta", 1.0))


def reversed_kl(
    evidence: Evidence, *, experiments: Sequence[str], correlated: str
) -> list[Quantity]:
    """What KL(prior || p) changes against KL(p || prior), at the same beta, prior and seed (Q7).

    Args:
        correlated: that of them whose steps are held against difficulty, as in Q1.

    Returns:
        by task: error_difference, steps_difference, and of `correlated` correlation_difference,
        of pairs that are both solved; networks and solved_networks, how many pairs there are; and
        where there are several priors or betas the same of each, since opposite effects cancel in
        a mean.
    """

    def of(experiment: str) -> list[Quantity]:
        pairs = _pairs(evidence, experiment)
        trends = experiment == correlated
        found = [*_differences(pairs, trends), count_of("networks", "pairs", pairs)]
        if trends:
            found.append(count_of("solved_networks", "pairs both solved", pairs[pairs["solved"]]))
        for column, named in {"setting": "lambda_p", "mechanism": "beta"}.items():
            if pairs[column].nunique() > 1:
                for value, own in pairs.groupby(column, sort=False):
                    at = f"{named} {setting_text(value)}" if value else f"the usual {named}"
                    found += _differences(own, trends, at)
        return found

    return of_each(evidence, experiments, of)


_LESS = "KL(prior||p) less KL(p||prior)"


def _differences(pairs: pd.DataFrame, trends: bool, at: str = "") -> list[Quantity]:
    """Of error and steps, means over pairs; if `trends` of the correlation of the solved ones."""
    name = f"_at_{at.replace(' ', '_')}" if at else ""

    def of(what: str, more: str, unit: Unit, column: str, own: pd.DataFrame = pairs) -> Quantity:
        label = f"{what} added at {at}" if at else f"{what}{more}, {_LESS}"
        return mean_over_networks(f"{what}_difference{name}", label, unit, own, column)

    found = [of("error", "", "points", "error"), of("steps", "", "steps", "steps")]
    if trends:
        more = " of steps with difficulty where both are solved"
        found.append(of("correlation", more, "correlation", "trend", pairs[pairs["solved"]]))
    return found


def _pairs(evidence: Evidence, experiment: str) -> pd.DataFrame:
    """The differences of each pair: error, steps, trend; solved where both are."""
    every = networks(evidence, experiment, variants(evidence, experiment, "pondernet"))
    options = every["mechanism"].map(lambda name: dict(read_variant(name)[1]))
    every["kl"] = options.map(lambda each: each.get("kl", P_PRIOR))
    every["mechanism"] = options.map(lambda each: each.get("beta", ""))
    every = every[(every["mechanism"] != 0.0) & (every["setting"] > 0)]
    first, second = (every[every["kl"] == kl].set_index(REPLICA) for kl in (PRIOR_P, P_PRIOR))
    together = first.index.intersection(second.index)
    if together.empty:
        raise evidence.not_run(f"{experiment} has no runs of PonderNet with both directions")
    columns = ["error", "steps", "trend"]
    pairs = first.loc[together, columns] - second.loc[together, columns]
    pairs["solved"] = first.loc[together, "solved"] & second.loc[together, "solved"]
    return pairs.reset_index()
