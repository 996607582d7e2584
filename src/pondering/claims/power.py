"""How often seeds drawn again from those that were published repeat the published verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pondering.claims.claims import Claim
from pondering.claims.measures.arrays import Array
from pondering.claims.measures.evidence import Cube, Curves, Evidence, Reading, Steps
from pondering.claims.verdicts import Judgement, weigh
from pondering.results.results import Results

COUNTS = (3, 5, 10, 20, 40, 80)
"""Seeds of each setting that are tried."""

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Repeated:
    """What so many seeds of each setting give.

    Args:
        seeds: drawn for each setting.
        share: of the draws whose verdict is the published one.
        networks: a mechanism of a table, as "experiment-mechanism" -> how many of it were drawn.
    """

    seeds: int
    share: float
    networks: dict[str, int]


def by_criteria(claim: Claim, results: Results) -> Judgement:
    """The published verdict, the least number of seeds left out of account."""
    return weigh(claim.model_copy(update={"minimum_seeds": 1}), Evidence(results))


def repeated(
    judged: Judgement, results: Results, draws: int, counts: Sequence[int] = COUNTS
) -> Iterator[Repeated]:
    """For each number of seeds how often its draws give the verdict of all published seeds.

    Seeds are drawn with replacement, in each experiment for itself. Within one, settings and
    mechanisms that were trained with as many seeds get the same ones, since these saw the same
    batches. Equal arguments give equal shares.

    Args:
        judged: what `by_criteria` gives of a claim.
        results: of the same profile.
        draws: of each number.
        counts: the numbers of seeds.
    """
    published = Published(results)
    for count in counts:
        same = 0
        for draw in range(draws):
            evidence = Redrawn(results, published=published, count=count, draw=draw)
            same += weigh(judged.claim, evidence).verdict == judged.verdict
        yield Repeated(count, same / draws, evidence.replicas)


class Published:
    """What the measures ask of the published seeds, read once for all draws."""

    def __init__(self, results: Results) -> None:
        evidence = Evidence(results)
        self.cube, self.curves = cache(evidence.cube), cache(evidence.curves)
        self.traces, self.missing = cache(evidence.traces), evidence.missing


@dataclass
class Redrawn(Evidence):
    """The published networks of seeds drawn with replacement, as if they were others."""

    published: Published = field(kw_only=True)
    count: int = field(kw_only=True)
    draw: int = field(kw_only=True)

    def __post_init__(self) -> None:
        self.missing = self.published.missing

    def cube(self, experiment: str, mechanism: str, split: str) -> Cube:
        whole = self.published.cube(experiment, mechanism, split)
        places = self._places(experiment, whole.status != "")
        settings = np.arange(len(whole.settings))
        return replace(
            whole,
            seeds=np.arange(self.count, dtype=np.float64),
            error=whole.error[places, settings],
            ponder=whole.ponder[places, settings],
            status=whole.status[places, settings],
        )

    def curves(self, experiment: str, mechanism: str, until: float = np.inf) -> Curves:
        whole = self.published.curves(experiment, mechanism, until)
        if not len(whole.seeds):
            return whole
        places = self._places(experiment, ~np.isnan(whole.mean_error))
        settings = range(len(whole.settings))
        return replace(
            whole,
            seeds=np.arange(self.count, dtype=np.float64),
            mean_error=whole.mean_error[places, settings],
            steps=whole.steps[places, settings],
            frames={
                (new, setting): whole.frames[int(places[new, setting]), setting]
                for new in range(self.count)
                for setting in settings
            },
        )

    def traces(
        self, experiment: str, mechanism: str, kind: str, reckon: Callable[[Steps], Any]
    ) -> list[Reading]:
        whole = self.published.traces(experiment, mechanism, kind, reckon)
        table = self.results.tables[experiment]
        own = table[table["mechanism"] == mechanism]
        drawn = {}
        for setting in {each.setting for each in whole}:
            seeds = np.sort(own["seed"][np.isclose(own["setting"], setting)].unique())
            there = np.ones((len(seeds), 1), dtype=np.bool_)
            drawn[setting] = seeds[self._places(experiment, there)[:, 0]]
        return [
            each._replace(seed=new)
            for new in range(self.count)
            for each in whole
            if drawn[each.setting][new] == each.seed
        ]

    def _places(self, experiment: str, there: NDArray[np.bool_]) -> Places:
        """[count, S] the rows of [K, S] that are drawn for each setting, of those that it has."""
        chance = np.random.default_rng([self.count, self.draw, *experiment.encode()])
        shares: Array = chance.random(self.count)
        columns = []
        for own in there.T:
            rows = np.flatnonzero(own)
            columns.append(rows[(shares * len(rows)).astype(np.intp)])
        return np.stack(columns, axis=1)
