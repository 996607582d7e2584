"""What every step of a trained network showed, stored for exit rules and for the readout audit.

Rules are chosen after the runs. So the evaluation stores, of each mechanism that allows exits
(`Halting.exits`) and each task of single vectors, what any rule reads of every step, on two sets
of examples: the first ones of each difficulty in the frozen sets (part "test"), and sets of their
own on which thresholds are chosen (part "validation"; see `Task.evaluation_sets`). One `.npz` for
each experiment has, by name, with K replicas, N steps, B examples, C outputs:

- `MECHANISM/mechanisms`, `MECHANISM/settings`, `MECHANISM/seeds`, `MECHANISM/status`: (K,), which
  replica is which; one that has diverged is stored as it is;
- `MECHANISM/PART/SPLIT/halt_logits`: (N, K, B) float32, from which h_n and p_n follow exactly;
- `.../outputs`: (N, K, B, C) float16, the logits y_n;
- `.../change`: (N, K, B) float16, |s_n - s_(n-1)| / |s_n|, 1 at n = 1 (`relative_change`);
- `.../targets`, `.../difficulty`: (B,).

Every row takes all N steps, also where its mechanism would have stopped it. On sequences a rule
also decides which state crosses to the next input: nothing is stored of them, a rule is run through
the network, as `measure(network, Exit(rule, N), ...)`.

What float16 costs: an output keeps 11 bits, so that two classes whose logits differ by less than
0.1% may tie, and the first is taken for the answer; a sign stays. In the published networks of
`quick` no answer differs on parity, up to 5 in 10,000 on digits.
States are not stored: N x B x H numbers for each replica are too many. The audit refits heads on
states that it computes again from the parameters in `data/runs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pondering.evaluate.load import Trained
from pondering.evaluate.measure import ROWS_AT_A_TIME, chunks
from pondering.model.halting import relative_change, side_by_side
from pondering.model.network import Network
from pondering.tasks.base import Batch, Task

Array = NDArray[Any]


def of_mechanism(
    trained: Trained, task: Task, sets: Mapping[str, Batch], examples: int
) -> dict[str, Array]:
    """The arrays of one mechanism by name; none where it allows no exits, or on sequences.

    Args:
        trained: its replicas.
        task: what they were trained on.
        sets: the frozen evaluation sets by split, tensors (T, B, ...).
        examples: how many of each difficulty.
    """
    network, replicas, name = trained.network, trained.replicas, trained.mechanism
    if not network.halting.exits or any(len(batch.mask) > 1 for batch in sets.values()):
        return {}
    device = next(network.parameters()).device
    own = task.evaluation_sets(examples, "validation")
    parts = {"test": sets, "validation": {split: each.torch(device) for split, each in own.items()}}
    found: dict[str, Array] = {
        f"{name}/mechanisms": np.array([each.variant for each in replicas]),
        f"{name}/settings": np.array([each.setting for each in replicas]),
        f"{name}/seeds": np.array([each.seed for each in replicas]),
        f"{name}/status": np.array(trained.status),
    }
    for part, batches in parts.items():
        for split, batch in batches.items():
            arrays = every_step(network, first(batch, examples), len(replicas))
            found |= {f"{name}/{part}/{split}/{each}": array for each, array in arrays.items()}
    return found


def first(batch: Batch, count: int) -> Batch:
    """The first `count` examples of each difficulty, in the order of the batch."""
    values = batch.difficulty.unique()
    rows = [torch.nonzero(batch.difficulty == each).flatten()[:count] for each in values]
    return batch.take(torch.cat(rows).sort().values)


@torch.no_grad()
def every_step(network: Network, batch: Batch, replicas: int) -> dict[str, Array]:
    """All steps of all replicas on one batch of single vectors.

    Args:
        network: K stacked replicas.
        batch: tensors (1, B, ...), without replica axis.

    Returns:
        the arrays that the module's description lists, by the last part of their name.
    """
    pieces: list[list[torch.Tensor]] = []
    for chunk in chunks(batch, ROWS_AT_A_TIME, replicas):
        drive = network.cell.embed(chunk.inputs[0])
        rows = chunk.mask.shape[1:]
        state = tuple(drive.new_zeros(*rows, size) for size in network.cell.state_sizes)
        logits, outputs, changes = [], [], []
        before: tuple[torch.Tensor, ...] = ()
        for n in range(1, network.halting.max_steps + 1):
            state = network.cell.step(drive, state, n == 1)
            output, logit = network.heads.of(state)
            now = (*before, side_by_side(state))
            logits.append(logit)
            outputs.append(output.half())
            changes.append(relative_change(now).half())
            before = now[-1:]
        pieces.append([torch.stack(each).cpu() for each in (logits, outputs, changes)])
    joined = [torch.cat(parts, dim=2).numpy() for parts in zip(*pieces, strict=True)]
    known = {"targets": batch.targets[0], "difficulty": batch.difficulty}
    found = dict(zip(("halt_logits", "outputs", "change"), joined, strict=True))
    return found | {name: values.cpu().numpy() for name, values in known.items()}
