"""What is stored of every step, against single networks run by the readable path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.stages import contents
from support.untrained import read_back, stage_of

from pondering.data.frozen import read_arrays
from pondering.evaluate import measure, steps
from pondering.evaluate.stage import Evaluation, run
from pondering.model.halting import Exit, PonderNet
from pondering.model.stacking import select
from pondering.project.atomic import atomic_write, write_json
from pondering.project.errors import UserError
from pondering.tasks.base import Batch
from pondering.train import checkpoint
from pondering.train.keys import training_key

PARITY = {
    "name": "parity", "layout": "scattered", "bits": 12, "train_nonzero": [1, 6],
    "test_nonzero": {"test": [1, 3], "beyond": [7, 8]},
}  # fmt: skip
LOGIC = {"name": "logic", "gates": 2, "length": [1, 3], "test_length": 3}
UPRIGHT = {
    "name": "digits", "data": "sklearn_digits", "validation": 200,
    "train_rotation": 0.0, "test_rotations": [], "test_angles": [],
}  # fmt: skip
VECTORS = [PARITY, UPRIGHT]
LOST = [(0.6, 7)]
N, REPLICAS = 4, 4
EPSILON = {"pondernet": {"lambda_p": [0.3, 0.6], "epsilon": 0.3}}  # rows stop at different steps


def stored(work: Evaluation) -> dict[str, Any]:
    run(work)
    return read_arrays(work.layout.steps("tiny"))


@pytest.mark.parametrize("task", VECTORS, ids=lambda task: task["name"])
@pytest.mark.parametrize("more", [{}, EPSILON], ids=["all", "stopped"])
def test_each_replica_is_stored_as_it_ponders_alone(
    tmp_path: Path, task: dict[str, Any], more: dict[str, Any]
) -> None:
    work = stage_of(tmp_path, task, LOST, **more)
    found, trained = stored(work), read_back(work, "pondernet")
    assert found["pondernet/status"].tolist() == ["running"] * 3 + ["diverged"]
    pairs = zip(found["pondernet/settings"], found["pondernet/seeds"], strict=True)
    assert list(pairs) == [(each.setting, each.seed) for each in trained.replicas]
    own = work.task.evaluation_sets(200, "validation")
    parts = {"test": work.sets, "validation": {name: each.torch() for name, each in own.items()}}
    for (part, split), batch in {(p, s): b for p in parts for s, b in parts[p].items()}.items():
        some, prefix = steps.first(batch, 200), f"pondernet/{part}/{split}/"
        arrays = {name.removeprefix(prefix): found[name] for name in found if prefix in name}
        for k, replica in enumerate(trained.replicas):
            every = PonderNet(replica.setting, max_steps=N)  # takes all steps
            check(select(trained.network, k, every), arrays, some, k)


def check(network: Any, arrays: dict[str, Any], batch: Any, k: int) -> None:
    """The readable path's own record, and the halting logits that give its weights."""
    with torch.no_grad():
        alone = network(batch.inputs, batch.mask)
    assert arrays["halt_logits"].shape == (N, REPLICAS, len(batch.difficulty))
    assert (arrays["halt_logits"].dtype, arrays["outputs"].dtype) == (np.float32, np.float16)
    np.testing.assert_array_equal(arrays["targets"], batch.targets[0])
    np.testing.assert_array_equal(arrays["difficulty"], batch.difficulty)
    outputs = alone.outputs[:, 0].numpy()
    np.testing.assert_allclose(arrays["outputs"][:, k], outputs, rtol=6e-4, atol=1e-6)
    h = 1 / (1 + np.exp(-arrays["halt_logits"][:, k].astype(np.float64)))
    before = np.concatenate([np.ones_like(h[:1]), np.cumprod(1 - h, 0)[:-1]])
    weights = np.concatenate([(before * h)[:-1], before[-1:]])
    np.testing.assert_allclose(weights, alone.weights[:, 0].numpy(), rtol=1e-4, atol=1e-6)


def test_the_change_is_that_of_all_parts_of_the_state(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY, network={"cell": "lstm", "hidden": 16})
    trained = read_back(work, "pondernet")
    batch = steps.first(work.sets["test"], 3)
    found = steps.every_step(trained.network, batch, REPLICAS)
    seen: list[Any] = []

    def rule(each: Any) -> torch.Tensor:
        seen.append(each.states)
        return torch.zeros_like(each.halt_logits[-1], dtype=torch.bool)

    whole = batch.replicate(REPLICAS)
    with torch.no_grad():
        trained.network(whole.inputs, whole.mask, halting=Exit(rule, N))
    s1, s2 = (state.numpy().astype(np.float64) for state in seen[1])
    wanted = np.sqrt(((s2 - s1) ** 2).sum(-1) / (s2**2).sum(-1))
    np.testing.assert_allclose(found["change"][1], wanted, rtol=1e-3)
    assert (found["change"][0] == 1).all()


@pytest.mark.parametrize("task", VECTORS, ids=lambda task: task["name"])
def test_validation_examples_are_stored_at_the_difficulties_of_the_frozen_sets(
    tmp_path: Path, task: dict[str, Any]
) -> None:
    work = stage_of(tmp_path, task, evaluation={"stored": 7})
    found = stored(work)
    for split in work.task.evaluation_sets(7, "validation"):
        for part in ("test", "validation"):
            difficulty = found[f"pondernet/{part}/{split}/difficulty"]
            levels, counts = np.unique(difficulty, return_counts=True)
            assert levels.tolist() == work.sets[split].difficulty.unique().tolist()
            assert (counts == 7).all()


def test_a_rule_on_stored_steps_is_the_rule_run_through_the_network(tmp_path: Path) -> None:
    """On single vectors: the first n with h_n > 0.45."""
    work = stage_of(tmp_path, PARITY)
    found, trained = stored(work), read_back(work, "pondernet")
    theta = 0.45
    rule = Exit(lambda seen: torch.sigmoid(seen.halt_logits[-1]) > theta, N)
    run_through = measure.measure(trained.network, rule, work.task, work.sets["test"], REPLICAS, 16)
    logits = found["pondernet/test/test/halt_logits"]
    stops = np.concatenate([(1 / (1 + np.exp(-logits)) > theta)[:-1], np.ones_like(logits[:1])])
    at = stops.argmax(0)
    assert len(np.unique(at)) > 1
    np.testing.assert_array_equal(run_through.ponder_time, at + 1)
    outputs = found["pondernet/test/test/outputs"][..., 0]
    said = np.take_along_axis(outputs, at[None], 0)[0] > 0
    wrong = said != found["pondernet/test/test/targets"]
    np.testing.assert_array_equal(run_through.error, wrong)


def test_a_mechanism_without_exits_stores_nothing_and_the_file_is_there(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY)
    for mechanism in ("act", "repeat"):
        trained = read_back(work, mechanism)
        assert steps.of_mechanism(trained, work.task, work.sets, 5) == {}
    assert {name.partition("/")[0] for name in stored(work)} == {"pondernet"}


def test_of_sequences_nothing_is_stored(tmp_path: Path) -> None:
    """A rule decides which state crosses: it is run through the network."""
    assert stored(stage_of(tmp_path, LOGIC)) == {}


def test_once_more_gives_the_same_bytes(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY)
    run(work)
    before = work.layout.steps("tiny").read_bytes()
    run(work)
    assert work.layout.steps("tiny").read_bytes() == before


def test_how_much_is_stored_changes_no_training_and_no_table(tmp_path: Path) -> None:
    keys, rest = [], []
    for name, wanted in (("few", 2), ("more", 5)):
        (tmp_path / name).mkdir()
        work = stage_of(tmp_path / name, PARITY, evaluation={"stored": wanted})
        run(work)
        keys.append([training_key(work.config, each) for each in ("act", "pondernet")])
        apart = ("data/steps", "reports/quick/provenance")
        rest.append({
            path: content for path, content in contents(tmp_path / name).items()
            if not path.startswith(apart)
        })  # fmt: skip
    assert keys[0] == keys[1]
    assert rest[0] == rest[1]


def test_the_replicas_that_are_there_are_stored_as_if_all_were(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY)
    whole, trained = stored(work), read_back(work, "pondernet")
    folder = work.layout.run("tiny", "pondernet")
    record = json.loads((folder / "run.json").read_text())
    write_json(folder / "run.json", record | {"replicas": record["replicas"][2:3]})
    alone = {name: p[2:3] for name, p in trained.network.named_parameters()}
    atomic_write(folder / "parameters.safetensors", checkpoint.parameters(alone, 1))
    found = stored(work)
    assert found.keys() == whole.keys()
    assert found["pondernet/settings"].tolist() == whole["pondernet/settings"][2:3].tolist()
    for name in found:
        if name.endswith(("/halt_logits", "/outputs", "/change")):
            got = found[name][:, 0].astype(np.float32)
            np.testing.assert_allclose(got, whole[name][:, 2], rtol=1e-3, atol=1e-6)


def test_without_a_training_the_steps_of_before_stay(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY)
    stored(work)
    before = contents(tmp_path)
    lost = work.layout.run("tiny", "pondernet") / "run.json"
    lost.unlink()
    with pytest.raises(UserError, match="no such file"):
        run(work)
    assert contents(tmp_path).keys() == before.keys() - {str(lost.relative_to(tmp_path))}
    assert work.layout.steps("tiny").read_bytes() == before["data/steps/quick/tiny.npz"]


def test_the_first_examples_of_each_difficulty_are_stored_in_their_order() -> None:
    difficulty = torch.tensor([2.0, 1.0, 2.0, 1.0, 2.0, 3.0])
    rows = torch.arange(6.0)[None]
    batch = Batch(rows.unsqueeze(-1), rows, rows > -1, rows > -1, difficulty)
    assert steps.first(batch, 2).targets.tolist() == [[0, 1, 2, 3, 5]]
    assert steps.first(batch, 9).targets.tolist() == [[0, 1, 2, 3, 4, 5]]
