"""Trained replicas with all that is theirs: read back where they lie, put together, written.

A stage keeps the replicas of earlier trainings whose keys are those of today, byte for byte, and
trains what is missing.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from pondering.params.replica import Replica
from pondering.project.atomic import sha256_file
from pondering.project.paths import Layout
from pondering.train import checkpoint

KEPT = ("finished", "diverged")
CURVES = (
    "experiment", "mechanism", "setting", "seed", "update", "loss", "error", "ponder_time",
    "remainder", "computed_steps",
)  # fmt: skip
WHOLE = ("params_hash", "config", "data_hash", "trained_hash")
"""What a record says of all replicas; the rest is that of one training."""


@dataclass(frozen=True)
class Finished:
    """K replicas of one experiment and mechanism, from one training or from several.

    Args:
        replicas: as the rows of the curves name them.
        keys: of each; see `keys.replica_keys`.
        status: of each.
        parameters: (K, ...) each; none of replicas that are published, which `joined` puts aside.
        curves: their rows, as text.
        origins: a record of each training that contributed; `replicas` names its own, or all.
    """

    replicas: Sequence[Replica]
    keys: Sequence[str]
    status: Sequence[str]
    parameters: Mapping[str, Tensor]
    curves: pd.DataFrame
    origins: Sequence[Mapping[str, Any]]

    def records(self) -> dict[Replica, dict[str, Any]]:
        """What a list of replicas says of each."""
        known = zip(self.replicas, self.status, self.keys, strict=True)
        return {each: each.record() | {"status": s, "key": k} for each, s, k in known}

    def whole(self) -> frozenset[str]:
        """The keys of those whose training has come to its end."""
        pairs = zip(self.keys, self.status, strict=True)
        return frozenset(key for key, status in pairs if status in KEPT)


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """A table as it stands in its file."""
    return _read(table.to_csv(index=False, float_format="%.6g"))


def _read(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def read(layout: Layout, experiment: str, mechanism: str) -> Finished | None:
    """What the last run of a stage left; None if it is not all there, or from before keys."""
    folder = layout.run(experiment, mechanism)
    try:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        record = json.loads(layout.provenance(experiment, mechanism).read_text(encoding="utf-8"))
        content = (folder / "parameters.safetensors").read_bytes()
        curves = layout.curves(experiment, mechanism).read_bytes()
        # The files replace their elders one by one, and git knows only some of them.
        if run["sha256"] != hashes(content, curves) or record["trained_hash"] != _sha256(content):
            return None
        keys = [each["key"] for each in run["replicas"]]
        status = [each["status"] for each in run["replicas"]]
        replicas = [Replica.of_record(mechanism, each) for each in run["replicas"]]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    tensors, _ = checkpoint.read(folder / "parameters.safetensors")
    origins = [*record.pop("earlier", []), record]
    return Finished(replicas, keys, status, tensors, _read(curves.decode()), origins)


def published(layout: Layout, experiment: str, mechanism: str) -> Finished | None:
    """The replicas whose results are published, without their parameters.

    None where the evaluation would measure them in another way by now, or as others.
    """
    try:
        measured = _json(layout.measured(experiment))
        records = measured["replicas"][mechanism]
        training = _json(layout.provenance(experiment, mechanism))
        curves = layout.curves(experiment, mechanism).read_text(encoding="utf-8")
        today = _json(layout.stage_key("evaluate", experiment))["key"]
        same = measured["key"] == today and measured["data"] == sha256_file(
            layout.frozen(experiment)
        )
        replicas = [Replica.of_record(mechanism, each) for each in records]
        known = [each["key"] for each in records], [each["status"] for each in records]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if not same:
        return None
    origins = [*training.pop("earlier", []), training]
    return Finished(replicas, *known, {}, _read(curves), origins)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def joined(
    replicas: Sequence[Replica], keys: Sequence[str], experiment: str, parts: Sequence[Finished]
) -> Finished:
    """Some replicas, each from the last part that has it.

    Its parameters are those of the replicas that `here` tells.

    Args:
        replicas: which, in this order.
        keys: theirs. A part may know a replica by another name, whose options have become those of
            its block, or no longer are.
        experiment: its name.
        parts: at least one of them has each.
    """
    if not replicas:  # of a mechanism that a profile leaves out
        return Finished((), (), (), {}, pd.DataFrame(columns=list(CURVES)), ())
    home = {key: (part, k) for part in parts for k, key in enumerate(part.keys)}
    found = [home[key] for key in keys]
    here = [(part, k) for part, k in found if part.parameters]
    order = {key: number for number, key in enumerate(keys)}
    variants = [each.variant for each in replicas]
    tables, origins = [], []
    for part in parts:
        own = [number for number, (source, _) in enumerate(found) if source is part]
        rows = [{"experiment": experiment} | each.row() for each in part.replicas]
        names = [tuple(row) for row in as_text(pd.DataFrame(rows)).itertuples(index=False)]
        place = {name: order.get(key, -1) for name, key in zip(names, part.keys, strict=True)}
        identity = pd.Series(part.curves[list(rows[0])].itertuples(index=False), dtype=object)
        at = identity.map(lambda row, place=place: place.get(tuple(row), -1)).to_numpy()
        table = part.curves.assign(place=at, point=part.curves["update"].astype("int64"))
        table = table[table["place"].isin(own)]
        tables.append(table.assign(mechanism=[variants[number] for number in table["place"]]))
        origins += _restricted(part.origins, [replicas[number].text() for number in own])
    table = pd.concat(tables).sort_values(["point", "place"]).drop(columns=["point", "place"])
    tensors = {
        name: torch.stack([part.parameters[name][k].detach().cpu() for part, k in here])
        for name in (here[0][0].parameters if here else ())
    }
    status = [part.status[k] for part, k in found]
    return Finished(replicas, keys, status, tensors, table, origins)


def here(keys: Sequence[str], parts: Sequence[Finished]) -> list[bool]:
    """Of which of some replicas the parameters are here, in this order."""
    held = {key for part in parts if part.parameters for key in part.keys}
    return [key in held for key in keys]


def _restricted(
    origins: Sequence[Mapping[str, Any]], wanted: Sequence[str]
) -> list[Mapping[str, Any]]:
    """The records of those trainings of which some replicas are wanted, with these alone."""
    own = [[name for name in wanted if name in each.get("replicas", wanted)] for each in origins]
    return [
        dict(each) | {"replicas": names} for each, names in zip(origins, own, strict=True) if names
    ]


def record(whole: Mapping[str, Any], origins: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The record of all replicas: of the last training, with those before it as `earlier`.

    Args:
        whole: what it says of all of them, `WHOLE`.
        origins: of each training; where it was one, its replicas are all and need no list.
    """
    *earlier, last = ({k: v for k, v in each.items() if k not in WHOLE} for each in origins)
    if earlier:
        return dict(whole) | last | {"earlier": earlier}
    return dict(whole) | {name: value for name, value in last.items() if name != "replicas"}


def hashes(parameters: bytes, curves: bytes) -> dict[str, str]:
    """By which the list of replicas knows the files that it belongs to."""
    return {"parameters": _sha256(parameters), "curves": _sha256(curves)}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
