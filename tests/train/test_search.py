"""The search of a learning rate: its table, and where it came from."""

from __future__ import annotations

import itertools
import json
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
from ruamel.yaml import YAML
from support import stages, tiny

from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project.provenance import hash_values
from pondering.report.figures.rates import figure_rates
from pondering.results.tables import best_rate
from pondering.tasks import make_task
from pondering.train.build import make_network
from pondering.train.sweep import Schedule, Sweep

OPTIONS = ("--rates", "0.001,0.03", "--settings", "0.01,0.1", "--seeds", "1000,1002",
           "--updates", "20", "--points", "4")  # fmt: skip
FOLDER = "reports/quick/search"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project, searched."""
    folder = tmp_path_factory.mktemp("search") / "project"
    shutil.copytree(stages.finished_project(), folder)
    done = stages.run(folder, "search", "tiny", "--profile", "quick", *OPTIONS)
    assert (done.status, done.err) == (0, "")
    assert f"{FOLDER}/tiny-act.csv: the rate with the least" in done.out
    return folder


def test_every_rate_has_a_row_with_every_setting_seed_and_point(project: Path) -> None:
    table = pd.read_csv(project / FOLDER / "tiny-act.csv")
    names = ["update", "learning_rate", "setting", "seed"]
    found = list(table[names].itertuples(index=False, name=None))
    wanted = itertools.product((5, 10, 15, 20), (0.001, 0.03), (0.01, 0.1), (1000, 1002))
    assert found == list(wanted)
    assert table.groupby(names[1:])["loss"].mean().nunique() == 8


def test_its_figure_can_be_drawn_again_from_the_table_alone(project: Path) -> None:
    before = stages.contents(project)
    (project / FOLDER / "tiny-act.svg").unlink()
    words = ("search", "tiny", "--profile", "quick", "--draw")
    assert stages.run(project, *words).status == 0
    assert stages.contents(project) == before
    done = stages.run(project, *words, "--name", "another")
    assert done.status == 2
    assert done.err == (
        "error: --name: reports/quick/search/another.csv and another.json are not both there to "
        "draw from\n"
    )
    (project / FOLDER / "another.csv").touch()
    (project / FOLDER / "another.json").write_text("[]")
    done = stages.run(project, *words, "--name", "another")
    said = "another.csv or another.json is damaged; without --draw both are made again"
    assert (done.status, done.err) == (2, f"error: {FOLDER}/{said}\n")
    for ending in ("csv", "json"):
        (project / FOLDER / f"another.{ending}").unlink()


def test_its_origin_lies_beside_it(project: Path) -> None:
    origin = json.loads((project / FOLDER / "tiny-act.json").read_text())
    training = json.loads((project / "reports/quick/provenance/tiny-act.json").read_text())
    config = load_params(project / "params.yaml").experiment("tiny").of_mechanism("act")
    assert origin["params_hash"] == hash_values(config)
    same = ("commit", "lock_hash", "config", "data_hash", "device", "threads", "versions")
    assert {key: origin[key] for key in same} == {key: training[key] for key in same}
    assert origin["seeds"] == [1000, 1002]
    assert origin["rates"] == [0.001, 0.03] and origin["settings"] == [0.01, 0.1]
    assert origin["updates"] == 20 and origin["points"] == 4
    assert 0 < origin["wall_seconds"] < 60
    names = {f"tiny-act.{ending}" for ending in ("csv", "json", "png", "svg")}
    assert {path.name for path in (project / FOLDER).iterdir()} == names


def test_its_figure_has_a_panel_for_each_setting_and_a_colour_for_each_rate(project: Path) -> None:
    rows = pd.read_csv(project / FOLDER / "tiny-act.csv")
    panels = figure_rates(rows, "small", "error rate", 1.0).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["τ = 0.01", "τ = 0.1"]
    for axes, setting in zip(panels, (0.01, 0.1), strict=True):
        colours = dict.fromkeys(line.get_color() for line in axes.lines)
        for colour, rate in zip(colours, (0.001, 0.03), strict=True):
            *seeds, mean = (line for line in axes.lines if line.get_color() == colour)
            own = rows[(rows["setting"] == setting) & (rows["learning_rate"] == rate)]
            assert [line.get_ydata().tolist() for line in seeds] == [
                part["error"].tolist() for _, part in own.groupby("seed")
            ]
            assert mean.get_ydata() == pytest.approx(own.groupby("update")["error"].mean())
    drawn = (project / FOLDER / "tiny-act.svg").read_text()
    for text in ("Tiny, ACT: learning rates tried", "learning rate 1e-3", "learning rate 0.03",
                 "seeds 1000, 1002", "updates"):  # fmt: skip
        assert text in drawn, text


@pytest.mark.parametrize(
    ("worst", "lower", "higher", "best"),
    [
        (1.0, [0.06, 0.07], [0.05, None], 0.001),  # diverged: all wrong
        (1.0, [0.06, 0.07], [0.05, 0.06], 0.01),
        (8.0, [2.1, 2.2], [None, None], 0.001),  # 8 bits, not one
    ],
)
def test_the_rule_counts_what_diverged(
    worst: float, lower: list[float], higher: list[float | None], best: float
) -> None:
    rows = pd.DataFrame({"update": [5, 5, 9, 9, 9, 9],
                         "learning_rate": [0.01, 0.01, 0.001, 0.001, 0.01, 0.01],
                         "error": [0.0, 0.0, *lower, *higher]})  # fmt: skip
    assert best_rate(rows, worst) == best


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--seeds", "1000,7"), "--seeds: 7 is not allowed; a seed of no published run is"),
        (("--seeds", "1.5"), "--seeds: '1.5' is not allowed; a whole number above 0 is"),
        (("--name", "../a"), "--name: '../a' is not allowed; a file's name without ending is"),
    ],
)
def test_what_it_refuses(project: Path, options: tuple[str, ...], said: str) -> None:
    done = stages.run(project, "search", "tiny", "--profile", "quick", *options)
    assert (done.status, done.err) == (2, f"error: {said}\n")


def test_a_replica_that_diverged_stays_in_the_figure_as_a_failure() -> None:
    rows = pd.DataFrame({"experiment": "parity", "mechanism": "act", "seed": 1000,
                         "learning_rate": 0.1, "setting": 0.01, "update": [5, 10, 15],
                         "error": [0.5, None, None]})  # fmt: skip
    (axes,) = figure_rates(rows, "five bits", "error rate", 1.0).axes
    assert axes.lines[0].get_ydata().ravel().tolist() == [0.5, 1.0, 1.0]


def test_it_trains_by_the_experiments_recipe(project: Path, tmp_path: Path) -> None:
    """Decay over the updates of the search, the halting unit's rate, the warm-up, the weights."""
    shutil.copytree(project, tmp_path / "knobs")
    path = tmp_path / "knobs/params.yaml"
    values = YAML().load(path)
    block = values["tiny"]["quick"]
    block["training"] |= {"decay": "linear", "halting_rate": 0.1}
    block["network"]["init"], block["act"]["tau_warmup"] = "glorot", 9
    YAML().dump(values, path)
    done = stages.run(path.parent, "search", "tiny", "--profile", "quick", *OPTIONS)
    assert done.status == 0, done.err
    table = pd.read_csv(path.parent / FOLDER / "tiny-act.csv")
    config = load_params(path).experiment("tiny")
    assert (config.training.decay, config.network.init) == ("linear", "glorot")
    pairs = itertools.product((0.01, 0.1), (1000, 1002))
    replicas = [Replica("act", *pair) for pair in pairs]
    task = make_task(config.task, "tiny")
    for rate in (0.001, 0.03):
        values = config.training
        schedule = Schedule(20, values.batch, rate, values.clip, 4, "linear", 0.1)
        network = make_network(config, task, replicas)
        sweep = tiny.train(Sweep(network, task, replicas, schedule))
        wanted = pd.DataFrame(sweep.rows())["loss"]
        got = table[table["learning_rate"] == rate]["loss"]
        assert got.tolist() == pytest.approx(wanted.tolist(), rel=1e-4)
    before = pd.read_csv(project / FOLDER / "tiny-act.csv")
    assert (table["loss"] - before["loss"]).abs().min() > 0


def test_the_command_in_it_makes_the_same_table(project: Path, tmp_path: Path) -> None:
    table = project / FOLDER / "tiny-act.csv"
    python, script, *arguments = shlex.split(
        json.loads(table.with_suffix(".json").read_text())["command"]
    )
    assert (python, script) == ("python", "pipeline/search.py")
    shutil.copytree(project, tmp_path / "again")
    again = tmp_path / "again" / FOLDER / table.name
    again.unlink()
    assert stages.run(tmp_path / "again", "search", *arguments).status == 0
    assert again.read_bytes() == table.read_bytes()
