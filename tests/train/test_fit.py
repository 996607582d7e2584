"""Every experiment's cell and schedule suit its task, in all profiles; others are refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support import tiny

from pondering.params.read import PROFILES, load_params
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train.build import make_halting, make_network
from pondering.train.fit import check_fit

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_experiment_of_the_parameters_can_be_made(profile: str) -> None:
    for name, config in load_params(ROOT / "params.yaml", profile).experiments.items():
        task = make_task(config.task, name)
        check_fit(f"{name}.{profile}", config, task)
        make_network(config, task, config.replicas(next(iter(config.mechanisms)))[:1])
        for mechanism in config.mechanisms:
            make_halting(config, config.replicas(mechanism))


VALIDATION = {"per_epoch": 1, "factor": 0.5, "patience": 1, "stop_patience": 1}
DIGITS = {
    "name": "digits", "data": "sklearn_digits", "train_rotation": 0.0, "test_rotations": [],
    "test_angles": [], "validation": 200,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"network": {"cell": "conv_mlp"}}, r"network\.cell: 'conv_mlp' cannot read parity; allo"),
        ({"task": DIGITS}, r"network\.cell: '\w+' cannot read digits; allowed: conv_mlp$"),
        ({"training": {"validation": VALIDATION}}, r"validation: parity has no validation set"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    document = tiny.document(**{key: value for key, value in change.items() if key != "task"})
    if "task" in change:
        document["tiny"]["common"]["task"] = change["task"]
        document["tiny"]["quick"].pop("task", None)
    config = load_params(tiny.write(tmp_path, document)).experiment("tiny")
    with pytest.raises(UserError) as caught:
        check_fit("tiny.quick", config, make_task(config.task, "tiny"))
    assert str(caught.value).startswith("params.yaml: tiny.quick.")
    assert re.search(said, str(caught.value)), caught.value


# mechanism, its block, what its class says
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("act", {"tau": [0.01, -0.1]}, r"tau: -0\.1.* is not allowed"),
    ("pondernet", {"lambda_p": [0.2, 1.0]}, r"lambda_p: 1\.0 is not allowed; a number in \[0, 1\)"),
    ("pondernet", {"lambda_p": [0.2, {"lambda_p": 0.2, "beta": -1.0}]}, "beta: -1.* not allowed"),
    ("certainty", {"theta": [1.5]}, r"theta: 1\.5 is not allowed"),
]


@pytest.mark.parametrize(("mechanism", "block", "said"), WRONG)
def test_a_mechanism_refuses_what_means_nothing_before_any_work(
    tmp_path: Path, mechanism: str, block: dict[str, Any], said: str
) -> None:
    config = tiny.config(tmp_path, **{mechanism: block})
    with pytest.raises(UserError, match=said) as caught:
        check_fit("tiny.quick", config, make_task(config.task, "tiny"))
    line = str(caught.value)
    assert line.startswith(f"params.yaml: tiny.quick.{mechanism}.") and "\n" not in line
