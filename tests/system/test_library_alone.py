"""The library from its wheel, with only torch and torch's requirements."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.stages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel, which is built from a copy of the sources."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", copy / "made", copy]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = (copy / "made").glob("*.whl")
    with ZipFile(path) as parts:
        parts.extractall(copy / "site")
    return copy / "site"


def requirements_of(name: str) -> set[str]:
    """A distribution and its requirements."""
    found = {canonicalize_name(name)}
    for need in map(Requirement, distribution(name).requires or []):
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            found |= requirements_of(need.name)
    return found


def run(site: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code for which every other package is missing."""
    there = requirements_of("torch")
    missing = [
        name
        for name, homes in packages_distributions().items()
        if name != "pondering" and not there & {canonicalize_name(home) for home in homes}
    ]
    head = f"import sys\nsys.modules |= dict.fromkeys({missing!r})\n"
    command = [sys.executable, "-W", "ignore:Failed to initialize NumPy", "-c", head + code]
    environment = os.environ | {"PYTHONPATH": str(site)}
    return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True)


def test_the_readmes_example_runs_with_torch_alone(site: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    done = run(site, code)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"tensor\(\d+\.\d*\)\n", done.stdout)
    done = run(site, "import pondering\nprint(pondering.__file__)\nimport numpy")
    assert done.stdout.startswith(str(site)) and "import of numpy halted" in done.stderr


def test_stacks_train_on_the_fast_path_without_a_warning(site: Path) -> None:
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
    done = run(site, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("torch.Size([4, 2, 8])\n") == 6


def test_the_wheel_has_every_file(site: Path) -> None:
    root = ROOT / "src"
    wanted = {path.relative_to(root) for path in root.rglob("*") if path.is_file()}
    there = {path for path in wanted if "__pycache__" not in path.parts and ".egg" not in str(path)}
    assert there <= {path.relative_to(site) for path in site.rglob("*")}
