"""What docs/methods.md says of coverage, simulated again with fewer experiments."""

from __future__ import annotations

import math

import pytest
from support.intervals import KINDS, METHODS, PAGE, SEEDS, SIMULATIONS, coverage

FEWER = 1_000


def published() -> dict[tuple[str, int], list[str]]:
    """The cells of the page's table by kind and seeds."""
    kinds = {each.words: kind for kind, each in KINDS.items()}
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines()]
    return {(kinds[row[0]], int(row[1])): row[2:] for row in rows if row[0] in kinds}


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_published_coverage_is_found_again(kind: str, seeds: int) -> None:
    """Within four standard deviations of the two simulations; of a share near one, of 1 in 500."""
    found = coverage(kind, seeds, FEWER)
    for method, cell in zip(METHODS, published()[kind, seeds], strict=True):
        if cell == "no bound":
            assert seeds < 6 and found[method] == 1
            continue
        share = float(cell) / 100
        spread = math.sqrt(max(share * (1 - share), 0.002) * (1 / FEWER + 1 / SIMULATIONS))
        assert found[method] == pytest.approx(share, abs=4 * spread), method
