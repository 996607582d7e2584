"""Results that the figures of these tests are drawn from."""

from __future__ import annotations

import pytest
from support.synthetic_results import made_up_results

from pondering.results.results import Results


@pytest.fixture(scope="session")
def results() -> Results:
    """Made-up results of every experiment, three seeds, one replica diverged; not to be changed."""
    return made_up_results()
