"""`pondering show`: its table agrees with the network; a mistake is one error line."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from support import argv, tiny
from support.claim_tables import rows

from pondering import Network, TanhRNN
from pondering.evaluate.load import Trained
from pondering.evaluate.stage import Evaluation
from pondering.model.halting import PonderRecord
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.show.command import one_of_the_test_set
from pondering.show.steps import ponder
from pondering.tasks import make_task
from pondering.tasks.digits.task import Digits
from pondering.train.build import make_halting
from pondering.train.stage import run as train

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "parity": ("tanh_rnn", {
        "name": "parity", "bits": 8, "layout": "leading", "train_nonzero": [1, 8],
        "test_nonzero": {"test": [1, 8]},
    }),
    "logic": ("gru", {"name": "logic", "gates": 2, "length": [1, 3], "test_length": 3}),
    "mnist": ("conv_mlp", tiny.DIGITS),
}  # fmt: skip
VALUES: dict[str, Any] = {
    "halting": {"max_steps": 5, "halt_bias": -1.0},
    "repeat": {"rho": [1, 3]},
    "act": {"tau": [0.001, 0.1]},
    "pondernet": {"lambda_p": [0.3]},
    "training": {"updates": 3, "log_points": 1},
    "seeds": [0, 1],
}
TRAINED = {"parity": ("repeat", "act", "pondernet"), "logic": ("act",), "mnist": ("pondernet",)}
SIGNS = "+-+0+"
show, refusal = partial(argv.output, "show"), partial(argv.refusal, "show")


@pytest.fixture(scope="module")
def trained_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with tiny sweeps, trained by the stage."""
    root, values = tmp_path_factory.mktemp("trained"), tiny.document()
    del values["tiny"]
    for name, (cell, task) in TASKS.items():
        network = {"cell": cell, "hidden": 6}
        values[name] = tiny.document(task=task, network=network, **VALUES)["tiny"]
    tiny.write(root, values)
    params = tiny.freeze_all(root)
    for experiment, mechanisms in TRAINED.items():
        for mechanism in mechanisms:
            train(params, experiment, (mechanism,))
    return root


@pytest.fixture
def project(trained_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the trained project, as the working folder."""
    shutil.copytree(trained_project, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def ponder_all(
    root: Path, experiment: str, mechanism: str, text: str
) -> tuple[Trained, PonderRecord]:
    """All replicas and their record of one input, without the code under test."""
    params = load_params(root / "params.yaml")
    task = make_task(params.experiment(experiment).task, experiment)
    found = Evaluation(params, experiment).read_back(mechanism)
    batch = task.parse(text).torch().replicate(len(found.replicas))
    found.network.path = "readable"
    with torch.no_grad():
        return found, found.network(batch.inputs, batch.mask)


ROW = re.compile(r"^ +(\d+) +([\d.]{5})  (\w+) +(right|wrong)$", re.MULTILINE)


@pytest.mark.parametrize(
    ("mechanism", "setting", "seed"),
    [("act", 0.001, 0), ("act", 0.1, 1), ("pondernet", 0.3, 1), ("repeat", 3, 0)],
)
def test_steps_and_probabilities_are_those_of_the_network(
    project: Path, mechanism: str, setting: float, seed: int
) -> None:
    output = show(
        "parity", "--input", SIGNS, "--mechanism", mechanism,
        "--setting", str(setting), "--seed", str(seed),
    )  # fmt: skip
    found, pondered = ponder_all(project, "parity", mechanism, SIGNS)
    k = found.replicas.index(Replica(mechanism, setting, seed))
    steps = int(pondered.ponder_time[0, k, 0])
    assert pondered.weights is not None
    p = pondered.weights[:steps, 0, k, 0].tolist()
    assert [(n, each) for n, each, *_ in ROW.findall(output)] == [
        (str(n), f"{each:.3f}") for n, each in enumerate(p, 1)
    ]
    expected = float(pondered.expected_steps[0, k, 0])
    taken = expected if mechanism == "pondernet" else steps
    assert output.endswith(f"steps   {taken:.3g}\n")
    assert "input   +-+0+000\ntarget  odd\n" in output


def test_each_step_answers_by_the_head_of_its_state(project: Path) -> None:
    """The record of PonderNet has the outputs whose answers the table shows."""
    _, pondered = ponder_all(project, "parity", "pondernet", SIGNS)
    assert pondered.outputs is not None
    logits = pondered.outputs[:, 0, 1, 0, 0]
    path = Layout(project, "quick").run("parity", "pondernet") / "parameters.safetensors"
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    tensors["heads.bias"][1, 0] -= (logits.min() + logits.max()) / 2  # some steps err, some do not
    save_file(tensors, path)
    output = show("parity", "--input", SIGNS, "--mechanism", "pondernet", "--seed", "1")
    _, pondered = ponder_all(project, "parity", "pondernet", SIGNS)
    assert pondered.outputs is not None
    words = {True: ("odd", "right"), False: ("even", "wrong")}  # three + are odd
    wanted = [words[bool(z > 0)] for z in pondered.outputs[:, 0, 1, 0, 0]]
    assert len(set(wanted)) == 2
    assert [each[2:] for each in ROW.findall(output)] == wanted
    assert f"answer  {', '.join(words[bool(pondered.mixture[0, 1, 0, 0] > 0)])}\n" in output


def test_sequences_have_a_line_for_each_input(project: Path) -> None:
    text = "01 XOR AND; 1 NOR; 0 OR XOR"
    output = show("logic", "--input", text, "--setting", "0.1", "--seed", "1")
    found, pondered = ponder_all(project, "logic", "act", text)
    k = found.replicas.index(Replica("act", 0.1, 1))
    assert pondered.weights is not None
    pattern = r"^(.{10})  .* (?:right|wrong)  (\d+) +([\d. ]+)$"
    rows = re.findall(pattern, output, re.MULTILINE)
    assert [row[0].strip() for row in rows] == ["01 XOR AND", "1 NOR", "0 OR XOR"]
    for t, (_, taken, halting) in enumerate(rows):
        steps = int(pondered.ponder_time[t, k, 0])
        assert int(taken) == steps
        p = pondered.weights[:steps, t, k, 0].tolist()
        assert halting == " ".join(f"{each:.3f}" for each in p)
    assert f"{len(re.findall(' right ', output))} of 3 targets right\n" in output


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_network_is_shown_as_it_is_evaluated(name: str) -> None:
    """PonderNet halts by chance, so all its steps are shown."""
    task = make_task(TASKS["parity"][1], "parity")
    config = tiny.config(halting={"max_steps": 5}, certainty={"theta": [0.02]})
    halting = make_halting(config, config.replicas(name)[0])
    network = Network(TanhRNN(task.input_size, 8), halting, task.output_size).eval()
    for signs in ("+", "+-", "++-+", "-+-+-+-+"):
        batch = task.parse(signs).torch()
        (found,) = ponder(network, task, batch)
        if name == "pondernet":
            assert len(found.answers) == 5 and sum(found.probabilities) == pytest.approx(1)
            continue
        with torch.no_grad():
            record = network(batch.inputs)
        assert len(found.answers) == found.steps == int(record.ponder_time)
        (evaluated,) = task.describe(network.halting.predict(record), batch, 0)
        assert found.answer == evaluated["prediction"]


def test_a_users_picture(project: Path) -> None:
    from PIL import Image

    picture = np.full((28, 28), 255, np.uint8)
    picture[4:24, 13:16] = 0
    Image.fromarray(picture).save("one.png")
    output = show("mnist", "--mechanism", "pondernet", "--input", "one.png")
    assert output.count("@@@") == 10  # twenty rows of pixels, two to a line
    assert "target  ?\n" in output and re.search(r"^answer  \d$", output, re.MULTILINE)


def write_table(project: Path, errors: dict[float, list[float]]) -> None:
    """Write a table of ACT's networks on parity, with an error for each seed of a setting."""
    seeds = range(len(next(iter(errors.values()))))
    table = rows("parity", "act", [*errors], lambda s, k, d: errors[s][k],
                 lambda s, k, d: 2.0, seeds=seeds)  # fmt: skip
    path = Layout(project, "quick").table("parity")
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)


def test_the_setting_of_least_error_is_the_default(project: Path) -> None:
    assert "act, tau 0.001, seed 0\n" in show("parity")
    write_table(project, {0.001: [0.1, 0.2, 0.9], 0.1: [0.25, 0.25, 0.25]})  # two seeds are trained
    assert "act, tau 0.1, seed 0; on the test set: error 25.0%, 2.00 steps" in show("parity")
    write_table(project, {0.1: [0.3, 0.3], 0.001: [0.3, 0.3]})
    assert "act, tau 0.001, seed 0" in show("parity")


def test_diverged_replicas_are_skipped(project: Path) -> None:
    path = Layout(project, "quick").run("parity", "act") / "run.json"
    record, names = json.loads(path.read_text()), {"d": "diverged", "r": "running", "f": "finished"}
    for status, wanted in (
        ("dfff", "tau 0.001, seed 1"), ("rfff", "tau 0.001, seed 1"), ("rdff", "tau 0.1, seed 0"),
        ("ddff", "tau 0.1, seed 0"),
    ):  # fmt: skip
        for each, letter in zip(record["replicas"], status, strict=True):
            each["status"] = names[letter]
        path.write_text(json.dumps(record))
        assert f"act, {wanted}\n" in show("parity")
    message = "act, tau 0.001, seed 0: diverged; choose another --setting or --seed"
    assert message in refusal("parity", "--setting", "0.001")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("EXPERIMENT", "parity, logic, mnist")),
        (("sorting",), ("'sorting'", "allowed: parity, logic, mnist")),
        (("parity", "--profile", "quik"), ("'quik'", "allowed: quick, reduced, paper")),
        (
            ("parity", "--profile", "paper"),
            ("no network here; with `profile: paper`", "another --profile"),
        ),
        (("logic", "--mechanism", "repeat"), ("train@quick-logic", "--mechanism")),
        (("parity", "--mechanism", "acts"), ("'acts'", "allowed: repeat, act, pondernet")),
        (("parity", "--setting", "0.5"), ("no such network", "0.001 seed 1, 0.1 seed 0")),
        (("parity", "--setting", "x"), ("--setting", "'x'")),
        (("parity", "--seed", "7"), ("no such network", "0.001 seed 0")),
        (("parity", "--input", "+-+0x"), ("'+-+0x'", "+ - 0")),
        (("mnist", "--mechanism", "pondernet", "--input", "no.png"), ("no.png: not a picture",)),
    ],
)
def test_a_mistake_is_one_error_line(
    project: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    line = refusal(*arguments)
    for word in words:
        assert word in line


def test_without_the_data_an_input_is_needed() -> None:
    with pytest.raises(UserError, match=r"or give an input of your own: --input$"):
        one_of_the_test_set(Digits(0.0, (), (), "mnist", 5000))


def test_an_input_unlike_training_gives_a_warning(project: Path) -> None:
    foreign, usual = show("parity", "--input", SIGNS), show("parity", "--input", "10110")
    assert "\nwarning: not as in training: a 0 before a + or -, in training all 0 come" in foreign
    assert "warning" not in usual and "input   +-++-000\n" in usual
    assert "warning" not in show("parity")
