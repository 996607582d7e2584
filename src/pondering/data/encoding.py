"""What the inputs and answers of tasks are made of, for pages that write and read them."""

from __future__ import annotations

from typing import Any

from pondering.tasks import addition, logic, parity
from pondering.tasks.digits import files
from pondering.tasks.digits import task as digits
from pondering.tasks.wikipedia import task as wikipedia


def encodings() -> dict[str, dict[str, Any]]:
    """The constants of each task that a page can ask for inputs of, for JSON.

    Returns:
        by the task's name: parity's signs; the names of logic's gates and their truth by
        2 P + Q; addition's classes of a place, the one past the sum's end, and the most numbers;
        side, mean and deviation of digits; the bytes of the made text.
    """
    return {
        "parity": {"signs": parity.SIGNS},
        "logic": {"names": logic.NAMES, "truth": logic.TRUTH.astype(int).tolist()},
        "addition": {
            "classes": addition.CLASSES,
            "end": addition.END,
            "numbers": addition.MOST_NUMBERS,
        },
        "digits": {"side": files.SIDE, "mean": digits.MEAN, "deviation": digits.DEVIATION},
        "wikipedia": {"made": sorted(set(wikipedia.prepare("generated", "")["text"].tolist()))},
    }
