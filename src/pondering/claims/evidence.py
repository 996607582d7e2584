"""The tables behind a claim, and a record of what was looked at to judge it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import pandas as pd

from pondering.claims.frames import by_difficulty, trend
from pondering.params.replica import read_variant
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import evaluated, per_seed, splits_of


class NotRunError(Exception):
    """The runs that a claim is about do not exist; the text says which."""


class InsufficientError(Exception):
    """The runs exist but cannot carry the claim; the text says what they lack."""


def require(count: int, minimum: int, what: str) -> None:
    """Raise InsufficientError where fewer settings or difficulties were run than a claim needs."""
    if count < minimum:
        raise InsufficientError(f"{count} {what} were run, {minimum} are needed")


@dataclass
class Evidence:
    """The results of a profile, and which runs a measure looked at.

    `statuses` are of all replicas by "experiment-variant", `sizes` the easiest and the hardest
    difficulty of an experiment.
    """

    results: Results
    statuses: dict[str, pd.Series] = field(default_factory=dict)
    sizes: dict[str, tuple[float, float]] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)  # of each sweep the fewest of any setting
    missing: list[str] = field(default_factory=list)  # in words, what was asked for in vain

    @property
    def runs(self) -> list[str]:
        """The train stages behind it, as "experiment-mechanism"."""
        return list(dict.fromkeys(variant.partition("[")[0] for variant in self.statuses))

    @property
    def unfinished(self) -> list[str]:
        """Those of the runs with a replica that still trains."""
        found = (name for name, each in self.statuses.items() if (each == "running").any())
        return sorted({variant.partition("[")[0] for variant in found})

    @property
    def replicas(self) -> int:
        """How many replicas were looked at."""
        return sum(map(len, self.statuses.values()))

    @property
    def diverged(self) -> int:
        """How many of them diverged."""
        return sum(int((each == "diverged").sum()) for each in self.statuses.values())

    @property
    def fewest_seeds(self) -> int:
        """The fewest seeds of a setting; 0 where nothing was looked at."""
        return min(self.seeds, default=0)

    def sweep(
        self,
        experiment: str,
        mechanism: str,
        split: str | None = None,
        *,
        above: float = -math.inf,
        at_most: float = math.inf,
    ) -> pd.DataFrame:
        """The evaluation of one mechanism; PonderNet by its sampled prediction, as in its paper.

        Args:
            mechanism: as tables write it: act, or a variant as pondernet[epsilon=0.05].
            split: of the evaluation; None: the split that counts.
            above, at_most: the settings that a claim is about.

        Returns:
            A row for each setting, seed and difficulty.

        Raises:
            NotRunError: there are no such rows.
            InsufficientError: none of the settings was run.
        """
        table = self.table(experiment)
        rows = evaluated(table, split or splits_of(table)[0])
        rows = rows[rows["mechanism"] == mechanism]
        if rows.empty:
            raise self.not_run(f"{experiment} has no runs of {mechanism}")
        rows = rows[(rows["setting"] > above) & (rows["setting"] <= at_most * (1 + 1e-9))]
        if rows.empty:
            raise InsufficientError(f"no setting above {above:g} and up to {at_most:g} was run")
        networks = per_seed(rows)
        self.statuses[f"{experiment}-{mechanism}"] = networks["status"]
        self.seeds.append(int(networks.groupby("setting").size().min()))
        ends = [*rows["difficulty"].agg(["min", "max"]), *self.sizes.get(experiment, ())]
        self.sizes[experiment] = (float(min(ends)), float(max(ends)))
        return rows

    def table(self, experiment: str) -> pd.DataFrame:
        """The evaluation of an experiment.

        Raises:
            NotRunError: it has not been run.
        """
        if experiment not in self.results.tables:
            raise self.not_run(f"{experiment} has not been run")
        return self.results.tables[experiment]

    def plain(self, experiment: str) -> pd.DataFrame:
        """The plain network: the fixed repeat with rho = 1."""
        try:
            return self.sweep(experiment, "repeat", at_most=1)
        except InsufficientError:
            raise self.not_run(f"{experiment} has no runs of the plain network (rho 1)") from None

    def variants(self, experiment: str, mechanism: str) -> list[str]:
        """A mechanism as the table of an experiment writes it: without options, and with any.

        Raises:
            NotRunError: the experiment has no such runs.
        """
        there = self.table(experiment)["mechanism"].unique()
        found = [name for name in there if read_variant(name)[0] == mechanism]
        if not found:
            raise self.not_run(f"{experiment} has no runs of {mechanism}")
        return found

    def networks(
        self,
        experiment: str,
        names: Iterable[str],
        *,
        above: float = -math.inf,
        at_most: float = math.inf,
    ) -> pd.DataFrame:
        """A row for each network, on the split that counts.

        Args:
            names: mechanisms as tables write them.
            above, at_most: as of `sweep`, which says what is raised.

        Returns:
            mechanism, setting, seed, error, ponder_time (difficulties weigh alike), solved, and
            trend, Spearman's correlation of steps with difficulty, 0 where all steps are the same.
        """
        every = []
        for name in names:
            rows = self.sweep(experiment, name, above=above, at_most=at_most)
            steps = by_difficulty(rows, "ponder_time")
            trends = pd.Series(trend(steps), steps.index, name="trend")
            every.append(per_seed(rows).join(trends, on=["seed", "setting"]))
        found = pd.concat(every, ignore_index=True)
        return found.assign(solved=found["error"] < SOLVED_ERROR)

    def audit(self, experiment: str) -> pd.DataFrame:
        """The frozen audit of an experiment's readout, on the split that counts.

        Raises:
            NotRunError: there is none.
        """
        split = splits_of(self.table(experiment))[0]
        rows = self.results.readouts.get(experiment)
        if rows is None:
            raise self.not_run(f"{experiment} has no audit of the readout")
        return rows[rows["split"] == split]

    def curves(self, experiment: str, mechanism: str, until: float = math.inf) -> pd.DataFrame:
        """The training curves of one mechanism in order of update; a diverged stretch is all wrong.

        Rows are as in the curves' files; none where there are no curves. Those after the update
        `until` are left out, to compare equally long trainings.
        """
        frame = self.results.curves_of(experiment)
        rows = frame[(frame["mechanism"] == mechanism) & (frame["update"] <= until)]
        if rows.empty:
            self.not_run(f"{experiment} has no training curves of {mechanism}")
            return rows
        worst = self.results.cards[experiment].worst_error
        return rows.fillna({"error": worst}).sort_values("update")

    def common_updates(self, experiment: str, mechanisms: Iterable[str]) -> float:
        """How many updates all these mechanisms were trained for; 0 where there are no curves."""
        frame = self.results.curves_of(experiment)
        known = frame[frame["mechanism"].isin([*mechanisms])]
        return float(known.groupby("mechanism")["update"].max().min()) if len(known) else 0.0

    def traces(self, experiment: str, kind: str) -> pd.DataFrame:
        """Every step of the sequences of a kind (text, mixed) that ACT was traced on.

        Returns:
            seed, setting, sequence (counted for each seed), and the columns of the trace; empty
            where there is none.
        """
        every = [
            step | {"seed": seed, "setting": trace["setting"], "sequence": place}
            for seed, several in self.results.act_traces(experiment, kind).items()
            for place, trace in enumerate(several)
            for step in trace["steps"]
        ]
        if not every:
            self.not_run(f"{experiment} has no traces of act ({kind})")
        return pd.DataFrame(every)

    def not_run(self, what: str) -> NotRunError:
        """Remember what is missing, and give the error that says so, to be raised or not."""
        self.missing.append(what)
        return NotRunError(what)
