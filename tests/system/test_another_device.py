"""Training and evaluation on another device give the numbers of the CPU.

A stand-in for a GPU works on any machine: its tensors carry another device's name and compute on
the CPU. Like a GPU it refuses operations on tensors of two devices, except for single numbers in
pointwise operations and for indices. NumPy cannot read its tensors, and they have `is_cuda`. The
stand-in cannot show a GPU's speed, memory or rounding, nor code for devices of type `cuda`.

`python test_another_device.py DEVICE THERE HERE` trains and evaluates the project THERE on `cuda`
or `stand-in`, and the project HERE on the CPU. Every training is stopped once and continues.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from support import tiny
from support.stages import MECHANISMS
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from pondering.evaluate import stage as evaluation
from pondering.params.read import load_params
from pondering.project.errors import Interrupted
from pondering.project.paths import Layout
from pondering.train import build, trainer
from pondering.train.stage import run

NAME = "standin"
ATEN = torch.ops.aten
TRANSFERS = {ATEN._to_copy.default, ATEN.copy_.default}
FILLS = {ATEN.fill_.Tensor, ATEN.masked_fill.Tensor, ATEN.masked_fill_.Tensor}
READS = {ATEN._local_scalar_dense.default}  # x.item()
INDEXED = {ATEN.index.Tensor, ATEN.index_put_.default}


class There(torch.Tensor):
    """A tensor of the stand-in device; `here`, a tensor of the CPU, has its numbers."""

    here: torch.Tensor
    is_cuda = True  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, here: torch.Tensor) -> There:
        there: There = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, here.size(), strides=here.stride(), storage_offset=here.storage_offset(),
            dtype=here.dtype, device=f"{NAME}:0",
        )  # fmt: skip
        there.here = here
        return there

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return call(func, args, kwargs or {})

    def tolist(self) -> Any:
        return self.here.tolist()

    def numpy(self, **_: Any) -> Any:
        raise TypeError("can't convert a device's tensor to numpy; use Tensor.cpu() first")

    __array__ = numpy


class Device(TorchDispatchMode):
    """Handles calls that create tensors and have no tensor as an argument."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return call(func, args, kwargs or {})


def call(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operation of torch; results are on the device that a GPU would choose.

    Raises:
        RuntimeError: some tensors are on the stand-in and others on the CPU.
    """
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    theirs = [each for each in tensors if isinstance(each, There)]
    goes = bool(theirs)
    if kwargs.get("device") is not None:
        goes = torch.device(kwargs["device"]).type == NAME
        kwargs = kwargs | {"device": torch.device("cpu")}
    elif func is ATEN.copy_.default:
        goes = isinstance(args[0], There)
    if goes and kwargs.get("generator") is not None:
        raise RuntimeError(f"Expected a generator of the device: {func}")
    if theirs and func not in TRANSFERS and _strays(func, args, tensors):
        raise RuntimeError(f"Expected all tensors to be on the same device: {func}")
    found = func(*tree_map(_here, args), **tree_map(_here, kwargs))
    if not goes or func in READS:
        return found
    known = {id(each.here): each for each in theirs}  # for calls in place
    return tree_map(lambda each: _there(each, known), found)


def _strays(func: Any, args: Any, tensors: list[torch.Tensor]) -> bool:
    """Whether a tensor of the CPU is an argument that a GPU would refuse."""
    if func._schema.is_mutable and not isinstance(tensors[0], There):
        return True
    if func in INDEXED:  # (x, indices, values)
        tensors = [args[0], *args[2:3]]
    numbers = torch.Tag.pointwise in func.tags or func in FILLS or func in INDEXED
    return any(not isinstance(each, There) and not (numbers and not each.dim()) for each in tensors)


def _here(x: Any) -> Any:
    return x.here if isinstance(x, There) else x


def _there(x: Any, known: dict[int, There]) -> Any:
    if not isinstance(x, torch.Tensor):
        return x
    return known[id(x)] if id(x) in known else There(x)


def _from_data(make: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `torch.tensor` and `torch.as_tensor`, which no dispatch reports."""

    def create(data: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        x = data.clone() if isinstance(data, There) else make(data, *args, **kwargs)
        return x.to(device=device, dtype=kwargs.get("dtype"))

    return create


@contextlib.contextmanager
def stand_in() -> Iterator[torch.device]:
    """Register the device in this process, permanently."""
    backend_registration._setup_privateuseone_for_python_backend(NAME)
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    torch.tensor, torch.as_tensor = _from_data(torch.tensor), _from_data(torch.as_tensor)
    with Device():
        yield torch.device(NAME, 0)


def train_and_evaluate(root: Path, device: torch.device) -> None:
    """Train and evaluate every experiment; a replica of the first experiment diverges at once.

    Each training is stopped at its first logging point and continues.
    """
    build.pick_device = evaluation.pick_device = lambda wanted: device
    forward = trainer.forward

    def diverging_forward(*arguments: Any) -> Any:
        losses, pondered = forward(*arguments)
        more = torch.zeros(len(losses), 1, device=device)
        more[1] = torch.inf
        return losses + more, pondered

    params = load_params(root / "params.yaml")
    for number, experiment in enumerate(params.experiments):
        trainer.forward = forward if number else diverging_forward
        for mechanism in params.experiment(experiment).mechanisms:
            with contextlib.suppress(Interrupted):
                run(
                    params,
                    experiment,
                    (mechanism,),
                    lambda rows: rows and signal.raise_signal(signal.SIGINT),
                )
                raise AssertionError(f"{experiment} {mechanism} was not stopped")
            run(params, experiment, (mechanism,))
        evaluation.run(evaluation.Evaluation(params, experiment))


DEVICES = ["stand-in", *(["cuda"] if torch.cuda.is_available() else [])]
TOLERANCE = {"stand-in": 1e-4, "cuda": 1e-3}
VALIDATION = {"per_epoch": 1000, "patience": 1, "factor": 0.5, "stop_patience": 9}
TRAINING = {"updates": 3, "log_points": 3, "clip": 0.1}
EXPERIMENTS: dict[str, dict[str, Any]] = {
    "parity": {"network": {"hidden": 32}},
    "wikipedia": {
        "task": {"name": "wikipedia", "source": "generated", "sequence": 5},
        "network": {"cell": "gru", "hidden": 32},
    },
    "mnist": {
        "task": tiny.DIGITS,
        "network": {"cell": "conv_mlp", "hidden": 8},
        "training": TRAINING | {"validation": VALIDATION},
    },
}


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def project(folder: Path) -> Path:
    """Write a project with its frozen data sets."""
    values = tiny.document()
    del values["tiny"]
    for name, block in EXPERIMENTS.items():
        values[name] = tiny.document(**{"training": TRAINING} | block)["tiny"]
    tiny.write(folder, values)
    tiny.freeze_all(folder)
    return folder


@pytest.mark.parametrize("device", DEVICES)
def test_every_stage_writes_the_numbers_of_the_cpu(device: str, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    here, there = project(tmp_path / "here"), tmp_path / "there"
    shutil.copytree(here, there)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # with tests/
    command = [sys.executable, __file__, device, str(there), str(here)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("going on from update 1\n") == 2 * len(EXPERIMENTS) * len(MECHANISMS)
    layouts = Layout(there, "quick"), Layout(here, "quick")
    for experiment in EXPERIMENTS:
        curves = [("curves", experiment, mechanism) for mechanism in MECHANISMS]
        for mechanism in MECHANISMS:
            records = [read(layout.run(experiment, mechanism) / "run.json") for layout in layouts]
            assert records[0] == records[1]
            assert ("diverged" in str(records)) == (experiment == "parity")
        for kind, *of in [*curves, ("table", experiment)]:
            pair = [pd.read_csv(getattr(layout, kind)(*of)) for layout in layouts]
            pd.testing.assert_frame_equal(*pair, rtol=TOLERANCE[device], atol=1e-5)


if __name__ == "__main__":
    name, there, here = sys.argv[1:]
    torch.backends.cudnn.allow_tf32 = False  # ten bits of every product
    with stand_in() if name == "stand-in" else contextlib.nullcontext(torch.device(name)) as device:
        train_and_evaluate(Path(there), device)
    train_and_evaluate(Path(here), torch.device("cpu"))
