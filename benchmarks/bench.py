"""`make bench`: the training loop against a plain one and against the machine, as a table.

Writes `<device>.json` and `<device>.md` beside this file. Run it on an idle machine.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pondering  # noqa: F401  # isort: skip  first of all: how long torch's threads wait for work
import click
import sklearn.datasets  # noqa: F401  once here, and not again in every process
import torch._dynamo  # the same; torch's optimisers import it when they are made
from cases import TARGETS, Row, Target, cases, row_of, shrunken
from measure import Effort, measure, spreading
from subjects import FRESH, HaltingUnit, configuration

from pondering.project import provenance
from pondering.project.atomic import atomic_write, write_json
from pondering.project.errors import UserError
from pondering.train.build import pick_device

HERE = Path(__file__).resolve().parent
FULL = {"cpu": Effort(5, 0.25, 1536, False), "cuda": Effort(5, 0.5, 8192, False)}
QUICK = Effort(2, 0.0, 64, True)
MOST = 16  # replicas whose batches the regime "spread" is found on
PONDER_NAMES = {"act": "{}", "repeat": "rho = 2", "pondernet": "constant N"}
HOW = """\
- plain: `plain.py`, one run at a time: torch's cells and Adam, halted rows indexed out.
- path (`compute.path`): the compiled one, the default, which has no loops for the CNN nor for
  PonderNet in networks of more than 256 hidden units; or the fast one, torch's own calls.
- updates/s count whole updates, with the drawing of the batch and what is logged; run-updates/s are
  updates/s times K. Against plain: run-updates/s over the plain loop's updates/s.
- fresh: every row ponders 2 steps. spread: mean 3.4 over the batches of the replicas (of the first
  sixteen, if there are more), and some row 20 or more. long tail: the same of the first replica
  alone, so that of all K some row goes on for longer. The plain loop has the first replica's
  batches; the table has mean and maximum over all K.
  Replicas have the same weights and, in turn, the batches of the paper's seeds; the learning rate
  is so small that ponder stays.
- useful work: floating-point operations of the matrix products, forward and backward, of rows that
  had not halted, as a share of the rate of a float32 product of {matrix} x {matrix} matrices,
  measured in the same process and in turn.
- each row has a process of its own; sweep, plain loop and matrix product take turns,
  {rounds} times. Medians, with the least and the greatest in brackets.
- peak memory: {memory}.
"""
COLUMNS = (
    "task", "mechanism", "path", "ponder", "K", "mean, max", "updates/s", "run-updates/s", "plain",
    "against plain", "useful work", "peak MiB", "drawing",
)  # fmt: skip


@click.command()
@click.option("--quick", is_flag=True, help="Tiny sizes, to see that it runs; judges nothing.")
@click.option("--device", default="auto", type=click.Choice(["auto", "cpu", "cuda"]))
@click.option("--only", default="", help="Only experiments whose name contains this.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder; default: beside bench.py.")
def main(quick: bool, device: str, only: str, out: Path | None) -> None:
    """Measure the training loop and print, and write, a table of it."""
    machine = machine_or_exit(device)
    kind = machine["kind"]
    effort = QUICK if quick else FULL[kind]
    chosen = [case for case in cases(kind == "cuda", quick) if only in case.experiment]
    names = {case.experiment for case in chosen}
    configurations = {name: configuration(name, quick) for name in names}
    units: dict[tuple[str, int], HaltingUnit] = {}
    rows = []
    for number, case in enumerate(chosen, start=1):
        config = configurations[case.experiment]
        unit = FRESH if case.regime == "fresh" else None
        if case.regime in ("spread", "long tail"):
            key = case.experiment, 1 if case.regime == "long tail" else min(case.replicas, MOST)
            if key not in units:
                units[key] = HaltingUnit(**alone(spreading, key[0], config, kind, key[1]))
            unit = units[key]
        found = alone(measure, case, config, unit, kind, effort)
        rows.append(case._asdict() | found)
        click.echo(f"bench: {number}/{len(chosen)}: {' | '.join(cells(rows[-1]))}", err=True)
    result = record(rows, machine, effort)
    text = page(result)
    click.echo(text)
    if out is None and (quick or only):
        return  # a part or a trial is no table to keep
    folder, name = out or HERE / "results", "quick" if quick else slug(result["device"])
    write_json(folder / f"{name}.json", result)
    atomic_write(folder / f"{name}.md", text)
    click.echo(f"bench: wrote {folder / name}.json and .md", err=True)


def machine_or_exit(device: str) -> Row:
    """The machine, or one line and status 2 where it has no such device."""
    machine = alone(describe, device)
    if "error" in machine:
        click.echo(f"error: {machine['error']}", err=True)
        sys.exit(2)
    return machine


def alone(function: Callable[..., Row], *arguments: Any) -> Row:
    """Call in a process of its own, whose peak memory is the call's; this one stays idle."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=lambda: theirs.send(function(*arguments)))
    process.start()
    theirs.close()
    try:
        answer: Row = mine.recv()
    except EOFError:
        process.join()
        answer = {"note": f"the process ended with status {process.exitcode}"}
    process.join()
    return answer


def describe(wanted: str) -> Row:
    """The machine; asked of another process, since a process that has used a GPU cannot fork."""
    try:
        kind = pick_device(wanted).type
    except UserError as error:
        return {"error": str(error)}
    name = torch.cuda.get_device_name() if kind == "cuda" else provenance.processor()
    return {"device": name, "kind": kind, "threads": torch.get_num_threads()}


def record(rows: list[Row], machine: Row, effort: Effort) -> dict[str, Any]:
    """All that is written: where, how, the targets and the rows."""
    gpu = machine["kind"] == "cuda"
    return {
        **machine,
        "commit": provenance.git_commit(HERE.parent),
        "versions": provenance.versions(),
        "quick": effort.quick,
        "rounds": effort.rounds,
        "matrix_product": {"shape": [effort.matrix] * 3, "dtype": "float32"},
        "targets": [judged(target, rows, gpu, effort.quick) for target in TARGETS],
        "rows": rows,
    }


def judged(target: Target, rows: list[Row], gpu: bool, quick: bool) -> Row:
    """A target with what was measured; `met` is None where nothing can be said."""
    wanted = ", ".join(check.wanted() for check in target.checks)
    answer: Row = {"name": target.name, "wanted": wanted, "measured": "not measured", "met": None}
    row = row_of(shrunken(target.case) if quick else target.case, rows)
    if target.gpu != gpu or row is None:
        return answer
    if "note" in row:
        return answer | {"measured": f"not measured: {row['note']}"}
    parts = [check.measured(row) for check in target.checks]
    parts += [target.note(row)] if target.note else []
    met = None if quick else all(check.holds(row) for check in target.checks)
    return answer | {"measured": ", ".join(parts), "met": met}


def page(result: dict[str, Any]) -> str:
    """The tables as Markdown."""
    threads = f"{result['threads']} threads" if result["kind"] == "cpu" else "one GPU"
    versions = f"torch {result['versions']['torch']}, commit {result['commit'][:12]}"
    lines = [f"# {result['device']}", "", f"{threads}; {versions}.", ""]
    if result["quick"]:
        lines += ["A smoke run: tiny networks, two replicas at most. It says nothing of speed.", ""]
    answers = {True: "yes", False: "**no**", None: ""}
    lines += table(
        ("", "wanted", "measured", "met"),
        [(t["name"], t["wanted"], t["measured"], answers[t["met"]]) for t in result["targets"]],
    )
    lines += ["", *table(COLUMNS, [cells(row) for row in result["rows"]]), ""]
    memory = "of the whole process" if result["kind"] == "cpu" else "what torch allocated"
    side = result["matrix_product"]["shape"][0]
    return "\n".join(lines) + "\n" + HOW.format(matrix=side, rounds=result["rounds"], memory=memory)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a Markdown table."""
    return [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rows)]


def cells(row: Row) -> tuple[str, ...]:
    """One measured row, or why it was not measured."""
    ponder = PONDER_NAMES[row["mechanism"]].format(row["regime"])
    first = (row["experiment"], row["mechanism"], row["path"], ponder, str(row["replicas"]))
    if "note" in row:
        return (*first, row["note"], *[""] * (len(COLUMNS) - len(first) - 1))
    plain = ranged(row["plain_updates_per_s"]) if row["plain"] else ""
    return (
        *first,
        f"{row['ponder_mean']:.2f}, {row['ponder_max']:.0f}",
        ranged(row["updates_per_s"]),
        f"{row['run_updates_per_s']['median']:,.4g}",
        plain,
        ranged(row["ratio"], "x") if row["plain"] else "",
        ranged({key: 100 * value for key, value in row["useful_share"].items()}, "%"),
        f"{row['peak_mib']:,.0f}",
        f"{100 * row['drawing_share']:.0f}%",
    )


def ranged(values: dict[str, float], unit: str = "") -> str:
    """A median with the least and the greatest, three digits each."""
    median, least, most = (f"{values[key]:.3g}" for key in ("median", "least", "most"))
    return f"{median}{unit} ({least} to {most})"


def slug(device: str) -> str:
    """A device's name as that of a file."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


if __name__ == "__main__":
    main()
