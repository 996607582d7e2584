"""Whole updates of stacked replicas by three launches each, many of them as one CUDA graph.

The host fills slots with batches, and with the numbers that change from update to update. The
device then does all those updates without being asked anything: rows forwards and backwards
(`act.py`, `pondernet.py`), the gradients of the matrices (`gradient.py`), norm, clipping and Adam
(`adam.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pondering.model.cells import LSTM
from pondering.model.halting import ACT, PonderNet
from pondering.model.network import Network
from pondering.model.paths.kernels import SLOTS, act, adam, gradient, lstm, pondernet

ROWS = 32  # of a program of 8 warps: with 64 a program needs more registers than there are,
ROWS_LSTM = 16  # and with more than 16 of an LSTM
TILE = 32  # columns of a product's operands that wait in shared memory at once
NO_CLIP = 3e38  # a norm that no finite gradient has
# The arguments that parameters are, in the order in which they lie; their gradients are `d_...`.
MATRICES = {"cell.recurrent": "recurrent", "cell.input.weight": "weight"}
VECTORS = {
    "cell.input.bias": "bias", "cell.flag": "flag",
    "heads.weight": "heads", "heads.bias": "heads_bias",
}  # fmt: skip


class Optimiser(NamedTuple):
    """Adam's state and options; the lists are in the order of the network's parameters."""

    means: list[Tensor]  # (K, ...) each; become views of one tensor (K, P)
    squares: list[Tensor]
    betas: tuple[float, float]
    epsilon: float
    clip: float | None
    halting_rate: float | None  # by which the halting unit's learning rate is multiplied


class Progress(NamedTuple):
    """What updates change besides parameters and moments, in place."""

    alive: Tensor  # (K,) bool
    diverged: Tensor  # (K,) bool
    window: Tensor  # (K, 5) float64: sums of loss, error, ponder, remainder; number of updates
    computed_steps: Tensor  # (K,) float64


class Updates:
    """Updates of K replicas that answer each input by one sigmoid: a tanh RNN, or an LSTM.

    Every tensor and number that a kernel takes lies in one dictionary, under the name of the
    argument. No tensor moves later, so that a graph may hold their addresses.

    Args:
        network: K stacked replicas; its parameters become views of one tensor (K, P).
        optimiser, progress: see there.
        places: which of the S seeds' batches each replica has, from 0.
        batch: B, rows of an update.
        times: T, inputs of the longest sequence; 1 for a tanh RNN.
        slots: updates that wait on the device at most.
    """

    def __init__(
        self,
        network: Network,
        optimiser: Optimiser,
        progress: Progress,
        places: Sequence[int],
        batch: int,
        times: int,
        slots: int = SLOTS,
    ) -> None:
        self._halting: Any = network.halting
        self._betas, self.slots = optimiser.betas, slots
        self._device, count = network.cell.recurrent.device, len(places)
        is_lstm = isinstance(network.cell, LSTM)
        self._given: dict[str, Any] = _sizes(network, batch, times, max(places) + 1)
        given = self._given
        given |= self._numbers_of(network, optimiser)
        given |= self._slots_for(places)
        given |= {
            "alive": progress.alive.view(torch.uint8),
            "diverged": progress.diverged.view(torch.uint8),
            "window": progress.window,
            "computed_steps": progress.computed_steps,
        }
        given |= self._tapes(count, is_lstm)
        if isinstance(self._halting, PonderNet):
            self._rows = pondernet.rows
            given |= self._of_pondernet(self._halting, count)
        else:
            self._rows = lstm.rows if is_lstm else act.rows
            given["ACT"] = type(self._halting) is ACT
            given["epsilon"] = getattr(self._halting, "epsilon", 0.0)
        columns = given["H"] // given["BN"] + -(-given["D"] // given["BN"])
        self._grids = (
            (count, given["CHUNKS"]),
            (count, given["W"] // given["BM"], columns),
            (count,),
        )
        self._all_slots = graph(self._launch, self._device)

    def _numbers_of(self, network: Network, optimiser: Optimiser) -> dict[str, Any]:
        """Parameters, moments and gradients, and what Adam needs to know."""
        given, parameters = self._given, dict(network.named_parameters())
        count, chunks, times = len(network.cell.recurrent), given["CHUNKS"], given["T"]
        shapes = {name: parameters[name].shape[1:] for name in (*MATRICES, *VECTORS)}
        begins, end = _places(shapes)
        matrices = begins["cell.input.bias"]
        numbers, means, squares = (self._zeros(count, end) for _ in range(3))
        for flat, kept in ((means, optimiser.means), (squares, optimiser.squares)):
            kept[:] = [
                _moved(values, flat, begins[name])
                for name, values in zip(parameters, kept, strict=True)
            ]
        for name, parameter in parameters.items():
            parameter.data = _moved(parameter.detach(), numbers, begins[name])
        factors = torch.ones(1, end, device=self._device)
        if optimiser.halting_rate is not None:
            for name in ("heads.weight", "heads.bias"):
                _view(factors, begins[name], shapes[name])[:, -1] = optimiser.halting_rate
        d_matrices = self._zeros(count, matrices)
        d_vectors = self._zeros(count, chunks, times, end - matrices)
        found: dict[str, Any] = {
            "parameters": numbers, "means": means, "squares": squares, "factors": factors,
            "matrices": d_matrices, "vectors": d_vectors,
            "beta1": optimiser.betas[0], "beta2": optimiser.betas[1], "tiny": optimiser.epsilon,
            "clip": NO_CLIP if optimiser.clip is None else optimiser.clip,
            "P": end, "G": matrices, "V": end - matrices,
        }  # fmt: skip
        for name, argument in MATRICES.items():
            found[argument] = parameters[name].data
            found[f"d_{argument}"] = d_matrices[:, begins[name] :]
        for name, argument in VECTORS.items():
            found[argument] = parameters[name].data
            found[f"d_{argument}"] = d_vectors[..., begins[name] - matrices :]
        return found

    def _slots_for(self, places: Sequence[int]) -> dict[str, Tensor]:
        """What the host fills, update by update; a seed's batches are there once."""
        given, slots, count = self._given, self.slots, len(places)
        rows = slots, given["seeds"], given["T"], given["PADDED"]
        return {
            "todo": torch.zeros((), dtype=torch.int32, device=self._device),
            "places": torch.tensor(places, dtype=torch.int32, device=self._device),
            "inputs": self._zeros(*rows, given["D"]),
            "targets": self._zeros(*rows),
            "present": self._zeros(*rows),
            "settings": self._zeros(slots, count),
            "rates": self._zeros(slots, count),
            "corrections": self._zeros(slots),
        }

    def _tapes(self, count: int, is_lstm: bool) -> dict[str, Tensor]:
        """What a kernel leaves for itself and for those behind it; of one update."""
        given = self._given
        chunks, times, padded = given["CHUNKS"], given["T"], given["PADDED"]
        by_time, by_moment = (count, times, padded), (count, given["moments"], padded)
        whole = {name: self._zeros(*by_time, given["W"]) for name in ("drives", "d_drives")}
        whole |= {"states": self._zeros(*by_moment, given["H"])}
        whole |= {"d_pres": self._zeros(*by_moment, given["W"]), "weights": self._zeros(*by_moment)}
        whole |= {"deepest": torch.zeros(count, chunks, dtype=torch.int32, device=self._device)}
        whole |= {"sums": self._zeros(count, chunks, 8)}
        if isinstance(self._halting, PonderNet):
            names = ("log_weights", "outputs", "logits")
            whole |= {name: self._zeros(*by_moment) for name in names}
        if is_lstm:
            whole |= {name: self._zeros(*by_time) for name in ("outputs", "taken")}
            whole |= {"cells": self._zeros(*by_moment, given["H"])}
            whole |= {"begins": whole["deepest"].repeat(1, times + 1)}
        return whole

    def _launch(self) -> None:
        """Three launches for each slot; one that is not to be done leaves everything as it is."""
        kernels = (self._rows, gradient.matrices, adam.adam)
        for slot in range(self.slots):
            for kernel, grid, warps in zip(kernels, self._grids, (8, 4, 8), strict=True):
                arguments = {name: self._given[name] for name in kernel.arg_names[1:]}
                kernel[grid](slot, **arguments, num_warps=warps)

    @torch.no_grad()
    def run(self, batches: Iterable[Sequence[Tensor]], rates: Tensor, first: int) -> None:
        """Do some updates. Nothing here waits for the device.

        Args:
            batches: of each update inputs (T', S, B, D), targets and mask (T', S, B), by seed.
            rates: (updates, K) float64, learning rates.
            first: the number of the first update, from 0.
        """
        given, count, batch = self._given, len(rates), self._given["B"]
        for slot, parts in enumerate(batches):
            for name, part in zip(("inputs", "targets", "present"), parts, strict=True):
                given[name][slot, :, len(part) :] = 0
                given[name][slot, :, : len(part), :batch] = part.transpose(0, 1)
        if not isinstance(self._halting, PonderNet):
            settings = [_setting(self._halting, first + slot) for slot in range(count)]
            by_replica = [torch.as_tensor(each).expand(rates.shape[1]) for each in settings]
            given["settings"][:count] = torch.stack(by_replica)
        numbers = torch.arange(first + 1, first + count + 1, dtype=torch.float64)
        one, two = (1 - beta**numbers for beta in self._betas)
        given["rates"][:count] = rates.to(torch.float64) / one.to(rates.device)[:, None]
        given["corrections"][:count] = two.sqrt()
        given["todo"].fill_(count)
        self._all_slots()

    def _of_pondernet(self, halting: PonderNet, count: int) -> dict[str, Tensor]:
        """Prior and options as numbers of each replica."""
        n = torch.arange(1.0, halting.max_steps + 1, device=self._device)
        like = self._zeros(count, halting.max_steps)
        words = [halting.kl] * count if isinstance(halting.kl, str) else halting.kl
        reverses = torch.tensor([word == "prior_p" for word in words], device=self._device)
        return {
            "log_priors": (like + halting._log_prior(n, like)).contiguous(),
            "log_normalisers": (like + halting._log_normaliser(n, like)).contiguous(),
            "betas": like[:, 0] + halting.beta,
            "epsilons": like[:, 0] + (0.0 if halting.epsilon is None else halting.epsilon),
            "reverses": reverses.to(torch.int32),
        }

    def _zeros(self, *shape: int) -> Tensor:
        return torch.zeros(shape, device=self._device)


def graph(work: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """Work as one CUDA graph; on a CPU, where Triton interprets, the work itself.

    The work is done once before, which compiles its kernels and loads them. It must change nothing
    then, and its arguments must not move in memory later.
    """
    if device.type != "cuda":
        return work
    work()
    torch.cuda.synchronize(device)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        work()
    return captured.replay


def _sizes(network: Network, batch: int, times: int, seeds: int) -> dict[str, Any]:
    """The sizes that kernels are told, and those of their tiles."""
    cell, most = network.cell, network.halting.max_steps
    width, size = cell.input.weight.shape[1:]
    is_lstm = isinstance(cell, LSTM)
    rows = min(ROWS_LSTM if is_lstm else ROWS, -(-batch // 16) * 16)
    chunks = -(-batch // rows)
    return {
        "B": batch, "PADDED": chunks * rows, "R": rows, "CHUNKS": chunks, "PARTS": chunks * times,
        "T": times, "D": size, "H": cell.hidden, "W": width, "seeds": seeds,
        "max_steps": most, "moments": times * (most + 1) + 1 if is_lstm else most,
        "TILE": min(TILE, cell.hidden), "BM": min(64, cell.hidden), "BN": min(64, cell.hidden),
        "BP": 1024,
    }  # fmt: skip


def _setting(halting: Any, update: int) -> Any:
    """tau at an update, or rho."""
    return halting.at_update(update).tau if isinstance(halting, ACT) else halting.rho


def _places(shapes: Mapping[str, Sequence[int]]) -> tuple[dict[str, int], int]:
    """Where each parameter begins among P numbers, and P; in whole 16 bytes, as wide loads want."""
    begins, end = {}, 0
    for name, shape in shapes.items():
        begins[name] = end
        end += -(-torch.Size(shape).numel() // 4) * 4
    return begins, end


def _view(numbers: Tensor, begin: int, shape: Sequence[int]) -> Tensor:
    """A parameter (K, ...) in numbers (K, P)."""
    return numbers[:, begin : begin + torch.Size(shape).numel()].view(len(numbers), *shape)


def _moved(values: Tensor, numbers: Tensor, begin: int) -> Tensor:
    """The same values (K, ...), as a view of numbers (K, P)."""
    view = _view(numbers, begin, values.shape[1:])
    return view.copy_(values)
