"""The loops' bits where a process compiles them, and where it reads the code from disk.

For `.ci/run`: to compile takes half a minute, and `make test` has none to spare.
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
HIDDEN = 128  # a few dozen are too few to be rounded in two ways


def test_whether_a_process_compiled_them_changes_no_bit(tmp_path: Path) -> None:
    """The first process compiles everything; the second uses the loops in another order."""
    first, second = (hashes(tmp_path, order) for order in (MECHANISMS, MECHANISMS[::-1]))
    assert list(tmp_path.rglob("*.nbc")), "nothing was kept on disk"
    assert set(first) == set(second) and len(first) == 2 * len(MECHANISMS)


def hashes(cache: Path, order: tuple[str, ...]) -> list[str]:
    """What a process of its own prints."""
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
