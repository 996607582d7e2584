"""Training batches drawn where the network trains: a file a task, with a function `draw`.

They are other batches than those that a task draws on the host, from the same distribution. Only
integers, a table and single products decide them, so a GPU and a CPU draw the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pondering.tasks.base import Batch
from pondering.train.draws import addition, logic, parity, sort
from pondering.train.draws.words import Words

DRAWS: dict[str, Callable[[Any, Words], Batch]] = {
    "parity": parity.draw,
    "logic": logic.draw,
    "addition": addition.draw,
    "sort": sort.draw,
}
"""By name of the task: the examples that words decide, with axes (S, N, T, ...), see `Words`."""
