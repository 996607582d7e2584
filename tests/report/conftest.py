"""Made-up results for the tests of figures."""

from __future__ import annotations

import pytest
from support.synthetic_results import made_up_results

from pondering.results.results import Results


@pytest.fixture(scope="session")
def results() -> Results:
    """Results of every experiment: three seeds, one replica diverged. No test changes them."""
    return made_up_results()
