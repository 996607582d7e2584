"""Tiny float64 networks, and the oracle's models of these networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from oracle import oracle, oracle_cells
from torch import Tensor, nn

from pondering.model.cells import CELLS, State
from pondering.model.halting import (
    ACT,
    DACT,
    Certainty,
    Correctness,
    Exit,
    FixedRepeat,
    Halting,
    History,
    PonderNet,
    RandomDepth,
    Rule,
    Score,
    relative_change,
)
from pondering.model.network import Network

INPUTS, HIDDEN, OUTPUTS, ROWS, TIMES = 2, 3, 2, 3, 2
CLASSIC = ("tanh_rnn", "gru", "lstm", "lstm+state")  # whose halting unit reads [h; c]


class Pinned(NamedTuple):
    """A mechanism of the package beside its oracle.

    Args:
        rule: the oracle's halting rule, for one input of one example.
        loss: the oracle's loss of an example and its label; its last argument is the example at
            the parameters that fix every choice.
        cuts: whether step n starts from a detached state.
        answer: the predicted class probabilities.
    """

    halting: Halting
    rule: oracle.Rule
    loss: Callable[[oracle.Pondering, int, oracle.Pondering], float]
    cuts: Callable[[int], bool] | None = None
    answer: Callable[[oracle.Pondering], np.ndarray] = lambda done: oracle.softmax(done.output)


def _act(*settings: Any, **more: Any) -> Pinned:
    halting = ACT(*settings, **more)

    def loss(done: oracle.Pondering, label: int, _: oracle.Pondering) -> float:
        return oracle.act_loss(done, lambda y: oracle.cross_entropy(y, label), halting.tau)

    return Pinned(halting, oracle.act(halting.epsilon, halting.max_steps, halting.carry), loss)


def _pondernet(*settings: Any, **more: Any) -> Pinned:
    halting = PonderNet(*settings, **more)
    prior = halting.lambda_p, halting.beta, halting.kl

    def loss(done: oracle.Pondering, label: int, _: oracle.Pondering) -> float:
        return oracle.pondernet_loss(done, lambda y: oracle.cross_entropy(y, label), *prior)

    return Pinned(
        halting, oracle.pondernet(halting.epsilon, halting.max_steps, halting.carry), loss
    )


def _last_loss(done: oracle.Pondering, label: int, _: oracle.Pondering) -> float:
    return oracle.cross_entropy(done.output, label)


def _correctness(detach: bool = False) -> Pinned:
    return Pinned(
        Correctness(0.7, 5, explore=0.0, detach=detach),
        oracle.exit_where(lambda done: done.logits[-1] > 0, 5),
        lambda done, label, _: oracle.correctness_loss(done, label, 0.7),
        cuts=(lambda n: True) if detach else None,
    )


def _certainty(theta: float | None = None) -> Pinned:
    """Certainty in training, or in evaluation with the threshold `theta`."""

    def loss(done: oracle.Pondering, label: int, held: oracle.Pondering) -> float:
        losses = [oracle.cross_entropy(y, label) for y in held.outputs]
        chosen = losses.index(min(losses)), oracle.most_certain(held)
        return oracle.certainty_loss(done, label, chosen)

    return Pinned(
        Certainty(max_steps=5) if theta is None else Certainty(theta, 5).at_inference(),
        oracle.exit_where(lambda done: oracle.certainty_of(done.outputs[-1]) > (theta or 1), 5),
        loss,
        answer=lambda done: oracle.softmax(done.outputs[oracle.most_certain(done)]),
    )


def _dact(early: bool = False) -> Pinned:
    return Pinned(
        DACT(0.3, 5).at_inference() if early else DACT(0.3, 5),
        oracle.dact(5, early),
        lambda done, label, _: oracle.dact_loss(done, label, 0.3),
        answer=oracle.dact_answer,
    )


def _random_depth(cut: int, depth: int) -> Pinned:
    """At one update this is a fixed repeat whose first `cut` steps have no gradient."""
    cuts = (lambda n: n == cut + 1) if cut else None
    return Pinned(RandomDepth(1.0, 6, depth=depth, cut=cut), oracle.repeat(depth), _last_loss, cuts)


def _exit(fast: Rule, slow: Callable[[oracle.Pondering], bool]) -> Pinned:
    return Pinned(Exit(fast, 6), oracle.exit_where(slow, 6), _last_loss)


def same_answers(count: Any) -> Rule:
    """Stops once the argmax of the last `count` outputs is the same."""

    def rule(history: History) -> Tensor:
        answers = torch.stack(history.outputs).argmax(-1)
        return (answers == answers[-1]).flip(0).long().cumprod(0).sum(0) >= count

    return rule


def _alike(done: oracle.Pondering, count: int) -> bool:
    answers = [int(np.argmax(y)) for y in done.outputs]
    return len(answers) >= count and len(set(answers[-count:])) == 1


def _relative_change(done: oracle.Pondering) -> float:
    """|s_n - s_(n-1)| / |s_n|."""
    now, *before = (np.concatenate(state) for state in done.states[::-1])
    moved = now - before[0] if before else now
    return float(np.sqrt((moved**2).sum() / (now**2).sum()))


TRAINED: dict[str, Pinned] = {
    "act": _act(0.25, 0.3, 5),
    "act_capped": _act(0.125, 0.01, 2),
    "act_last": _act(0.25, 0.3, 5, carry="last"),
    "pondernet": _pondernet(0.25, 0.5, 4),
    "pondernet_eps": _pondernet(0.25, 0.5, 6, 0.35),
    "pondernet_last": _pondernet(0.0, 0.5, 6, 0.35, kl="prior_p", carry="last"),
    "none": Pinned(FixedRepeat(1), oracle.repeat(1), _last_loss),
    "repeat": Pinned(FixedRepeat(3), oracle.repeat(3), _last_loss),
    "correctness": _correctness(),
    "correctness_detach": _correctness(detach=True),
    "certainty": _certainty(),
    "dact": _dact(),
    "random_depth": _random_depth(0, 4),
    "random_depth_cut": _random_depth(2, 5),
}
"""Every mechanism in training, with settings that reach every branch."""
STOPPING: dict[str, Pinned] = {
    "certainty_stops": _certainty(0.05),
    "dact_early": _dact(early=True),
    "exit_threshold": _exit(
        lambda history: torch.sigmoid(history.halt_logits[-1]) > 0.4,
        lambda done: 1 / (1 + np.exp(-done.logits[-1])) > 0.4,
    ),
    "exit_patience": _exit(same_answers(3), lambda done: _alike(done, 3)),
    "exit_state": _exit(
        lambda history: relative_change(history.states) < 0.2,
        lambda done: _relative_change(done) < 0.2,
    ),
}
"""Mechanisms that stop early in evaluation."""
MECHANISMS = {name: each.halting for name, each in TRAINED.items()}


def fits(cell: str, mechanism: str) -> bool:
    """Whether tests try the pair. Only a halting unit that learns reads [h; c]."""
    return cell != "lstm+state" or mechanism in ("act", "act_last", "pondernet", "dact")


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


def labels_for(times: int = TIMES, rows: int = ROWS, seed: int = 6) -> Tensor:
    return torch.randint(0, OUTPUTS, (times, rows), generator=torch.Generator().manual_seed(seed))


def score_of(labels: Tensor) -> Score:
    """Cross entropy of outputs (..., T, B, C)."""

    def score(outputs: Tensor) -> Tensor:
        index = labels.expand(outputs.shape[:-1]).unsqueeze(-1)
        return -outputs.log_softmax(-1).gather(-1, index).squeeze(-1)

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


class UserCell(nn.Module):
    """A user's cell, with two state tensors of different sizes."""

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
