"""Triton interprets every kernel that these tests import, so `.ci/run` runs them alone."""

import os

os.environ["TRITON_INTERPRET"] = "1"
