"""Numbers of one update for every cell, mechanism and path, pinned in `golden.json`.

`python -m support.golden`, run in `tests`, adds missing cases. `python -m support.golden act` also
pins anew each case with `act` in its name; `-` stands for all cases.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from pondering.model.cells import CELLS
from pondering.model.halting import (
    ACT,
    DACT,
    Certainty,
    Correctness,
    FixedRepeat,
    PonderNet,
    RandomDepth,
)
from pondering.model.network import Network
from pondering.model.stacking import stack
from pondering.project import provenance

FILE = Path(__file__).with_name("golden.json")
REPLICAS, ROWS, TIMES, INPUTS, HIDDEN, OUTPUTS = 2, 8, 3, 5, 32, 3
PATHS = ("readable", "fast", "compiled")
MECHANISMS = {
    "act": lambda: ACT(torch.tensor([0.01, 0.1]), 0.01, 6),
    "pondernet": lambda: PonderNet(torch.tensor([0.2, 0.5]), 0.01, 6),
    "pondernet_epsilon": lambda: PonderNet(torch.tensor([0.2, 0.5]), 0.01, 6, 0.3),
    "act_last": lambda: ACT(torch.tensor([0.01, 0.1]), 0.01, 6, "last"),
    "pondernet_prior_p": lambda: PonderNet(
        torch.tensor([0.0, 0.5]), 0.01, 6, kl="prior_p", carry="last"
    ),
    "repeat": lambda: FixedRepeat(torch.tensor([1.0, 3.0])),
}
OF_CLASSES = {
    "correctness": lambda: Correctness(0.5, 6, torch.tensor([0.1, 1.0])),
    "correctness_detach": lambda: Correctness(torch.tensor([0.5, 1.0]), 6, detach=True),
    "certainty": lambda: Certainty(torch.tensor([0.05, 1.0]), 6),
    "dact": lambda: DACT(torch.tensor([0.01, 0.1]), 6),
    "random_depth": lambda: RandomDepth(torch.tensor([0.0, 1.0]), 6),
}
"""Mechanisms that only the readable path has; answers in classes, which some of them need."""
NAMES = [
    *("-".join(names) for names in itertools.product(CELLS, MECHANISMS, PATHS)),
    *(
        f"lstm+state-{name}-{path}"
        for name, make in MECHANISMS.items()
        if make().learns
        for path in PATHS
    ),
    *("-".join(names) for names in itertools.product(CELLS, OF_CLASSES, PATHS[:1])),
]


def numbers(name: str) -> dict[str, Any]:
    """Losses, gradient norms and a hash of all bits, of one training step and one evaluation.

    Args:
        name: one of `NAMES`.
    """
    cell, mechanism, path = name.split("-")
    cell, _, reads = cell.partition("+")
    image = cell == "conv_mlp"
    size, times = (784, 1) if image else (INPUTS, TIMES)
    halting = (MECHANISMS | OF_CLASSES)[mechanism]()
    networks = []
    for seed in range(REPLICAS):
        generator = torch.Generator().manual_seed(seed)
        made = CELLS[cell](size, HIDDEN, not image, generator)
        networks.append(Network(made, halting, OUTPUTS, 0.0, generator, reads or "h"))
    network = stack(networks, halting)
    network.path = path
    source = torch.Generator().manual_seed(7)
    inputs = torch.randn(times, REPLICAS, ROWS, size, generator=source)
    mask = torch.ones(times, REPLICAS, ROWS, dtype=torch.bool)
    mask[1:, :, ROWS // 2 :] = False

    labels = torch.randint(0, OUTPUTS, (times, REPLICAS, ROWS, 1), generator=source)

    def score(outputs: torch.Tensor) -> torch.Tensor:
        if mechanism in MECHANISMS:
            return outputs.square().mean(-1)
        index = labels.expand(*outputs.shape[:-1], 1)
        return -outputs.log_softmax(-1).gather(-1, index).squeeze(-1)

    now = halting.at_update(1)
    pondered = network(inputs, mask, halting=now)
    losses = now.objective(score, pondered)
    losses = torch.where(mask, losses, 0.0).sum(0).mean(-1)
    losses.sum().backward()
    gradients = {n: p.grad for n, p in network.named_parameters() if p.grad is not None}
    network.halting = halting.at_inference(torch.Generator().manual_seed(3))
    with torch.no_grad():
        record = network(inputs, mask)
        prediction = network.halting.predict(record)
        steps = network.halting.ponder_time(record)
    steps = torch.where(mask, steps, 0.0)
    prediction = torch.where(mask.unsqueeze(-1), prediction, 0.0)
    parts = [losses, *gradients.values(), prediction, steps]
    content = b"".join(part.detach().contiguous().numpy().tobytes() for part in parts)
    norms = {n: g.reshape(REPLICAS, -1).norm(dim=1).tolist() for n, g in gradients.items()}
    return {
        "loss": losses.tolist(),
        "gradient_norms": norms,
        "prediction": prediction.mean((0, 2, 3)).tolist(),
        "steps": steps.mean((0, 2)).tolist(),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def where() -> list[str]:
    """Processor, torch and OpenBLAS kernels, which decide the last bits."""
    from pondering.model.paths.compiled import operations  # loads BLAS

    kernels = {str(each.get("architecture")) for each in operations._blas().info()}
    return [provenance.processor(), torch.__version__, *sorted(kernels)]


def write(path: Path, words: Sequence[str] = ()) -> None:
    """Write the cases that a file lacks, and again each case whose name contains a word.

    A case that another processor adds gets no sha256.
    """
    torch.set_num_threads(1)
    pins = json.loads(path.read_text()) if path.is_file() else {"where": where(), "cases": {}}
    names = [n for n in NAMES if n not in pins["cases"] or any(word in n for word in words)]
    place = where() if names == NAMES else pins["where"]
    found = {name: numbers(name) for name in names}
    if place != where():
        found = {name: each | {"sha256": None} for name, each in found.items()}
    cases = pins["cases"] | found
    whole = {"where": place, "cases": {name: cases[name] for name in NAMES}}
    path.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    write(FILE, sys.argv[1:])
