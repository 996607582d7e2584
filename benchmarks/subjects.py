"""What is measured: networks whose ponder is set, their plain twins, and the work they must do."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import plain
import torch
from torch import Tensor

from pondering.model.cells import CELLS
from pondering.model.network import Network
from pondering.params.read import ExperimentConfig, load_params
from pondering.tasks.base import Batch, Task

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {"act": 0.001, "pondernet": 0.4, "repeat": 2.0}
MEAN_PONDER, LEAST_MAXIMUM = 3.4, 20  # of the regime "spread"
CLOSE = 0.1  # to that mean
GAINS = tuple(2 ** (power / 2) for power in range(4, 25))  # of the halting unit's first weights
BISECTIONS = 14
STAND_INS = {"digits": {"data": "sklearn_digits", "validation": 200}}  # speed asks for no download
STAND_INS |= {"wikipedia": {"source": "generated"}}
TINY: dict[str, Any] = {
    "network": {"hidden": 16},
    "training": {"batch": 8},
    "halting": {"max_steps": 20},
}


def configuration(experiment: str, quick: bool) -> ExperimentConfig:
    """The paper's size of an experiment, on data that need no download; `quick`: a tiny one."""
    config = load_params(ROOT / "params.yaml", "paper").experiment(experiment)
    task = config.task | STAND_INS.get(config.task["name"], {})
    if quick and "length" in task:
        task = task | {"length": [2, 2] if task["name"] == "sort" else [1, 2]}
    if quick and "sequence" in task:
        task = task | {"sequence": 5}
    config = config.model_copy(update={"task": task})
    if not quick:
        return config
    parts = {key: getattr(config, key).model_copy(update=value) for key, value in TINY.items()}
    return capped(config.model_copy(update=parts), 4)


def capped(config: ExperimentConfig, steps: int) -> ExperimentConfig:
    """The configuration with at most so many ponder steps of PonderNet."""
    block = config.mechanism("pondernet")
    block = block.model_copy(update={"own": {**block.own, "max_steps": steps}})
    return config.model_copy(update={"mechanisms": config.mechanisms | {"pondernet": block}})


class HaltingUnit(NamedTuple):
    """How a network's own halting unit is changed, so that it ponders as wanted."""

    gain: float  # its weights times this
    bias: float


# Weights zero and h = 0.73, as Graves starts: the second step halts every row.
FRESH = HaltingUnit(0.0, 1.0)


@torch.no_grad()
def set_halting(network: Network, unit: HaltingUnit) -> None:
    """Change the halting unit of a stacked network."""
    network.heads.weight[:, -1] *= unit.gain
    network.heads.bias[:, -1] = unit.bias


@torch.no_grad()
def find_spread(network: Network, batches: Sequence[Batch]) -> HaltingUnit:
    """The least gain, and its bias, at which mean ponder is 3.4 and some row takes 20 steps.

    Args:
        network: stacked; its halting unit is changed.
        batches: on which this holds.
    """
    weight, bias = network.heads.weight[:, -1], network.heads.bias[:, -1]
    direction = weight.clone()
    best = (torch.inf, FRESH)
    for gain in GAINS:
        weight.copy_(direction * gain)
        low, high = -8.0 - gain, 8.0 + gain
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            bias.fill_(middle)
            steps, inputs, most = count_ponder(network, batches)
            off = steps / inputs - MEAN_PONDER
            if most >= LEAST_MAXIMUM:
                best = min(best, (abs(off), HaltingUnit(gain, middle)))
            if abs(off) < CLOSE:
                break
            low, high = (middle, high) if off > 0 else (low, middle)
        if best[0] < CLOSE:
            break
    return best[1]


@torch.no_grad()
def count_ponder(network: Network, batches: Sequence[Batch]) -> tuple[float, float, float]:
    """Steps of rows that had not halted, input vectors, and the most steps of any row."""
    steps = [network(batch.inputs, batch.mask).ponder_time for batch in batches]
    inputs = sum(float(batch.mask.sum()) for batch in batches)
    return sum(float(each.sum()) for each in steps), inputs, max(float(e.max()) for e in steps)


def useful_work(
    config: ExperimentConfig, task: Task, mechanism: str, steps: float, inputs: float
) -> float:
    """Floating-point operations of the matrix products, forward and backward.

    A product costs 2 operations per weight and row, and twice that again in the backward pass;
    products of the input itself need no gradient of it. Rows that have halted count nothing.

    Args:
        steps: ponder steps of rows that had not halted.
        inputs: input vectors.
    """
    hidden, outputs = config.network.hidden, task.output_size
    per_step = hidden * (mechanism != "repeat")  # the halting unit
    per_input = 0.0
    if config.network.cell == "conv_mlp":
        per_input += 24 * 24 * 10 * 25 * 2 / 3 + 8 * 8 * 20 * 250 + 320 * hidden + hidden**2
        per_step += 2 * hidden**2
    else:
        kind: Any = CELLS[config.network.cell]
        gates = kind.gates
        one_hot = config.task["name"] == "wikipedia"  # a look-up
        per_input += 0.0 if one_hot else task.input_size * gates * hidden * 2 / 3
        per_step += gates * hidden**2
    if mechanism == "pondernet":  # scores every step, the others their mean
        per_step += outputs * hidden
    else:
        per_input += outputs * hidden
    return 2 * 3 * (per_step * steps + per_input * inputs)


def plain_mechanism(config: ExperimentConfig, mechanism: str, setting: float) -> plain.Ponder:
    """The plain loop's ponder of one input, with the configuration's values."""
    shared, own = config.halting, config.mechanism("pondernet").own
    if mechanism == "act":
        return functools.partial(
            plain.act, tau=setting, epsilon=shared.epsilon, max_steps=shared.max_steps
        )
    if mechanism == "repeat":
        return functools.partial(plain.repeat, rho=int(setting))
    steps = own["max_steps"] or shared.max_steps
    return functools.partial(plain.pondernet, lambda_p=setting, beta=own["beta"], max_steps=steps)


@torch.no_grad()
def twin(network: Network) -> plain.PlainNetwork:
    """The plain network of the same weights.

    Args:
        network: without replica axis.
    """
    cell, heads = network.cell, network.heads
    name = next(name for name, kind in CELLS.items() if type(cell) is kind)
    inputs = cell.side**2 if name == "conv_mlp" else cell.input.weight.shape[1]
    outputs, hidden = heads.weight.shape[0] - 1, heads.weight.shape[1]
    made = plain.PlainNetwork(name, inputs, hidden, outputs, cell.flag is not None)
    made.to(heads.weight)
    _copy(made.output, heads.weight[:-1], heads.bias[:-1])
    _copy(made.halt, heads.weight[-1:], heads.bias[-1:])
    target: Any = made.cell
    if name == "conv_mlp":
        _copy(target.conv1, cell.filters1, cell.bias1)
        _copy(target.conv2, cell.filters2, cell.bias2)
        _copy(target.embedding, cell.embedding.weight, cell.embedding.bias)
        joined = torch.cat([cell.join.weight, cell.recurrent.weight], dim=1)
        _copy(target.join, joined, cell.join.bias + cell.recurrent.bias)
        _copy(target.out, cell.out.weight, cell.out.bias)
        return made
    flag = [] if cell.flag is None else [cell.flag.unsqueeze(1)]
    target.weight_ih.copy_(torch.cat([cell.input.weight, *flag], dim=1))
    target.weight_hh.copy_(cell.recurrent)
    target.bias_ih.copy_(cell.input.bias)
    target.bias_hh.zero_()
    if name == "gru":
        target.bias_hh[2 * hidden :].copy_(cell.candidate_bias)
    return made


def _copy(layer: Any, weight: Tensor, bias: Tensor) -> None:
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)
