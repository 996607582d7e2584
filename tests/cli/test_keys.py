"""A stage goes out of date where its numbers could change, and only there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from pondering.cli import keys
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.schema import ExperimentConfig
from pondering.project.code import Program
from pondering.train import keys as training

ROOT = Path(__file__).parents[2]
WHOLE = load_params(ROOT / "params.yaml", "quick")
ONE_OF_A_KIND = {
    (each.task["name"], each.network.cell, bool(each.training.validation)): (name, each)
    for name, each in reversed(WHOLE.experiments.items())
}
PARAMS = WHOLE.model_copy(update={"experiments": dict(ONE_OF_A_KIND.values())})
EVERY = {
    f"train/{name}-{mechanism}"
    for name, config in PARAMS.experiments.items()
    for mechanism in config.mechanisms
}


def found(code: Program) -> dict[str, str]:
    """The keys of all trainings."""
    return {
        f"train/{name}-{mechanism}": training.training_key(config, mechanism, code)
        for name, config in PARAMS.experiments.items()
        for mechanism in config.mechanisms
    }


BEFORE = found(training.program())


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package."""
    ignored = shutil.ignore_patterns("__pycache__", "templates")
    return shutil.copytree(training.PACKAGE, tmp_path / "pondering", ignore=ignored)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1))


def changed(package: Path) -> set[str]:
    """The trainings that an edit makes out of date."""
    after = found(Program({training.TOP: package}))
    return {name for name in EVERY if after[name] != BEFORE[name]}


def of_those(which: Callable[[ExperimentConfig], object]) -> set[str]:
    """The trainings of some experiments."""
    names = {name for name, each in PARAMS.experiments.items() if which(each)}
    return {name for name in EVERY if name.removeprefix("train/").rpartition("-")[0] in names}


def of_cell(cell: str) -> set[str]:
    return of_those(lambda each: each.network.cell == cell)


def of_task(task: str) -> set[str]:
    return of_those(lambda each: each.task["name"] == task)


def of_mechanism(*mechanisms: str) -> set[str]:
    return {name for name in EVERY if name.rpartition("-")[2] in mechanisms}


@cache
def functions() -> dict[str, set[tuple[str, str]]]:
    """What the key of each training holds: (module, function)."""
    return {
        f"train/{name}-{mechanism}": training.functions_of(config, mechanism, training.program())
        for name, config in PARAMS.experiments.items()
        for mechanism in config.mechanisms
    }


def of_function(module: str, function: str) -> set[str]:
    """The trainings whose key holds a function."""
    return {name for name, held in functions().items() if (module, function) in held}


SAME = {
    "a comment": ("train/trainer.py", "import torch\n", "import torch  # what counts\n"),
    "a docstring": ("model/halting/act.py", '"""Adaptive Computation Time', '"""ACT'),
    "an annotation": ("model/stacking.py", "replica: int", "replica: Any"),
    "a line break": ("train/adam.py", "\n\n\n", "\n\n\n\n\n"),
    "an import of another name": (
        "train/trainer.py", "from torch import Tensor\n", "from torch import Tensor, nn\n",
    ),
    "a title": ("params/mechanisms.py", '"Fixed repeat"', '"Repeat"'),
    "words about a task": ("tasks/logic.py", "for bit in vector[:2]", "for bit in vector[:1]"),
    "words about every task": ("tasks/base.py", '"drawn by this project', '"drawn here'),
    "how ACT is evaluated": (
        "model/halting/act.py", "halts deterministically.\"\"\"\n        return self",
        "halts.\"\"\"\n        print()\n        return self",
    ),
    "how PonderNet may be stopped": (
        "model/halting/pondernet.py", "exits: ClassVar[tuple[str, ...]] = EXITS", "exits = ()",
    ),
    "a new task": ("tasks/__init__.py", '"parity": Parity,', '"new": New, "parity": Parity,'),
    "a new cell": ("model/cells/__init__.py", '"tanh_rnn": ', '"new": New, "tanh_rnn": '),
    "a figure": ("report/figures/gallery.py", "import annotations", "import annotations\nX = 1"),
    "a measure": ("claims/measures/text.py", "import annotations", "import annotations\nX = 1"),
    "a file's layout": ("project/paths.py", '"reports"', '"report"'),
}  # fmt: skip


def test_what_changes_no_number_leaves_every_training_up_to_date(package: Path) -> None:
    for path, old, new in SAME.values():
        edit(package / path, old, new)
    assert changed(package) == set()


READ = {
    "a task's generator": ("tasks.parity", "Parity.draw", of_task("parity")),
    "a cell's step": ("model.cells.lstm", "LSTM.step", of_cell("lstm")),
    "what cells share": (
        "model.cells.base", "Recurrent.__init__", EVERY - of_cell("conv_mlp"),
    ),
    "which numbers count as zero": ("project.machine", "tune", EVERY),
    "the loop": ("train.trainer", "Trainer._update", EVERY),
    "how a sweep is made": ("train.build", "make_trainer", EVERY),
    "a mechanism": ("model.halting.act", "ACT.step", of_mechanism("act")),
    "ACT's fast path": (
        "model.paths.fast.sequence", "_Ponder.forward", of_mechanism("act", "repeat"),
    ),
    "whether a path has a way": ("model.paths.fast.sequence", "supports", EVERY),
    "a module under another name": (
        "model.paths.fast.every_step", "unroll", of_mechanism("pondernet"),
    ),
    "a module that a function imports": (
        "model.paths.compiled.operations", "ponder", of_mechanism("act", "repeat"),
    ),
    "the schedule of those who validate": (
        "train.plateau", "Plateau.note", of_those(lambda each: each.training.validation),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", READ)
def test_a_function_is_read_by_the_trainings_that_it_concerns(what: str) -> None:
    module, function, wanted = READ[what]
    assert of_function(f"{training.TOP}.{module}", function) == wanted != set()


DIFFERENT = {
    "a function's constant": ("tasks/parity.py", "rng.", "2 * rng.", of_task("parity")),
    "a class's constant": ("train/adam.py", "0.999", "0.99", EVERY),
    "what an import does": (
        "model/paths/compiled/loops/every_step.py", "import annotations",
        "import annotations\nprint()", of_mechanism("pondernet"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_change_of_numbers_reaches_the_trainings_that_read_it(package: Path, what: str) -> None:
    path, old, new, wanted = DIFFERENT[what]
    edit(package / path, old, new)
    assert changed(package) == wanted


def test_a_moved_and_renamed_function_changes_nothing(package: Path) -> None:
    """`gradient_norms` leaves stacking.py for a file of its own, under another name."""
    source = package / "model/stacking.py"
    text = source.read_text()
    start = text.index("def gradient_norms")
    end = text.index("\n\n\n", start)
    head = "import torch\nfrom torch import Tensor\nfrom collections.abc import Iterable\n\n\n"
    moved = text[start:end].replace("gradient_norms", "norms")
    (package / "model/norms.py").write_text(f"{head}{moved}\n")
    source.write_text(text[:start] + text[end:])
    loop = package / "train/trainer.py"
    old = "from pondering.model.stacking import gradient_norms"
    edit(loop, old, "from pondering.model.norms import norms as gradient_norms")
    assert changed(package) == set()
    edit(package / "model/norms.py", "dim=1", "dim=-1")
    assert changed(package) == EVERY


def test_another_function_under_the_same_name_counts(package: Path) -> None:
    old = "from torch.nn.functional import logsigmoid"
    path = package / "model/halting/pondernet.py"
    edit(path, old, "import torch.nn.functional as F\n\nlogsigmoid = F.logsigmoid")
    assert changed(package) == of_mechanism("pondernet")
    new = "from torch.nn.functional import softsign as logsigmoid"
    edit(path, "import torch.nn.functional as F\n\nlogsigmoid = F.logsigmoid", new)
    assert changed(package) == of_mechanism("pondernet")


def test_the_keys_are_written_for_the_stages_of_the_profile(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "pipeline", tmp_path / "pipeline")
    keys.write(tmp_path, PARAMS)
    written = {
        str(path.relative_to(tmp_path / keys.FOLDER).with_suffix("")): json.loads(path.read_text())
        for path in (tmp_path / keys.FOLDER).rglob("*.json")
    }
    trainings = {name: {"key": key} for name, key in BEFORE.items()}
    assert trainings.items() <= written.items()
    others = {
        f"{stage}/{name}"
        for stage in ("datasets", "evaluate", "exits")
        for name in PARAMS.experiments
    }
    assert set(written) == EVERY | others | {"download", "report"}


def test_the_places_that_the_keys_name_exist() -> None:
    code = training.program()
    places = [*training.LOOP, *training.ASKED, training.TASKS, training.CELLS, training.KERNELS]
    places += [(training.DOOR, way) for way in training.EVERY_WAY]
    for module, name in places:
        assert code.find(module, name) == (module, name)
    assert code.module(keys.LOOPS)
    for entry in MECHANISMS.values():
        assert set(entry.ways) <= set(training.EVERY_WAY)
    assert set(training.ASIDE) | set(keys.UNSEEN) <= {p.name for p in training.PACKAGE.iterdir()}
