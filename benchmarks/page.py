"""The tables of `bench.py` as Markdown."""

from __future__ import annotations

from typing import Any

from cases import CUT, LARGE, Case, Row, row_of
from gpu_by_count import CHANGE
from parts import PARTS, REST

PONDER_NAMES = {"act": "{}", "repeat": "rho = 2", "pondernet": "constant N"}
HOW = """\
- Each row runs {processes} processes of one thread at the same time, as many as there are cores,
  each with a stack of K replicas. All stacks work, then all plain loops, then all compute a matrix
  product, {rounds} times (less often where an update is long); all wait for each other in between,
  and rates are sums over the processes. Medians, with the least and the greatest in brackets.
- at once: the least share of a turn in which all of its processes were at work.
- one against one: the same ratio with one process of one thread at work, the other cores idle.
- at the full rate: the ratio to the plain loops if all time were useful work at the rate of the
  matrix products. No stack can reach more.
- all threads: one stack on all threads, against as many plain loops as cores.
- plain: `plain.py`: torch's cells and Adam, halted rows indexed out. Each process has the batches
  of another replica.
- path (`compute.path`): the compiled one, the default, which has no loops for the CNN nor for
  PonderNet in networks of more than 256 hidden units; or the fast one, torch's own calls.
- updates/s count whole updates, with the drawing of the batch and what is logged; run-updates/s are
  updates/s times K. Against plain: run-updates/s over the plain loops' updates/s.
- fresh: every row ponders 2 steps. spread: mean 3.4 over the batches of the replicas (of the first
  sixteen, if there are more), and some row 20 or more.
  Replicas have the same weights and, in turn, the batches of the paper's seeds; the learning rate
  is so small that ponder stays.
- useful work: floating-point operations of the matrix products, forward and backward, of rows that
  had not halted, as a share of the rate of float32 products of {matrix} x {matrix} matrices in all
  processes at once.
- peak memory: {memory}.
"""
COUNTED = """\
Counted on a CPU that packs rows as a GPU would, at 5 us a launch, 10 us a wait, 3.35 TB/s and
67 TFLOP/s (an H100 without TF32). Launches and waits add up, moving and computing overlap with
them and with each other, so an update takes the longer of both."""
COLUMNS = (
    "task", "mechanism", "path", "ponder", "K", "mean, max", "updates/s", "run-updates/s", "plain",
    "against plain", "one against one", "useful work", "MiB a process", "drawing", "at once",
)  # fmt: skip


def page(result: dict[str, Any]) -> str:
    """All tables."""
    count = result["processes"]
    machine = f"{count} processes of one thread" if result["kind"] == "cpu" else "one GPU"
    versions = f"torch {result['versions']['torch']}, commit {result['commit'][:12]}"
    lines = [f"# {result['device']}", "", f"{machine}; {versions}.", ""]
    if result["quick"]:
        lines += ["A smoke run: tiny networks, two replicas at most. It says nothing of speed.", ""]
    lines += [*targets(result), "", "Every row:", ""]
    lines += table(COLUMNS, [cells(row) for row in result["rows"]])
    if stacks := cuts(result["rows"]):
        head = ("stack", *(f"run-updates/s, K = {k}" for k in (CUT, LARGE)), "MiB", "if cut")
        lines += ["", f"Would a stack of {LARGE} be faster if cut into pieces of {CUT}?", ""]
        lines += table(head, stacks)
    if result["parts"]:
        lines += ["", "Milliseconds of an update, in one process of one thread:", ""]
        lines += parted(result["parts"])
    if result["gpu_by_count"]:
        lines += ["", COUNTED, "", *by_count(result["gpu_by_count"])]
    memory = "of the whole process" if result["kind"] == "cpu" else "what torch allocated"
    side = result["matrix_product"]["shape"][0]
    values = {"matrix": side, "rounds": result["rounds"], "memory": memory, "processes": count}
    return "\n".join([*lines, "", HOW.format(**values)])


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a Markdown table."""
    return [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rows)]


def targets(result: dict[str, Any]) -> list[str]:
    """What is wanted and what was measured; where an aim is missed, what takes longest."""
    keys = ("name", "wanted", "measured", "alone", "at_full_rate", "largest_part")
    head = ("", "wanted", "measured", "one against one", "at the full rate", "largest part")
    return table(head, [tuple(t[key] for key in keys) for t in result["targets"]])


def cells(row: Row) -> tuple[str, ...]:
    """One measured row, or why it was not measured."""
    first = (*names(row), str(row["replicas"]))
    if "note" in row:
        return (*first, row["note"], *[""] * (len(COLUMNS) - len(first) - 1))
    return (
        *first,
        f"{row['ponder_mean']:.2f}, {row['ponder_max']:.0f}",
        ranged(row["updates_per_s"]),
        f"{row['run_updates_per_s']['median']:,.4g}",
        ranged(row["plain_updates_per_s"]),
        ranged(row["ratio"], "x"),
        ranged(row["ratio_alone"], "x") if "ratio_alone" in row else "",
        ranged({key: 100 * value for key, value in row["useful_share"].items()}, "%"),
        f"{row['peak_mib']:,.0f}",
        f"{100 * row['drawing_share']:.0f}%",
        f"{100 * row['at_the_same_time']:.0f}%",
    )


def names(row: Row) -> tuple[str, str, str, str]:
    """Task, mechanism, path and ponder of a case, in words."""
    ponder = PONDER_NAMES[row["mechanism"]].format(row["regime"])
    path = f"{row['path']}, all threads" if row["threads"] else row["path"]
    return row["experiment"], row["mechanism"], path, ponder


def cuts(rows: list[Row]) -> list[tuple[str, ...]]:
    """Stacks that were measured with K = 16 and with K = 64."""
    found = []
    for row in rows:
        small = {key: row[key] for key in Case._fields} | {"replicas": CUT}
        piece = row_of(Case(**small), rows)
        if row["replicas"] != LARGE or piece is None or "note" in row or "note" in piece:
            continue
        rates = [each["run_updates_per_s"]["median"] for each in (piece, row)]
        memory = ", ".join(f"{each['peak_mib']:,.0f}" for each in (piece, row))
        shown = (f"{rate:,.4g}" for rate in rates)
        found.append((", ".join(names(row)), *shown, memory, f"{rates[0] / rates[1]:.2f}x"))
    return found


def parted(parts: list[Row]) -> list[str]:
    """Where an update's time goes; `share` is what the named parts have of it."""
    head = ("", *PARTS, REST, "update", "share of the parts")
    rows = []
    for row in parts:
        values = [row["ms"][part] for part in (*PARTS, REST)]
        name = f"{', '.join(names(row))}, K = {row['replicas']}"
        shown = (f"{value:.3g}" for value in (*values, sum(values)))
        rows.append((name, *shown, f"{100 * row['share']:.1f}%"))
    return table(head, rows)


def by_count(counts: list[Row]) -> list[str]:
    """Launches, waits, bytes and operations of an update, and what to change first."""
    head = ("", "path", "launches", "waits", "MB", "GFLOP", "ms: launches", "waits", "bytes",
            "operations", "update")  # fmt: skip
    rows = []
    for row in counts:
        case, ms = Case(*row["case"]), row["ms"]
        length = f", sequences of {row['T']}" if row["T"] else ""
        rows.append((
            f"{case.experiment}, {case.mechanism}, {case.regime}, K = {case.replicas}{length}",
            row["path"], f"{row['launches']:,}", f"{row['waits']:,}", f"{row['bytes'] / 1e6:,.0f}",
            f"{row['operations'] / 1e9:,.1f}",
            *(f"{ms[key]:.3g}" for key in (*CHANGE, "update")),
        ))  # fmt: skip
    first = [max(CHANGE, key=row["ms"].__getitem__) for row in counts if row["path"] == "fast"]
    name = max(CHANGE, key=first.count)
    sentence = f"In {first.count(name)} of {len(first)} rows of the fast path {name} take longest."
    return [*table(head, rows), "", f"{sentence} To change first: {CHANGE[name]}."]


def ranged(values: dict[str, float], unit: str = "") -> str:
    """A median with the least and the greatest, three digits each."""
    median, least, most = (f"{values[key]:.3g}" for key in ("median", "least", "most"))
    return f"{median}{unit} ({least} to {most})"
