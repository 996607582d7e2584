"""The address of a program: a hash that changes only where what the program does could change.

`sources` says where a name leads, `normal` which text a statement has, `program` puts the texts
of all that some definitions refer to into one hash. Nothing is run or imported.
"""

from pondering.project.code.program import Program
from pondering.project.code.sources import Place

__all__ = ["Place", "Program"]
