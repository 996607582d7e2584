"""The training loop: every replica as if alone, its numbers what they say, and it learns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny
from torch import Tensor

from pondering.model.network import PathName
from pondering.params.read import MECHANISMS, ExperimentConfig
from pondering.tasks import make_task
from pondering.train import checkpoint
from pondering.train.sweep import COLUMNS, Schedule, Sweep


@pytest.fixture
def config(tmp_path: Path) -> ExperimentConfig:
    return tiny.config(tmp_path)


@pytest.fixture
def sequences(tmp_path: Path) -> ExperimentConfig:
    return tiny.config_of_sequences(tmp_path)


def kept(sweep: Sweep, chosen: list[int]) -> dict[str, Tensor]:
    """All that a sweep knows of some replicas."""
    names = {f"parameter {n}": p.detach()[chosen] for n, p in sweep.parameters.items()}
    names |= {f"adam {n}": t[chosen] for n, t in sweep.optimiser.state().items()}
    names["curves"] = torch.stack(sweep.curves)[:, chosen]
    names["computed steps"] = sweep.computed_steps[chosen]
    names["window"] = sweep.window[chosen]
    return names


def assert_identical(a: dict[str, Tensor], b: dict[str, Tensor]) -> None:
    """Bit for bit, NaN equal to NaN."""
    assert a.keys() == b.keys()
    for name in a:
        torch.testing.assert_close(
            a[name], b[name], rtol=0, atol=0, equal_nan=True, msg=lambda m, n=name: f"{n}: {m}"
        )


def poison(sweep: Sweep, replica: int) -> None:
    with torch.no_grad():
        for parameter in sweep.parameters.values():
            parameter[replica] = torch.nan


def well_and_sick(
    config: ExperimentConfig, mechanism: str, when: int, path: PathName
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The neighbours of replica 1, which turns NaN in the second run; the share of active rows
    and the window's count of computed ones, both of the whole sweep, left out."""
    found = []
    for poisoned in (False, True):
        sweep = tiny.sweep(config, mechanism)
        sweep.network.path = path
        tiny.train(sweep, when)
        if poisoned:
            poison(sweep, 1)
        found.append(kept(tiny.train(sweep), [0, 2, 3]))
        assert sweep.status()[1] == ("diverged" if poisoned else "finished")
        found[-1]["curves"][..., 5] = 0.0
    return found[0], found[1]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("when", [0, 14])
@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
def test_a_nan_replica_leaves_its_neighbours_bit_identical(
    config: ExperimentConfig, mechanism: str, when: int, path: PathName
) -> None:
    assert_identical(*well_and_sick(config, mechanism, when, path))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_diverged_replica_is_frozen_reported_and_keeps_its_rows(
    config: ExperimentConfig, mechanism: str
) -> None:
    sweep = tiny.train(tiny.sweep(config, mechanism), 7)
    with torch.no_grad():
        sweep.parameters["heads.bias"][2, 0] = torch.inf
    before = {name: p.detach()[2].clone() for name, p in sweep.parameters.items()}
    steps = float(sweep.computed_steps[2])
    tiny.train(sweep)
    for name, parameter in sweep.parameters.items():
        assert torch.equal(parameter[2], before[name]), name
    assert sweep.status() == ["finished", "finished", "diverged", "finished"]
    rows = sweep.rows()
    assert len(rows) == 4 * 10
    mine = [row for k, row in enumerate(rows) if k % 4 == 2]
    assert [row["update"] for row in mine] == list(range(3, 31, 3))
    for row in mine:
        measured = [row[name] for name in COLUMNS[:-1]]
        if row["update"] <= 6:
            assert all(math.isfinite(value) for value in measured)
        else:
            assert all(math.isnan(value) for value in measured)
    # the update that failed was computed, nothing after it
    assert steps < mine[-1]["computed_steps"] == mine[2]["computed_steps"]
    assert all(row["computed_steps"] > 0 for row in mine)
    others = [row for k, row in enumerate(rows) if k % 4 != 2]
    assert all(math.isfinite(row[name]) for row in others for name in COLUMNS)


def test_when_all_have_diverged_the_sweep_ends(config: ExperimentConfig) -> None:
    sweep = tiny.train(tiny.sweep(config), 5)
    for replica in range(4):
        poison(sweep, replica)
    tiny.train(sweep)
    assert sweep.update == 6
    assert sweep.finished
    assert sweep.status() == ["diverged"] * 4
    assert [row["update"] for row in sweep.rows()] == [3] * 4 + [6] * 4
    assert sweep.summary().keys() == {"loss", "error", "ponder"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_stacked_shards_and_solo_runs_agree(config: ExperimentConfig, mechanism: str) -> None:
    """To a tolerance: products over other numbers of rows are summed in another order."""
    whole = tiny.train(tiny.sweep(config, mechanism))
    replicas = list(config.replicas(mechanism))
    for shard in ([0], [1], [2], [3], [0, 1], [3, 2]):
        part = tiny.train(tiny.sweep(config, mechanism, [replicas[k] for k in shard]))
        for name, parameter in part.parameters.items():
            torch.testing.assert_close(
                parameter, whole.parameters[name][shard], rtol=1e-4, atol=1e-5
            )
        torch.testing.assert_close(
            torch.stack(part.curves)[..., 1:4], torch.stack(whole.curves)[:, shard, 1:4],
            rtol=1e-4, atol=1e-6, equal_nan=True,
        )  # fmt: skip


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_one_thread_and_two_agree(config: ExperimentConfig, mechanism: str) -> None:
    """With 128 rows a replica, enough that torch divides its work."""
    wide = config.training.model_copy(update={"batch": 128})
    config = config.model_copy(update={"training": wide})
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(tiny.train(tiny.sweep(config, mechanism)).parameters)
    finally:
        torch.set_num_threads(before)
    for name, parameter in found[0].items():
        torch.testing.assert_close(parameter, found[1][name], rtol=1e-4, atol=1e-5)


def test_shards_agree_on_sequences(sequences: ExperimentConfig) -> None:
    """There the whole is padded to the longest of all its seeds."""
    whole = tiny.train(tiny.sweep(sequences), 12)
    part = tiny.train(tiny.sweep(sequences, replicas=list(sequences.replicas("act"))[1:2]), 12)
    for name, parameter in part.parameters.items():
        torch.testing.assert_close(parameter, whole.parameters[name][1:2], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(part.computed_steps, whole.computed_steps[1:2])


def test_replicas_of_one_seed_start_alike_and_settings_part_them(config: ExperimentConfig) -> None:
    sweep = tiny.sweep(config)
    assert [each.seed for each in sweep.replicas] == [0, 7, 0, 7]
    for parameter in sweep.parameters.values():
        assert torch.equal(parameter[0], parameter[2])
    weights = sweep.parameters["heads.weight"].detach()
    assert not torch.equal(weights[0], weights[1])
    tiny.train(sweep)
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("stops", [(1,), (7, 8), (9, 15), (29,), (30,)])
def test_a_resumed_run_equals_an_uninterrupted_one(
    config: ExperimentConfig, tmp_path: Path, mechanism: str, stops: tuple[int, ...]
) -> None:
    whole = tiny.train(tiny.sweep(config, mechanism))
    sweep = tiny.sweep(config, mechanism)
    path = tmp_path / "checkpoint.safetensors"
    for stop in stops:
        tiny.train(sweep, stop)
        assert sweep.update == stop
        checkpoint.save(sweep, path, "key")
        sweep = tiny.sweep(config, mechanism)
        checkpoint.load(sweep, path, "key")
        assert sweep.update == stop
    tiny.train(sweep)
    assert_identical(kept(whole, [0, 1, 2, 3]), kept(sweep, [0, 1, 2, 3]))
    assert str(sweep.rows()) == str(whole.rows())


@pytest.mark.parametrize("stop", [9, 11, 12, 20])
def test_a_resumed_run_remembers_who_diverged(
    config: ExperimentConfig, tmp_path: Path, stop: int
) -> None:
    def run(until: int | None) -> Sweep:
        sweep = tiny.train(tiny.sweep(config), 10)
        poison(sweep, 3)
        return tiny.train(sweep, until)

    whole = run(None)
    sweep = tiny.train(tiny.sweep(config), stop) if stop < 10 else run(stop)
    checkpoint.save(sweep, tmp_path / "c", "key")
    sweep = tiny.sweep(config)
    checkpoint.load(sweep, tmp_path / "c", "key")
    if stop < 10:
        tiny.train(sweep, 10)
        poison(sweep, 3)
    tiny.train(sweep)
    assert_identical(kept(whole, [0, 1, 2, 3]), kept(sweep, [0, 1, 2, 3]))
    assert sweep.status() == whole.status() == ["finished"] * 3 + ["diverged"]


def test_two_runs_are_bit_identical_and_the_seed_matters(config: ExperimentConfig) -> None:
    first, second = tiny.train(tiny.sweep(config)), tiny.train(tiny.sweep(config))
    assert_identical(kept(first, [0, 1, 2, 3]), kept(second, [0, 1, 2, 3]))
    losses = torch.stack(first.curves)[:, :, 1]
    assert not torch.equal(losses[:, 0], losses[:, 1])


@pytest.mark.parametrize("updates", [1, 9, 100, 199, 200, 1234])
def test_curves_have_a_bounded_number_of_points_and_the_last_update(updates: int) -> None:
    schedule = Schedule(updates, 8, 0.1, None, 100)
    points = {u for u in range(1, updates + 1) if u % schedule.log_every == 0} | {updates}
    assert min(updates, 100) <= len(points) <= 200


def test_the_last_update_is_logged_where_the_window_is_short(tmp_path: Path) -> None:
    config = tiny.config(tmp_path, training={"updates": 8, "log_points": 3})
    sweep = tiny.train(tiny.sweep(config))
    assert [int(point[0, 0]) for point in sweep.curves] == [2, 4, 6, 8]
    config = tiny.config(tmp_path, training={"updates": 11, "log_points": 3})
    points: list[int] = []
    sweep = tiny.sweep(config)
    sweep.run(lambda s: points.append(s.update), lambda: False)
    assert points == [3, 6, 9, 11]


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_it_learns_parity_in_seconds(tmp_path: Path, mechanism: str) -> None:
    """From chance to no mistakes, for every replica."""
    config = tiny.config(
        tmp_path, training={"updates": 400, "batch": 32, "log_points": 10}, network={"hidden": 24}
    )
    sweep = tiny.train(tiny.sweep(config, mechanism))
    curves = torch.stack(sweep.curves)
    assert (curves[0, :, 2] > 0.15).all()
    assert (curves[-1, :, 2] < 0.02).all()
    assert (curves[-1, :, 1] < 0.3).all()


def test_a_higher_time_penalty_ponders_less(tmp_path: Path) -> None:
    config = tiny.config(tmp_path, act={"tau": [0.0, 1.0]}, training={"updates": 150}, seeds=[1])
    curves = torch.stack(tiny.train(tiny.sweep(config)).curves)
    assert curves[-1, 1, 3] + 0.5 < curves[-1, 0, 3]


def test_clipping_bounds_each_replicas_own_gradient(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: Any = tiny.config(tmp_path, training={"clip": 0.001})
    sweep = tiny.sweep(values)
    seen: list[Tensor] = []
    step = sweep.optimiser.step

    def spy(alive: Tensor | None = None) -> None:
        squares = [p.grad.flatten(1).square().sum(1) for p in sweep.optimiser.parameters]
        seen.append(torch.stack(squares).sum(0).sqrt())
        step(alive)

    monkeypatch.setattr(sweep.optimiser, "step", spy)
    tiny.train(sweep, 4)
    torch.testing.assert_close(torch.stack(seen), torch.full((4, 4), 0.001), rtol=1e-4, atol=0)


def test_the_task_of_the_tiny_experiment_has_both_answers(config: ExperimentConfig) -> None:
    batch = make_task(config.task, "tiny").training_block(0, 0, 8)
    assert 0.3 < float(batch.targets.mean()) < 0.7
