"""The sweeps behind a claim as arrays, and a record of what was looked at to judge it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pondering.claims.measures.arrays import Array, average, present
from pondering.params.replica import read_variant
from pondering.results.results import Results
from pondering.results.tables import evaluated

Steps = Sequence[Mapping[str, Any]]
NOT_RUN = " has not been run"
"""What is said of an experiment without a table, behind its name."""
CURVE_COLUMNS = ("update", "error", "ponder_time", "computed_steps")


class NotRunError(Exception):
    """The runs that a claim is about do not exist; the text says which."""


class InsufficientError(Exception):
    """The runs exist but cannot carry the claim; the text says what they lack."""


def require(count: int, minimum: int, what: str) -> None:
    """Raise InsufficientError where fewer settings or difficulties were run than a claim needs."""
    if count < minimum:
        raise InsufficientError(f"{count} {what} were run, {minimum} are needed")


@dataclass(frozen=True)
class Cube:
    """The replicas of one mechanism in one experiment and split: seeds x settings x difficulties.

    Args:
        settings: [S] ascending rho, tau or lambda_p.
        seeds: [K] ascending.
        difficulties: [D] ascending.
        error: [K, S, D] share of sequences wrong (of a text, bits per character).
        ponder: [K, S, D] steps per input vector; NaN where a replica diverged.
        examples: [D] examples per difficulty.
        status: [K, S] finished, running or diverged; "" where a setting was not trained with a
            seed.
    """

    settings: Array
    seeds: Array
    difficulties: Array
    error: Array
    ponder: Array
    examples: Array
    status: NDArray[np.str_]

    def where(self, keep: Callable[[Array], Any], words: str) -> Cube:
        """The settings for which `keep` holds.

        Raises:
            InsufficientError: none is left; `words` says which settings are wanted.
        """
        chosen = np.flatnonzero(keep(self.settings))
        if not chosen.size:
            raise InsufficientError(f"no setting with {words} was run")
        return replace(
            self,
            settings=self.settings[chosen],
            error=self.error[:, chosen],
            ponder=self.ponder[:, chosen],
            status=self.status[:, chosen],
        )

    def of_seeds(self, keep: NDArray[np.bool_]) -> Cube:
        """Those of the seeds, of [K]."""
        return replace(
            self,
            seeds=self.seeds[keep],
            error=self.error[keep],
            ponder=self.ponder[keep],
            status=self.status[keep],
        )

    def whole(self) -> Cube:
        """The seeds that every setting was trained with."""
        return self.of_seeds(np.asarray(~np.isnan(self.error).any(axis=(1, 2)), dtype=np.bool_))

    def at_prior(self, lambda_p: float) -> Cube:
        """The one prior that a claim is about."""
        return self.where(lambda prior: np.isclose(prior, lambda_p), f"λp = {lambda_p:g}")

    def seed_error(self) -> Array:
        """[K, S] error of each replica, difficulties with equal weight as in the papers."""
        return average(self.error, axis=2)

    def seed_ponder(self) -> Array:
        """[K, S] steps of each replica, difficulties with equal weight; NaN where it diverged."""
        return average(self.ponder, axis=2)

    def best(self) -> int:
        """Index of the setting with the lowest mean error over seeds."""
        return int(np.nanargmin(average(self.seed_error(), axis=0)))

    def near_best(self) -> list[int]:
        """Indices of the settings whose mean error is within one standard error of the lowest.

        The standard error is that of the best setting over its seeds. Of one seed the best alone.
        """
        errors, best = self.seed_error(), self.best()
        mean, own = average(errors, axis=0), present(errors[:, best])
        error = np.std(own, ddof=1) / math.sqrt(own.size) if own.size > 1 else 0.0
        return [int(at) for at in np.flatnonzero(mean <= mean[best] + error)]


@dataclass(frozen=True)
class Curves:
    """Training curves of one mechanism: error and computed steps at the logged updates.

    Args:
        settings: [S]; seeds: [K].
        mean_error: [K, S] error averaged over the whole of training (area under the curve).
        steps: [K, S] forward passes of the step function per update; NaN where it diverged.
        frames: (seed index, setting index) -> that replica's columns in order of update.
    """

    settings: Array
    seeds: Array
    mean_error: Array
    steps: Array
    frames: Mapping[tuple[int, int], Mapping[str, Array]]

    def reached(self, error: float, column: str = "update") -> Array:
        """[K, S] value of `column` when the training error first falls to `error`.

        Infinite where it never does, NaN where a setting was not trained with a seed.
        """
        found = np.full((len(self.seeds), len(self.settings)), np.nan)
        for place, rows in self.frames.items():
            hits = rows[column][rows["error"] <= error]
            found[place] = hits[0] if len(hits) else np.inf
        return found


class Reading(NamedTuple):
    """What was reckoned from the steps of one traced sequence, and whose sequence it was."""

    seed: int
    setting: float
    value: Any


@dataclass
class Evidence:
    """The results of a profile, remembering which runs a measure looked at.

    `missing` says, in words, what a measure asked for and did not find.
    """

    results: Results
    runs: list[str] = field(default_factory=list)
    sizes: dict[str, tuple[float, float]] = field(default_factory=dict)
    unfinished: set[str] = field(default_factory=set)
    diverged: dict[str, int] = field(default_factory=dict)
    replicas: dict[str, int] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def sweep(
        self,
        experiment: str,
        mechanism: str,
        split: str = "test",
        keep: Callable[[Any], Any] | None = None,
        words: str = "",
    ) -> Cube:
        """The evaluation of one mechanism; PonderNet by its sampled prediction, as its paper.

        Args:
            experiment: the task.
            mechanism: as tables write it: act, or a variant as pondernet[epsilon=0.05].
            split: the evaluation split.
            keep: the settings that a claim is about (None: all); the seeds of others do not count.
            words: those settings in words.

        Raises:
            NotRunError: there are no such rows.
            InsufficientError: none of the settings was run.
        """
        cube = self.cube(experiment, mechanism, split)
        if keep is not None:
            cube = cube.where(keep, words)
            cube = cube.of_seeds((cube.status != "").any(axis=1))
        self._remember(experiment, mechanism, cube)
        return cube

    def cube(self, experiment: str, mechanism: str, split: str) -> Cube:
        """What `sweep` gives of all settings; nothing is remembered.

        Raises:
            NotRunError: there are no such rows.
        """
        rows = evaluated(self.table(experiment), split=split)
        rows = rows[rows["mechanism"] == mechanism]
        if not len(rows):
            raise self.not_run(f"{experiment} has no runs of {mechanism}")
        settings, seeds, levels = (
            np.sort(rows[name].unique()).astype(float) for name in ("setting", "seed", "difficulty")
        )
        index = pd.MultiIndex.from_product([seeds, settings, levels])
        cells = rows.groupby(["seed", "setting", "difficulty"])[["error", "ponder_time"]].mean()
        cells = cells.reindex(index)
        shape = (len(seeds), len(settings), len(levels))
        examples = rows.groupby("difficulty")["examples"].first().reindex(levels)
        status = rows.groupby(["seed", "setting"])["status"].first()
        status = status.reindex(pd.MultiIndex.from_product([seeds, settings]), fill_value="")
        return Cube(
            settings,
            seeds,
            levels,
            cells["error"].to_numpy(float).reshape(shape),
            cells["ponder_time"].to_numpy(float).reshape(shape),
            examples.to_numpy(float),
            status.to_numpy(str).reshape(shape[:2]),
        )

    def table(self, experiment: str) -> pd.DataFrame:
        """The evaluation of an experiment.

        Raises:
            NotRunError: it has not been run.
        """
        table = self.results.tables.get(experiment)
        if table is None:
            raise self.not_run(f"{experiment}{NOT_RUN}")
        return table

    def plain(self, experiment: str, split: str = "test") -> Cube:
        """The plain network: the fixed repeat with rho = 1."""
        try:
            return self.sweep(experiment, "repeat", split, lambda rho: rho == 1)
        except InsufficientError as problem:
            raise NotRunError(f"{experiment} has no runs of the plain network (rho 1)") from problem

    def common_updates(self, experiment: str, *mechanisms: str) -> float:
        """How many updates all these mechanisms were trained for: their plans may differ."""
        frame = self.results.curves.get(experiment)
        if frame is None:
            return 0.0
        ends = frame.groupby("mechanism")["update"].max()
        return min((float(ends[name]) for name in mechanisms if name in ends), default=0.0)

    def curves(self, experiment: str, mechanism: str, until: float = math.inf) -> Curves:
        """The training curves of one mechanism; a diverged stretch counts as full error.

        Where there are none they are without seeds, for the settings of the table: what is reckoned
        from them cannot be measured.

        Args:
            experiment: the task.
            mechanism: as tables write it.
            until: rows after this update are left out, to compare equally long trainings.
        """
        frame = self.results.curves.get(experiment)
        rows = None
        if frame is not None:
            rows = frame[(frame["mechanism"] == mechanism) & (frame["update"] <= until)]
        if rows is None or not len(rows):
            self.not_run(f"{experiment} has no training curves of {mechanism}")
            return self._no_curves(experiment, mechanism)
        rows = rows.copy()
        rows["error"] = rows["error"].fillna(self.results.cards[experiment].worst_error)
        settings = np.sort(rows["setting"].unique()).astype(float)
        seeds = np.sort(rows["seed"].unique()).astype(float)
        mean_error = np.full((len(seeds), len(settings)), np.nan)
        steps, frames = mean_error.copy(), dict[tuple[int, int], dict[str, Array]]()
        for (seed, setting), one in rows.groupby(["seed", "setting"]):
            place = int(np.searchsorted(seeds, seed)), int(np.searchsorted(settings, setting))
            ordered = one.sort_values("update")
            columns = {name: ordered[name].to_numpy(float) for name in CURVE_COLUMNS}
            frames[place] = columns
            mean_error[place] = _area(columns["update"], columns["error"])
            steps[place] = (columns["computed_steps"] / columns["update"])[-1]
        return Curves(settings, seeds, mean_error, steps, frames)

    def _no_curves(self, experiment: str, mechanism: str) -> Curves:
        table = self.results.tables[experiment]
        settings = np.sort(table["setting"][table["mechanism"] == mechanism].unique())
        nothing = np.empty((0, len(settings)))
        return Curves(settings.astype(float), np.empty(0), nothing, nothing, {})

    def traces(
        self, experiment: str, mechanism: str, kind: str, reckon: Callable[[Steps], Any]
    ) -> list[Reading]:
        """What is reckoned from each single sequence of one mechanism; empty where there are none.

        Args:
            experiment: the task.
            mechanism: act or pondernet.
            kind: text, mixed and so on, as the traces say it.
            reckon: takes the steps of one.
        """
        found = [
            Reading(int(trace["seed"]), float(trace["setting"]), reckon(trace["steps"]))
            for trace in self.results.traces.get(experiment, [])
            if trace["mechanism"] == mechanism and trace["kind"] == kind and trace["steps"]
        ]
        if not found:
            self.not_run(f"{experiment} has no traces of {mechanism} ({kind})")
        return found

    def not_run(self, what: str) -> NotRunError:
        """Remember what is missing, and give the error that says so, to be raised or not."""
        self.missing.append(what)
        return NotRunError(what)

    def _remember(self, experiment: str, mechanism: str, cube: Cube) -> None:
        run = f"{experiment}-{read_variant(mechanism)[0]}"
        if run not in self.runs:
            self.runs.append(run)
        trained = cube.status != ""
        if (cube.status == "running").any():
            self.unfinished.add(run)
        self.replicas[f"{experiment}-{mechanism}"] = int(trained.sum())
        self.diverged[f"{experiment}-{mechanism}"] = int((cube.status == "diverged").sum())
        self.seeds.append(int(trained.sum(axis=0).min()))
        low, high = float(cube.difficulties.min()), float(cube.difficulties.max())
        known = self.sizes.get(experiment, (low, high))
        self.sizes[experiment] = (min(low, known[0]), max(high, known[1]))


def small_taus(at_most: float) -> tuple[Callable[[Any], Any], str]:
    """For `Evidence.sweep`: the time penalties up to a largest one, but for none at all (τ = 0)."""
    return lambda tau: (tau > 0) & (tau <= at_most * (1 + 1e-9)), f"0 < τ ≤ {at_most:g}"


def _area(updates: Array, error: Array) -> float:
    """Mean error over training by the trapezoid rule: logging points need not be evenly spaced."""
    if len(updates) < 2 or updates[-1] == updates[0]:
        return float(error.mean())
    return float(np.trapezoid(error, updates) / (updates[-1] - updates[0]))
