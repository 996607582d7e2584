"""The values of params.yaml: every training of `paper` runs, and its values are the papers'."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from pondering.data.frozen import write_arrays
from pondering.model.paths.compiled.operations import MOST_HIDDEN
from pondering.params.read import load_params
from pondering.params.schema import PROFILES
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train.build import make_network
from pondering.train.trainer import Schedule, Trainer

ROOT = Path(__file__).parents[2]
PAPER = load_params(ROOT / "params.yaml", "paper").experiments
TRAININGS = {
    (config.task["name"], config.network.cell, mechanism): (name, mechanism)
    for name, config in PAPER.items()
    for mechanism in config.mechanisms
}
SHORT = {"wikipedia": {"sequence": 3}, "sort": {"length": (2, 3)}}


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file in the form of the real data."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "all.npz"
    text = rng.integers(0, 256, 60_000).astype(np.uint8)
    arrays = {"text": text, "kinds": np.zeros_like(text)}
    for part, count in (("train", 256), ("validation", 32), ("test", 32)):
        arrays[f"{part}_images"] = rng.integers(0, 256, (count, 28, 28)).astype(np.uint8)
        arrays[f"{part}_labels"] = rng.integers(0, 10, count).astype(np.uint8)
    write_arrays(path, arrays)
    return path


@pytest.mark.parametrize(("experiment", "mechanism"), TRAININGS.values())
def test_every_kind_of_paper_training_runs_two_updates_of_two_replicas(
    experiment: str, mechanism: str, stand_ins: Path
) -> None:
    """Batches have four rows, sequences are short, and large networks have fewer units."""
    config = PAPER[experiment]
    hidden = min(config.network.hidden, MOST_HIDDEN + 8)  # enough for the same path
    network = config.network.model_copy(update={"hidden": hidden})
    config = config.model_copy(update={"network": network})
    task: Task = make_task(config.task, experiment, stand_ins)
    if short := SHORT.get(config.task["name"]):
        task = replace(task, **short)  # type: ignore[type-var]
    replicas = config.replicas(mechanism)[:2]
    network = make_network(config, task, replicas)
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    schedule = Schedule(2, 4, config.learning_rate(mechanism), None, 2)
    sweep = Trainer(network, task, replicas, schedule)
    sweep.run()
    assert sweep.status() == ["finished", "finished"]
    for row in sweep.rows():
        assert row["loss"] > 0 and 1 <= row["ponder_time"] <= config.halting.max_steps
    moved = [not torch.equal(before[n], p) for n, p in network.named_parameters()]
    assert sum(moved) >= len(moved) - 2  # a plain network's flag and halting unit may not move


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "name", ["parity_extrapolation", "comparison_beyond", "comparison_farther"]
)
def test_a_task_tested_beyond_its_range_has_the_splits_of_its_claims(
    profile: str, name: str, stand_ins: Path
) -> None:
    experiment = load_params(ROOT / "params.yaml", profile).experiments[name]
    sets = make_task(experiment.task, name, stand_ins).evaluation_sets(1)
    assert list(sets) == ["interpolation", "extrapolation"]  # the first chooses the setting


def test_in_quick_act_and_pondernet_solve_parity_and_a_plain_network_does_not() -> None:
    path = ROOT / "reports/quick/metrics/parity_interpolation.json"
    found = json.loads(path.read_text())
    assert max(found["act"], found["pondernet"]) < 0.05 and found["plain"] > 0.2
    assert min(found["act_steps"], found["pondernet_steps"]) > 1.5


def test_the_paper_profile_has_the_papers_values() -> None:
    grid = [digit / 10**decimals for decimals in (4, 3, 2, 1) for digit in range(1, 10)] + [1.0]
    graves, text = PAPER["parity"], PAPER["wikipedia"]
    assert graves.mechanism("act").settings == tuple(grid)
    assert text.mechanism("act").settings == tuple(grid[9:])
    for name in ("parity", "logic", "addition", "sort", "wikipedia"):
        config, training = PAPER[name], PAPER[name].training
        assert list(config.mechanisms) == ["repeat", "act"] and config.seeds == tuple(range(20))
        assert (training.learning_rate, training.clip, config.halting.halt_bias) == (1e-4, None, 1)
        assert config.halting.max_steps == (20 if name == "addition" else 100)
        fixed = (1, 2, 3, 5, 8) if name == "addition" else (1,)
        assert config.mechanism("repeat").settings == fixed
    fojo = PAPER["parity_fojo"]
    assert fojo.mechanism("act").settings == (0.001, 0.005, 0.01, 0.1)
    assert fojo.mechanism("repeat").settings == (1, 2, 3, 5, 8)
    assert (fojo.training.learning_rate, fojo.training.clip, fojo.network.init) == (
        1e-3, None, "glorot"
    )  # fmt: skip
    banino = PAPER["parity_extrapolation"]
    assert banino.task["train_nonzero"] == [1, 48] and len(banino.seeds) == 10
    assert banino.task["test_nonzero"]["extrapolation"] == [49, 96]
    priors = tuple(round(0.1 * i, 1) for i in range(1, 10))
    assert banino.mechanism("pondernet").settings == priors
    trained = PAPER["parity_interpolation"].replicas("pondernet")
    seeds = {
        each: [r.seed for r in trained if (r.setting, r.options) == each]
        for each in ((p, o) for p in priors for o in ((), (("epsilon", 0.05),)))
    }
    assert {k: len(v) for k, v in seeds.items()} == {k: 10 for k in seeds} | {(0.1, ()): 30}
    for name in ("mnist", "mnist_rotated"):
        training = PAPER[name].training
        assert training.updates == 20 * 430 and training.validation is not None
        assert (training.validation.factor, training.validation.patience) == (0.1, 10)


def test_questions_have_fresh_seeds() -> None:
    reduced = load_params(ROOT / "params.yaml", "reduced").experiments
    beyond = [name for name in reduced if name.startswith(("comparison", "bias"))]
    assert all(len(reduced[n].seeds) == 10 and min(reduced[n].seeds) >= 100 for n in beyond)
    others = {
        seed for name in beyond if name != "comparison_farther" for seed in reduced[name].seeds
    }
    assert not others & set(reduced["comparison_farther"].seeds), "these seeds chose a setting"


def test_every_value_of_the_long_profiles_has_a_source() -> None:
    """The source is a comment on the value's line, or on the line of a key above it."""
    without = []
    top, profile, above = "", "", {}
    for number, line in enumerate((ROOT / "params.yaml").read_text().splitlines(), 1):
        code, _, comment = line.partition("#")
        if not code.strip():
            continue
        indent = len(code) - len(code.lstrip())
        key, _, value = code.strip().partition(":")
        top = top if indent else key
        profile = "common" if top == "tasks" else profile
        if indent <= 2 and top != "tasks":
            profile = key if indent == 2 and top not in ("download", "defaults") else ""
        above = {depth: source for depth, source in above.items() if depth < indent}
        if (
            profile in ("common", "reduced", "paper")
            and value
            and key not in ("title", "question")
            and not comment
            and not any(above.values())
        ):
            without.append(f"{number}: {code.strip()}")
        above[indent] = bool(comment) and indent > 2
    assert without == []
