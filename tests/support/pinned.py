"""Tiny networks in float64 and the same networks as the oracle reads them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from oracle import oracle, oracle_cells
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from pondering.model.cells import CELLS, State
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet
from pondering.model.network import Network

INPUTS, HIDDEN, OUTPUTS, ROWS, TIMES = 2, 3, 2, 3, 2
CLASSIC = ("tanh_rnn", "gru", "lstm", "lstm+state")  # whose halting unit reads [h; c]

# Each mechanism with the oracle's rule for it; several settings so that every branch is taken.
MECHANISMS: dict[str, tuple[Halting, oracle.Rule]] = {
    "act": (ACT(0.25, epsilon=0.3, max_steps=5), oracle.act(0.3, 5)),
    "act_capped": (ACT(0.125, epsilon=0.01, max_steps=2), oracle.act(0.01, 2)),
    "pondernet": (PonderNet(0.25, 0.5, max_steps=4), oracle.pondernet(None, 4)),
    "pondernet_eps": (PonderNet(0.25, 0.5, 6, epsilon=0.35), oracle.pondernet(0.35, 6)),
    "act_last": (ACT(0.25, 0.3, 5, carry="last"), oracle.act(0.3, 5, "last")),
    "pondernet_last": (
        PonderNet(0.0, 0.5, 6, 0.35, kl="prior_p", carry="last"),
        oracle.pondernet(0.35, 6, "last"),
    ),
    "none": (FixedRepeat(1), oracle.repeat(1)),
    "repeat": (FixedRepeat(3), oracle.repeat(3)),
}


def fits(cell: str, mechanism: str) -> bool:
    """Whether the pair is tried: [h; c] is read by mechanisms whose halting unit learns."""
    return cell != "lstm+state" or mechanism in ("act", "act_last", "pondernet")


def build(cell: str, halting: Halting, seed: int = 0, flag: bool = True) -> Network:
    """A float64 network of HIDDEN units whose parameters are large enough for rows to differ."""
    generator = torch.Generator().manual_seed(seed)
    inputs = 784 if cell == "conv_mlp" else INPUTS
    kind, _, reads = cell.partition("+")
    made = CELLS[kind](inputs, HIDDEN, flag, generator)
    network = Network(made, halting, OUTPUTS, -0.5, generator, reads or "h").double()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "filters" not in name:
                parameter.mul_(1.7)
            if name in ("heads.weight", "heads.rest"):
                parameter[-1] *= 2
    return network


def inputs_for(cell: str, times: int = TIMES, rows: int = ROWS, seed: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    size = 784 if cell == "conv_mlp" else INPUTS
    return torch.randn(times, rows, size, generator=generator, dtype=torch.float64)


def targets_for(times: int = TIMES, rows: int = ROWS, seed: int = 6) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 2, (times, rows, OUTPUTS), generator=generator).double()


def score_against(targets: Tensor) -> Callable[[Tensor], Tensor]:
    """Binary cross entropy of outputs (T, ..., B, C), or of every step's (N, T, ..., B, C)."""

    def score(outputs: Tensor) -> Tensor:
        wanted = targets.expand_as(outputs)
        return binary_cross_entropy_with_logits(outputs, wanted, reduction="none").sum(-1)

    return score


def values_of(network: Network) -> dict[str, np.ndarray]:
    return {name: p.detach().numpy().copy() for name, p in network.named_parameters()}


def model_of(cell: str, values: dict[str, np.ndarray]) -> oracle.Model:
    """The oracle's model under the network's parameters, by name."""
    flag = "cell.flag" in values
    heads, bias = values["heads.weight"], values["heads.bias"]
    kind = cell.partition("+")[0]
    step, embed = _oracle_cell(kind, values, flag)
    unit = heads[-1]
    if "heads.rest" in values:
        unit = np.concatenate([unit, values["heads.rest"][0]])
    return oracle.Model(
        cell=step,
        state_sizes=(heads.shape[1],) * (2 if kind == "lstm" else 1),
        W_y=heads[:-1],
        b_y=bias[:-1],
        w_h=unit,
        b_h=float(bias[-1]),
        flag=flag,
        embed=embed,
    )


def _with_flag(weight: np.ndarray, values: dict[str, np.ndarray], flag: bool) -> np.ndarray:
    return np.hstack([weight, values["cell.flag"][:, None]]) if flag else weight


def _oracle_cell(cell: str, values: dict[str, np.ndarray], flag: bool):  # type: ignore[no-untyped-def]
    if cell == "conv_mlp":
        w = {
            "kernel_1": values["cell.filters1"],
            "bias_1": values["cell.bias1"],
            "kernel_2": values["cell.filters2"],
            "bias_2": values["cell.bias2"],
            "W_e": values["cell.embedding.weight"],
            "b_e": values["cell.embedding.bias"],
            "W_x": _with_flag(values["cell.join.weight"], values, flag),
            "W_s": values["cell.recurrent.weight"],
            "b": values["cell.join.bias"] + values["cell.recurrent.bias"],
            "W_out": values["cell.out.weight"],
            "b_out": values["cell.out.bias"],
        }
        return (
            lambda x, s: oracle_cells.conv_mlp(w, x, s),
            lambda x: oracle_cells.image_embedding(w, x),
        )
    w = {
        "W_x": _with_flag(values["cell.input.weight"], values, flag),
        "W_s": values["cell.recurrent"],
        "b": values["cell.input.bias"],
    }
    if cell == "gru":
        w["b_x"] = w["b"]
        w["b_s"] = np.zeros_like(w["b"])
        w["b_s"][-len(values["cell.candidate_bias"]) :] = values["cell.candidate_bias"]
    step = {"tanh_rnn": oracle_cells.tanh_rnn, "gru": oracle_cells.gru, "lstm": oracle_cells.lstm}
    return lambda x, s: step[cell](w, x, s), lambda x: x


class Own(nn.Module):
    """A user's own cell, with two state tensors of different sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.state_sizes = (HIDDEN, 1)
        self.mix = nn.Parameter(torch.linspace(-1, 1, INPUTS * HIDDEN).reshape(INPUTS, HIDDEN))

    def embed(self, x: Tensor) -> Tensor:
        return x @ self.mix

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        memory, count = state
        return memory * 0.5 + drive + (1.0 if first else 0.0), count + 1


class Geometric(nn.Module):
    """s^1 = x_1 and s^n = x_0 s^{n-1}: a state that may overflow."""

    state_sizes = (1,)

    def embed(self, x: Tensor) -> Tensor:
        return x

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        return (drive[..., 1:] if first else state[0] * drive[..., :1],)
