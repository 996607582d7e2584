"""Single trained networks by their names: a user's own and the published ones.

`from_pretrained` needs torch and safetensors alone. Stacks for the evaluation: `stage.py`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from pondering.model.cells import CELLS
from pondering.model.halting import Halting
from pondering.model.network import Network
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica, setting_text

REPORTS = Path(__file__).parents[3] / "reports"  # of the checkout, if this is one


@dataclass(frozen=True)
class Card:
    """What a trained network was trained on, and how well it did.

    The last four stand in the results beside the networks and are None without them.

    Attributes:
        name: as `from_pretrained` takes it.
        task: its task, values as in `params.yaml`; `pondering.tasks.make_task` takes them.
        setting: the mechanism's setting by its name, as {"tau": 0.001}.
        seed: of its first parameters and its batches.
        updates: how many it had.
        status: "finished", "running" or "diverged".
        question: what the task asks, in words.
        unit: of the error, mostly a share of sequences with any mistake.
        error: on the test set, the mean over all difficulties.
        ponder_time: mean steps for an input there; NaN where it diverged.
    """

    name: str
    task: Mapping[str, Any]
    setting: Mapping[str, float]
    seed: int
    updates: int
    status: str
    question: str | None = None
    unit: str | None = None
    error: float | None = None
    ponder_time: float | None = None


class Pretrained(NamedTuple):
    """A network ready to call, and its card."""

    network: Network
    card: Card


def from_pretrained(
    name: str,
    folder: str | Path | None = None,
    profile: str = "reduced",
    setting: float | None = None,
    seed: int | None = None,
) -> Pretrained:
    """A published network with its trained parameters, in evaluation mode.

    By default it is of the setting with the lowest mean error over seeds, and of its lowest seed,
    however well that network did itself; the card says how well. Of some experiments other
    networks are published too, in half precision: `setting` and `seed` choose among them.

    Args:
        name: EXPERIMENT/MECHANISM, as "parity/act"; or the path of such a folder.
        folder: the published networks, `reports/PROFILE/models` of a checkout; None: those of the
            checkout that this file lies in, as after `pip install -e .`.
        profile: which of that checkout's: "reduced" or "quick".
        setting: of tau, rho, lambda_p and so on.
        seed: one of those published with that setting.

    Returns:
        the network for inputs (T, B, D), or (T, B) integers, as its task draws them; and its card.

    Raises:
        ValueError: there is no such network; says which there are.
        ImportError: safetensors is not installed.

    Example: `network, card = from_pretrained("parity/act")`, then
    `network(torch.ones(1, 1, 64)).ponder_time`.
    """
    home = REPORTS / profile / "models" if folder is None else Path(folder)
    place = home / name
    if not (place / "run.json").is_file():
        there = sorted(
            path.parent.relative_to(home).as_posix() for path in home.glob("*/*/run.json")
        )
        if not there:
            raise ValueError(f"{home}: no published networks; `folder` is reports/PROFILE/models")
        raise ValueError(f"{name}: is not published; there are: {', '.join(there)}")
    index = place.parent / "index.json"
    chosen = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else {}
    usual = chosen.get(place.name, {}).get("setting")
    return load(place, place.name, setting, seed, usual)


def load(
    place: Path,
    variant: str,
    setting: float | None = None,
    seed: int | None = None,
    usual: float | None = None,
) -> Pretrained:
    """One network of the stack that a folder holds, with the values it was trained with.

    Args:
        place: FOLDER/models/EXPERIMENT/MECHANISM, which holds run.json and parameters.safetensors,
            or networks/ for models/; FOLDER holds cards/ and tables/, if they are there.
        variant: the mechanism, with options as tables write them.
        usual: the setting to take where none is asked for, if it is there.

    Raises:
        ValueError: there is no such network.
    """
    try:
        from safetensors.torch import load_file
    except ImportError:
        raise ImportError("from_pretrained needs safetensors: pip install safetensors") from None

    experiment, mechanism = place.parts[-2:]
    record = json.loads((place / "run.json").read_text(encoding="utf-8"))
    config, every = record["config"], [Replica.of_record(mechanism, e) for e in record["replicas"]]
    status = [each["status"] for each in record["replicas"]]
    tensors = load_file(place / "parameters.safetensors")
    k = _choice(f"{experiment}/{variant}", every, status, setting, seed, usual)
    replica, parameters = every[k], {name: each[k].float() for name, each in tensors.items()}
    network = _network(config, _halting(config, replica), experiment)
    network.load_state_dict(parameters)
    card = Card(
        name=f"{experiment}/{variant}",
        task=config["task"],
        setting={MECHANISMS[mechanism].setting: replica.setting},
        seed=replica.seed,
        updates=config[mechanism]["updates"] or config["training"]["updates"],
        status=status[k],
        **_results(place.parents[2], experiment, replica),
    )
    return Pretrained(network.eval(), card)


def _choice(
    name: str,
    replicas: Sequence[Replica],
    status: Sequence[str],
    setting: float | None,
    seed: int | None,
    usual: float | None,
) -> int:
    """Which replica is asked for by EXPERIMENT/VARIANT, setting and seed; raises ValueError.

    The usual setting comes first, then those that have not diverged, then those that finished.
    """
    variant = name.partition("/")[2]
    matching = [k for k, each in enumerate(replicas) if each.variant == variant]
    if not matching:
        there = ", ".join(dict.fromkeys(each.variant for each in replicas))
        raise ValueError(f"{variant} is not trained; there are: {there}")
    settings = [setting_text(each.setting) for each in replicas]
    asked = [
        k
        for k in matching
        if (setting is None or settings[k] == setting_text(setting))
        and seed in (None, replicas[k].seed)
    ]
    if not asked:
        there = ", ".join(f"{settings[k]} seed {replicas[k].seed}" for k in matching)
        raise ValueError(f"{name}: no such network; there are: {there}")

    def order(k: int) -> tuple[bool, bool, bool]:
        is_usual = usual is not None and settings[k] == setting_text(usual)
        return not is_usual, status[k] == "diverged", status[k] != "finished"

    return min(asked, key=order)


def _halting(config: Mapping[str, Any], replica: Replica) -> Halting:
    """The mechanism with a replica's options, else the values of its block, else the shared.

    A value that an older record does not have is that of the class.
    """
    entry = MECHANISMS[replica.mechanism]
    module, _, name = entry.path.partition(":")
    shared, block = config["halting"], config[replica.mechanism] | dict(replica.options)
    given: dict[str, Any] = {each: shared[each] for each in entry.shares if each in shared}
    given |= {each: block[each] for each in entry.arguments if block.get(each) is not None}
    halting: Halting = getattr(import_module(module), name)(replica.setting, **given)
    return halting


def _network(config: Mapping[str, Any], halting: Halting, experiment: str) -> Network:
    """An untrained network for an experiment's task."""
    from pondering.tasks import make_task  # tasks need NumPy, which networks alone do not

    task, common = make_task(config["task"], experiment), config["halting"]
    kind, hidden = CELLS[config["network"]["cell"]], config["network"]["hidden"]
    cell = kind(task.input_size, hidden, common["first_step_flag"], None)
    return Network(cell, halting, task.output_size, reads=common.get("reads", "h"))


def _results(report: Path, experiment: str, replica: Replica) -> dict[str, Any]:
    """What data card and table say of a network, where they are there.

    Error and steps are of the first split, as its paper halts; without steps where it diverged.
    """
    found: dict[str, Any] = {}
    card, table = report / f"cards/{experiment}.json", report / f"tables/{experiment}.csv"
    if card.is_file():
        about = json.loads(card.read_text(encoding="utf-8"))
        found = {name: about[name] for name in ("question", "unit")}
    if table.is_file():
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        tested = [
            row
            for row in rows
            if row["split"] == rows[0]["split"]
            and row["prediction"] != "expected"
            and Replica.of_row(row["mechanism"], row["setting"], row["seed"]).text()
            == replica.text()
        ]
        for name in ("error", "ponder_time") if tested else ():
            found[name] = fmean(float(row[name] or "nan") for row in tested)
    return found
