"""Stacked replicas: many networks of one shape that train as one, each as it would alone."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from pondering.model.halting import Halting
from pondering.model.network import Network


def stack(networks: Sequence[Network], halting: Halting) -> Network:
    """Stack K single networks into one whose parameters carry a leading replica axis.

    Args:
        networks: K networks of the same shapes, without replica axis.
        halting: the mechanism with its settings as tensors (K,).

    Returns:
        a network for inputs (T, K, B, D); replica k computes what `networks[k]` does alone. A
        parameter without gradient stays without.

    Raises:
        ValueError: a stack would lose buffers, parameters that two modules share, or weights that
            modules compute (`weight_norm`, parametrisations); the networks have the batch first;
            or they differ in more than values.
    """
    for network in networks:
        _check_stackable(network)
        if network.batch_first:
            raise ValueError("batch_first: a stack cannot have it; its inputs are (T, K, B, D)")
        if _shape(network) != _shape(networks[0]):
            raise ValueError("networks of other cells, sizes or parameters cannot be stacked")
    stacked = copy.deepcopy(networks[0])
    stacked.halting = halting
    sources = [dict(network.named_parameters()) for network in networks]
    _replace(stacked, lambda name, _: torch.stack([source[name].detach() for source in sources]))
    return stacked


def select(network: Network, replica: int, halting: Halting) -> Network:
    """One replica of a stack as a single network, with a copy of its parameters.

    Args:
        network: K stacked replicas.
        replica: its index, from 0.
        halting: the mechanism with the replica's settings as numbers.
    """
    single = copy.deepcopy(network)
    single.halting = halting
    _replace(single, lambda _, parameter: parameter.detach()[replica].clone())
    return single


def stack_halting(
    mechanisms: Sequence[Halting], dtype: torch.dtype, device: torch.device | str
) -> Halting:
    """The mechanism of a stack: settings that differ become tensors (K,), or tuples of K words.

    Args:
        mechanisms: those of the K networks.
        dtype, device: of the tensors.

    Raises:
        ValueError: the mechanisms have several classes, or differ in a setting that the class
            cannot take of each replica.
    """
    first: Any = mechanisms[0]
    if any(type(each) is not type(first) for each in mechanisms):
        raise ValueError("settings: mechanisms of several classes are not allowed; one is")
    options = fields(first) if is_dataclass(first) else ()
    values = {o.name: [getattr(each, o.name) for each in mechanisms] for o in options if o.init}
    differ = {name: each for name, each in values.items() if any(v != each[0] for v in each)}
    for name, each in differ.items():
        if name == "max_steps" or isinstance(each[0], bool):
            raise ValueError(f"settings: {name} cannot differ within a stack")
    try:
        settings = {name: _setting(each, dtype, device) for name, each in differ.items()}
        stacked: Halting = replace(first, **settings) if settings else first
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"settings: {', '.join(differ)} cannot differ: {error}") from None
    return stacked


def _setting(values: list[Any], dtype: torch.dtype, device: torch.device | str) -> Any:
    if isinstance(values[0], str):
        return tuple(values)
    return torch.tensor([float(value) for value in values], dtype=dtype, device=device)


def gradient_norms(parameters: Iterable[Tensor]) -> Tensor:
    """Each replica's gradient norm over all its parameters, (K,); a missing gradient counts 0.

    In float32 the norm of a million numbers is too small by about 1e-5 of itself. The sums run
    along last axes alone: along others torch adds in an order that depends on K.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    norms = [torch.linalg.vector_norm(each.reshape(len(each), -1), dim=1) for each in gradients]
    total: Tensor = torch.linalg.vector_norm(torch.stack(norms, dim=1), dim=1)
    return total


def _check_stackable(network: nn.Module) -> None:
    names = [name for name, _ in network.named_parameters()]
    shared = len(list(network.named_parameters(remove_duplicate=False))) > len(names)
    computed = any(map(parametrize.is_parametrized, network.modules()))
    computed = computed or any(name.endswith("_g") for name in names)  # torch's older weight_norm
    lost = {
        "buffers": any(True for _ in network.buffers()),
        "shared parameters": shared,
        "weights that a module computes": computed,
    }
    for what, there in lost.items():
        if there:
            raise ValueError(f"networks with {what} cannot be stacked")


def _shape(network: Network) -> tuple[type, list[tuple[str, torch.Size, bool]]]:
    """The cell's class, and each parameter's name, shape and whether it has a gradient."""
    parameters = network.named_parameters()
    return type(network.cell), [(name, p.shape, p.requires_grad) for name, p in parameters]


def _replace(network: nn.Module, change: Callable[[str, nn.Parameter], Tensor]) -> None:
    """Set every parameter to change(name, parameter)."""
    for path, parameter in list(network.named_parameters()):
        module_path, _, name = path.rpartition(".")
        module = network.get_submodule(module_path)
        wanted = nn.Parameter(change(path, parameter), requires_grad=parameter.requires_grad)
        setattr(module, name, wanted)
