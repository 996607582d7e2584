"""The tasks, by the name that `task.name` gives them in params.yaml."""

from __future__ import annotations

from typing import Any

from pondering.tasks.addition import Addition
from pondering.tasks.images import Digits
from pondering.tasks.logic import Logic
from pondering.tasks.parity import Parity
from pondering.tasks.sort import Sort
from pondering.tasks.wikipedia import Wikipedia

TASKS: dict[str, type[Any]] = {
    "parity": Parity,
    "logic": Logic,
    "addition": Addition,
    "sort": Sort,
    "wikipedia": Wikipedia,
    "digits": Digits,
}
