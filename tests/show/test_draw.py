"""What `pondering show` prints agrees with the network."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from support.trained_project import SIGNS, shown, stacked

from pondering.params.replica import Replica
from pondering.project.paths import Layout


def bars(output: str) -> dict[int, tuple[str, str]]:
    """Step -> (p_n, bar) as printed."""
    rows = re.findall(r"^ +(\d+)  (<?[\d.]+)  ([ #:.█▏▎▍▌▋▊▉┊]{20,})", output, re.MULTILINE)
    return {int(step): (number, bar) for step, number, bar in rows}


@pytest.mark.parametrize(
    ("mechanism", "setting", "seed"),
    [("act", 0.001, 0), ("act", 0.1, 1), ("pondernet", 0.3, 1), ("repeat", 3, 0)],
)
def test_bars_and_numbers_are_the_networks_own(
    project: Path, mechanism: str, setting: float, seed: int
) -> None:
    output = shown(
        "parity", "--input", SIGNS, "--mechanism", mechanism,
        "--setting", str(setting), "--seed", str(seed),
    )  # fmt: skip
    found, pondered = stacked(project, "parity", mechanism, SIGNS)
    k = found.replicas.index(Replica(mechanism, setting, seed))
    steps = int(pondered.ponder_time[0, k, 0])
    assert pondered.weights is not None
    p = pondered.weights[:steps, 0, k, 0].tolist()
    assert sum(p) == pytest.approx(1, abs=1e-5)
    printed = bars(output)
    assert [printed[n][0] for n in range(1, steps + 1)] == [f"{each:.3f}" for each in p]
    assert len(printed) == steps > 1
    if mechanism != "pondernet":  # its prior hides pieces of the bars; they have a test below
        for n, each in enumerate(p, 1):
            bar = printed[n][1]
            width = len(bar) - 2  # two blanks part it from the next column
            assert len(bar.rstrip()) == math.ceil(round(each * width * 8) / 8)
    if mechanism == "act":
        rest = float(pondered.remainder[0, k, 0])
        assert f"N = {steps}, R = {rest:.3f}, N + R = {steps + rest:.3f}" in output
        assert f"{p[-1]:.3f}" == f"{rest:.3f}"
    if mechanism == "pondernet":
        expected = float(pondered.expected_steps[0, k, 0])
        assert f"Σ n p_n = {expected:.2f} of 5" in output
    if mechanism == "repeat":
        assert "N = 3, fixed" in output and p == [0, 0, 1]


def test_what_each_step_says_is_the_head_of_its_state(project: Path) -> None:
    """PonderNet keeps its outputs: the words and probabilities beside the bars are theirs."""
    _, pondered = stacked(project, "parity", "pondernet", SIGNS)
    assert pondered.outputs is not None
    logits = pondered.outputs[:, 0, 1, 0, 0]
    path = Layout(project, "quick").run("parity", "pondernet") / "parameters.safetensors"
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    tensors["heads.bias"][1, 0] -= (logits.min() + logits.max()) / 2  # some steps err, some do not
    save_file(tensors, path)
    output = shown("parity", "--input", SIGNS, "--mechanism", "pondernet", "--seed", "1")
    _, pondered = stacked(project, "parity", "pondernet", SIGNS)
    assert pondered.outputs is not None
    logits = pondered.outputs[:, 0, 1, 0, 0]
    said = re.findall(r"  (odd|even) +(0\.\d+|1\.000)", output)
    assert {word for word, _ in said} == {"odd", "even"}
    right = torch.sigmoid(logits)  # three +1s are odd
    assert said == [
        ("odd" if z > 0 else "even", f"{q:.3f}") for z, q in zip(logits, right, strict=True)
    ]
    mixed = torch.sigmoid(pondered.mixture[0, 1, 0, 0])
    assert f"P(odd) = {float(mixed):.3f}" in output


def test_the_prior_and_the_sampled_halt_are_marked(project: Path) -> None:
    output = shown("parity", "--input", SIGNS, "--mechanism", "pondernet")
    halt = re.search(r"halts at n = (\d)", output)
    assert halt is not None
    marked = [line for line in output.splitlines() if line.endswith("◀")]
    assert [line.split()[0] for line in marked] == [halt[1]]
    prior = 0.3 * 0.7 ** np.arange(5)
    prior /= prior.sum()
    for n, (_, bar) in bars(output).items():
        assert bar.index("┊") == int(prior[n - 1] * (len(bar) - 2))


def test_examples_run_from_the_easiest_to_the_hardest_or_have_one_difficulty(project: Path) -> None:
    output = shown("parity")
    titles = re.findall(r"(\d) of 3 · test, difficulty (\d)", output)
    assert titles == [("1", "1"), ("2", "5"), ("3", "8")]
    inputs = re.findall(r"^input +([-+0]+)", output, re.MULTILINE)
    assert [sum(sign != "0" for sign in each) for each in inputs] == [1, 5, 8]
    for signs, target in zip(
        inputs, re.findall(r"^target +(\w+)", output, re.MULTILINE), strict=True
    ):
        assert target == ("even", "odd")[signs.count("+") % 2]
    output = shown("parity", "--difficulty", "2", "--count", "9")
    assert re.findall(r"\d of 4 · test, difficulty (\d)", output) == ["2"] * 4  # all there are
    assert len(set(re.findall(r"^input +([-+0]+)", output, re.MULTILINE))) > 1


def test_sequences_have_a_line_for_each_input(project: Path) -> None:
    text = "01 XOR AND; 1 NOR; 0 OR XOR"
    output = shown("logic", "--input", text, "--setting", "0.1", "--seed", "1")
    found, pondered = stacked(project, "logic", "act", text)
    k = found.replicas.index(Replica("act", 0.1, 1))
    assert pondered.weights is not None
    rows = re.findall(r"^ +\d+ .*[✓✗].*$", output, re.MULTILINE)
    assert [row[5:15].strip() for row in rows] == ["01 XOR AND", "1 NOR", "0 OR XOR"]
    for t, row in enumerate(rows):
        n, rest, strip = re.search(r" (\d+) (\d\.\d{3}) (.*)$", row).groups()  # type: ignore[union-attr]
        steps = int(pondered.ponder_time[t, k, 0])
        assert (int(n), rest) == (steps, f"{float(pondered.remainder[t, k, 0]):.3f}")
        p = pondered.weights[:steps, t, k, 0].tolist()
        assert re.findall(r"\d+", strip) == [f"{100 * each:.0f}" for each in p]
        blocks = re.findall(r"[▁▂▃▄▅▆▇█]+", strip)
        heights = ["▁▂▃▄▅▆▇█"[int(each * 8)] for each in p]
        assert [set(block) for block in blocks] == [{height} for height in heights]


def test_a_picture_of_the_users_own(project: Path) -> None:
    from PIL import Image

    picture = np.full((28, 28), 255, np.uint8)
    picture[4:24, 13:16] = 0
    Image.fromarray(picture).save("one.png")
    output = shown("mnist", "--mechanism", "pondernet", "--input", "one.png")
    assert output.count("@@@") == 10  # twenty rows of pixels, two to a line
    assert re.search(r"^target +\?$", output, re.MULTILINE)
    assert re.search(r"^prediction +\d$", output, re.MULTILINE)
    assert "P(" not in output
    assert len(bars(output)) == 5
