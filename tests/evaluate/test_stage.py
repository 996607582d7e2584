"""Evaluation: traces, sampled halting, and the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from support import stages, tiny
from support.untrained import stage_of, table_of, traces_of

from pondering.evaluate import measure, traces
from pondering.evaluate.stage import summary
from pondering.params.replica import Replica
from pondering.results.results import read_traces
from pondering.tasks import make_task
from pondering.tasks.addition import Addition
from pondering.tasks.base import SyntheticTask
from pondering.tasks.logic import Logic
from pondering.tasks.sort import Sort
from pondering.tasks.wikipedia import task as wikipedia
from pondering.train.build import make_network

DIGITS = tiny.DIGITS | {"test_rotations": [90.0], "test_angles": [0.0]}


@pytest.fixture(scope="module")
def sum_traces(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The traces of a project that learns sums of up to three numbers of one or two digits."""
    folder = tmp_path_factory.mktemp("sums")
    tiny.write(folder, tiny.document(training={"updates": 4}, task=tiny.SUMS | {"digits": 2}))
    stages.work(folder, "datasets", "train", "evaluate")
    return read_traces(folder / "data/results/quick/traces/tiny.json")


def of_kind(found: list[dict[str, Any]], mechanism: str, kind: str) -> list[dict[str, Any]]:
    return [each for each in found if (each["mechanism"], each["kind"]) == (mechanism, kind)]


def test_every_seed_of_act_is_traced_on_the_same_mixed_sequences(
    sum_traces: list[dict[str, Any]],
) -> None:
    short = of_kind(sum_traces, "act", "mixed")
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
    digits = [{len(word) for word, _ in sequence} for sequence in words[0]]
    assert any(len(each) > 1 for each in digits), "digits differ within a sequence"
    assert {len(sequence) for sequence in words[0]} == {1, 2, 3}
    assert of_kind(sum_traces, "pondernet", "mixed") == []


def test_some_mixed_sequences_are_traced_in_full(sum_traces: list[dict[str, Any]]) -> None:
    short = {
        tuple(step["input"] for step in each["steps"]): [s["ponder_time"] for s in each["steps"]]
        for each in of_kind(sum_traces, "act", "mixed")
        if each["seed"] == 0
    }
    shown = of_kind(sum_traces, "act", "sequence")
    assert len(shown) == 2 and {each["seed"] for each in shown} == {0}
    assert len(shown[1]["steps"]) == 3, "the last is of the longest"
    for each in shown:
        ponder = [step["ponder_time"] for step in each["steps"]]
        assert short[tuple(step["input"] for step in each["steps"])] == ponder
    inputs = [[s["input"] for s in each["steps"]] for each in shown]
    ponder = of_kind(sum_traces, "pondernet", "sequence")
    assert [[s["input"] for s in each["steps"]] for each in ponder] == inputs


def test_no_sequence_is_chosen_twice() -> None:
    batch = traces.mixed(Sort()).torch()
    length = batch.mask.sum(0)
    for count, wanted in ((1, 1), (3, 3), (25, 25), (40, traces.MIXED)):
        rows = traces.longer(batch, count)
        assert len(set(rows.tolist())) == wanted
        assert (length[rows].diff() >= 0).all()
    assert length[traces.longer(batch, 3)].tolist()[-1] == length.max()
    assert length[traces.longer(batch, 3)].min() >= length.float().median()


@pytest.mark.parametrize("task", [Addition(), Sort(), Logic()], ids=lambda task: task.name)
def test_mixed_sequences_are_no_training_or_test_sequences(task: SyntheticTask) -> None:
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


def test_a_sampled_halt_depends_on_the_seed_alone() -> None:
    """All replicas have equal parameters. Replicas of one seed halt alike, others do not."""
    config = tiny.config(task=tiny.SUMS)
    task = make_task(config.task, "tiny")
    batch = task.evaluation_sets(200)["test"].torch()
    one = make_network(config, task, [Replica("pondernet", 0.3, 5)])

    def steps(*replicas: tuple[float, int]) -> np.ndarray:
        network = make_network(config, task, [Replica("pondernet", *each) for each in replicas])
        with torch.no_grad():
            for parameter, same in zip(network.parameters(), one.parameters(), strict=True):
                parameter.copy_(same.expand_as(parameter))
        sampled = measure.modes(network.halting, [seed for _, seed in replicas])["sampled"]
        return measure.measure(network, sampled, task, batch, len(replicas), 64).ponder_time

    found = steps((0.3, 5), (0.6, 5), (0.3, 9), (0.6, 9))
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[2], found[3])
    assert (found[0] != found[2]).mean() > 0.2
    assert abs(np.corrcoef(found[0], found[2])[0, 1]) < 0.2
    # Other replicas of the sweep change nothing.
    assert np.array_equal(steps((0.3, 9))[0], found[2])
    assert np.array_equal(steps((0.3, 1), (0.3, 9), (0.3, 5))[[2, 1]], found[[0, 2]])


def test_a_gallery_has_the_images_of_most_and_fewest_steps(tmp_path: Path) -> None:
    """Of one replica: the first prior or nearest penalty, the first seed not diverged."""
    stage = stage_of(
        tmp_path, DIGITS, {(0.8, 7), (0.1, 7)}, seeds=[7, 3, 5], act={"tau": [0.001, 0.1, 0.01]},
        pondernet={"lambda_p": [0.8, 0.2, 0.6, 0.4]},
        evaluation={"examples": 30, "trace": {"tau": 0.07}},
    )  # fmt: skip
    table = table_of(stage)
    assert (table.groupby(["split", "difficulty"])["examples"].unique() == 30).all()
    batch = stage.sets["range"]
    for mechanism, chosen in (("act", (0.1, 3)), ("pondernet", (0.8, 3))):
        network, replicas = stage.read_back(mechanism)[:2]
        measured = measure.measure(network, network.halting, stage.task, batch, len(replicas), 64)
        steps = measured.ponder_time[replicas.index(Replica(mechanism, *chosen))]
        order = np.argsort(steps, kind="stable")
        wanted = [("most", row) for row in order[::-1][: traces.GALLERY]]
        wanted += [("fewest", row) for row in order[: traces.GALLERY]]
        found = traces_of(stage, mechanism)
        for each, (which, row) in zip(found, wanted, strict=True):
            assert (each["kind"], each["which"]) == ("image", which)
            assert (each["setting"], each["seed"]) == chosen
            assert each["pixels"] == stage.task.pixels(batch, row).tolist()
            assert each["label"] == int(batch.targets[0, row])
            assert each["steps"][0]["ponder_time"] == pytest.approx(steps[row], abs=1e-4)


def test_a_text_is_traced_by_every_seed_that_did_not_diverge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(wikipedia.SOURCES, "generated", 20_000)
    stage = stage_of(
        tmp_path, {"name": "wikipedia", "source": "generated", "sequence": 12}, {(0.1, 7)},
        seeds=[0, 7, 9], evaluation={"examples": 5, "trace": {"tau": 0.1, "sequences": 3}},
    )  # fmt: skip
    table = table_of(stage)
    failed = table[(table["setting"] == 0.1) & (table["seed"] == 7)]
    assert (failed["error"] == 8).all() and set(failed["split"]) == set(stage.sets)
    assert isinstance(stage.task, wikipedia.Wikipedia)
    batch, kinds = stage.task.traced(3)
    found = traces_of(stage, "act")
    assert [each["seed"] for each in found] == [0] * 3 + [9] * 3
    assert {(each["kind"], each["setting"]) for each in found} == {("text", 0.1)}
    inputs = ["".join(step["input"] for step in each["steps"]) for each in found[:3]]
    assert inputs == [bytes(window).decode() for window in batch.inputs.T]
    assert [[step["kind"] for step in each["steps"]] for each in found[3:]] == kinds.T.tolist()


@pytest.mark.parametrize(("count", "difficulties"), [(2, [2, 4]), (5, [2, 3, 4])])
def test_traced_vectors_run_from_the_easiest_to_the_hardest_of_the_last_set(
    tmp_path: Path, count: int, difficulties: list[float]
) -> None:
    spans = {"near": [1, 1], "far": [2, 4]}
    task = {"name": "parity", "bits": 4, "layout": "leading", "train_nonzero": [1, 4]}
    trace = {"examples": 1, "trace": {"tau": 0.01, "sequences": count}}
    stage = stage_of(tmp_path, task | {"test_nonzero": spans}, evaluation=trace)
    table = table_of(stage)
    assert table.groupby("split")["difficulty"].unique().map(list).to_dict() == {
        "near": [1], "far": [2, 3, 4],
    }  # fmt: skip
    assert [each["difficulty"] for each in traces_of(stage, "act")] == difficulties


def test_the_summary_weighs_seeds_and_difficulties_alike() -> None:
    nan = float("nan")
    rows = [
        ("act", 0.25, 0, "near", 1, "mixture", 10, 0.0, 1.0),
        ("act", 0.25, 0, "near", 2, "mixture", 30, 0.2, 2.0),
        ("act", 0.25, 0, "far", 9, "mixture", 10, 0.9, 9.0),
        ("act", 0.25, 1, "near", 1, "mixture", 10, 0.1, 2.0),
        ("act", 0.25, 1, "near", 2, "mixture", 30, 0.0, 2.000015),
        ("act", 0.25, 2, "near", 1, "mixture", 10, 1.0, nan),
        ("act", 0.25, 2, "near", 2, "mixture", 30, 1.0, nan),
        ("pondernet", 0.5, 0, "near", 1, "sampled", 10, 0.5, 3.0),
        ("pondernet", 0.5, 0, "near", 1, "expected", 10, 0.7, 4.0),
        ("act", 2.0, 0, "near", 1, "mixture", 10, 1.0, nan),
        ("act", 3.0, 0, "near", 1, "mixture", 10, float("inf"), 1.0),
    ]
    columns = "mechanism setting seed split difficulty prediction examples error ponder_time"
    table = pd.DataFrame(rows, columns=columns.split()).assign(status="finished")
    assert summary(table) == {
        "act": 0.3833, "act_steps": 1.75, "pondernet": 0.5, "pondernet_steps": 3.0, "best": 0.3833,
    }  # fmt: skip
