"""How sweeps are cut into shards of replicas."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import stages, tiny

from pondering.params.read import load_params
from pondering.project import machine
from pondering.project.errors import Interrupted
from pondering.train import cut, shard
from pondering.train.path import LANES
from pondering.train.shard import Shard
from pondering.train.trainer import Trainer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The tiny project with its data."""
    return stages.fresh(tmp_path / "project", tiny.document())


def act_sweep(folder: Path) -> Shard:
    """The whole sweep of ACT in a project."""
    return tiny.shard(load_params(folder / "params.yaml"))


def cuts(folder: Path, missing: list[str] | None = None) -> list[list[int]]:
    """The places of the replicas in each shard."""
    sweep = act_sweep(folder)
    order = list(sweep.replicas)
    found = cut.cut([sweep], order if missing is None else missing)
    assert len({each.checkpoint for each in found}) == len(found)
    return [[order.index(sha256) for sha256 in each.replicas] for each in found]


@pytest.mark.parametrize(
    ("count", "size", "bounds"),
    [(4, 4, [4]), (4, 9, [4]), (4, 2, [2, 2]), (5, 2, [2, 2, 1]), (3, 1, [1, 1, 1])],
)
def test_cuts_are_few_and_equal(tmp_path: Path, count: int, size: int, bounds: list[int]) -> None:
    seeds = {"seeds": [*range(count)], "act": {"tau": [0.1]}}
    values = tiny.document(**seeds)  # type: ignore[arg-type]
    values["compute"]["replicas_at_once"] = size
    tiny.write(tmp_path, values)
    found = cuts(tmp_path)
    assert [len(each) for each in found] == bounds and [*itertools.chain(*found)] == [*range(count)]


def shares(folder: Path, **quick: Any) -> list[tuple[str, int]]:
    """Mechanism and size of each shard of an experiment; the shard with most work is first."""
    params = load_params(tiny.write(folder, tiny.document(**quick)))
    sweeps = [tiny.shard(params, each) for each in params.experiment("tiny").mechanisms]
    found = cut.cut(sweeps, {sha256 for each in sweeps for sha256 in each.replicas})
    return [(each.mechanism, len(each.replicas)) for each in found]


def test_a_sweep_is_cut_if_it_has_more_work_than_a_core(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cut must change no digit. Of these three sweeps none has half of the work."""
    whole = [("act", 4), ("pondernet", 4), ("repeat", 4)]
    monkeypatch.setattr(machine, "processes", lambda threads: 2)
    assert shares(project, **tiny.EXACT) == whole
    much = {"act": {"tau": [0.1, 0.2, 0.3, 0.4]}}
    assert shares(project, **tiny.EXACT, **much) == [("act", 4)] * 2 + whole[1:]
    for block, key in (("network", "hidden"), ("training", "batch")):
        odd = tiny.EXACT | {block: tiny.EXACT[block] | {key: LANES["fast"] + 1}}
        assert shares(project, **odd, **much) == [("act", 8), *whole[1:]]
    monkeypatch.setattr(machine, "processes", lambda threads: 8)
    fine = [*[("act", 1)] * 4, *[("pondernet", 1)] * 4, *[("repeat", 2)] * 2]
    assert sorted(shares(project, **tiny.EXACT)) == fine
    monkeypatch.setattr(machine, "processes", lambda threads: 1)
    monkeypatch.setattr(cut, "EVERY_STEP", 3)
    assert sorted(shares(project, **tiny.EXACT)) == [whole[0], *[("pondernet", 2)] * 2, whole[2]]


def interrupt(started: Shard) -> None:
    """Train a shard, and stop at once."""
    with pytest.raises(Interrupted, match="stopped at update 0 of 30"):
        shard.train(started, lambda *news: signal.raise_signal(signal.SIGINT))


def test_a_started_shard_continues_with_its_replicas(project: Path) -> None:
    """If the plan drops a replica of a checkpoint, the others start again."""
    order = list(act_sweep(project).replicas)
    started = act_sweep(project).part(order[1:3])
    interrupt(started)
    assert started.checkpoint.is_file()
    assert cuts(project) == [[1, 2], [0, 3]]
    assert cuts(project, order[:2]) == [[1, 2], [0]], "replica 2 was trained elsewhere"
    assert cuts(project, order[3:]) == [[3]]
    tiny.write(project, tiny.document(seeds=[0, 7, 9]))
    assert cuts(project) == [[0, 2, 4, 5], [1, 3]], "the shard with most work comes first"
    tiny.write(project, tiny.document(seeds=[0]))
    assert cuts(project) == [[0, 1]]
    started.checkpoint.write_bytes(b"damaged")
    tiny.write(project, tiny.document())
    assert cuts(project) == [[0, 1, 2, 3]]


def test_of_two_started_shards_with_a_common_replica_one_continues(project: Path) -> None:
    order = list(act_sweep(project).replicas)
    for places in (0, 1), (1, 2):
        interrupt(act_sweep(project).part(order[k] for k in places))
    assert sorted(cuts(project)) in ([[0, 1], [2, 3]], [[0, 3], [1, 2]])


def test_the_free_memory_limits_a_shard(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = act_sweep(project)
    one = sweep.part([next(iter(sweep.replicas))]).trainer()
    plenty = cut.fitting(sweep)
    monkeypatch.setattr(machine, "processes", lambda threads: 1)
    assert plenty > 1000 and len(cuts(project)) == 1
    numbers = sum(parameter.numel() for parameter in one.parameters.values())
    need = 4 * (6 * numbers + 14 * 16 * 8 * 4)  # floats: parameters, and steps of 8 rows, 16 units
    memory = SimpleNamespace(available=2 * 2 * need)
    monkeypatch.setattr(cut.psutil, "virtual_memory", lambda: memory)
    assert cut.fitting(sweep) == 2 and len(cuts(project)) == 2
    memory.available = 1
    assert cut.fitting(sweep) == 1, "one replica is always tried"


def test_the_estimate_counts_updates_replicas_and_processes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two shards of two replicas, 30 updates each; an update of one replica takes 2 seconds."""
    sweep, timed = act_sweep(project), list[int]()

    def of_update(trainer: Trainer, updates: int) -> float:
        timed.append(len(trainer.replicas))
        return 2.0

    monkeypatch.setattr(cut, "_of_update", of_update)
    order = list(sweep.replicas)
    shards = [sweep.part(order[:2]), sweep.part(order[2:])]
    for cores, seconds in ((1, 2 * 30 * 4), (2, 2 * 30 * 2), (9, 2 * 30 * 2)):
        monkeypatch.setattr(machine, "processes", lambda threads, cores=cores: cores)
        assert cut.seconds(shards) == seconds
    assert timed == [1, 1, 1]


def test_a_shard_for_another_machine_has_a_bounded_size(tmp_path: Path) -> None:
    values = tiny.document(seeds=[*range(20)], act={"tau": [0.1]})
    values["compute"]["executor"] = "ray"
    tiny.write(tmp_path, values)
    tiny.freeze_all(tmp_path)
    assert [len(each) for each in cuts(tmp_path)] == [10, 10]
