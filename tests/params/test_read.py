"""params.yaml: accepted values, and one error line for any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import tiny

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.tasks import make_task


def refusal(folder: Path, values: dict[str, Any], profile: str | None = None) -> str:
    """The error line without the file's name."""
    path = tiny.write(folder, values)
    with pytest.raises(UserError) as caught:
        load_params(path, profile)
    return one_line(str(caught.value), path)


def one_line(message: str, path: Path) -> str:
    assert message.startswith(f"{path}: ")
    assert message.isprintable() and len(message) < 600
    return message.removeprefix(f"{path}: ")


def with_value(key: str, value: Any, home: str = "quick") -> dict[str, Any]:
    """The tiny document with `a.b.c` of a profile set to a value."""
    values = tiny.document()
    *path, last = key.split(".")
    block = values["tiny"][home]
    for part in path:
        block = block[part]
    block[last] = value
    return values


def test_a_run_does_not_depend_on_the_other_mechanisms() -> None:
    values = tiny.config().of_mechanism("act")
    assert values.keys() == {"task", "network", "halting", "act", "training", "seeds"}


def test_a_mechanisms_updates_and_learning_rate_replace_the_shared_ones() -> None:
    config = tiny.config(act={"updates": 7, "learning_rate": 0.5})
    assert (config.updates("act"), config.updates("repeat")) == (7, 30)
    assert (config.learning_rate("act"), config.learning_rate("pondernet")) == (0.5, 0.01)


# key, bad value, words of the error line
WRONG = [
    ("act.tau", [], "[]", "at least 1 item"),
    ("act.tau.0", "0.1", "'0.1'", "valid number"),
    ("act.tau.0", float("nan"), "nan", "should be less than or equal to"),
    ("act.updates", 0, "0", "greater than or equal to 1"),
    ("pondernet.kl", "p", "'p'", "'p_prior' or 'prior_p'"),
    ("halting.max_steps", 0, "0", "greater than or equal to 1"),
    ("halting.max_steps", True, "True", "valid integer"),
    ("seeds", 0, "0", "at least 1 item"),
    ("seeds", {"from": 3}, "{'from': 3}", "valid tuple"),
    ("training.batch", 10**30, str(10**30), "less than or equal to"),
    ("training.clip", False, "False", "valid number"),
    ("task", 5, "5", "dictionary"),
]


@pytest.mark.parametrize(("key", "value", "text", "allowed"), WRONG)
def test_a_bad_value_is_refused_with_its_key_and_the_allowed_values(
    tmp_path: Path, key: str, value: Any, text: str, allowed: str
) -> None:
    one = key.removesuffix(".0")
    line = refusal(tmp_path, with_value(one, value if one == key else [value]))
    assert line.startswith(f"tiny.{key}")
    assert text in line and allowed in line.split(" is not allowed: ")[1]


def test_two_schedules_of_the_learning_rate_are_refused(tmp_path: Path) -> None:
    plateau = {"per_epoch": 1, "factor": 0.5, "patience": 2, "stop_patience": 6}
    values = with_value("training.validation", plateau)
    values["tiny"]["quick"]["training"]["decay"] = "linear"
    assert refusal(tmp_path, values).startswith("tiny.training.decay: 'linear' is not allowed: ")


PARTS = "title, question, task, network, halting, training, seeds, evaluation, repeat, "
# path, misspelt key, allowed keys
MISSPELT = [
    ((), "devise", "profile, device, compute, download, defaults, tasks, and experiments"),
    (("compute",), "thread", "threads, checkpoint_seconds, insist, "),
    (("tiny",), "qick", "common, quick, reduced, paper"),
    (("tiny", "quick"), "trainin", PARTS),
    (("download", "sets", "words"), "url", "urls, mirror, cut, files"),
    (("tiny", "quick", "act"), "taus", "learning_rate, updates, seeds, tau, tau_warmup"),
    (("tiny", "quick", "training"), "clipp", "updates, batch, learning_rate, clip, "),
]


@pytest.mark.parametrize(("where", "key", "allowed"), MISSPELT)
def test_a_misspelt_key_is_refused_with_the_allowed_keys(
    tmp_path: Path, where: tuple[str, ...], key: str, allowed: str
) -> None:
    values = tiny.document()
    block = values
    for each in where:
        block = block[each]
    block[key] = {}
    name = ".".join(each for each in (*where, key) if each != "quick")
    assert refusal(tmp_path, values).startswith(f"{name}: unknown key; allowed: {allowed}")


def test_missing_blocks_and_keys_are_refused(tmp_path: Path) -> None:
    def without(*keys: str) -> str:
        values = tiny.document()
        block = values
        for key in keys[:-1]:
            block = block[key]
        del block[keys[-1]]
        return refusal(tmp_path, values)

    for key in ("device", "compute", "download"):
        assert without(key) == f"{key}: missing"
    for where in (("tiny", "quick"), ("defaults",), ("tasks",)):
        assert without(*where) == f"{'.'.join(where)}: None; must be a mapping"
    empty = tiny.document() | {"tasks": {"parity": None}}
    assert refusal(tmp_path, empty) == "tasks.parity: None; must be a mapping"
    for keys in (("training", "batch"), ("seeds",), ("evaluation", "trace")):
        assert without("tiny", "quick", *keys) == f"tiny.{'.'.join(keys)}: missing"
    nameless = without("tiny", "common", "task", "name")
    assert nameless.startswith("tiny.task: {") and "its `name` must name a task" in nameless
    listed = refusal(tmp_path, with_value("task.name", ["parity"]))
    assert listed.startswith("tiny.task: {") and "its `name` must name a task" in listed


def test_an_unknown_data_set_or_one_without_a_place_is_refused(tmp_path: Path) -> None:
    values = tiny.document()
    values["download"]["needs"]["paper"] = ["wrods"]
    assert "needs.paper: wrods is no set" in refusal(tmp_path, values)
    values["download"]["sets"]["words"]["mirror"] = []
    assert refusal(tmp_path, values).startswith("download.sets.words.mirror: [] is not allowed")


def test_unknown_profiles_devices_and_experiments_are_refused(tmp_path: Path) -> None:
    values = tiny.document()
    unknown = "is unknown; allowed: quick, reduced, paper"
    assert refusal(tmp_path, values | {"profile": "quik"}) == f"profile: 'quik' {unknown}"
    assert refusal(tmp_path, values, "full") == f"profile: 'full' {unknown}"
    line = refusal(tmp_path, values | {"device": "gpu"})
    assert line == "device: 'gpu' is not allowed: Input should be 'auto', 'cpu' or 'cuda'"
    assert refusal(tmp_path, values, "reduced") == "tiny.reduced: None; must be a mapping"
    with pytest.raises(UserError, match="'tinny' is no experiment; allowed: tiny"):
        load_params(tiny.write(tmp_path, values)).experiment("tinny")


def test_an_experiment_has_the_mechanisms_of_its_blocks(tmp_path: Path) -> None:
    values = tiny.document()
    for home in ("common", "quick"):
        values["tiny"][home].pop("pondernet")
    params = load_params(tiny.write(tmp_path, values))
    assert list(params.experiment("tiny").mechanisms) == ["repeat", "act"]
    assert params.training("tiny") == "dvc repro train@quick-tiny"
    with pytest.raises(UserError, match="'pondernet', only with repeat, act; give it a block"):
        params.experiment("tiny").replicas("pondernet")
    for name in ("common", "quick"):
        for mechanism in ("repeat", "act"):
            values["tiny"][name].pop(mechanism, None)
    assert "mechanisms: {} is not allowed" in refusal(tmp_path, values)


@pytest.mark.parametrize(
    ("seeds", "found"),
    [(3, (0, 1, 2)), ({"from": 100, "count": 2}, (100, 101)), ([7, 0], (7, 0))],
)
def test_seeds_are_a_count_a_range_or_a_list(
    tmp_path: Path, seeds: Any, found: tuple[int, ...]
) -> None:
    values = with_value("seeds", seeds)
    values["tiny"]["quick"]["act"]["seeds"] = seeds
    config = load_params(tiny.write(tmp_path, values)).experiment("tiny")
    assert config.seeds == config.seeds_of("act") == found


def test_missing_values_come_from_the_task_and_then_from_the_defaults(
    tmp_path: Path,
) -> None:
    values = tiny.document()
    values["defaults"] = {"halting": {"carry": "last", "reads": "state"}, "dact": {"tau": [1.0]}}
    values["tasks"] = {
        "parity": {"halting": {"reads": "h", "halt_bias": 5.0}, "network": {"init": "glorot"}},
        "sort": {"halting": {"carry": "mean_field"}},
    }
    config = load_params(tiny.write(tmp_path, values)).experiment("tiny")
    halting = config.halting
    assert (halting.halt_bias, halting.carry, halting.reads) == (0.0, "last", "h")
    assert config.network.init == "glorot" and "dact" not in config.mechanisms
    values["defaults"] = {"haltin": {}}
    assert refusal(tmp_path, values).startswith("tiny.haltin: unknown key; allowed: title, ")


BROKEN = [
    "a: [1", "a: 1\n<<<<<<< HEAD\nb: 2", "a: 1\na: 2", "- 1", "",
    "a: !!python/object:os.system x", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_is_one_error_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load_params(path)
    one_line(str(caught.value), path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": "parti"}, "task.name: 'parti'; allowed: parity, "),
        ({"bitz": 3}, "task.bitz: unknown key; allowed: bits, layout, "),
        ({"bits": "8"}, "task.bits: '8' is not allowed"),
        ({"layout": "left"}, "task.layout: 'left' is not allowed; leading or scattered is"),
    ],
)
def test_wrong_values_of_a_task_are_refused(change: dict[str, Any], expected: str) -> None:
    values = tiny.config(task=change).task
    with pytest.raises(UserError) as caught:
        make_task(values, "tiny")
    message = str(caught.value)
    assert message.startswith("params.yaml: tiny.") and expected in message
