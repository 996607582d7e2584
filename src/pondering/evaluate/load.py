"""Trained replicas, read back: all of a mechanism, or one as a network of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from pondering.evaluate.standings import Standing, Standings, best, standings
from pondering.model.network import Network
from pondering.model.stacking import select
from pondering.params.ranges import setting_text
from pondering.params.read import PROFILES, SETTING_NAMES, Params
from pondering.params.replica import Options, Replica, read_variant
from pondering.project.errors import UserError
from pondering.project.paths import Layout, to_run
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train import checkpoint, keys
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
            (Replica.of_record(mechanism, each), str(each["status"])) for each in record["replicas"]
        ]
        return replicas, record["config"]
    except (KeyError, TypeError, OverflowError, AttributeError) as error:
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
    if not keys.agrees(values, config, mechanism):
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


def load(
    root: Path,
    params: Params,
    experiment: str,
    variant: str,
    setting: float | None = None,
    seed: int | None = None,
) -> Loaded:
    """Load one replica as a network of its own.

    Args:
        variant: a mechanism, which stands for its settings without options, or with options as
            tables write it: act[halt_bias=-3].
        setting: None takes the one with the smallest mean error, or the first without a table.
        seed: None takes the first that did not diverge.

    Raises:
        UserError: not trained, damaged, of other parameters than params.yaml, or no such replica.
    """
    config = params.experiment(experiment)
    mechanism, options = read_variant(variant)
    if mechanism not in config.mechanisms:
        known = ", ".join(config.mechanisms)
        raise UserError(f"--mechanism: {variant!r} is unknown; allowed: {known}")
    layout = home(root, params.profile, experiment, mechanism)
    if layout is None:
        raise UserError(_untrained(root, params, experiment, mechanism))
    frozen = layout.frozen(experiment)
    task = make_task(config.task, experiment, frozen if frozen.is_file() else None)
    trained = load_trained(layout, params, experiment, mechanism, task)
    table = standings(layout, experiment)
    index = choose(trained, table, setting, seed, options)
    chosen = trained.replicas[index]
    halting = make_halting(config, chosen)
    return Loaded(
        layout,
        select(trained.network, index, halting),
        task,
        chosen,
        trained.status[index],
        table.get(chosen.text()),
    )


def choose(
    trained: Trained,
    table: Standings,
    setting: float | None = None,
    seed: int | None = None,
    options: Options = (),
) -> int:
    """Which of the stacked replicas to show.

    Args:
        trained: the replicas of one mechanism.
        table: how they did, which may be empty.
        setting: None takes the one with the smallest mean error, or the first without a table.
        seed: None takes the first that did not diverge.
        options: what the setting names besides, exactly.

    Raises:
        UserError: no such replica, or it diverged.
    """
    name = SETTING_NAMES[trained.mechanism]
    own = _of_variant(trained, options)
    settings = {setting_text(each.setting): None for each in own.values()}
    wanted = _best(trained, table, own) if setting is None else setting_text(setting)
    if wanted not in settings:
        raise UserError(
            f"--setting: {name} {wanted} is not trained; allowed: {', '.join(settings)}"
            + _elsewhere(trained, wanted)
        )
    seeds = {each.seed: k for k, each in own.items() if setting_text(each.setting) == wanted}
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


def _of_variant(trained: Trained, options: Options) -> dict[int, Replica]:
    """The replicas with these options, which may be written in six digits, by their places."""
    wanted = Replica(trained.mechanism, 0, 0, options).variant
    own = {k: each for k, each in enumerate(trained.replicas) if each.variant == wanted}
    if not own:
        there = ", ".join(dict.fromkeys(each.variant for each in trained.replicas))
        raise UserError(f"--mechanism: {wanted!r} is not trained; allowed: {there}")
    return own


def _elsewhere(trained: Trained, wanted: str) -> str:
    """Where a setting is that the chosen variant has not."""
    found = [each for each in trained.replicas if setting_text(each.setting) == wanted]
    names = ", ".join(dict.fromkeys(each.variant for each in found))
    return f"; --mechanism {names} has it" if names else ""


def _best(trained: Trained, table: Standings, own: Mapping[int, Replica]) -> str:
    """The setting of the smallest mean error over seeds, else the first that did not diverge."""
    if (found := best(own.values(), table)) is not None:
        return found
    settings = [setting_text(each.setting) for each in own.values()]
    healthy = (setting_text(e.setting) for k, e in own.items() if trained.status[k] != "diverged")
    return next(healthy, settings[0])


def _untrained(root: Path, params: Params, experiment: str, mechanism: str) -> str:
    profile, mechanisms = params.profile, params.experiment(experiment).mechanisms
    others = [each for each in mechanisms if home(root, profile, experiment, each)]
    elsewhere = [each for each in PROFILES if home(root, each, experiment, mechanism)]
    hints = [f"{to_run('train', profile, experiment, mechanism)} first"]
    if others:
        hints.append(f"or try --mechanism {others[0]}")
    if elsewhere:
        hints.append(f"or --profile {elsewhere[0]}")
    return f"{experiment} {mechanism}: no network here in profile {profile}; {', '.join(hints)}"
