"""A key for every stage: a short file that changes where the stage's program or values do.

A stage of dvc.yaml depends on its file. So it runs again where its numbers could change, and not
when other code, other values or a wording changes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from pondering.cli.stages import check_trainings
from pondering.params.schema import About, ExperimentConfig, Params
from pondering.project import provenance
from pondering.project.atomic import write_json
from pondering.project.code import Place, Program
from pondering.train import keys

FOLDER = Path("data/keys")
SCRIPTS = "pipeline"
TEMPLATES = keys.PACKAGE / "report/pages/templates"
# Rooms that change nothing that a stage writes; results and params shape what a report says.
UNSEEN = ("project", "track", "show", "cli")
LOOPS = f"{keys.DOOR}.compiled.operations"  # for training alone


def write(root: Path, params: Params) -> None:
    """Write the keys of all stages of the active profile below `data/keys`.

    Raises:
        UserError: see `check_trainings`.
    """
    check_trainings(root, params)
    code = Program({keys.TOP: keys.PACKAGE, SCRIPTS: root / SCRIPTS})
    for name, key in all_keys(params, code).items():
        write_json(root / FOLDER / f"{name}.json", {"key": key})


def all_keys(params: Params, code: Program) -> dict[str, str]:
    """The key of every stage, by the name of its file without suffix."""
    found = {"download": _of_script("download", code), "report": report_key(code)}
    for name, config in params.experiments.items():
        found[f"datasets/{name}"] = _datasets_key(config, params.about.get(name), code)
        found[f"evaluate/{name}"] = _evaluate_key(config, code)
        found[f"exits/{name}"] = _exits_key(config, code)
        for mechanism in config.mechanisms:
            found[f"train/{name}-{mechanism}"] = keys.training_key(config, mechanism, code)
    return found


def _datasets_key(config: ExperimentConfig, about: About | None, code: Program) -> str:
    """What freezes the evaluation sets of an experiment and describes them."""
    told = None if about is None else about.model_dump(mode="json", exclude_defaults=True)
    network = config.network.model_dump(mode="json", exclude_defaults=True)
    read = keys.task_values(config, code), network, config.evaluation.examples, told
    return provenance.hash_values((_of_experiment("datasets", config, (), code), read))


def _evaluate_key(config: ExperimentConfig, code: Program) -> str:
    """What measures an experiment; what its replicas were trained with they bring along."""
    named = tuple(config.mechanisms)
    traced = [config.traced(mechanism) for mechanism in named]
    evaluation = config.evaluation.model_dump(mode="json", exclude_defaults=True)
    read = keys.task_values(config, code), evaluation, traced, named
    return provenance.hash_values((_of_experiment("evaluate", config, named, code), read))


def _exits_key(config: ExperimentConfig, code: Program) -> str:
    """What stops an experiment's networks; no stage reads that of one whose error is a loss."""
    named = tuple(config.mechanisms)
    read = keys.task_values(config, code), config.evaluation.stored, named
    return provenance.hash_values((_of_experiment("exits", config, named, code), read))


def report_key(code: Program) -> str:
    """The program that draws and judges, with its templates."""
    texts = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(TEMPLATES.iterdir())]
    return provenance.hash_values((_of_script("report", code), texts))


def _of_script(stage: str, code: Program) -> str:
    root = [(f"{SCRIPTS}.{stage}", "main")]
    return code.address(root, spare=lambda place: keys.in_rooms(place, UNSEEN))


def _of_experiment(
    stage: str, config: ExperimentConfig, mechanisms: tuple[str, ...], code: Program
) -> str:
    """The program of a stage with the task, the cell and the mechanisms of an experiment."""
    used = keys.Used(config, mechanisms, code)

    def spare(place: Place) -> bool:
        unseen = keys.in_rooms(place, (*UNSEEN, "params")) or place[0] == LOOPS
        return unseen or used.spares(place)

    def counts(place: Place, name: str) -> bool:
        return name != "own_input"  # of a task, for `pondering show` alone

    root = (f"{SCRIPTS}.{stage}", "main")
    roots = root, *used.classes
    return code.address(roots, spare=spare, entries=used.has_entry, members=counts)
