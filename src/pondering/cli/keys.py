"""A key for every stage: a short file that changes only where the stage's program does.

A stage of dvc.yaml depends on its file. So it runs again where its numbers could change, and not
when other code or a wording changes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from pondering.params.schema import ExperimentConfig, Params
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
    """Write the keys of all stages of the active profile below `data/keys`."""
    code = Program({keys.TOP: keys.PACKAGE, SCRIPTS: root / SCRIPTS})
    for name, key in all_keys(params, code).items():
        write_json(root / FOLDER / f"{name}.json", {"key": key})


def all_keys(params: Params, code: Program) -> dict[str, str]:
    """The key of every stage, by the name of its file without suffix."""
    found = {"download": _of_script("download", code), "report": report_key(code)}
    for name, config in params.experiments.items():
        found[f"datasets/{name}"] = _of_experiment("datasets", config, (), code)
        named = tuple(config.mechanisms)
        program = _of_experiment("evaluate", config, named, code)
        shown = [config.shown(mechanism) for mechanism in named]
        found[f"evaluate/{name}"] = provenance.hash_values((program, shown))
        for mechanism in named:
            found[f"train/{name}-{mechanism}"] = keys.training_key(config, mechanism, code)
    return found


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

    root = (f"{SCRIPTS}.{stage}", "main")
    return code.address((root, *used.classes), spare=spare, entries=used.has_entry)
