"""What `bench.py` measures: the rows of its table, and the rows that have a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pondering.model.network import PathName

Row = dict[str, Any]

EXPERIMENTS = ("parity", "logic", "addition", "mnist")
REGIMES = {"act": ("fresh", "spread"), "pondernet": ("constant",), "repeat": ("constant",)}
CUT, LARGE = 16, 64  # replicas: would a stack of 64 be faster in pieces of 16?
REPLICAS = (1, CUT, LARGE)
GRID_RUNS, GRID_UPDATES = 740, 1_000_000  # Graves's parity: 37 penalties x 20 seeds
WIKIPEDIA_UPDATES = 160_000  # Graves: 16 threads of 10,000
EPOCH = 429  # updates: 55,000 images in batches of 128


class Case(NamedTuple):
    """One row: a sweep of `replicas` runs of an experiment's paper size, in every process."""

    experiment: str
    mechanism: str
    regime: str
    replicas: int
    path: PathName = "compiled"  # the default of `compute.path`; or fast
    threads: bool = False  # one stack on all threads, in place of one a core


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
    """Run-updates/s of all stacks against updates/s of all plain loops."""
    return Check(" against plain", lambda row: row["ratio"]["median"], "x", times, True)


def useful(share: float) -> Check:
    """Useful work as a share of the matrix rate."""
    return Check(" useful work", lambda row: 100 * row["useful_share"]["median"], "%", share, True)


def _grid_hours(row: Row) -> float:
    rate: float = row["run_updates_per_s"]["median"]
    return GRID_RUNS * GRID_UPDATES / rate / 3600


def _wikipedia_hours(row: Row) -> float:
    rate: float = row["updates_per_s"]["median"]
    return WIKIPEDIA_UPDATES / rate / 3600


def _epochs(row: Row) -> str:
    fast, plain = (EPOCH / row[key]["median"] for key in ("updates_per_s", "plain_updates_per_s"))
    return f"an epoch takes {fast:.1f} s, the plain one {plain:.1f} s"


GRID_HOURS = Check("", _grid_hours, " h", 6, False)
RUN_HOURS = Check("", _wikipedia_hours, " h", 5.3, False)  # as 10,000 updates in 20 minutes
# There are no loops for a CNN, nor for PonderNet in large networks.
COMPILED = {(name, mechanism) for name in EXPERIMENTS[:3] for mechanism in REGIMES}
COMPILED -= {("addition", "pondernet")}
FRESH_GPU = Case("parity", "act", "fresh", 160, "fast")
SPREAD_GPU = FRESH_GPU._replace(regime="spread")
WIKIPEDIA_GPU = Case("wikipedia", "act", "fresh", 1, "fast")
TARGETS = (
    Target("parity, ACT, K = 16, fresh", Case("parity", "act", "fresh", 16),
           (faster(6), useful(65))),
    Target("parity, ACT, K = 16, spread", Case("parity", "act", "spread", 16),
           (faster(12), useful(45))),
    Target("parity, PonderNet N = 20, K = 8", Case("parity", "pondernet", "constant", 8),
           (faster(4), useful(55))),
    Target("logic, ACT, LSTM 128, K = 8, fresh", Case("logic", "act", "fresh", 8),
           (faster(10), useful(40))),
    Target("logic, ACT, LSTM 128, K = 8, spread", Case("logic", "act", "spread", 8),
           (faster(10), useful(40))),
    Target("addition, ACT, LSTM 512, K = 1, fresh", Case("addition", "act", "fresh", 1),
           (faster(3.5), useful(45))),
    Target("addition, ACT, LSTM 512, K = 1, spread", Case("addition", "act", "spread", 1),
           (faster(3.5), useful(45))),
    Target("mnist, PonderNet, K = 1: an epoch against the CNN run at every ponder step",
           Case("mnist", "pondernet", "constant", 1, "fast"), (faster(15),), note=_epochs),
    Target("parity, ACT, K = 160, fresh, on one GPU", FRESH_GPU, (faster(200),), gpu=True),
    Target("parity, ACT, K = 160, spread, on one GPU", SPREAD_GPU, (faster(200),), gpu=True),
    Target("the whole parity grid of the paper (740 runs) at 1M updates, extrapolated from "
           "K = 160, spread, on one GPU", SPREAD_GPU, (GRID_HOURS,), gpu=True),
    Target("wikipedia, ACT, LSTM 1500, fresh, one run of 160,000 updates, on one GPU",
           WIKIPEDIA_GPU, (RUN_HOURS,), gpu=True),
)  # fmt: skip
WITHOUT_AIM = (
    Case("sort", "act", "fresh", 1),
    Case("wikipedia", "act", "fresh", 1),
    Case("parity", "act", "fresh", 16, threads=True),
)


def shrunken(case: Case) -> Case:
    """The case of a smoke run: two replicas at most."""
    return case._replace(replicas=min(case.replicas, 2))


def row_of(case: Case, rows: list[Row]) -> Row | None:
    """The row of a case, if there is one."""
    return next((row for row in rows if all(row[k] == v for k, v in case._asdict().items())), None)


def aims(gpu: bool, quick: bool) -> list[Case]:
    """The cases that have a target on this kind of device, each once."""
    found = dict.fromkeys(target.case for target in TARGETS if target.gpu == gpu)
    return [shrunken(case) if quick else case for case in found]


def cases(gpu: bool, quick: bool) -> list[Case]:
    """Every row of the table, those with a target included, each once."""
    counts = (2,) if quick else (*REPLICAS, 256) if gpu else REPLICAS
    found = {*_grid(counts), *aims(gpu, quick)}
    if not gpu:
        found |= {shrunken(case) if quick else case for case in WITHOUT_AIM}
    order = {name: place for place, name in enumerate((*EXPERIMENTS, "sort", "wikipedia"))}
    mechanisms = list(REGIMES)

    def place(case: Case) -> tuple[int, int, bool, str, bool, int]:
        mechanism, loops = mechanisms.index(case.mechanism), case.path == "compiled"
        first = order[case.experiment], mechanism, loops
        return *first, case.regime, case.threads, case.replicas

    chosen = {case for case in found if case.path == "fast" or not gpu}  # a GPU has no loops
    return sorted(chosen, key=place)


def _grid(counts: tuple[int, ...]) -> Iterator[Case]:
    for experiment in EXPERIMENTS:
        for mechanism, regimes in REGIMES.items():
            for regime in regimes:
                for count in counts:
                    case = Case(experiment, mechanism, regime, count, "fast")
                    yield case
                    if (experiment, mechanism) in COMPILED:
                        yield case._replace(path="compiled")
