"""What a training executes is in its key, and what its key holds is executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fnmatch import fnmatch

import pytest
from support import executed

from pondering.params.read import load_params
from pondering.train import keys

CODE = keys.program()
CONFIGS = load_params(executed.ROOT / "params.yaml", "quick").experiments
Calls = dict[str, list[list[str]]]

# Executed, and not in the key: why a change there reaches no number.
OUTSIDE = {
    "pondering.params.* *": "what comes of it is in the key, as values",
    "pondering.model.paths sequence": "not PonderNet's way: `supports`, in the key, says no",
    "pondering.model.paths every_step": "not the way of ACT and repeat: so does `supports` there",
    "pondering.model.paths without_gradient": "not PonderNet's way: it scores every step",
    "pondering.train.plan Plan._plateau": "returns at once where nothing validates",
}

# In the key, and executed by none of these: why it stays there.
IDLE = {
    "pondering.model.halting.contract Halting.*": "the contract: mechanisms have their own",
    "pondering.model.halting.dact DACT._settled": "for evaluation, where rows stop early",
    "pondering.model.network Network._nothing": "for a batch without any input",
    "pondering.model.network batch_first": "for the library's users: here time is first",
    "pondering.model.paths.fast.every_step _last": "for PonderNet with `carry: last`",
    "pondering.model.paths.compiled.loops.forward keep": "for ACT with `carry: last`",
    "pondering.model.paths.compiled.operations _in_python": "for networks of many hidden units",
    "pondering.model.paths.compiled.operations _product": "for networks of many hidden units",
    "pondering.model.paths.compiled.operations _pool": "for more threads than one",
    "pondering.model.paths.skipping _chosen": "for validations in which rows halt apart",
    "pondering.tasks.base SyntheticTask.correct": "each task has its own",
    "pondering.tasks.base SyntheticTask.draw": "each task has its own",
    "pondering.tasks.digits.files _read_pair": "real data, not those of `quick`",
    "pondering.tasks.digits.files read_idx": "real data, not those of `quick`",
    "pondering.tasks.logic Logic._read": "of `parse` alone; uses of a member are not followed",
    "pondering.tasks.wikipedia.made_text text_kinds": "real data, not those of `quick`",
    "pondering.tasks.wikipedia.task Wikipedia.correct": "every task has it; text counts bits",
}


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """By training: what two updates call, longer runs, and whatever is before and after."""
    folder = tmp_path_factory.mktemp("executed")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(executed.ROOT / "src")}
    command = [sys.executable, executed.__file__, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: Calls = json.loads(done.stdout)
    return found


def held(training: str) -> set[str]:
    """The functions in a training's key."""
    experiment, mechanism = training.split("-")
    found = keys.functions_of(CONFIGS[experiment], mechanism, CODE)
    return {f"{module} {name}" for module, name in found}


def is_function(name: str) -> bool:
    """Whether it is one that a key could hold, and not the body of a class or of a module."""
    module, _, function = name.partition(" ")
    home = CODE.module(module)
    assert home is not None
    top, _, member = function.partition(".")
    is_class = type(home.definitions.get(top, [None])[0]).__name__ == "ClassDef"
    return top in home.definitions and bool(member or not is_class)


def test_what_two_updates_and_more_execute_is_in_the_key(called: Calls) -> None:
    missing, used = {}, set()
    for training, (two, more, _) in called.items():
        calls = {name for name in (*two, *more) if is_function(name)}
        assert len(calls) > 60, "the profiler has seen little"
        for name in calls - held(training):
            reasons = [each for each in OUTSIDE if fnmatch(name, each)]
            used |= set(reasons)
            if not reasons:
                missing.setdefault(name, []).append(training)
    assert missing == {}
    assert used == set(OUTSIDE), "an exception that is none"


def test_what_is_in_a_key_is_executed_or_has_a_reason(called: Calls) -> None:
    seen = {name for calls in called.values() for part in calls for name in part}
    idle = {name for training in called for name in held(training) - seen}
    assert {name for name in idle if not any(fnmatch(name, each) for each in IDLE)} == set()
    assert [each for each in IDLE if not any(fnmatch(name, each) for name in idle)] == []


def test_every_program_of_quick_is_tried(called: Calls) -> None:
    """The other experiments have the programs of these, with other values."""
    tried = {keys.program_of(CONFIGS[each], m, CODE) for each, m in (n.split("-") for n in called)}
    for name, config in CONFIGS.items():
        for mechanism in config.mechanisms:
            assert keys.program_of(config, mechanism, CODE) in tried, name
