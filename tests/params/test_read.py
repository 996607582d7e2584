"""params.yaml: what is accepted, and the one line for everything else."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from support import tiny

from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import deep_merge, load_params
from pondering.project.errors import UserError
from pondering.tasks import make_task


def refusal(folder: Path, values: dict[str, Any], profile: str | None = None) -> str:
    """The line without the file's name, which it must begin with."""
    path = tiny.write(folder, values)
    with pytest.raises(UserError) as caught:
        load_params(path, profile)
    return one_line(str(caught.value), path)


def one_line(message: str, path: Path) -> str:
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    assert len(message) < 600
    return message.removeprefix(f"{path}: ")


def changed(key: str, value: Any, home: str = "quick") -> dict[str, Any]:
    """The tiny document with `a.b.c` of a profile set to a value."""
    values = tiny.document()
    *path, last = key.split(".")
    block = values["tiny"][home]
    for part in path:
        block = block[part]
    block[last] = value
    return values


def test_a_profile_overrides_the_common_values_key_by_key() -> None:
    merged = deep_merge({"a": {"b": 1, "c": [1, 2]}, "d": 1}, {"a": {"c": [3]}, "d": {"e": 2}})
    assert merged == {"a": {"b": 1, "c": [3]}, "d": {"e": 2}}


def test_what_a_run_depends_on_leaves_the_other_mechanisms_out(tmp_path: Path) -> None:
    config = tiny.config(tmp_path)
    values = config.of_mechanism("act")
    assert "pondernet" not in values
    assert "repeat" not in values
    assert "evaluation" not in values
    assert {"task", "network", "halting", "act", "training", "seeds"} <= set(values)


def test_a_mechanisms_own_updates_and_learning_rate_win(tmp_path: Path) -> None:
    config = tiny.config(tmp_path, act={"updates": 7, "learning_rate": 0.5})
    assert (config.updates("act"), config.updates("repeat")) == (7, 30)
    assert (config.learning_rate("act"), config.learning_rate("pondernet")) == (0.5, 0.01)


NAN = float("nan")
# key below tiny.quick, bad value, what the line must say
WRONG = [
    ("act.tau", [], "[]", "at least 1 item"),
    ("act.tau", ["0.1"], "'0.1'", "valid number"),
    ("act.tau", [True], "True", "valid number"),
    ("act.tau", [NAN], "nan", "should be less than or equal to"),
    ("act.tau", 0.1, "0.1", "valid tuple"),
    ("act.tau", "grave", "'grave'", "valid tuple"),
    ("act.tau_warmup", -1, "-1", "greater than or equal to 0"),
    ("act.tau_warmup", 2.5, "2.5", "valid integer"),
    ("act.updates", 0, "0", "greater than or equal to 1"),
    ("act", 5, "5", "dictionary"),
    ("pondernet.kl", "p", "'p'", "'p_prior' or 'prior_p'"),
    ("halting.reads", "c", "'c'", "'h' or 'state'"),
    ("halting.carry", "first", "'first'", "'mean_field' or 'last'"),
    ("repeat", {"rho": [0]}, "0", "greater than or equal to 1"),
    ("halting.halt_bias", NAN, "nan", "should be less than or equal to"),
    ("halting.first_step_flag", 1, "1", "valid boolean"),
    ("halting.max_steps", 0, "0", "greater than or equal to 1"),
    ("halting.max_steps", 2.5, "2.5", "valid integer"),
    ("halting.max_steps", True, "True", "valid integer"),
    ("seeds", [1, 1], "[1, 1]", "must not name a value twice"),
    ("seeds", 0, "0", "at least 1 item"),
    ("seeds", -1, "-1", "valid tuple"),
    ("seeds", True, "True", "valid tuple"),
    ("seeds", {"from": 3}, "{'from': 3}", "valid tuple"),
    ("seeds", [2**80], str(2**80), "less than"),
    ("training.batch", 10**30, str(10**30), "less than or equal to"),
    ("training.learning_rate", 0.0, "0.0", "greater than 0"),
    ("training.learning_rate", None, "None", "valid number"),
    ("training.clip", False, "False", "valid number"),
    ("training.decay", "step", "'step'", "'none', 'linear' or 'cosine'"),
    ("training.decay", None, "None", "'none', 'linear' or 'cosine'"),
    ("training.halting_rate", 0.0, "0.0", "greater than 0"),
    ("training.halting_rate", -0.1, "-0.1", "greater than 0"),
    ("training.halting_rate", "slow", "'slow'", "valid number"),
    ("training.updates", "many", "'many'", "valid integer"),
    ("network.init", "xavier", "'xavier'", "'torch' or 'glorot'"),
    ("network.forget_bias", "1", "'1'", "valid number"),
    ("network.forget_bias", True, "True", "valid number"),
    ("network.forget_bias", NAN, "nan", "should be less than or equal to"),
    ("network.cell", 5, "5", "valid string"),
    ("network", 5, "5", "dictionary"),
]


@pytest.mark.parametrize(("key", "value", "shown", "allowed"), WRONG)
def test_a_bad_value_is_named_with_its_key_and_what_is_allowed(
    tmp_path: Path, key: str, value: Any, shown: str, allowed: str
) -> None:
    line = refusal(tmp_path, changed(key, value))
    assert line.startswith(f"tiny.quick.{'task' if key.startswith('task') else key}")
    assert shown in line
    assert allowed in line.split(" is not allowed: ")[1]


VALIDATION = {"per_epoch": 1, "factor": 0.5, "patience": 2, "stop_patience": 6}


def test_two_schedules_of_the_learning_rate_are_refused(tmp_path: Path) -> None:
    values = changed("training.validation", VALIDATION)
    values["tiny"]["quick"]["training"]["decay"] = "linear"
    assert refusal(tmp_path, values) == (
        "tiny.quick.training.decay: 'linear' is not allowed: "
        "validation lowers the rate too; choose none, or validation: null"
    )
    values["tiny"]["quick"]["training"]["decay"] = "none"
    assert load_params(tiny.write(tmp_path, values)).experiment("tiny").training.decay == "none"


def test_what_a_recipe_does_not_say_is_as_before_there_were_knobs(tmp_path: Path) -> None:
    config = tiny.config(tmp_path)
    network, training = config.network, config.training
    assert (network.init, network.forget_bias) == ("torch", None)
    assert (training.decay, training.halting_rate) == ("none", None)
    assert config.mechanism("act").own == {"tau_warmup": 0}


def test_the_key_is_named_where_it_stands(tmp_path: Path) -> None:
    assert refusal(tmp_path, changed("halting.halt_bias", "x", "common")).startswith(
        "tiny.common.halting.halt_bias: 'x' is not allowed"
    )
    assert refusal(tmp_path, changed("repeat.rho", [0], "common")).startswith(
        "tiny.common.repeat.rho.0: 0 is not allowed"
    )


# where, the misspelt key, what may stand there
MISSPELT = [
    ((), "devise", "profile, device, compute, download, defaults, experiments, about, tiny"),
    (("compute",), "thread", "threads, checkpoint_seconds, insist, "),
    (("tiny",), "qick", "common, quick, reduced, paper"),
    (("tiny", "quick"), "trainin", "task, network, halting, training, seeds, evaluation, repeat"),
    (("tiny", "common"), "trainin", "task, network, halting, training, seeds, evaluation, repeat"),
    (("download", "files", "words", "all"), "sha257", "unpacked, bytes, sha256, urls, mirror, cut"),
    (("tiny", "quick", "act"), "taus", "learning_rate, updates, seeds, tau, tau_warmup"),
    (("tiny", "quick", "training"), "clipp", "updates, batch, learning_rate, clip, "),
]


@pytest.mark.parametrize(("where", "key", "allowed"), MISSPELT)
def test_a_misspelt_key_is_met_with_those_allowed(
    tmp_path: Path, where: tuple[str, ...], key: str, allowed: str
) -> None:
    values = tiny.document()
    block = values
    for each in where:
        block = block[each]
    block[key] = {}
    said = f"{'.'.join((*where, key))}: unknown key; allowed: {allowed}"
    assert refusal(tmp_path, values).startswith(said)


def test_missing_blocks_and_keys(tmp_path: Path) -> None:
    for key in tiny.DOCUMENT:
        values = tiny.document()
        del values[key]
        line = refusal(tmp_path, values)
        missing = f"{key}: missing" if key != "tiny" else "experiments: 'tiny' has no block"
        assert line.startswith(missing)
    values = tiny.document()
    del values["tiny"]["quick"]
    assert refusal(tmp_path, values) == "tiny.quick: None; must be a mapping"
    values = tiny.document()
    del values["tiny"]["quick"]["training"]["batch"]
    line = refusal(tmp_path, values)
    assert line == "tiny.quick.training.batch: missing"
    values = tiny.document()
    del values["tiny"]["quick"]["seeds"]
    assert refusal(tmp_path, values) == "tiny.quick.seeds: missing"


def test_profiles_devices_experiments_and_mechanisms(tmp_path: Path) -> None:
    values = tiny.document()
    line = refusal(tmp_path, values | {"profile": "quik"})
    assert line == "profile: 'quik' is unknown; allowed: quick, reduced, paper"
    line = refusal(tmp_path, values, "full")
    assert line == "profile: 'full' is unknown; allowed: quick, reduced, paper"
    assert refusal(tmp_path, values, "").startswith("profile: '' is unknown; allowed:")
    line = refusal(tmp_path, values | {"device": "gpu"})
    assert line == "device: 'gpu' is not allowed: Input should be 'auto', 'cpu' or 'cuda'"
    for names in (5, [], ["tiny", "tiny"], None):
        assert refusal(tmp_path, values | {"experiments": names}).startswith("experiments: ")
    for name in ("other", 1, [1], {"a": 1}, None):
        line = refusal(tmp_path, values | {"experiments": ["tiny", name]})
        assert line.endswith("has no block of its own")
    line = refusal(tmp_path, values | {"../x": values["tiny"], "experiments": ["../x"]})
    assert "letters, digits and _ alone" in line
    line = refusal(tmp_path, values, "reduced")
    assert line == "tiny.reduced: None; must be a mapping"


def test_an_experiment_trains_with_the_mechanisms_that_it_has_blocks_of(tmp_path: Path) -> None:
    values = tiny.document()
    for home in ("common", "quick"):
        values["tiny"][home].pop("pondernet")
    params = load_params(tiny.write(tmp_path, values))
    assert list(params.experiment("tiny").mechanisms) == ["repeat", "act"]
    assert params.training("tiny") == "train@quick-tiny"
    with pytest.raises(UserError, match="'pondernet', only with repeat, act; give it a block"):
        params.experiment("tiny").replicas("pondernet")
    for name in ("common", "quick"):
        for mechanism in ("repeat", "act"):
            values["tiny"][name].pop(mechanism, None)
    said = "tiny: trains with no mechanism; a block of "
    said += f"{', '.join(MECHANISMS)} is due"
    assert refusal(tmp_path, values) == said
    for key in ("mechanisms", "further"):
        line = refusal(tmp_path, tiny.document() | {key: ["act"]})
        assert line.startswith(f"{key}: unknown key")


def test_an_experiments_block_may_stand_unused(tmp_path: Path) -> None:
    values = tiny.document()
    values["another"] = copy.deepcopy(values["tiny"])
    assert list(load_params(tiny.write(tmp_path, values)).experiments) == ["tiny"]


def test_an_unknown_experiment_names_those_there_are(tmp_path: Path) -> None:
    params = load_params(tiny.write(tmp_path, tiny.document()))
    with pytest.raises(UserError, match="experiments: 'tinny' is unknown; allowed: tiny"):
        params.experiment("tinny")


@pytest.mark.parametrize(
    ("seeds", "found"),
    [(3, (0, 1, 2)), ({"from": 100, "count": 2}, (100, 101)), ([7, 0], (7, 0))],
)
def test_seeds_are_a_count_a_range_or_a_list(
    tmp_path: Path, seeds: Any, found: tuple[int, ...]
) -> None:
    values = changed("seeds", seeds)
    values["tiny"]["quick"]["act"]["seeds"] = seeds
    values["tiny"]["quick"]["repeat"] = {"seeds": []}
    config = load_params(tiny.write(tmp_path, values)).experiment("tiny")
    assert config.seeds == config.seeds_of("act") == found
    assert config.seeds_of("repeat") == ()


def test_defaults_stand_in_every_experiment_that_says_nothing_else(tmp_path: Path) -> None:
    values = tiny.document()
    values["defaults"] = {"halting": {"halt_bias": 5.0, "reads": "state"}, "dact": {"tau": [1.0]}}
    config = load_params(tiny.write(tmp_path, values)).experiment("tiny")
    assert (config.halting.halt_bias, config.halting.reads) == (0.0, "state")
    assert "dact" not in config.mechanisms
    values["defaults"] = {"haltin": {}}
    assert refusal(tmp_path, values).startswith("defaults: must be a mapping; allowed: task, ")


BROKEN = ["a: [1", "a: 1\na: 2", "- 1\n- 2", "", "a: !!python/object:os.system x", "a: &x [*x]"]
BROKEN += ["a: " + "[" * 1000, "\x00", "? {1: 2}\n: 3", "\t- a"]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_gives_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load_params(path)
    one_line(str(caught.value), path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    with pytest.raises(UserError, match=r"no such file; run from the project's root"):
        load_params(path)
    path.write_bytes(b"profile: \xff\xfe")
    with pytest.raises(UserError, match="cannot be read"):
        load_params(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "parti"}, "task.name: 'parti'; allowed: parity, "),
        ({"bitz": 3}, "task.bitz: unknown key; allowed: bits, layout, "),
        ({"bits": "8"}, "task.bits: '8' is not allowed"),
        ({"bits": NAN}, "task.bits: nan is not allowed"),
        ({"layout": "left"}, "task.layout: 'left' is not allowed; leading or scattered is"),
        ({"train_nonzero": [1, 9]}, "task.train_nonzero: (1, 9) is not allowed"),
    ],
)
def test_task_fields(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    values = tiny.config(tmp_path, task=change).task
    with pytest.raises(UserError) as caught:
        make_task(values, "tiny")
    message = str(caught.value)
    assert message.startswith("params.yaml: tiny.") and said in message
    assert len(message.splitlines()) == 1
