"""Write the pages of the library, from its docstrings: `python docs/api.py FOLDER`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pdoc

import pondering

MODULES = (
    "pondering",
    "pondering.model.cells.base",
    "pondering.model.halting",
    "pondering.model.halting.contract",
    "pondering.model.stacking",
    "pondering.train.stacked",
    "pondering.evaluate.networks",
    "pondering.tasks.base",
)

warnings.simplefilter("error")
# pdoc looks for the types of a NamedTuple in another module than its own, and leaves them as text.
warnings.filterwarnings("ignore", r"Error parsing type annotation .*\.__init__\. Import of")
for name in pondering.__all__:  # they are imported where they are first used
    vars(pondering)[name] = getattr(pondering, name)
pdoc.render.configure(docformat="google")
pdoc.pdoc(*MODULES, output_directory=Path(sys.argv[1]))
