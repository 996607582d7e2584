"""What `bench.py` measures: the rows of its table, and the rows that have a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pondering.model.network import PathName

Row = dict[str, Any]

EXPERIMENTS = ("parity", "logic", "addition", "mnist")
REGIMES = {"act": ("fresh", "spread"), "pondernet": ("constant",), "repeat": ("constant",)}
REPLICAS = (1, 4, 16, 64)
GRID_RUNS, GRID_UPDATES = 740, 1_000_000  # Graves's parity: 37 penalties x 20 seeds
WIKIPEDIA_UPDATES = 10_000
EPOCH = 429  # updates: 55,000 images in batches of 128


class Case(NamedTuple):
    """One row: a sweep of `replicas` runs of an experiment's paper size."""

    experiment: str
    mechanism: str
    regime: str
    replicas: int
    plain: bool = True  # whether the plain loop runs in turn with it
    path: PathName = "fast"  # or compiled, the default of `compute.path`


class Check(NamedTuple):
    """One thing that is wanted of a row."""

    what: str
    value: Callable[[Row], float]
    unit: str
    bound: float
    at_least: bool

    def wanted(self) -> str:
        """The bound in words."""
        return f"{'at least' if self.at_least else 'under'} {self.bound:g}{self.unit}{self.what}"

    def measured(self, row: Row) -> str:
        """What the row has."""
        return f"{self.value(row):.3g}{self.unit}{self.what}"

    def holds(self, row: Row) -> bool:
        """Whether the row has it."""
        value = self.value(row)
        return value >= self.bound if self.at_least else value < self.bound


class Target(NamedTuple):
    """A case with what is wanted of it."""

    name: str
    case: Case
    checks: tuple[Check, ...]
    gpu: bool = False
    note: Callable[[Row], str] | None = None


def faster(times: float) -> Check:
    """Run-updates/s against the plain loop's updates/s."""
    return Check(" against plain", lambda row: row["ratio"]["median"], "x", times, True)


def useful(share: float) -> Check:
    """Useful work as a share of the matrix rate."""
    return Check(" useful work", lambda row: 100 * row["useful_share"]["median"], "%", share, True)


def _grid_hours(row: Row) -> float:
    rate: float = row["run_updates_per_s"]["median"]
    return GRID_RUNS * GRID_UPDATES / rate / 3600


def _wikipedia_minutes(row: Row) -> float:
    rate: float = row["updates_per_s"]["median"]
    return WIKIPEDIA_UPDATES / rate / 60


def _epochs(row: Row) -> str:
    fast, plain = (EPOCH / row[key]["median"] for key in ("updates_per_s", "plain_updates_per_s"))
    return f"an epoch takes {fast:.1f} s, the plain one {plain:.1f} s"


def _both(name: str, case: Case, *checks: Check) -> tuple[Target, Target]:
    """A target on the default path and on that of torch's own calls."""
    loops = case._replace(path="compiled")
    return Target(name, loops, checks), Target(f"{name}, fast path", case, checks)


HOURS = Check("", _grid_hours, " h", 6, False)
MINUTES = Check("", _wikipedia_minutes, " min", 20, False)
LONG_TAIL = Case("parity", "act", "long tail", 16)
# There are no loops for a CNN, nor for PonderNet in large networks.
COMPILED = {(name, mechanism) for name in EXPERIMENTS[:3] for mechanism in REGIMES}
COMPILED -= {("addition", "pondernet")}
SPREAD_GPU = Case("parity", "act", "spread", 160)
TARGETS = (
    *_both("parity, ACT, K = 16, fresh", Case("parity", "act", "fresh", 16), faster(5), useful(40)),
    *_both("parity, ACT, K = 16, spread", Case("parity", "act", "spread", 16), faster(4),
           useful(25)),
    *_both("parity, PonderNet N = 20, K = 8", Case("parity", "pondernet", "constant", 8),
           faster(3), useful(40)),
    *_both("logic, ACT, LSTM 128, K = 8, fresh", Case("logic", "act", "fresh", 8), faster(3)),
    *_both("logic, ACT, LSTM 128, K = 8, spread", Case("logic", "act", "spread", 8), faster(3)),
    *_both("addition, ACT, LSTM 512, K = 1, fresh", Case("addition", "act", "fresh", 1),
           faster(1.3), useful(50)),
    *_both("addition, ACT, LSTM 512, K = 1, spread", Case("addition", "act", "spread", 1),
           faster(1.3), useful(50)),
    Target("mnist, PonderNet: an epoch against the CNN run at every ponder step",
           Case("mnist", "pondernet", "constant", 1), (faster(10),), note=_epochs),
    Target("parity, ACT, K = 160, fresh, on one GPU", Case("parity", "act", "fresh", 160),
           (faster(200),), gpu=True),
    Target("parity, ACT, K = 160, spread, on one GPU", SPREAD_GPU, (faster(200),), gpu=True),
    Target("the whole parity grid of the paper (740 runs) at 1M updates, extrapolated from "
           "K = 160, spread, on one GPU", SPREAD_GPU, (HOURS,), gpu=True),
    Target("wikipedia, ACT, LSTM 1500, fresh, one run of 10,000 updates, on one GPU",
           Case("wikipedia", "act", "fresh", 1, plain=False), (MINUTES,), gpu=True),
)  # fmt: skip


def shrunken(case: Case) -> Case:
    """The case of a smoke run: two replicas at most."""
    return case._replace(replicas=min(case.replicas, 2))


def row_of(case: Case, rows: list[Row]) -> Row | None:
    """The row of a case, if there is one."""
    return next((row for row in rows if all(row[k] == v for k, v in case._asdict().items())), None)


def cases(gpu: bool, quick: bool) -> list[Case]:
    """Every row of the table, those with a target included, each once."""
    counts = (2,) if quick else (*REPLICAS, 256) if gpu else REPLICAS
    found = list(_grid(counts))
    known = [case for case in found if (case.experiment, case.mechanism) in COMPILED]
    found += [case._replace(path="compiled") for case in known]
    found += [target.case for target in TARGETS if gpu or not target.gpu]
    if quick:
        found = [shrunken(case) for case in found]
    if not quick:
        found += [LONG_TAIL, LONG_TAIL._replace(path="compiled")]
    order = {name: place for place, name in enumerate((*EXPERIMENTS, "wikipedia"))}
    mechanisms = list(REGIMES)

    def place(case: Case) -> tuple[int, int, bool, str, int]:
        mechanism, loops = mechanisms.index(case.mechanism), case.path == "compiled"
        return order[case.experiment], mechanism, loops, case.regime, case.replicas

    chosen = {case for case in found if case.path == "fast" or not gpu}  # a GPU has no loops
    return sorted(chosen, key=place)


def _grid(counts: tuple[int, ...]) -> Iterator[Case]:
    for experiment in EXPERIMENTS:
        for mechanism, regimes in REGIMES.items():
            for regime in regimes:
                for count in counts:
                    yield Case(experiment, mechanism, regime, count)
