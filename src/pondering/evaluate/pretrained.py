"""The published networks by their names, for users of the library.

Needs torch and safetensors alone. `load.py` loads what a checkout has trained, by its parameters.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from torch import Tensor

from pondering.model.cells import CELLS, ConvMLP
from pondering.model.halting import Halting, MeanField
from pondering.model.network import Network

REPORTS = Path(__file__).parents[3] / "reports"  # of the checkout, if this is one


@dataclass(frozen=True)
class Card:
    """What a published network was trained on, and how well it did.

    The last four stand in the report beside the networks and are None without it.

    Attributes:
        name: as `from_pretrained` takes it.
        task: its task, values as in `params.yaml`; `pondering.tasks.make_task` takes them.
        setting: the mechanism's setting by its name, as {"tau": 0.001}.
        seed: of its first parameters and its batches.
        updates: how many it had.
        status: "finished" or "diverged".
        question: what the task asks, in words.
        unit: of the error, mostly a share of sequences with any mistake.
        error: on the test set, the mean over all difficulties.
        ponder_time: mean steps for an input there.
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

    The one that stands for its mechanism is of the setting with the lowest mean error over seeds,
    of its lowest seed, however well it did itself; its card says how well. Of some experiments
    others are published too, in half precision: `setting` and `seed` choose among them.

    Args:
        name: EXPERIMENT/MECHANISM, as "parity/act"; or the path of such a folder.
        folder: the published networks, `reports/PROFILE/models` of a checkout; None: those of the
            checkout that this file lies in, as after `pip install -e .`.
        profile: which of that checkout's: "reduced" or "quick".
        setting: of tau, rho, lambda_p and so on; None: that of the one that stands for all.
        seed: None: the lowest that is published of the setting, or that of the one.

    Returns:
        the network for inputs (T, B, D), or (T, B) integers, as its task draws them; and its card.

    Raises:
        ValueError: there is no such network; says which there are.
        ImportError: safetensors is not installed.

    Example: `network, card = from_pretrained("parity/act")`, then
    `network(torch.ones(1, 1, 64)).ponder_time`.
    """
    try:
        from safetensors.torch import load_file
    except ImportError:
        raise ImportError("from_pretrained needs safetensors: pip install safetensors") from None

    home = REPORTS / profile / "models" if folder is None else Path(folder)
    place = home / name
    if not (place / "run.json").is_file():
        raise ValueError(_unknown(name, home))
    report, (experiment, mechanism) = place.parents[2], place.parts[-2:]
    record = json.loads((place / "run.json").read_text(encoding="utf-8"))
    tensors = load_file(place / "parameters.safetensors")
    k = _choice(place, record["replicas"], setting, seed)
    replica, own = record["replicas"][k], {key: each[k].float() for key, each in tensors.items()}
    config = record["config"]
    network = _network(config, _halting(config, mechanism, replica["setting"]), own)
    network.load_state_dict(own)
    card = Card(
        name=f"{experiment}/{mechanism}",
        task=config["task"],
        setting={_setting_of(mechanism): replica["setting"]},
        seed=replica["seed"],
        updates=config[mechanism]["updates"] or config["training"]["updates"],
        status=replica["status"],
        **_about(report / "cards" / f"{experiment}.json"),
        **_measured(report / "tables" / f"{experiment}.csv", mechanism, replica),
    )
    return Pretrained(network.eval(), card)


def _unknown(name: str, home: Path) -> str:
    there = [path.parent.relative_to(home).as_posix() for path in home.glob("*/*/run.json")]
    if not there:
        return f"{home}: no published networks; `folder` is reports/PROFILE/models of a checkout"
    return f"{name}: is not published; there are: {', '.join(sorted(there))}"


def _choice(
    place: Path, replicas: Sequence[Mapping[str, Any]], setting: float | None, seed: int | None
) -> int:
    """Which of the published replicas is asked for; raises ValueError."""
    plain = {k: each for k, each in enumerate(replicas) if "options" not in each}
    if setting is None and seed is None and len(plain) > 1:
        index = json.loads((place.parent / "index.json").read_text(encoding="utf-8"))
        setting, seed = (index[place.name][key] for key in ("setting", "seed"))
    for k, each in plain.items():
        if setting in (None, each["setting"]) and seed in (None, each["seed"]):
            return k
    there = ", ".join(f"{each['setting']:g} seed {each['seed']}" for each in plain.values())
    raise ValueError(f"{place}: no such network is published; there are: {there}")


def _kind(mechanism: str) -> type[Any]:
    """The class of a mechanism, the only one in the file of its name."""
    module = import_module(f"{MeanField.__module__.rpartition('.')[0]}.{mechanism}")
    there = (each for each in vars(module).values() if isinstance(each, type))
    (kind,) = (
        each for each in there if issubclass(each, MeanField) and each.__module__ == module.__name__
    )
    return kind


def _setting_of(mechanism: str) -> str:
    """The argument that is swept, the first of each class."""
    return fields(_kind(mechanism))[0].name


def _halting(config: Mapping[str, Any], mechanism: str, setting: float) -> Halting:
    """An argument that its own block leaves open is that of all, where its class has no None."""
    kind = _kind(mechanism)
    given = {}
    for each in fields(kind)[1:]:
        own = config[mechanism].get(each.name)
        if own is not None:
            given[each.name] = own
        elif each.default is not None and each.name in config["halting"]:
            given[each.name] = config["halting"][each.name]
    halting: Halting = kind(setting, **given)
    return halting


def _network(config: Mapping[str, Any], halting: Halting, tensors: Mapping[str, Tensor]) -> Network:
    """An untrained network of the sizes that the parameters have."""
    kind, common = CELLS[config["network"]["cell"]], config["halting"]
    inputs = ConvMLP.side**2 if kind is ConvMLP else tensors["cell.input.weight"].shape[-1]
    cell = kind(inputs, config["network"]["hidden"], common["first_step_flag"])
    outputs = len(tensors["heads.weight"]) - 1
    return Network(cell, halting, outputs, reads=common.get("reads", "h"))


def _about(card: Path) -> dict[str, Any]:
    """What a data card says of the task, if it is there."""
    if not card.is_file():
        return {}
    about = json.loads(card.read_text(encoding="utf-8"))
    return {name: about[name] for name in ("question", "unit")}


def _measured(table: Path, mechanism: str, replica: Mapping[str, Any]) -> dict[str, Any]:
    """Error and steps in an evaluation table, if it is there: first split, as its paper halts.

    The table has no steps of a network that diverged.
    """
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = mechanism, float(f"{replica['setting']:g}"), replica["seed"], rows[0]["split"]
    own = [
        row
        for row in rows
        if (row["mechanism"], float(row["setting"]), int(row["seed"]), row["split"]) == known
        and row["prediction"] != "expected"
    ]
    columns = ("error", "ponder_time")
    return {name: fmean(float(row[name] or "nan") for row in own) for name in columns}
