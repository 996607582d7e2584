"""`make bench`: stacks of replicas against plain loops, one a core, and against the machine.

Writes `<device>.json` and `<device>.md` into `results/`. Run it on an idle machine.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pondering  # noqa: F401  # isort: skip  first of all: how long torch's threads wait for work
import click
import sklearn.datasets  # noqa: F401  once here, and not again in every process
import torch
import torch._dynamo  # the same; torch's optimisers import it when they are made
from cases import CUT, TARGETS, Case, Row, Target, aims, cases, row_of, shrunken
from gpu_by_count import counted
from measure import Effort, measure, spreading
from page import cells, page
from parts import largest, timed_parts
from processes import alone, cores, together
from subjects import FRESH, HaltingUnit, configuration
from totals import total

from pondering.params.read import ExperimentConfig
from pondering.project import provenance
from pondering.project.atomic import atomic_write, write_json
from pondering.project.errors import UserError
from pondering.train.build import pick_device

HERE = Path(__file__).resolve().parent
FULL = {"cpu": Effort(5, 0.25, 1536, False), "cuda": Effort(5, 0.5, 8192, False)}
QUICK = Effort(2, 0.02, 64, True)


@click.command()
@click.option("--quick", is_flag=True, help="Tiny sizes, to see that it runs; judges nothing.")
@click.option("--device", default="auto", type=click.Choice(["auto", "cpu", "cuda"]))
@click.option("--only", default="", help="Only experiments whose name contains this.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder; default: results/.")
def main(quick: bool, device: str, only: str, out: Path | None) -> None:
    """Measure the training loop and print, and write, its tables."""
    machine = machine_or_exit(device)
    gpu, effort = machine["kind"] == "cuda", QUICK if quick else FULL[machine["kind"]]
    subjects = Subjects(machine["kind"], quick)
    chosen = [case for case in cases(gpu, quick) if only in case.experiment]
    judged_cases = aims(gpu, quick)
    rows = []
    for number, case in enumerate(chosen, start=1):
        what = (*subjects.of(case), machine["kind"], effort, case in judged_cases)
        found = total(case, together(measure, machine["processes"], case, *what))
        rows.append(case._asdict() | found)
        say(f"{number}/{len(chosen)}: {' | '.join(cells(rows[-1]))}")
    parts, counts = [], []
    for case in [] if gpu else [case for case in judged_cases if case in chosen]:
        parts.append(case._asdict() | alone(timed_parts, case, *subjects.of(case), effort))
        say(f"parts: {parts[-1]}")
    for case in [] if gpu else [target.case for target in TARGETS if target.gpu]:
        if only in case.experiment and case not in [each["case"] for each in counts]:
            small = shrunken(case) if quick else case
            counts += alone(counted, small, *subjects.of(small))["paths"]
            say(f"counted: {counts[-1]}")
    result = record(rows, parts, counts, machine, effort)
    text = page(result)
    click.echo(text)
    if out is None and (quick or only):
        return  # a part or a trial is no table to keep
    folder, name = out or HERE / "results", "quick" if quick else slug(result["device"])
    write_json(folder / f"{name}.json", result)
    atomic_write(folder / f"{name}.md", text)
    say(f"wrote {folder / name}.json and .md")


def say(line: str) -> None:
    """Where the work stands."""
    click.echo(f"bench: {line}", err=True)


class Subjects:
    """The configuration of each case, and the change of the halting unit that makes its regime."""

    def __init__(self, kind: str, quick: bool) -> None:
        self._kind, self._quick = kind, quick
        self._units: dict[tuple[str, int], HaltingUnit] = {}

    def of(self, case: Case) -> tuple[ExperimentConfig, HaltingUnit | None]:
        """Both; the unit of the regime "spread" is looked for once."""
        config = configuration(case.experiment, self._quick)
        if case.regime != "spread":
            return config, FRESH if case.regime == "fresh" else None
        key = case.experiment, min(case.replicas, CUT)
        if key not in self._units:
            found = alone(spreading, case.experiment, config, self._kind, key[1])
            self._units[key] = HaltingUnit(**found)
        return config, self._units[key]


def machine_or_exit(device: str) -> Row:
    """The machine, or one line and status 2 where it has no such device."""
    machine = alone(describe, device)
    if "error" in machine:
        click.echo(f"error: {machine['error']}", err=True)
        sys.exit(2)
    return machine


def describe(wanted: str) -> Row:
    """The machine; asked of another process, since a process that has used a GPU cannot fork."""
    try:
        kind = pick_device(wanted).type
    except UserError as error:
        return {"error": str(error)}
    name = torch.cuda.get_device_name() if kind == "cuda" else provenance.processor()
    return {"device": name, "kind": kind, "processes": 1 if kind == "cuda" else cores()}


def record(
    rows: list[Row], parts: list[Row], counts: list[Row], machine: Row, effort: Effort
) -> dict[str, Any]:
    """All that is written: where, how, the targets, the rows, the parts and the counts."""
    gpu = machine["kind"] == "cuda"
    return {
        **machine,
        "commit": provenance.git_commit(HERE.parent),
        "versions": provenance.versions(),
        "quick": effort.quick,
        "rounds": effort.rounds,
        "matrix_product": {"shape": [effort.matrix] * 3, "dtype": "float32"},
        "targets": [judged(target, rows, parts, gpu, effort.quick) for target in TARGETS],
        "rows": rows,
        "parts": parts,
        "gpu_by_count": counts,
    }


def judged(target: Target, rows: list[Row], parts: list[Row], gpu: bool, quick: bool) -> Row:
    """A target with what was measured; `met` is None where nothing can be said."""
    wanted = ", ".join(check.wanted() for check in target.checks)
    answer: Row = {"name": target.name, "wanted": wanted, "measured": "not measured", "met": None}
    answer |= {"alone": "", "at_full_rate": "", "largest_part": ""}
    case = shrunken(target.case) if quick else target.case
    row, own = row_of(case, rows), row_of(case, parts)
    if target.gpu != gpu or row is None:
        return answer
    if "note" in row:
        return answer | {"measured": f"not measured: {row['note']}"}
    holds = [check.holds(row) for check in target.checks]
    said = ["" if quick else ": met" if each else ": **missed**" for each in holds]
    words = [c.measured(row) + each for c, each in zip(target.checks, said, strict=True)]
    words += [target.note(row)] if target.note else []
    met = None if quick else all(holds)
    answer |= {"measured": ", ".join(words), "met": met}
    ratio, useful = row["ratio"]["median"], row["useful_share"]["median"]
    answer["alone"] = f"{row['ratio_alone']['median']:.3g}x"
    answer["at_full_rate"] = f"{ratio / useful:.3g}x"
    if met is False and own is not None:
        answer["largest_part"] = largest(own)
    return answer


def slug(device: str) -> str:
    """A device's name as that of a file."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


if __name__ == "__main__":
    main()
