"""Imported last by the process that stages are forked from.

What is loaded there stays: no stage searches it for garbage, and the process ends at once.
"""

import gc

gc.freeze()
