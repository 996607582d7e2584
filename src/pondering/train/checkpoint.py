"""Checkpoints of a training: one safetensors file, replaced in one step. No pickle is ever read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from pondering.project.atomic import atomic_write
from pondering.project.errors import UserError
from pondering.train.replica import read_tensors
from pondering.train.trainer import Trainer

_COUNTERS = ("alive", "diverged", "window", "computed_steps")  # of a trainer, beside its parameters


def save(trainer: Trainer, path: Path, key: str) -> None:
    """Write everything the training needs to go on exactly from here.

    Args:
        key: the shard's; its file is named by it.

    Raises:
        OSError: the file cannot be written; the previous checkpoint is intact.
    """
    tensors: dict[str, Tensor] = {f"parameter.{n}": p for n, p in trainer.parameters.items()}
    tensors |= {f"adam.{name}": t for name, t in trainer.optimiser.state().items()}
    tensors |= {name: getattr(trainer, name) for name in _COUNTERS}
    if trainer.curves:
        tensors["curves"] = torch.stack(trainer.curves)
    if trainer.plateau:
        tensors |= {f"plateau.{name}": t for name, t in trainer.plateau.state().items()}
    metadata = {"key": key, "update": str(trainer.update), "seconds": str(trainer.seconds)}
    metadata["sha256"] = _checksum(tensors, metadata)
    ready = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    # The library ends the whole process where it gets no memory: see first that it is there.
    torch.empty(3 * sum(tensor.nbytes for tensor in ready.values()), dtype=torch.uint8)
    atomic_write(path, to_bytes(ready, metadata))


def load(trainer: Trainer, path: Path) -> None:
    """Bring an untrained stack to where `save` left it.

    Raises:
        UserError: the file is damaged, or another version of this program has written it.
    """
    tensors, metadata = read_tensors(path, "pt")
    if metadata.get("sha256") != _checksum(tensors, metadata):
        raise UserError(f"{path}: damaged (what it holds has another sha256); delete it")
    try:
        with torch.no_grad():
            for name, parameter in trainer.parameters.items():
                parameter.copy_(tensors[f"parameter.{name}"])
        update, seconds = int(metadata["update"]), float(metadata["seconds"])
        trainer.optimiser.restore(_under("adam.", tensors), update)
        for name in _COUNTERS:
            getattr(trainer, name).copy_(tensors[name])
        if trainer.plateau:
            trainer.plateau.restore(_under("plateau.", tensors))
    except (KeyError, RuntimeError) as error:
        raise UserError(f"{path}: of another version ({error}); delete it") from None
    trainer.update = update
    trainer.seconds = seconds
    trainer.curves = list(tensors["curves"]) if "curves" in tensors else []


def replicas_of(path: Path) -> set[str]:
    """The hashes of the replicas that a shard's checkpoint holds; none where it cannot be read."""
    try:
        with safe_open(path, framework="pt") as file:
            _, _, *hashes = json.loads((file.metadata() or {})["key"])
    except (SafetensorError, OSError, ValueError, KeyError):
        return set()
    return set(hashes)


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """sha256 of all that is read: metadata, names, types, shapes and bytes."""
    said = sorted((key, value) for key, value in metadata.items() if key != "sha256")
    digest = hashlib.sha256(repr(said).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(repr((name, tensor.dtype, tuple(tensor.shape))).encode())
        digest.update(tensor.detach().cpu().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
