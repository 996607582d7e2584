"""The tasks, by the name that `task.name` gives them in params.yaml."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from pondering.project.errors import UserError
from pondering.tasks.addition import Addition
from pondering.tasks.base import Task
from pondering.tasks.digits.task import Digits
from pondering.tasks.logic import Logic
from pondering.tasks.parity import Parity
from pondering.tasks.sort import Sort
from pondering.tasks.wikipedia.task import Wikipedia

TASKS: dict[str, type[Any]] = {
    "parity": Parity,
    "logic": Logic,
    "addition": Addition,
    "sort": Sort,
    "wikipedia": Wikipedia,
    "digits": Digits,
}


def make_task(values: dict[str, Any], where: str, data: Path | None = None) -> Task:
    """Build the task that a `task:` block describes.

    Args:
        values: `name` and the task's own fields.
        where: the experiment, for messages.
        data: the .npz of the datasets stage, for tasks that read it.

    Raises:
        UserError: an unknown task or field, or a value that the task refuses.
    """
    fields_given = dict(values)
    name = fields_given.pop("name", None)
    if name not in TASKS:
        raise UserError(f"params.yaml: {where}.task.name: {name!r}; allowed: {', '.join(TASKS)}")
    kind = TASKS[name]
    known = {field.name for field in fields(kind)}
    for key in fields_given:
        if key not in known or key == "path":
            allowed = ", ".join(sorted(known - {"path"}))
            raise UserError(f"params.yaml: {where}.task.{key}: unknown key; allowed: {allowed}")
    if "path" in known and data is not None:
        fields_given["path"] = str(data)
    try:
        task: Task = kind(**fields_given)
    except (UserError, TypeError, ValueError) as error:  # TypeError: a value is missing
        raise UserError(f"params.yaml: {where}.task: {error}") from None
    return task
