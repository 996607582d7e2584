"""Exit rules run through networks, against one sequence at a time in plain loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from oracle import oracle_exits
from oracle.oracle_exits import Row
from support.untrained import stage_of

from pondering import LSTM, Network, PonderNet
from pondering.evaluate import exits, sequences
from pondering.evaluate.rules import RULES, Judged, Shown
from pondering.evaluate.stage import run
from pondering.model.halting import EXITS
from pondering.tasks import make_task
from pondering.tasks.base import Batch, random_stream

N, EXAMPLES, SEED = 4, 4, 3
TASKS: dict[str, dict[str, Any]] = {
    "logic": {"gates": 2, "length": [1, 3], "test_length": 3},
    "addition": {"digits": 2, "length": [1, 2], "test_length": 2},
    "sort": {"length": [2, 3]},
}
PARITY = {
    "name": "parity", "layout": "scattered", "bits": 4, "train_nonzero": [1, 4],
    "test_nonzero": {"test": [1, 4]},
}  # fmt: skip


def made(name: str, **block: Any) -> tuple[Any, Network, Batch, Batch]:
    """Task, a network whose steps differ, a test and a validation set."""
    task = make_task({"name": name, **block}, name, None)
    generator = torch.Generator().manual_seed(5)
    cell = LSTM(task.input_size, 6, generator=generator)
    network = Network(cell, PonderNet(0.3, max_steps=N), task.output_size, -0.5, generator)
    with torch.no_grad():
        for each in network.parameters():
            each *= 3
    test, other = (
        task.evaluation_sets(EXAMPLES, part)["test"].torch() for part in ("test", "validation")
    )
    return task, network.double(), doubled(test), doubled(other)


def doubled(batch: Batch) -> Batch:
    return batch._replace(inputs=batch.inputs.double())


def walked(network: Any, batch: Batch, b: int, stop: Callable[[int, Row], int]) -> Any:
    """One example of a batch by the oracle."""

    @torch.no_grad()
    def step(t: int, state: Any, n: int) -> Any:
        now = network.cell.step(network.cell.embed(batch.inputs[t, b][None]), state, n == 1)
        y, a = network.heads.of(now)
        s, before = (np.concatenate([part[0].numpy() for part in each]) for each in (now, state))
        change = np.linalg.norm(s - (before if n > 1 else 0)) / np.linalg.norm(s)
        return now, float(a), y[0].tolist(), float(change)

    zero = tuple(torch.zeros(1, 6, dtype=torch.float64) for _ in network.cell.state_sizes)
    parts = 1 if batch.targets.dim() == 2 else batch.targets.shape[2]
    length = int(batch.mask[:, b].sum())
    return oracle_exits.walked(length, zero, N, parts, step, stop)


def judged(task: Any, batch: Batch, b: int, found: Any) -> tuple[float, float]:
    """Mean steps and error of what the oracle has walked."""
    outputs = torch.zeros(len(batch.mask), 1, task.output_size)
    for t, (_, y) in enumerate(found):
        outputs[t, 0] = torch.tensor(y)
    error = task.error(outputs, batch.take(slice(b, b + 1)))
    return float(np.mean([n for n, _ in found])), float(error[0])


def untied(at: dict[str, Any]) -> dict[str, Any]:
    """A little beside: an input that both sets have may show the very threshold."""
    steps = ("patience", "fixed")
    return {rule: each if rule in steps else each * (1 + 1e-9) for rule, each in at.items()}


def of_rule(rule: str, theta: float, draws: Any) -> Callable[[int, Row], int]:
    if rule == "sampled":
        return lambda t, row: oracle_exits.drawn(row, draws[t])
    return lambda t, row: oracle_exits.STOPS[rule](row, theta)


@pytest.mark.parametrize("name", TASKS)
def test_every_rule_walks_as_the_oracle_does(name: str) -> None:
    task, network, test, other = made(name, **TASKS[name])
    at = untied(sequences.thresholds(network, other, EXITS))
    found = sequences.outcomes(network, task, test, at, SEED)
    count = len(test.difficulty)
    draws = random_stream("sampled exit", SEED).random((len(test.mask), count))
    assert tuple(found) == EXITS
    taken: set[float] = set()
    for rule in (each for each in EXITS if each not in ("expected", "oracle")):
        for m, theta in enumerate(at[rule]):
            for b in range(count):
                each = walked(network, test, b, of_rule(rule, theta, draws[:, b]))
                wanted = judged(task, test, b, each)
                assert [part[m, b] for part in found[rule]] == pytest.approx(wanted), (rule, theta)
                taken |= {n for n, _ in each}
    assert taken == set(range(1, N + 1))


@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_takes_the_least_depth_that_is_right_and_stays_so(name: str) -> None:
    task, network, test, other = made(name, **TASKS[name])
    at = sequences.thresholds(network, other, ("fixed", "oracle"))
    steps, error = (part[0] for part in sequences.outcomes(network, task, test, at, SEED)["oracle"])
    for b in range(len(test.difficulty)):
        of_depth = [judged(task, test, b, walked(network, test, b, lambda t, row, n=n: n))
                    for n in range(1, N + 1)]  # fmt: skip
        least = N
        while least > 1 and not any(wrong for _, wrong in of_depth[least - 2 :]):
            least -= 1
        assert (steps[b], error[b]) == (least, of_depth[least - 1][1])


def test_the_expectation_is_that_of_the_network() -> None:
    task, network, test, _ = made("sort", **TASKS["sort"])
    with torch.no_grad():
        pondered = network(test.inputs, test.mask, halting=network.halting)
    found = sequences.outcomes(network, task, test, {"expected": np.array([np.nan])}, SEED)
    steps, error = (part[0] for part in found["expected"])
    wanted = pondered.expected_steps.sum(0) / test.mask.sum(0)
    np.testing.assert_allclose(steps, wanted, rtol=1e-6)
    np.testing.assert_array_equal(error, task.error(pondered.mixture, test))


def test_on_single_vectors_it_is_the_rule_of_stored_steps() -> None:
    task, network, test, other = made(**PARITY)
    at = sequences.thresholds(network, other, EXITS)
    walks = list(sequences.walk(network, test, _every_depth))
    outputs = walks[0][1].numpy()
    shown = _shown(network, test)
    np.testing.assert_allclose(shown.outputs, outputs)

    def judge(each: Any) -> Any:
        return task.error(torch.from_numpy(each[None]), test.replicate(1)).numpy()

    whole = Judged(shown.halt_logits, shown.outputs, shown.change, judge)
    found = sequences.outcomes(network, task, test, at, SEED)
    for rule in (each for each in EXITS if each != "sampled"):
        for ours, wanted in zip(found[rule], RULES[rule].outcome(whole, at[rule]), strict=True):
            np.testing.assert_allclose(ours, wanted)


def test_thresholds_are_of_what_steps_show_at_every_fixed_depth() -> None:
    _, network, _, other = made("logic", **TASKS["logic"])
    rows: list[Row] = []
    for b in range(len(other.difficulty)):
        for n in range(1, N + 1):

            def stop(t: int, row: Row, n: int = n) -> int:
                if t > 0 or n == 1:  # the first position is one whatever comes later
                    rows.append(row)
                return n

            walked(network, other, b, stop)
    shown = Shown(*(np.array([getattr(row, name) for row in rows]).swapaxes(0, 1)
                    for name in ("halt_logits", "outputs", "change")))  # fmt: skip
    found = sequences.thresholds(network, other, EXITS)
    for rule in EXITS:
        np.testing.assert_allclose(found[rule], RULES[rule].thresholds(shown), rtol=1e-6)


def _every_depth(shown: Shown, t: int, examples: Any) -> Any:
    return np.repeat(np.arange(1, N + 1)[:, None], len(examples), axis=1)


def _shown(network: Network, batch: Batch) -> Shown:
    kept: list[Shown] = []

    def choose(shown: Shown, t: int, examples: Any) -> Any:
        kept.append(shown)
        return _every_depth(shown, t, examples)

    list(sequences.walk(network, batch, choose))
    return kept[0]


def test_pieces_of_a_set_are_walked_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    task, network, test, other = made("sort", **TASKS["sort"])
    at = sequences.thresholds(network, other, EXITS)
    whole = sequences.outcomes(network, task, test, at, SEED)
    monkeypatch.setattr(sequences, "ROWS", 3 * sum(map(len, at.values())))
    pieces = sequences.outcomes(network, task, test, at, SEED)
    for rule in EXITS:
        np.testing.assert_allclose(pieces[rule], whole[rule])


def test_the_table_has_whole_test_sets_and_every_rule(tmp_path: Path) -> None:
    task = {"name": "logic", **TASKS["logic"]}
    work = stage_of(tmp_path, task, [(0.6, 7)], evaluation={"stored": 3, "examples": 5})
    run(work)
    exits.run(work)
    table = pd.read_csv(work.layout.exits("tiny"))
    assert set(table["mechanism"]) == {"pondernet"} and set(table["examples"]) == {10}
    for (setting, seed), rows in table.groupby(["setting", "seed"]):
        assert tuple(dict.fromkeys(rows["rule"])) == EXITS
        lost = (setting, seed) == (0.6, 7)
        assert rows["ponder_time"].isna().all() == lost
        assert (set(rows["status"]) == {"diverged"}) == lost
        fixed = rows[rows["rule"] == "fixed"]
        assert lost or fixed["ponder_time"].tolist() == fixed["threshold"].tolist()
