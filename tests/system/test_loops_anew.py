"""The loops compute the same bits when compiled and when loaded from disk.

Compiling takes half a minute, so `.ci/run` calls this test and `make test` does not.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import torch

from pondering.model.cells import CELLS
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet
from pondering.model.network import Network
from pondering.model.stacking import stack

MECHANISMS = ("act", "pondernet", "repeat")
HIDDEN = 128  # with a few dozen units no rounding would differ


def test_compiled_and_loaded_loops_have_the_same_bits(tmp_path: Path) -> None:
    """The first process compiles everything; the second uses the loops in another order."""
    first, second = (hashes(tmp_path, order) for order in (MECHANISMS, MECHANISMS[::-1]))
    assert list(tmp_path.rglob("*.nbc")), "the cache is empty"
    assert set(first) == set(second) and len(first) == 2 * len(MECHANISMS)


def hashes(cache: Path, order: tuple[str, ...]) -> list[str]:
    """The lines that `main` prints in a new process."""
    done = subprocess.run(
        [sys.executable, __file__, *order], capture_output=True, text=True, timeout=300,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def main(order: list[str]) -> None:
    """Print a hash of the gradients of each cell and mechanism."""
    mechanisms: dict[str, Halting] = {
        "act": ACT(0.01, max_steps=12), "repeat": FixedRepeat(3), "pondernet": PonderNet(0.2)
    }  # fmt: skip
    for name in order:
        for cell in ("lstm", "tanh_rnn"):
            generator = torch.Generator().manual_seed(0)
            made = CELLS[cell](4, HIDDEN, True, generator)
            solo = Network(made, mechanisms[name], 2, -1.0, generator)
            network = stack([solo, solo], solo.halting)
            network.path = "compiled"
            done = network(torch.randn(3, 2, 33, 4, generator=generator))
            losses = network.halting.objective(lambda y: y.square().sum(-1), done)
            torch.autograd.backward(losses.sum())
            gradients = [
                p.grad.numpy().tobytes() for p in network.parameters() if p.grad is not None
            ]
            print(cell, name, hashlib.sha256(b"".join(gradients)).hexdigest())


if __name__ == "__main__":
    main(sys.argv[1:])
