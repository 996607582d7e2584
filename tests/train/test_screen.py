"""A screen of recipes: what it trains, keeps, refuses and draws."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ruamel.yaml import YAML
from support import stages, tiny

from pondering.params.read import load_params
from pondering.params.screens import read_screen
from pondering.results.arms import ranked

PLAN = "reports/quick/search/tiny-recipe.yaml"
SCREEN: dict[str, Any] = {
    "experiment": "tiny", "settings": {"act": [0.01, 0.1], "repeat": [1]}, "seeds": [1000, 1002],
    "updates": 12, "log_points": 3, "solved_below": 0.3,
    "arms": {"today": {}, "slow": {"training": {"learning_rate": 0.001}}},
}  # fmt: skip


def written(folder: Path, **changes: Any) -> Path:
    path = folder / PLAN
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        YAML().dump(SCREEN | changes, file)
    return path


def screened(folder: Path, plan: str = PLAN) -> stages.Done:
    return stages.run(folder, "screen", plan)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screen") / "project"
    shutil.copytree(stages.finished_project(), folder)
    written(folder)
    done = screened(folder)
    assert (done.status, done.err) == (0, "")
    assert done.out.count(" of 6 solved, median error ") == 2
    return folder


def table(folder: Path) -> pd.DataFrame:
    return pd.read_csv((folder / PLAN).with_suffix(".csv"))


def test_every_arm_trains_every_mechanism_setting_and_seed(project: Path) -> None:
    rows = table(project)
    networks = {("act", 0.01), ("act", 0.1), ("repeat", 1.0)}
    wanted = {
        (arm, *pair, seed) for arm in SCREEN["arms"] for pair in networks for seed in (1000, 1002)
    }
    for update in (4, 8, 12):
        now = rows[rows["update"] == update][["arm", "mechanism", "setting", "seed"]]
        assert set(now.itertuples(index=False, name=None)) == wanted
    assert rows["arm"].tolist() == sorted(rows["arm"], key=["today", "slow"].index)
    losses = rows.groupby("arm")["loss"].sum()
    assert losses["today"] != losses["slow"]


def test_an_arm_trains_as_the_stage_would_with_its_values(project: Path) -> None:
    params = load_params(project / "params.yaml", "quick")
    training = params.experiment("tiny").training.model_copy(
        update={"updates": 12, "log_points": 3, "learning_rate": 0.001}
    )
    config = params.experiment("tiny").model_copy(
        update={"training": training, "seeds": (1000, 1002)}
    )
    rows = pd.DataFrame(tiny.train(tiny.sweep(config, "act")).rows())
    own = table(project).query("arm == 'slow' and mechanism == 'act'")
    assert own["loss"].tolist() == pytest.approx(rows["loss"].tolist(), rel=1e-5)


def test_what_is_trained_is_kept_and_a_changed_arm_trains_again(
    project: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(project, tmp_path / "project")
    before = stages.contents(folder)
    shutil.rmtree(folder / ".checkpoints")
    assert screened(folder).status == 0
    assert not (folder / ".checkpoints").exists()
    assert {k: v for k, v in before.items() if ".checkpoints" not in k} == stages.contents(folder)
    arms = SCREEN["arms"] | {"slow": {"training": {"learning_rate": 0.0001}}}
    written(folder, arms=arms)
    assert screened(folder).status == 0
    old, new = table(project), table(folder)
    assert old[old["arm"] == "today"].equals(new[new["arm"] == "today"])
    assert not old[old["arm"] == "slow"].equals(new[new["arm"] == "slow"])
    record = json.loads((folder / PLAN).with_suffix(".json").read_text())
    assert record["plan"]["arms"] == arms
    assert set(record["parts"]) == {f"{a}, {m}" for a in arms for m in ("act", "repeat")}


def test_the_recipe_of_a_plan_outlives_that_of_the_parameters(
    project: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(project, tmp_path / "project")
    shutil.rmtree(folder / ".checkpoints")
    tiny.write(folder, tiny.document(halting={"halt_bias": 3.0}, act={"seeds": [7]}))
    written(folder, recipe={"halting": {"halt_bias": 0.0}})
    assert screened(folder).status == 0
    assert not (folder / ".checkpoints").exists() and table(folder).equals(table(project))
    record = json.loads((folder / PLAN).with_suffix(".json").read_text())
    assert record["plan"]["recipe"] == {"halting": {"halt_bias": 0.0}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seeds": [1000, 7]}, "seeds: 7 is not allowed; a seed of no published run is"),
        ({"arms": {"x": {"training": {"rate": 1}}}},
         "arm 'x': params.yaml: tiny.quick.training.rate: unknown key"),
        ({"settings": {"pause": [1]}}, "settings.pause: unknown mechanism; allowed: repeat, act"),
        ({"updates": 0}, f"{PLAN}: updates: "),
        ({"more": 1}, f"{PLAN}: more: "),
        ({"experiment": "huge"}, "huge"),
    ],
)  # fmt: skip
def test_what_it_refuses_before_any_training(
    project: Path, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    folder = shutil.copytree(project, tmp_path / "project")
    written(folder, **changes)
    done = screened(folder)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
    assert table(folder).equals(table(project))


def test_a_record_without_its_table_is_one_line(project: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(project, tmp_path / "project")
    path = (folder / PLAN).with_suffix(".csv")
    path.unlink()
    done = screened(folder)
    missing = "reports/quick/search/tiny-recipe.csv: no such file, though tiny-recipe.json lies"
    assert (done.status, done.err) == (2, f"error: {missing} beside it\n")


def test_a_plan_lies_beside_the_reports(project: Path) -> None:
    done = screened(project, "params.yaml")
    assert done.err == "error: params.yaml: a plan lies at reports/PROFILE/search/NAME.yaml\n"


def rows_of(errors: dict[str, list[float | None]]) -> pd.DataFrame:
    return pd.DataFrame([
        {"arm": arm, "mechanism": "act", "setting": 0.1, "seed": seed, "update": update,
         "error": error if update == 9 else 0.0}
        for arm, several in errors.items()
        for seed, error in enumerate(several)
        for update in (5, 9)
    ])  # fmt: skip


def test_solved_networks_count_first_then_the_median_and_a_failure_is_wrong() -> None:
    rows = rows_of({
        "a": [0.01, 0.2, 0.3, 0.3, 0.3], "b": [0.01, 0.1, 0.1, None, None],
        "c": [0.02, 0.02, 0.02, 0.02, 0.4],
    })  # fmt: skip
    found = ranked(rows, 0.05, 1.0)
    assert found["arm"].tolist() == ["c", "b", "a"]
    assert found["solved"].tolist() == [4, 1, 1] and found["networks"].tolist() == [5, 5, 5]
    assert found["median"].tolist() == [0.02, 0.1, 0.3]


def test_of_arms_that_differ_by_two_networks_the_lower_median_error_wins() -> None:
    near = {"more": [0.01, 0.01, 0.01, 0.3, 0.3, 0.3, 0.3], "fewer": [0.01] + 6 * [0.06]}
    assert ranked(rows_of(near), 0.05, 1.0)["arm"].tolist() == ["fewer", "more"]
    near["fewer"][0] = 0.06
    assert ranked(rows_of(near), 0.05, 1.0)["arm"].tolist() == ["more", "fewer"]


@pytest.mark.parametrize(
    ("screen", "taken"),
    [("parity", "slow halting unit"), ("logic", "halting bias -3"), ("addition", "forget bias 1")],
)
def test_the_first_arm_of_a_published_screen_is_the_one_taken(screen: str, taken: str) -> None:
    path = stages.ROOT / "reports/reduced/search" / f"{screen}-recipe.csv"
    below = read_screen(path.with_suffix(".yaml")).solved_below
    assert ranked(pd.read_csv(path), below, 1.0)["arm"][0] == taken


def test_the_committed_plans_can_be_read_and_their_arms_trained() -> None:
    plans = list((stages.ROOT / "reports").glob("*/search/*.yaml"))
    assert plans
    for path in plans:
        screen = read_screen(path)
        for arm in screen.arms:
            screen.params(arm, path.parent.parent.name, stages.ROOT / "params.yaml")
