"""Two published networks in a form that the first page can run: `templates/playable.js` does."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

from pondering.report.pages import names

EXPERIMENT = "parity_interpolation"
MECHANISMS = ("act", "pondernet")
PROFILES = ("reduced", "quick")
"""Whose networks are taken, the first that has them: `paper` has too many squares to tap."""


def playable(reports: Path) -> dict[str, Any] | None:
    """The networks that a visitor of the first page plays with.

    Args:
        reports: holds PROFILE/models/EXPERIMENT/MECHANISM.

    Returns:
        for JSON: `bits`, the size of an input; `trained`, the fewest and most elements that were
        not 0 in training; `networks`, one a mechanism. None where no profile has published both
        with a cell that the page can compute.
    """
    for profile in PROFILES:
        folders = [reports / profile / "models" / EXPERIMENT / each for each in MECHANISMS]
        if not all((folder / "run.json").is_file() for folder in folders):
            continue
        records = [json.loads((each / "run.json").read_text("utf-8")) for each in folders]
        if all(each["config"]["network"]["cell"] == "tanh_rnn" for each in records):
            task = records[0]["config"]["task"]
            return {
                "bits": task["bits"],
                "trained": task["train_nonzero"],
                "networks": list(map(_network, folders, records)),
            }
    return None


def _network(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """One network: where it stops, and its parameters as base64 of float32, row by row.

    Half as many bits would move p_n by some 0.002.
    """
    mechanism, config = folder.name, record["config"]
    common, own = config["halting"], config[mechanism]
    # A null of PonderNet's own: the common number of steps, and no end before it.
    epsilon = common["epsilon"] if mechanism == "act" else own["epsilon"] or 0
    tensors = load_file(folder / "parameters.safetensors")
    return {
        "mechanism": mechanism,
        "title": names.TITLES[mechanism],
        "setting": f"{record['replicas'][0]['setting']:g}",
        "max_steps": own.get("max_steps") or common["max_steps"],
        "epsilon": epsilon,
        "parameters": {
            name: base64.b64encode(tensor.astype("<f4").tobytes()).decode()
            for name, tensor in tensors.items()
        },
    }
