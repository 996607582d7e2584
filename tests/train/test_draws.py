"""Batches drawn on the device: their bits, and their distribution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracle import oracle_draws
from scipy.stats import chi2_contingency
from support import tiny
from torch import Tensor

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.tasks import TASKS as TASK_CLASSES
from pondering.tasks import make_task
from pondering.tasks.base import Batch
from pondering.train import program
from pondering.train.batches import Stream
from pondering.train.draws import DRAWS
from pondering.train.draws.stream import DeviceStream
from pondering.train.draws.words import philox
from pondering.train.fit import check_fit
from pondering.train.replica import by_hash

ALL: dict[str, Any] = {"test_nonzero": {"test": [1, 2]}}
TASKS: dict[str, dict[str, Any]] = {
    "leading": {"name": "parity", "layout": "leading", "bits": 40, "train_nonzero": [3, 35]} | ALL,
    "scattered": {"name": "parity", "layout": "scattered", "bits": 6, "train_nonzero": [1, 5]}
    | ALL,
    "logic": {"name": "logic", "gates": 3, "length": [2, 4]},
    "addition": {"name": "addition", "digits": 3, "length": [1, 4]},
    "sort": {"name": "sort", "length": [2, 5]},
}
BATCH = 4
DEVICE = {"training": {"draws": "device"}}


def test_words_are_the_known_answers() -> None:
    """Of the authors' own tests, Random123's `kat_vectors`."""
    known = [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
         "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ]  # fmt: skip
    for counter, key, words in known:
        want = [int(word, 16) for word in words.split()]
        assert oracle_draws.philox(counter, key) == want
        parts = [[torch.tensor([each]) for each in numbers] for numbers in (counter, key)]
        assert [int(word) for word in philox(*parts)] == want


@pytest.mark.parametrize("name", TASKS)
def test_a_batch_is_that_of_the_oracle_bit_for_bit(name: str) -> None:
    """Its seed, update and row decide an example: no order of updates, no number of seeds."""
    task = make_task(TASKS[name], name)
    stream = DeviceStream(task, [7, 0, 7], BATCH)
    host = Stream(task, [7, 0, 7], BATCH).batch(0)
    for update in (3, 100_000, 0):
        batch = stream.batch(update)
        for k, seed in enumerate([7, 0, 7]):
            for row in range(BATCH):
                words = oracle_draws.Words(task.name, seed, update, row)
                want = oracle_draws.DRAWS[task.name](task, words)
                got = [*(part[:, k, row] for part in batch[:-1]), batch.difficulty[k, row]]
                for part, array, like in zip(got, want, host, strict=True):
                    assert part.dtype == like.dtype
                    assert part.tolist() == torch.as_tensor(np.array(array)).to(part).tolist()


def features(task: Any, batch: Batch) -> dict[str, Tensor]:
    """Whole numbers from 0 on of each example, or of each place of one."""
    inputs, mask = batch.inputs[:, 0], batch.mask[:, 0]
    time = torch.arange(len(mask))[:, None].expand(mask.shape)
    found = {"length": mask.sum(0), "target": batch.targets[:, 0][batch.scored[:, 0]].flatten()}
    if task.name == "parity":
        ternary = (inputs[0, :, -4:] + 1).long()
        return found | {
            "difficulty": batch.difficulty[0].long(),
            "four elements": (ternary * 3 ** torch.arange(4)).sum(-1),
            "two rows": ternary[:-1, 0] * 3 + ternary[1:, 0],
        }
    if task.name == "sort":
        cells = (inputs[..., 0].clamp(-2.45, 2.45) * 2 + 5).long()
        given = mask & ~batch.scored[:, 0]
        return found | {
            "value": cells[given],
            "first two": cells[0] * 10 + cells[1],
            "flag": time[inputs[..., 1] > 0],
        }
    size = 10 if task.name == "addition" else 12
    code = (inputs[..., :size] * torch.arange(size)).sum(-1).long()
    used = (inputs[..., -10 * (task.input_size // 10) :] > 0).sum(-1)
    return found | {
        "places used": (time * 10 + used)[mask],
        "first of each vector": (time * 100 + code)[mask],
        "two rows": (code[:, :-1] * 100 + code[:, 1:])[0],
    }


@pytest.mark.parametrize("name", TASKS)
def test_examples_are_distributed_as_those_of_the_host(name: str) -> None:
    task, rows = make_task(TASKS[name], name), 4000
    device, host = (
        features(task, each(task, [5], rows).batch(9)) for each in (DeviceStream, Stream)
    )
    assert device.keys() == host.keys()
    for feature in host:
        counts = np.array([np.bincount(each[feature], minlength=10_000) for each in (device, host)])
        table = counts[:, counts.sum(0) > 10]
        assert table.sum() > 0.9 * counts.sum()
        if table.shape[1] > 1:  # parity's sequences have one length
            assert chi2_contingency(table).pvalue > 0.001, feature


def test_the_value_decides_who_draws(tmp_path: Path) -> None:
    for draws, kind in (("host", Stream), ("device", DeviceStream)):
        tiny.write(tmp_path, tiny.document(training={"draws": draws}))
        assert type(tiny.shard(tmp_path, tiny.freeze_all(tmp_path)).trainer().stream) is kind


def test_the_value_is_part_of_a_replica_and_the_default_changes_no_hash(tmp_path: Path) -> None:
    plain, host, device = (
        by_hash(load_params(tiny.write(tmp_path, tiny.document(**more))), "tiny", "act")
        for more in ({}, {"training": {"draws": "host"}}, DEVICE)
    )
    assert plain == host
    assert not {*plain} & {*device}
    usual = program.parts("parity", "lstm", "act")
    own = program.parts("parity", "lstm", "act", draws="device")
    assert own.items() > usual.items() and own.keys() - usual.keys() == {"draws"}
    other = program.parts("sort", "lstm", "act", draws="device")
    assert other["draws"] != own["draws"]


@pytest.mark.parametrize("name", sorted({*TASK_CLASSES} - {*DRAWS}))
def test_text_and_images_are_drawn_on_the_host_alone(tmp_path: Path, name: str) -> None:
    config = tiny.config(tmp_path, **DEVICE)
    task = TASK_CLASSES[name]
    with pytest.raises(
        UserError, match=f"device: {name} is drawn on the host alone; allowed: host"
    ):
        check_fit("tiny.quick", config, task)
