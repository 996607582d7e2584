"""What is trained, for `pondering show --list`: a line for each setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pondering.evaluate.load import Run, runs
from pondering.evaluate.standings import Standings, standings
from pondering.params.read import PROFILES, Params, load_params
from pondering.params.replica import Replica
from pondering.project.paths import to_run
from pondering.show.terminal import Terminal
from pondering.tasks import TASKS


def lines(experiment: str | None, profile: str | None, terminal: Terminal) -> Iterator[str]:
    """The trained replicas of all profiles, in the working folder.

    Args:
        experiment: this one only.
        profile: this one only.

    Raises:
        UserError: no such experiment or profile; a damaged table.
    """
    nothing = True
    for name in PROFILES if profile is None else (profile,):
        params = load_params(profile=name)
        if experiment is not None:
            params.experiment(experiment)
        for run in runs(Path(), params):
            if experiment not in (None, run.experiment):
                continue
            yield from [] if nothing else [""]
            nothing = False
            kind = TASKS[params.experiment(run.experiment).task["name"]]
            yield from _head(run, params, terminal)
            for line in _settings(run, standings(run.layout, run.experiment), kind):
                yield from terminal.wrapped(line)
    if nothing:
        yield "nothing is trained yet; `make repro` trains the active profile"


def _head(run: Run, params: Params, terminal: Terminal) -> Iterator[str]:
    folder = run.layout.run(run.experiment, run.mechanism)
    todo = to_run("train", params.profile, run.experiment, run.mechanism)
    yield terminal.paint(f"{params.profile} · {run.experiment} · {run.mechanism}", "title")
    yield from (terminal.paint(line, "dim") for line in terminal.wrapped(str(folder), "  "))
    if run.replicas is None:
        yield from terminal.wrapped(f"  run.json is damaged; {todo} again")
    elif not run.current:
        yield from terminal.wrapped(f"  of other parameters than params.yaml; {todo}")


def _settings(run: Run, table: Standings, kind: type[Any]) -> Iterator[str]:
    """Setting, seeds, status, error and steps."""
    by_setting: dict[str, list[tuple[Replica, str]]] = {}
    for replica, status in run.replicas or ():
        by_setting.setdefault(replica.setting_name(), []).append((replica, status))
    for name, pairs in by_setting.items():
        group = [replica for replica, _ in pairs]
        seeds = f"seed{'s' * (len(group) > 1)} {_spans([each.seed for each in group])}"
        status = _status(Counter(status for _, status in pairs))
        yield f"  {name:16} {seeds:11} {status:10} {_result(group, table, kind)}"


def _status(counts: Counter[str]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {status}" for status, count in counts.items())


def _result(group: list[Replica], table: Standings, kind: type[Any]) -> str:
    """Mean error over seeds with its range, and mean steps."""
    found = [table[each.text()] for each in group if each.text() in table]
    if not found:
        return "not evaluated"
    errors = [each.error for each in found]
    told = how_wrong(sum(errors) / len(errors), kind)
    if len(errors) > 1:
        scale, digits = (100, 1) if kind.worst_error == 1 else (1, 2)
        told += f" ({scale * min(errors):.{digits}f} to {scale * max(errors):.{digits}f})"
    ponder = [each.ponder_time for each in found if each.ponder_time == each.ponder_time]
    return told + (f", {sum(ponder) / len(ponder):.2f} steps" if ponder else "")


def how_wrong(error: float, task: type[Any]) -> str:
    """An error in its task's own unit."""
    if task.worst_error == 1:  # a share of the examples
        return f"error {100 * error:.1f}%"
    return f"{error:.2f} {task.unit}"


def _spans(numbers: list[int]) -> str:
    """Whole numbers with runs of three or more drawn together: 0-4, 7, 9."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return ", ".join(
        f"{span[0]}-{span[-1]}" if len(span) > 2 else ", ".join(map(str, span)) for span in spans
    )
