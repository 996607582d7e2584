"""Triton interprets every kernel that these tests import; they run by themselves (`.ci/run`)."""

import os

os.environ["TRITON_INTERPRET"] = "1"
