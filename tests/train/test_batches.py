"""A replica's batch depends on task, seed and update alone, drawn on the host or the device."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracle import oracle_draws
from scipy.stats import chi2_contingency
from support import tiny

from pondering.project.errors import UserError
from pondering.tasks import TASKS as TASK_CLASSES
from pondering.tasks import make_task
from pondering.tasks.base import Batch, Task
from pondering.train import program
from pondering.train.batches import Stream
from pondering.train.draws import DRAWS
from pondering.train.draws.stream import DeviceStream
from pondering.train.draws.words import philox
from pondering.train.fit import check_fit

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
UPDATES = (0, 1, 7, 8, 63, 64, 130, 8)  # within a block of draws, at its ends, beyond, and back


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> Task:
    return make_task(TASKS[request.param], "here")


def of_replica(batch: Batch, k: int) -> Batch:
    return Batch._make([*(part[:, k] for part in batch[:-1]), batch.difficulty[k]])


@pytest.mark.parametrize("seeds", [[5], [3, 5, 3, 0, 11]])
def test_a_replicas_batch_is_the_tasks_draw_for_its_seed(task: Task, seeds: list[int]) -> None:
    """Neighbours and the order of updates change nothing."""
    forward, backward = Stream(task, seeds, BATCH), Stream(task, seeds, BATCH)
    for stream, updates in ((forward, UPDATES), (backward, UPDATES[::-1])):
        for update in updates:
            batch, (block, place) = stream.batch(update), divmod(update, task.block_updates)
            rows, length = slice(place * BATCH, (place + 1) * BATCH), len(batch.mask)
            assert batch.mask.shape[1:] == (len(seeds), BATCH)
            assert batch.mask[-1].any(), "the batch is longer than its longest sequence"
            for k, seed in enumerate(seeds):
                got, drawn = of_replica(batch, k), task.training_block(seed, block, BATCH)
                for ours, theirs in zip(got[:-1], drawn[:-1], strict=True):
                    np.testing.assert_array_equal(ours, np.asarray(theirs)[:length, rows])
                np.testing.assert_array_equal(got.difficulty, np.asarray(drawn.difficulty)[rows])
                assert not np.asarray(drawn.mask)[length:, rows].any(), "a sequence is cut"


def test_random_words_are_the_known_answers() -> None:
    """The known answers are `kat_vectors` of Random123, the authors' library."""
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
def test_a_batch_of_the_device_equals_the_oracles(name: str) -> None:
    """Seed, update and row alone decide an example."""
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


def features(batch: Batch) -> dict[str, Any]:
    """Numbers of each example, of each place, and of neighbouring places and rows."""
    levels = (batch.inputs[:, 0].float().clamp(-2.45, 2.45) * 2).floor() + 5
    mask, time = batch.mask[:, 0], torch.arange(len(batch.mask))[:, None]
    code = levels @ (torch.arange(levels.shape[-1]) % 7 + 1.0)
    return {
        "length": mask.sum(0),
        "difficulty": batch.difficulty[0],
        "target": batch.targets[:, 0][batch.scored[:, 0]].flatten(),
        "first two": (1000 * time + 20 * levels[..., 0] + levels[..., 1])[mask],
        "last two": (1000 * time + 20 * levels[..., -2] + levels[..., -1])[mask],
        "place": (1000 * time + code)[mask],
        "two places": 1000 * code[:-1] + code[1:],
        "two rows": (1000 * code[:, :-1] + code[:, 1:])[0],
    }


@pytest.mark.parametrize("name", TASKS)
def test_examples_are_distributed_as_those_of_the_host(name: str) -> None:
    task, rows = make_task(TASKS[name], name), 4000
    device, host = (features(kind(task, [5], rows).batch(9)) for kind in (DeviceStream, Stream))
    for name in host:
        counts = [
            Counter(torch.as_tensor(each[name]).flatten().tolist()) for each in (device, host)
        ]
        table = np.array(
            [[count[value] for value in {**counts[0], **counts[1]}] for count in counts]
        )
        table = table[:, table.sum(0) > 10]
        if table.shape[1] > 1:  # parity's sequences have one length
            assert chi2_contingency(table).pvalue > 0.001, name


def test_training_draws_chooses_the_stream(tmp_path: Path) -> None:
    for draws, kind in (("host", Stream), ("device", DeviceStream)):
        tiny.write(tmp_path, tiny.document(training={"draws": draws}))
        assert type(tiny.shard(tiny.freeze_all(tmp_path)).trainer().stream) is kind


def test_draws_on_the_device_are_a_part_of_the_program() -> None:
    usual = program.parts("parity", "lstm", "act")
    parity, sort = (
        program.parts(task, "lstm", "act", draws="device") for task in ("parity", "sort")
    )
    assert parity.items() > usual.items() and parity.keys() - usual.keys() == {"draws"}
    assert sort["draws"] != parity["draws"]


@pytest.mark.parametrize("name", sorted({*TASK_CLASSES} - {*DRAWS}))
def test_text_and_images_are_drawn_on_the_host_alone(name: str) -> None:
    with pytest.raises(UserError, match=f"device: {name} is drawn on the host alone; allowed: h"):
        check_fit("tiny.quick", tiny.config(**DEVICE), TASK_CLASSES[name])
