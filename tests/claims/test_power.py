"""Seeds drawn again: the arrays against tables made anew, the shares against counting."""

from __future__ import annotations

import dataclasses
from math import comb, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.claim_cases import CASES, PENALTIES, PRIORS, settled
from support.claim_tables import results, rows

from pondering.claims.claims import load_register
from pondering.claims.measures.evidence import Evidence
from pondering.claims.power import Published, Redrawn, by_criteria, repeated
from pondering.claims.verdicts import judge, weigh
from pondering.results.results import Results

REGISTER = load_register(Path(__file__).parents[2] / "claims.yaml")
CLAIMS = {claim.id: claim for claim in REGISTER.claims}
NAME = "parity_interpolation"


def drawn_again(source: Results, count: int, draw: int) -> Results:
    """Tables, curves and traces in which networks of the drawn seeds stand as seeds 0, 1, ..."""
    tables, curves, traces = {}, {}, {}
    for name, table in source.tables.items():
        chance = np.random.default_rng([count, draw, *name.encode()]).random(count)

        def again(frame: pd.DataFrame, chance: np.ndarray = chance) -> pd.DataFrame:
            parts = []
            for _, own in frame.groupby(["mechanism", "setting"]):
                seeds = sorted(own["seed"].unique())
                for new, share in enumerate(chance):
                    chosen = own[own["seed"] == seeds[int(share * len(seeds))]]
                    parts.append(chosen.assign(seed=new))
            return pd.concat(parts, ignore_index=True)

        tables[name] = again(table)
        if name in source.curves:
            curves[name] = again(source.curves[name])
        traces[name] = []
        seeds = sorted(table["seed"].unique())
        for new, share in enumerate(chance):
            seed = seeds[int(share * len(seeds))]
            own = [each for each in source.traces.get(name, []) if each["seed"] == seed]
            traces[name] += [each | {"seed": new} for each in own]
    return dataclasses.replace(source, tables=tables, curves=curves, traces=traces)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("count", "draws"), [(3, 2), (24, 1)])  # of twenty
def test_drawn_arrays_are_those_of_tables_drawn_again(name: str, count: int, draws: int) -> None:
    claim, source = CLAIMS[name], CASES[name][0]
    published = Published(source)
    for draw in range(draws):
        redrawn = Redrawn(source, published=published, count=count, draw=draw)
        found = weigh(claim, redrawn)
        wanted = judge(claim, drawn_again(source, count, draw))
        assert [repr(each) for each in found.quantities] == [
            repr(each) for each in wanted.quantities
        ]
        assert (found.verdict, found.reason) == (wanted.verdict, wanted.reason)
        assert (found.seeds, found.replicas) == (count, wanted.replicas)


def test_shares_are_those_that_counting_gives() -> None:
    """Of n drawn seeds the median is low where fewer than half are the third of three."""
    claim, source = CLAIMS["B5"], settled([0.1], (3.0, 3.0, 9.0))
    assert judge(claim, source).verdict == "cannot be judged at this scale"
    judged = by_criteria(claim, source)
    assert judged.verdict == "reproduced"
    draws, counts = 400, (1, 3, 5, 11)
    found = list(repeated(judged, source, draws, counts))
    assert [each.seeds for each in found] == list(counts)
    for each in found:
        n = each.seeds
        share = sum(comb(n, k) * 2 ** (n - k) / 3**n for k in range((n + 1) // 2))
        assert abs(each.share - share) < 3 * sqrt(share * (1 - share) / draws)
        assert each.networks == {f"{NAME}-pondernet": n}
    assert list(repeated(judged, source, draws, counts[:2])) == found[:2]


def test_mechanisms_that_saw_the_same_batches_are_drawn_together() -> None:
    """Seeds scatter by 18 points, PonderNet is 4 points better in each."""
    luck = [0.02 * seed for seed in range(10)]
    source = results([
        rows(NAME, mechanism, settings, lambda s, k, d, more=more: 0.01 + more + luck[k],
             lambda s, k, d, steps=steps: steps, seeds=range(10))
        for mechanism, settings, more, steps in (
            ("pondernet", PRIORS[:1], 0.0, 2.0), ("act", PENALTIES[:1], 0.04, 3.0),
        )
    ])  # fmt: skip
    judged = by_criteria(CLAIMS["B1"], source)
    shares = {each.seeds: each.share for each in repeated(judged, source, 50, (5, 10))}
    assert shares == {5: 1.0, 10: 1.0}


def test_a_setting_with_fewer_seeds_is_drawn_as_often() -> None:
    source = CASES["B4"][0]
    table = source.tables[NAME]
    fewer = table[(table["setting"] != PRIORS[1]) | (table["seed"].isin([3, 7]))]
    fewer = dataclasses.replace(source, tables={NAME: fewer})
    redrawn = Redrawn(fewer, published=Published(fewer), count=9, draw=0)
    cube = redrawn.sweep(NAME, "pondernet")
    assert cube.error.shape[:2] == (9, len(PRIORS)) and not np.isnan(cube.error).any()
    of_two = Evidence(fewer).sweep(NAME, "pondernet").error[[3, 7], 1]
    assert {float(each) for each in cube.error[:, 1, 0]} <= {float(each) for each in of_two[:, 0]}
