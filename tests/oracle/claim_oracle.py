"""A second computation of the claims' measures: plain loops over the raw tables and curves.

It shares no code with the measures. Intervals come from pseudo-values, one for each seed.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats
from support.claim_tables import rows
from support.synthetic_results import card_of

from pondering.claims.claims import load_register
from pondering.claims.evidence import Evidence
from pondering.results.results import Results
from pondering.results.statistics import Interval

CLAIMS = {
    claim.id: claim for claim in load_register(Path(__file__).parents[2] / "claims.yaml").claims
}
SEEDS = (2, 3, 5, 8)
UPDATES = (400, 1000, 1500, 2500, 4000, 5000, 6000, 7000, 8000)
NAN = math.nan
Replicas = Sequence[tuple[float, int]]
BROKEN: Replicas = (
    (0.2, 3), (0.6, 8),  # priors
    (0.001, 3), (0.02, 8), (0.004, 5), (0.01, 3),  # penalties
    (2, 8), (3, 2),  # repeats
)  # fmt: skip
"""Settings and seeds of diverged replicas."""


def draw(low: float, high: float, *key: Any) -> float:
    """A pseudo-random number that the key decides."""
    return random.Random(repr(key)).uniform(low, high)


def table(
    experiment: str, mechanism: str, settings: Sequence[float], levels: Sequence[float], *,
    splits: Sequence[str] = ("test",), errors: tuple[float, float] = (0.0, 0.6),
    exact: Mapping[float, float] | None = None, seeds: Sequence[int] = SEEDS,
    diverged: Replicas = (),
) -> pd.DataFrame:  # fmt: skip
    """Irregular evaluation rows in random order; no claim reads the last split.

    Steps are multiples of 1/4, so that they tie. `exact` fixes the error of a setting. Replicas
    in `diverged` have the worst error and no steps, as an evaluation writes them.
    """
    parts = []
    for split in (*splits, "decoy"):
        key = (experiment, mechanism, split)

        def error(s: float, k: int, d: float, key: Any = key) -> float:
            return (exact or {}).get(s, draw(*errors, "error", key, s, k, d))

        def steps(s: float, k: int, d: float, key: Any = key) -> float:
            return round(4 * draw(1, 6, "steps", key, s, k, d)) / 4

        part = rows(
            experiment, mechanism, settings, error, steps, levels=levels, split=split, seeds=seeds,
            status=lambda s, k: "diverged" if (s, k) in diverged else "finished",
        )  # fmt: skip
        parts.append(part.sample(frac=1, random_state=1))
    frame = pd.concat(parts)
    frame["examples"] = [int(draw(50, 900, "examples", level)) for level in frame["difficulty"]]
    frame.loc[frame["prediction"] == "expected", "ponder_time"] += 3
    lost = frame["status"] == "diverged"
    frame.loc[lost, "error"] = card_of(experiment).worst_error
    frame.loc[lost, "ponder_time"] = NAN
    return frame


def training(
    experiment: str, mechanism: str, settings: Sequence[float], *,
    updates: Sequence[int] = UPDATES, seeds: Sequence[int] = SEEDS, diverged: Replicas = (),
) -> pd.DataFrame:  # fmt: skip
    """Irregular training curves in random order; `diverged` replicas are NaN after update 2000."""
    found = []
    for setting, seed in itertools.product(settings, seeds):
        computed = before = 0.0
        for update in updates:
            key = (experiment, mechanism, setting, seed, update)
            steps = draw(1, 6, "training steps", key)
            computed, before = computed + steps * (update - before), update
            lost = (setting, seed) in diverged and update > 2000
            found.append({
                "experiment": experiment, "mechanism": mechanism, "setting": float(setting),
                "seed": seed, "update": float(update), "loss": 0.1,
                "error": NAN if lost else draw(0, 0.7, "training error", key),
                "ponder_time": NAN if lost else steps, "remainder": 0.1,
                "computed_steps": NAN if lost else computed,
            })  # fmt: skip
    return pd.DataFrame(found).sample(frac=1, random_state=2)


def mean(values: Iterable[float]) -> float:
    """The mean without NaN; NaN if no number is left."""
    present = [value for value in values if not math.isnan(value)]
    return math.fsum(present) / len(present) if present else NAN


class Grid:
    """Error and steps of each replica of one mechanism; levels have equal weight."""

    def __init__(
        self, source: Results, experiment: str, mechanism: str, split: str = "test"
    ) -> None:
        self.error_at: dict[tuple[float, int, float], float] = {}
        self.steps_at: dict[tuple[float, int, float], float] = {}
        for row in source.tables[experiment].to_dict("records"):
            wanted = (mechanism, split) == (row["mechanism"], row["split"])
            if not wanted or row["prediction"] == "expected":
                continue
            place = (row["setting"], row["seed"], row["difficulty"])
            lost, worst = row["status"] == "diverged", 8.0 if experiment == "wikipedia" else 1.0
            self.error_at[place] = worst if lost else row["error"]
            self.steps_at[place] = NAN if lost else row["ponder_time"]
        self.settings, self.seeds, self.levels = (
            sorted({place[axis] for place in self.error_at}) for axis in range(3)
        )
        pairs = list(itertools.product(self.settings, self.seeds))
        self.error, self.steps = (
            {(s, k): mean(values[s, k, d] for d in self.levels) for s, k in pairs}
            for values in (self.error_at, self.steps_at)
        )

    def mean_error(self, setting: float, seeds: Sequence[int]) -> float:
        return mean(self.error[setting, seed] for seed in seeds)

    def best(self, settings: Sequence[float] | None = None) -> float:
        """The setting with the lowest mean error."""
        return min(settings or self.settings, key=lambda s: self.mean_error(s, self.seeds))

    def lowest(self, seeds: Sequence[int], settings: Sequence[float] | None = None) -> float:
        """The lowest mean error of any setting over these seeds."""
        return min(self.mean_error(s, seeds) for s in settings or self.settings)


class Training:
    """The training curves of one mechanism up to an update; a diverged error is the worst."""

    def __init__(
        self, source: Results, experiment: str, mechanism: str, until: float = math.inf
    ) -> None:
        self.rows: dict[tuple[float, int], list[dict[str, Any]]] = {}
        for row in source.curves[experiment].to_dict("records"):
            if row["mechanism"] == mechanism and row["update"] <= until:
                self.rows.setdefault((row["setting"], row["seed"]), []).append(row)
        worst = 8.0 if experiment == "wikipedia" else 1.0
        for each in self.rows.values():
            each.sort(key=lambda row: row["update"])
            for row in each:
                row["error"] = worst if math.isnan(row["error"]) else row["error"]

    def first(self, setting: float, seed: int, error: float, column: str = "update") -> float:
        """The column where the error is first at most `error`; infinite if it never is."""
        hits = [row[column] for row in self.rows[setting, seed] if row["error"] <= error]
        return float(hits[0]) if hits else math.inf


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share their mean rank."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's; 0 where one side never varies."""
    a, b = ([value - mean(side) for value in side] for side in (x, y))
    size = math.sqrt(math.fsum(v * v for v in a) * math.fsum(v * v for v in b))
    return math.fsum(v * w for v, w in zip(a, b, strict=True)) / size if size > 1e-15 else 0.0


def trend(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's correlation without NaN; 0 where it does not exist."""
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if not math.isnan(b)]
    return correlation(ranks([a for a, _ in pairs]), ranks([b for _, b in pairs]))


def line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Slope and R squared of the least squares line; both are 0 if a number is missing."""
    if any(math.isnan(value) for value in y):
        return 0.0, 0.0
    fit = statistics.linear_regression(x, y)
    left = math.fsum((b - fit.intercept - fit.slope * a) ** 2 for a, b in zip(x, y, strict=True))
    whole = math.fsum((b - mean(y)) ** 2 for b in y)
    return fit.slope, 1 - left / whole if whole > 1e-15 else 0.0


def median(values: Sequence[float]) -> float:
    """The median, also of infinite numbers."""
    return float(statistics.median(values))


@dataclass(frozen=True)
class Expected:
    """The expected value of a quantity and the ends of its interval; NaN without an interval."""

    value: float
    low: float
    high: float
    seeds: int


def ends(value: float, *without: Sequence[float], freedom: float = NAN) -> tuple[float, float]:
    """The ends of Student's interval from Tukey's pseudo-values of each source of chance.

    Args:
        value: the statistic of the whole sample.
        without: for each source, the statistic without each of its members.
        freedom: degrees of freedom; NaN for Welch's.
    """
    found = [(len(each), [len(each) * value - (len(each) - 1) * v for v in each])
             for each in without]  # fmt: skip
    if min(map(len, without)) < 2 or not all(math.isfinite(v) for _, p in found for v in p):
        return NAN, NAN
    squares = [statistics.variance(pseudo) / count for count, pseudo in found]
    whole = math.fsum(squares)
    if math.isnan(freedom) and whole:
        freedom = whole**2 / math.fsum(
            square**2 / (count - 1) for square, (count, _) in zip(squares, found, strict=True)
        )
    half = float(stats.t.ppf(0.975, freedom)) * math.sqrt(whole) if whole else 0.0
    return value - half, value + half


def leaving_one(places: Sequence[int]) -> list[list[int]]:
    """The places without one, for each place in turn."""
    return [[other for other in places if other != place] for place in places]


def over(statistic: Callable[[Sequence[int]], float], seeds: Sequence[int] = SEEDS) -> Expected:
    """A statistic of the seeds with the jackknife's interval."""
    value, low, high = statistic(seeds), NAN, NAN
    if len(seeds) > 1:
        low, high = ends(value, [statistic(few) for few in leaving_one(seeds)])
    return Expected(value, low, high, len(seeds))


def over_both(
    statistic: Callable[[Sequence[int], Sequence[int]], float],
    first: Sequence[int], second: Sequence[int], freedom: float = NAN,
) -> Expected:  # fmt: skip
    """A statistic of two samples; each sample is a source of chance."""
    value = statistic(first, second)
    low, high = ends(
        value,
        [statistic(few, second) for few in leaving_one(first)],
        [statistic(first, few) for few in leaving_one(second)],
        freedom=freedom,
    )
    return Expected(value, low, high, min(len(first), len(second)))


def over_mean(per_seed: Mapping[int, float]) -> Expected:
    """The mean over the seeds that have a number."""
    present = [seed for seed, value in per_seed.items() if not math.isnan(value)]
    return over(lambda seeds: mean(per_seed[k] for k in seeds), present)


def plain_error(plain: Grid) -> Expected:
    return over_mean({k: plain.error[1, k] for k in plain.seeds})


def measure(claim: str, source: Results, **arguments: Any) -> dict[str, Interval]:
    """The intervals of a claim's measure; `arguments` replace the claim's."""
    entry = CLAIMS[claim]
    found = entry.measure(Evidence(source), **entry.arguments | arguments)
    return {name: each for name, each in found.items() if isinstance(each, Interval)}


def check(found: Mapping[str, Interval], **expected: Expected | tuple[float, int]) -> None:
    """Assert every quantity's value, number of seeds and interval.

    A pair (value, seeds) leaves the interval to another test.
    """
    assert sorted(found) == sorted(expected)
    for name, wanted in expected.items():
        each, bounds = found[name], None
        if isinstance(wanted, Expected):
            bounds = wanted.low, wanted.high
            wanted = wanted.value, wanted.seeds
        assert each.count == wanted[1], name
        assert each.estimate == pytest.approx(wanted[0], rel=1e-9, nan_ok=True), name
        if bounds and not math.isnan(wanted[0]):
            assert (each.low, each.high) == pytest.approx(bounds, rel=1e-9, nan_ok=True), name


def values(found: Mapping[str, Interval]) -> dict[str, float]:
    return {name: each.estimate for name, each in found.items()}
