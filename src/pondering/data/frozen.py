"""Evaluation sets and prepared data, frozen with a hash, and the data card of an experiment."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pondering.params.schema import Params
from pondering.project.atomic import atomic_write, json_text, sha256_file
from pondering.tasks import make_task
from pondering.tasks.base import Array, Batch, Task, read_arrays

Arrays = Mapping[str, Array]
CELL_NAMES = {"tanh_rnn": "tanh RNN", "gru": "GRU", "lstm": "LSTM", "conv_mlp": "CNN and MLP"}


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write a compressed .npz whose bytes depend on the arrays alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.save(entry, array, allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy")  # of 1980, not of now
            archive.writestr(info, entry.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=1)
    atomic_write(path, buffer.getvalue())


def pack(sets: Mapping[str, Batch]) -> dict[str, Array]:
    """Evaluation sets as named arrays; inputs that hold few whole numbers shrink to int8."""
    arrays = {}
    for split, batch in sets.items():
        for name, part in batch._asdict().items():
            small = name == "inputs" and np.array_equal(part, part.astype(np.int8))
            floats = np.issubdtype(part.dtype, np.floating)
            arrays[f"eval/{split}/{name}"] = part.astype(np.int8) if small and floats else part
    return arrays


def unpack(arrays: Arrays) -> dict[str, Batch]:
    """The evaluation sets of `pack`, int8 inputs as float32 again."""
    splits: dict[str, dict[str, Array]] = {}
    for key, array in arrays.items():
        if key.startswith("eval/"):
            _, split, name = key.split("/")
            floats = name == "inputs" and array.dtype == np.int8
            splits.setdefault(split, {})[name] = array.astype(np.float32) if floats else array
    return {split: Batch(**parts) for split, parts in splits.items()}


def freeze(task: Task, raw: Path, target: Path, examples: int) -> None:
    """Write an experiment's prepared data, if its task reads any, and its evaluation sets.

    Args:
        task: with `path` at `target` if it reads data.
        raw: the folder of downloaded files.
        target: the .npz to write.
        examples: per difficulty.
    """
    if prepared := task.prepared(raw):
        write_arrays(target, prepared)  # the task reads this to make its evaluation sets
    write_arrays(target, prepared | pack(task.evaluation_sets(examples)))


def card(params: Params, experiment: str) -> None:
    """Write the data card: what the data are, how much, from where, and all that pages say of them.

    Raises:
        UserError: the frozen data are missing or damaged.
    """
    config, frozen = params.experiment(experiment), params.layout.frozen(experiment)
    task = make_task(config.task, experiment, frozen)
    sets = unpack(read_arrays(frozen))
    cell = CELL_NAMES.get(config.network.cell, config.network.cell)
    values = {
        "title": config.title or task.title,
        "question": config.question or task.question,
        "unit": task.unit,
        "worst_error": task.worst_error,
        "splits": {split: task.split_name(split) for split in sets},
        "difficulty": {split: task.difficulty_label(split) for split in sets},
        "what": f"{task.summary}; {cell} of {config.network.hidden}",
        "stand_in": task.stand_in,
        "source": task.origin,
        "examples": {split: int(batch.difficulty.shape[0]) for split, batch in sets.items()},
        "per_difficulty": config.evaluation.examples,
        "sha256": sha256_file(frozen),
    }
    atomic_write(params.layout.card(experiment), json_text(values))
