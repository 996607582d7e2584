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
from pondering.model.paths.kernels import act, adam, gradient, lstm, pondernet

SLOTS = 64  # updates of a graph, whose launch and reading take the host a millisecond
ROWS = 32  # of a program of 8 warps: with 64 a program needs more registers than there are,
ROWS_LSTM = 16  # and with more than 16 of an LSTM
TILE = 32  # columns of a product's operands that wait in shared memory at once
NO_CLIP = 3e38  # a norm that no finite gradient has
MATRICES = ("cell.recurrent", "cell.input.weight")
VECTORS = ("cell.input.bias", "cell.flag", "heads.weight", "heads.bias")


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
        halting: Any = network.halting
        self._halting, self._betas, self.slots = halting, optimiser.betas, slots
        parameters = dict(network.named_parameters())
        self._device = parameters[MATRICES[0]].device
        count, width, size = network.cell.input.weight.shape
        hidden, is_lstm = network.cell.hidden, isinstance(network.cell, LSTM)
        rows = min(ROWS_LSTM if is_lstm else ROWS, -(-batch // 16) * 16)
        padded = -(-batch // rows) * rows
        seeds, most, chunks = max(places) + 1, halting.max_steps, padded // rows
        moments = times * (most + 1) + 1 if is_lstm else most

        shapes = {name: parameters[name].shape[1:] for name in MATRICES + VECTORS}
        begins, end = _places(shapes)
        g = begins[VECTORS[0]]
        flat = [self._zeros(count, end) for _ in range(3)]
        for numbers, kept in zip(flat[1:], (optimiser.means, optimiser.squares), strict=True):
            for place, name in enumerate(parameters):
                kept[place] = _moved(kept[place], numbers, begins[name])
        for name, parameter in parameters.items():
            parameter.data = _moved(parameter.detach(), flat[0], begins[name])
        factors = torch.ones(1, end, device=self._device)
        if optimiser.halting_rate is not None:
            for name in ("heads.weight", "heads.bias"):
                _view(factors, begins[name], shapes[name])[:, -1] = optimiser.halting_rate
        d_matrices, d_vectors = self._zeros(count, g), self._zeros(count, chunks, times, end - g)

        self._given = given = {
            "todo": torch.zeros((), dtype=torch.int32, device=self._device),
            "alive": progress.alive.view(torch.uint8),
            "diverged": progress.diverged.view(torch.uint8),
            "window": progress.window,
            "computed_steps": progress.computed_steps,
            "inputs": self._zeros(slots, seeds, times, padded, size),
            "targets": self._zeros(slots, seeds, times, padded),
            "present": self._zeros(slots, seeds, times, padded),
            "places": torch.tensor(places, dtype=torch.int32, device=self._device),
            "settings": self._zeros(slots, count),
            "rates": self._zeros(slots, count),
            "corrections": self._zeros(slots),
            "parameters": flat[0], "means": flat[1], "squares": flat[2], "factors": factors,
            "matrices": d_matrices, "vectors": d_vectors,
            "recurrent": network.cell.recurrent.data, "weight": network.cell.input.weight.data,
            "bias": network.cell.input.bias.data, "flag": network.cell.flag.data,
            "heads": network.heads.weight.data, "heads_bias": network.heads.bias.data,
            "d_recurrent": d_matrices, "d_weight": d_matrices[:, begins[MATRICES[1]] :],
            "drives": self._zeros(count, times, padded, width),
            "d_drives": self._zeros(count, times, padded, width),
            "states": self._zeros(count, moments, padded, hidden),
            "d_pres": self._zeros(count, moments, padded, width),
            "deepest": torch.zeros(count, chunks, dtype=torch.int32, device=self._device),
            "sums": self._zeros(count, chunks, 8),
            "max_steps": most, "moments": moments, "seeds": seeds, "B": batch,
            "clip": NO_CLIP if optimiser.clip is None else optimiser.clip,
            "beta1": optimiser.betas[0], "beta2": optimiser.betas[1], "tiny": optimiser.epsilon,
            "T": times, "D": size, "H": hidden, "W": width, "R": rows, "PADDED": padded,
            "CHUNKS": chunks, "PARTS": chunks * times,
            "P": end, "G": g, "V": end - g,
            "TILE": min(TILE, hidden), "BM": min(64, hidden), "BN": min(64, hidden), "BP": 1024,
        }  # fmt: skip
        for name, argument in zip(VECTORS, ("bias", "flag", "heads", "heads_bias"), strict=True):
            given[f"d_{argument}"] = d_vectors[..., begins[name] - g :]
        by_step = (count, moments, padded)
        if isinstance(halting, PonderNet):
            self._rows = pondernet.rows
            given |= self._of_pondernet(halting, count)
            given |= {name: self._zeros(*by_step) for name in ("log_weights", "outputs", "logits")}
        else:
            self._rows = lstm.rows if is_lstm else act.rows
            given["weights"] = self._zeros(*by_step)
            given["ACT"] = isinstance(halting, ACT)
            given["epsilon"] = halting.epsilon if given["ACT"] else 0.0
        if is_lstm:
            given["cells"] = self._zeros(count, moments, padded, hidden)
            given["outputs"], given["taken"] = (self._zeros(count, times, padded) for _ in range(2))
            given["begins"] = torch.zeros_like(given["deepest"]).repeat(1, times + 1)
        columns = hidden // given["BN"] + -(-size // given["BN"])
        self._grids = (count, chunks), (count, width // given["BM"], columns), (count,)
        self._all_slots = graph(self._launch, self._device)

    def _launch(self) -> None:
        """Three launches for each slot; one that is not to be done leaves everything as it is."""
        for slot in range(self.slots):
            for kernel, grid in zip(
                (self._rows, gradient.matrices, adam.adam), self._grids, strict=True
            ):
                arguments = {name: self._given[name] for name in kernel.arg_names[1:]}
                kernel[grid](slot, **arguments, num_warps=4 if kernel is gradient.matrices else 8)

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
            like = given["settings"][:count]
            like.copy_(
                torch.stack([torch.as_tensor(each).expand(len(like[0])) for each in settings])
            )
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
