"""The library installed from its wheel where there is nothing but torch.

The environment takes a minute and the registry that pip is set to.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from support.stages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
TORCH = re.search(r"^torch==\S+$", (ROOT / "constraints.txt").read_text(), re.M)


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command that knows nothing of this folder."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(words, cwd="/", env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in this folder."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    done = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", copy / "made", copy)
    assert done.returncode == 0, done.stderr
    (path,) = (copy / "made").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=True)
    found = folder / "bin/python"
    assert TORCH
    done = run(found, "-m", "pip", "install", "--quiet", TORCH[0], wheel)
    assert done.returncode == 0, done.stderr
    return found


def test_the_readmes_lines_run_with_torch_alone(python: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    done = run(python, "-c", code)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"tensor\(\d+\.\d*\)\n", done.stdout)
    there = run(python, "-m", "pip", "list", "--format=freeze").stdout.lower()
    assert f"pondering=={version('pondering')}" in there
    for name in ("numba", "numpy", "scipy", "dvc", "mlflow", "pandas", "click", "pydantic"):
        assert f"\n{name}==" not in there


def test_stacks_train_and_ponder_by_the_fast_path_without_a_word(python: Path) -> None:
    code = """
import torch
from pondering import ACT, LSTM, FixedRepeat, Network, PonderNet, TanhRNN
from pondering.model.stacking import stack
for halting in (ACT(1e-3, max_steps=8), FixedRepeat(2), PonderNet(0.3, max_steps=5)):
    for kind in (TanhRNN, LSTM):
        network = stack([Network(kind(2, 16), halting, 3) for _ in range(2)], halting)
        inputs, gradients = torch.randn(4, 2, 8, 2), []
        for path in (None, "fast"):
            pondered = network(inputs, path=path)
            score = lambda outputs: outputs.square().mean(-1)
            network.zero_grad()
            network.halting.objective(score, pondered).sum().backward()
            gradients.append(network.heads.weight.grad.clone())
        assert torch.equal(*gradients)
        print(network.eval()(inputs).ponder_time.shape)
"""
    done = run(python, "-W", "ignore:Failed to initialize NumPy", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("torch.Size([4, 2, 8])\n") == 6


def test_the_wheel_has_what_is_no_python(wheel: Path) -> None:
    root = ROOT / "src"
    wanted = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    with ZipFile(wheel) as parts:
        held = set(parts.namelist())
    there = {name for name in wanted if "__pycache__" not in name and "egg-info" not in name}
    assert there <= held
