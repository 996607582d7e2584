"""Published networks in a form that `templates/playable*.js` can run on the first page.

The page contains the first game's networks. It loads all others as small scripts, on demand: a page
that is opened from a file cannot fetch data.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file

from pondering.params import mechanisms
from pondering.params.replica import title_of
from pondering.results.results import Card, read_card, read_table
from pondering.results.tables import headline, per_seed
from pondering.results.units import number_text

GAMES = {
    "parity": "parity_interpolation",
    "logic": "logic",
    "wikipedia": "wikipedia",
    "digits": "mnist_rotated",
    "addition": "addition",
}
"""Task -> the experiment whose networks play it; the first is on the page itself."""

UPRIGHT = "mnist"
"""The experiment whose traced digits are the examples to turn."""

MECHANISMS = ("act", "pondernet")
PROFILES = ("reduced", "quick")
"""Profiles in order of preference, the first with both mechanisms; `paper` has too many squares."""

COMPUTED = {"cell": ("tanh_rnn", "lstm", "conv_mlp"), "reads": ("h",), "carry": ("mean_field",)}
"""Configuration key -> the values that the page can compute."""

GREYS = 15
"""The largest grey of a picture on the page, a hexadecimal digit."""


class Playable(NamedTuple):
    """What a visitor of the first page plays with.

    Attributes:
        games: of each game its `name`, its `networks`, the `profile` that they are from and
            `what` they were trained on.
        scripts: by name: each game without its task's own script, and each run's parameters.
        begun: the names of the scripts that the first game begins with.
    """

    games: list[dict[str, Any]]
    scripts: dict[str, str]
    begun: list[str]


def playable(reports: Path, encodings: Mapping[str, Mapping[str, Any]]) -> Playable | None:
    """The published networks of both mechanisms that the page can compute.

    Args:
        reports: holds PROFILE/models/EXPERIMENT/MECHANISM, and the cards, tables and traces.
        encodings: by task, what its inputs are made of; see `data/encoding.py`.

    Returns:
        None where the first game lacks its networks or its encoding.
    """
    games, scripts = [], {}
    for name in (name for name in GAMES if name in encodings):
        profile = next((each for each in PROFILES if _has_both(reports / each, name)), None)
        if profile is not None:
            game, parameters = _game(reports / profile, name, encodings[name])
            games.append(game)
            scripts[name] = f"GAMES.{name} = {_json(game)};\n"
            for file, numbers in parameters.items():
                scripts[file] = f"arrived({_json(file)}, {_json(numbers)});\n"
    first = next(iter(GAMES))
    if not games or games[0]["name"] != first:
        return None
    begun = [first, *(network["runs"][0]["file"] for network in games[0]["networks"])]
    return Playable(games, scripts, begun)


def _folders(report: Path, name: str) -> list[Path]:
    return [report / "models" / GAMES[name] / mechanism for mechanism in MECHANISMS]


def _record(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
    return record


def _has_both(report: Path, name: str) -> bool:
    """Whether a profile has published both mechanisms, with what the page can compute."""
    folders = _folders(report, name)
    if not all((folder / "run.json").is_file() for folder in folders):
        return False
    configs = [_record(folder)["config"] for folder in folders]
    return all(
        (config["network"] | config["halting"]).get(key, allowed[0]) in allowed
        for config in configs
        for key, allowed in COMPUTED.items()
    )


def _game(
    report: Path, name: str, encoding: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One game for JSON, and by file the parameters of its runs."""
    folders = _folders(report, name)
    facts = _record(folders[0])["config"]["task"] | encoding
    if name == "digits":
        facts["examples"] = _examples(report / "traces" / f"{UPRIGHT}.json")
    card = read_card(report / "cards" / f"{GAMES[name]}.json")
    tests = headline(read_table(report / "tables" / f"{GAMES[name]}.csv"))
    tested = {
        (each.mechanism, each.setting, each.seed): _tested(each.error, each.ponder_time, card)
        for each in per_seed(tests).itertuples()
    }
    networks, parameters = [], dict[str, Any]()
    for folder in folders:
        network, weights = _network(folder, tested)
        networks.append(network)
        parameters |= weights
    what = card.what.partition(";")[0]
    met = float(tests["seen"].mean()) if "seen" in tests else 0.0  # earlier tables have it
    seen = f", {met:.0%} of which training had met" if 0 < met < 1 else ""
    game = {"name": name, "profile": report.name, "what": what, "facts": facts, "met": seen}
    return game | {"networks": networks}, parameters


def _tested(error: float, steps: float, card: Card) -> str:
    """What a network's test gave, in words."""
    if math.isnan(steps):
        return "it diverged"
    wrong = (
        f"{number_text(error, 'share')} of answers wrong"
        if card.is_share
        else f"{number_text(error, 'number')} {card.unit}"
    )
    return f"{number_text(steps, 'steps')} on average, {wrong}"


def _network(
    folder: Path, tested: Mapping[tuple[str, float, int], str]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A mechanism's network with its runs, and by file the parameters of each run.

    The run that stands for the mechanism comes first; each has its test result in words. Runs with
    options are left out: they may stop by other values. Parameters are the bytes of a number and,
    by name, base64 of the numbers as published, row by row.
    """
    mechanism, record = folder.name, _record(folder)
    common, block = record["config"]["halting"], record["config"][mechanism]
    first = json.loads((folder.parent / "index.json").read_text("utf-8"))[mechanism]
    tensors = load_file(folder / "parameters.safetensors")
    runs: list[dict[str, Any]] = []
    parameters: dict[str, dict[str, Any]] = {}
    for k, replica in enumerate(record["replicas"]):
        if "options" not in replica:
            setting, seed = replica["setting"], replica["seed"]
            file = f"{folder.parent.name}-{mechanism}-{setting:g}-{seed}"
            stands = (setting, seed) == (first["setting"], first["seed"])
            run = {"setting": setting, "seed": seed, "file": file}
            run["tested"] = tested[mechanism, float(f"{setting:g}"), seed]  # as tables have it
            runs.insert(0 if stands else len(runs), run)
            parameters[file] = _parameters({name: each[k] for name, each in tensors.items()})
    network = {
        "mechanism": mechanism,
        "title": title_of(mechanism),
        "setting": mechanisms.MECHANISMS[mechanism].setting,
        "cell": record["config"]["network"]["cell"],
        "max_steps": block.get("max_steps") or common["max_steps"],
        # null in PonderNet's block: the common number of steps, all of them computed
        "epsilon": common["epsilon"] if mechanism == "act" else block["epsilon"] or 0,
        "runs": runs,
    }
    return network, parameters


def _parameters(tensors: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The parameters of a run; little-endian, as in safetensors."""
    (size,) = {each.itemsize for each in tensors.values()}
    text = {name: base64.b64encode(each.tobytes()).decode() for name, each in tensors.items()}
    return {"bytes": size, "numbers": text}


def _examples(traces: Path) -> dict[str, str]:
    """By digit a traced picture of it, hexadecimal greys row by row; none without the file."""
    if not traces.is_file():
        return {}
    shown = {
        each["label"]: each["pixels"] for each in json.loads(traces.read_text("utf-8"))["traces"]
    }
    return {
        str(digit): "".join(
            f"{grey:x}" for grey in np.rint(np.ravel(shown[digit]) * (GREYS / 255)).astype(int)
        )
        for digit in sorted(shown)
    }


def _json(value: Any) -> str:
    """A value as a script may hold it, in a page too."""
    return json.dumps(value).replace("<", "\\u003c")
