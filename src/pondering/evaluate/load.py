"""What is trained: which replicas there are, how well they did, and one of them loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch

from pondering.model.network import Network
from pondering.model.stacking import select
from pondering.params.ranges import setting_text
from pondering.params.read import PROFILES, SETTING_NAMES, Params
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.results.tables import headline, replica_means
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train import checkpoint
from pondering.train.build import make_halting, make_network


class Published(Layout):
    """The files of a fresh clone: trained replicas are read where they are published."""

    def run(self, experiment: str, mechanism: str) -> Path:
        """The published replicas of a mechanism."""
        return self.models(experiment, mechanism)


class Trained(NamedTuple):
    """The replicas of one mechanism, as a training stage left them."""

    network: Network
    replicas: list[Replica]
    status: list[str]

    @property
    def mechanism(self) -> str:
        """Theirs."""
        return self.replicas[0].mechanism


class Standing(NamedTuple):
    """A replica's evaluation: means over difficulties of equal weight."""

    error: float  # a share, or in the unit of the task
    ponder_time: float


Standings = Mapping[str, Standing]  # by a replica's text


@dataclass(frozen=True)
class Run:
    """The replicas that one training stage left.

    Args:
        layout: where its files lie.
        replicas: each with its status; None if their list is damaged.
        current: whether params.yaml still says what it was trained with.
    """

    layout: Layout
    experiment: str
    mechanism: str
    replicas: list[tuple[Replica, str]] | None
    current: bool


@dataclass(frozen=True)
class Loaded:
    """One trained replica, ready to be asked."""

    layout: Layout
    network: Network  # without replica axis
    task: Task
    replica: Replica
    status: str
    standing: Standing | None


def home(root: Path, profile: str, experiment: str, mechanism: str) -> Layout | None:
    """The layout whose `run` folder has these replicas: the project's own, else the published."""
    for layout in (Layout(root, profile), Published(root, profile)):
        if (layout.run(experiment, mechanism) / "run.json").is_file():
            return layout
    return None


def runs(root: Path, params: Params) -> Iterator[Run]:
    """Everything trained in one profile, in the order of params.yaml."""
    for experiment, config in params.experiments.items():
        for mechanism in config.mechanisms:
            layout = home(root, params.profile, experiment, mechanism)
            if layout is None:
                continue
            path = layout.run(experiment, mechanism) / "run.json"
            try:
                replicas, values = recorded(path, mechanism)
            except ValueError:
                yield Run(layout, experiment, mechanism, None, False)
                continue
            current = values == config.of_mechanism(mechanism)
            yield Run(layout, experiment, mechanism, replicas, current)


def recorded(path: Path, mechanism: str) -> tuple[list[tuple[Replica, str]], Any]:
    """A run's replicas with their status, and the parameters that it was trained with.

    Args:
        path: its `run.json`.
        mechanism: that of the replicas.

    Raises:
        ValueError: damaged.
    """
    record = json.loads(path.read_text(encoding="utf-8"))
    try:
        replicas = [
            (Replica(mechanism, float(each["setting"]), int(each["seed"])), str(each["status"]))
            for each in record["replicas"]
        ]
        return replicas, record["config"]
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"{path}: damaged") from error


def load_trained(
    layout: Layout,
    params: Params,
    experiment: str,
    mechanism: str,
    task: Task,
    device: torch.device | str = "cpu",
) -> Trained:
    """Read trained replicas back.

    Raises:
        UserError: missing, damaged, or trained with other parameters than these.
    """
    config, folder = params.experiment(experiment), layout.run(experiment, mechanism)
    path = folder / "run.json"
    stage = f"dvc repro {params.training(experiment, mechanism)}"
    try:
        found, values = recorded(path, mechanism)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `{stage}` first") from None
    except ValueError:
        raise UserError(f"{path}: damaged; run `{stage}` again") from None
    replicas = [replica for replica, _ in found]
    if values != config.of_mechanism(mechanism):
        raise UserError(f"{path}: trained with other parameters than params.yaml; run `{stage}`")
    planned = config.replicas(mechanism)  # all of them, or of a fresh clone one, in their order
    if not replicas or replicas != [each for each in planned if each in replicas]:
        raise UserError(f"{path}: damaged; run `{stage}` again")
    tensors, _ = checkpoint.read(folder / "parameters.safetensors")
    network = make_network(config, task, replicas, device)
    try:
        network.load_state_dict(tensors)
    except RuntimeError:
        where = folder / "parameters.safetensors"
        raise UserError(f"{where}: of another configuration; run `{stage}` again") from None
    return Trained(network, replicas, [status for _, status in found])


def standings(layout: Layout, experiment: str) -> Standings:
    """How the replicas of an experiment did, from its evaluation table; empty without one.

    The first split and the paper's mode of prediction count, as in the summary for `dvc metrics`.

    Raises:
        UserError: the table is damaged.
    """
    path = layout.table(experiment)
    if not path.is_file():
        return {}
    try:
        means = replica_means(headline(pd.read_csv(path)))
        return {
            Replica(str(mechanism), float(setting), int(seed)).text(): Standing(*map(float, values))
            for (mechanism, setting, seed), values in zip(means.index, means.values, strict=True)
        }
    except (KeyError, IndexError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: not a readable table ({reason}); run `dvc repro` again") from None


def load(
    root: Path,
    params: Params,
    experiment: str,
    mechanism: str,
    setting: float | None = None,
    seed: int | None = None,
) -> Loaded:
    """Load one replica as a network of its own.

    Args:
        setting: None takes the one with the smallest mean error, or the first without a table.
        seed: None takes the first that did not diverge.

    Raises:
        UserError: not trained, damaged, of other parameters than params.yaml, or no such replica.
    """
    config = params.experiment(experiment)
    if mechanism not in config.mechanisms:
        allowed = ", ".join(config.mechanisms)
        raise UserError(f"--mechanism: {mechanism!r} is unknown; allowed: {allowed}")
    layout = home(root, params.profile, experiment, mechanism)
    if layout is None:
        raise UserError(_untrained(root, params, experiment, mechanism))
    frozen = layout.frozen(experiment)
    task = make_task(config.task, experiment, frozen if frozen.is_file() else None)
    trained = load_trained(layout, params, experiment, mechanism, task)
    table = standings(layout, experiment)
    index = choose(trained, table, setting, seed)
    chosen = trained.replicas[index]
    halting = make_halting(config, mechanism, chosen.setting)
    return Loaded(
        layout,
        select(trained.network, index, halting),
        task,
        chosen,
        trained.status[index],
        table.get(chosen.text()),
    )


def choose(
    trained: Trained, table: Standings, setting: float | None = None, seed: int | None = None
) -> int:
    """Which of the stacked replicas to show; see `load`."""
    name = SETTING_NAMES[trained.mechanism]
    settings = {setting_text(each.setting): None for each in trained.replicas}
    wanted = _best(trained, table, list(settings)) if setting is None else setting_text(setting)
    if wanted not in settings:
        raise UserError(
            f"--setting: {name} {wanted} is not trained; allowed: {', '.join(settings)}"
        )
    seeds = {
        each.seed: k
        for k, each in enumerate(trained.replicas)
        if setting_text(each.setting) == wanted
    }
    alive = [number for number, k in seeds.items() if trained.status[k] != "diverged"]
    finished = [number for number in alive if trained.status[seeds[number]] == "finished"]
    if not alive:
        raise UserError(f"--setting: {name} {wanted} diverged with every seed; choose another")
    if seed is None:
        seed = (finished or alive)[0]
    if seed not in alive:
        why = "diverged" if seed in seeds else "is not trained"
        allowed = ", ".join(map(str, alive))
        raise UserError(f"--seed: {seed} {why} for {name} {wanted}; allowed: {allowed}")
    return seeds[seed]


def _best(trained: Trained, table: Standings, settings: Sequence[str]) -> str:
    """The setting of the smallest mean error over seeds, else the first that did not diverge."""
    errors: dict[str, list[float]] = {each: [] for each in settings}
    for replica in trained.replicas:
        if (row := table.get(replica.text())) is not None:
            errors[setting_text(replica.setting)].append(row.error)
    judged = {each: sum(found) / len(found) for each, found in errors.items() if found}
    if judged:
        return min(judged, key=lambda each: judged[each])
    pairs = zip(trained.replicas, trained.status, strict=True)
    healthy = (setting_text(each.setting) for each, status in pairs if status != "diverged")
    return next(healthy, settings[0])


def _untrained(root: Path, params: Params, experiment: str, mechanism: str) -> str:
    profile, mechanisms = params.profile, params.experiment(experiment).mechanisms
    others = [each for each in mechanisms if home(root, profile, experiment, each)]
    elsewhere = [each for each in PROFILES if home(root, each, experiment, mechanism)]
    hints = [f"run `dvc repro {params.training(experiment, mechanism)}` first"]
    if others:
        hints.append(f"or try --mechanism {others[0]}")
    if elsewhere:
        hints.append(f"or --profile {elsewhere[0]}")
    return f"{experiment} {mechanism}: not trained in profile {profile}; {', '.join(hints)}"
