"""Evaluation: which sequences are traced, and whose luck a sampled halt is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stages
import tiny
import torch
from ruamel.yaml import YAML
from stages import MECHANISMS, QUICK

from pondering import evaluation, traces
from pondering.build import make_network
from pondering.halting import PonderNet
from pondering.tasks import make_task
from pondering.tasks.addition import Addition
from pondering.tasks.base import SyntheticTask
from pondering.tasks.logic import Logic
from pondering.tasks.sort import Sort

SHORT = {"input", "target", "ponder_time"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """The traces of a project that learns sums of up to three numbers of one or two digits."""
    folder = stages.new_project(tmp_path_factory.mktemp("sums") / "project")
    values = tiny.document(training={"updates": 4})
    task = {"name": "addition", "digits": 2, "length": [1, 3], "test_length": 2}
    values["tiny"]["common"]["task"], values["tiny"]["quick"]["task"] = task, {}
    with (folder / "params.yaml").open("w", encoding="utf-8") as file:
        YAML().dump(values, file)
    train = [("train", *QUICK, "--mechanism", mechanism) for mechanism in MECHANISMS]
    for name, *arguments in (("datasets", *QUICK), *train, ("evaluate", *QUICK)):
        done = stages.run(folder, name, *arguments)
        assert (done.status, done.err) == (0, ""), done.err
    yield json.loads((folder / "reports/quick/traces/tiny.json").read_text())["traces"]


def of_kind(found: list[dict[str, Any]], mechanism: str, kind: str) -> list[dict[str, Any]]:
    return [each for each in found if (each["mechanism"], each["kind"]) == (mechanism, kind)]


def test_every_seed_of_act_is_traced_in_short_on_the_same_mixed_sequences(
    found: list[dict[str, Any]],
) -> None:
    short = of_kind(found, "act", "mixed")
    assert {each["setting"] for each in short} == {0.01}
    by_seed = {
        seed: [each["steps"] for each in short if each["seed"] == seed] for seed in (0, 7)
    }  # fmt: skip
    assert len(short) == 2 * traces.MIXED >= 60
    words = [
        [[(step["input"], step["target"]) for step in steps] for steps in sequences]
        for sequences in by_seed.values()
    ]
    assert words[0] == words[1]
    assert all(
        set(step) == SHORT for sequences in by_seed.values() for s in sequences for step in s
    )
    digits = [{len(word) for word, _ in sequence} for sequence in words[0]]
    assert any(len(each) > 1 for each in digits), "digits differ within a sequence"
    assert {len(sequence) for sequence in words[0]} == {1, 2, 3}
    assert of_kind(found, "pondernet", "mixed") == []


def test_the_sequences_shown_are_some_of_them_in_full(found: list[dict[str, Any]]) -> None:
    short = {
        tuple(step["input"] for step in each["steps"]): [s["ponder_time"] for s in each["steps"]]
        for each in of_kind(found, "act", "mixed")
        if each["seed"] == 0
    }
    shown = of_kind(found, "act", "sequence")
    assert len(shown) == 2 and {each["seed"] for each in shown} == {0}
    assert len(shown[1]["steps"]) == 3, "the last is of the longest"
    for each in shown:
        ponder = [step["ponder_time"] for step in each["steps"]]
        assert short[tuple(step["input"] for step in each["steps"])] == ponder
        assert all(len(step["halting"]) == step["ponder_time"] for step in each["steps"])
    inputs = [[s["input"] for s in each["steps"]] for each in shown]
    ponder = of_kind(found, "pondernet", "sequence")
    assert [[s["input"] for s in each["steps"]] for each in ponder] == inputs


def test_however_many_are_shown_none_is_shown_twice() -> None:
    batch = traces.mixed(Sort()).torch()
    length = batch.mask.sum(0)
    for count, wanted in ((1, 1), (3, 3), (25, 25), (40, traces.MIXED)):
        rows = traces.longer(batch, count)
        assert len(set(rows.tolist())) == wanted
        assert (length[rows].diff() >= 0).all()
    assert length[traces.longer(batch, 3)].tolist()[-1] == length.max()
    assert length[traces.longer(batch, 3)].min() >= length.float().median()


@pytest.mark.parametrize("task", [Addition(), Sort(), Logic()], ids=lambda task: task.name)
def test_mixed_sequences_are_none_of_training_or_evaluation(task: SyntheticTask) -> None:
    batch = traces.mixed(task)
    again = traces.mixed(task)
    assert np.array_equal(batch.inputs, again.inputs)
    assert batch.difficulty.shape == (traces.MIXED,) and traces.MIXED >= 30
    length = batch.mask.sum(0)
    assert len(set(length.tolist())) > 2
    longest = length.max()
    mine = {batch.inputs[:, row].tobytes() for row in range(30) if length[row] == longest}
    others = [task.draw(np.random.default_rng(0), 64), task.training_block(0, 0, 2)]
    for other in others:
        rows = range(other.difficulty.shape[0])
        assert not mine & {other.inputs[:, row].tobytes() for row in rows}


def test_a_sampled_halt_is_each_seeds_own_luck(tmp_path: Path) -> None:
    """Four replicas that are one network: those of a seed halt alike, seeds apart."""
    config = tiny.config_of_sequences(tmp_path)
    task = make_task(config.task, "tiny")
    replicas = [(0.3, 5), (0.6, 5), (0.3, 9), (0.6, 9)]
    network = make_network(config, "pondernet", task, replicas)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(parameter[:1].expand_as(parameter))
    batch = task.evaluation_sets(200)["test"].torch()

    def steps(seeds: list[int], rows: int = 64) -> np.ndarray:
        part = make_network(config, "pondernet", task, [(0.3, seed) for seed in seeds])
        with torch.no_grad():
            for own, whole in zip(part.parameters(), network.parameters(), strict=True):
                own.copy_(whole[:1].expand_as(own))
        part.halting = evaluation.modes(part.halting, seeds)["sampled"]
        return evaluation.measure(part, task, batch, len(seeds), rows).ponder_time

    network.halting = evaluation.modes(network.halting, [seed for _, seed in replicas])["sampled"]
    found = evaluation.measure(network, task, batch, 4, 64).ponder_time
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[2], found[3])
    assert (found[0] != found[2]).mean() > 0.2
    assert abs(np.corrcoef(found[0], found[2])[0, 1]) < 0.2
    # whatever else is in the sweep
    assert np.array_equal(steps([9])[0], found[2])
    assert np.array_equal(steps([1, 9, 5])[[2, 1]], found[[0, 2]])


def test_sampled_halts_follow_the_distribution_in_every_seed() -> None:
    halting = evaluation.modes(PonderNet(0.3, max_steps=4), [3, 3, 8])["sampled"]
    rows = 20_000
    progress = halting.start(torch.ones(3, rows, dtype=torch.bool))
    logit = torch.full((3, rows), -1.0)
    chance = float(torch.sigmoid(logit[0, 0]))
    counts = []
    for n in range(1, 5):
        weight, progress = halting.step(n, logit, progress)
        counts.append(weight.sum(1).tolist())
    wanted = [chance * (1 - chance) ** n for n in range(3)] + [(1 - chance) ** 3]
    for k in range(3):
        observed = [count[k] for count in counts]
        chi_square = sum((o - rows * p) ** 2 / (rows * p)
                         for o, p in zip(observed, wanted, strict=True))  # fmt: skip
        assert chi_square < 3 + 4 * np.sqrt(2 * 3)
