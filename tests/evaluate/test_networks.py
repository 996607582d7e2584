"""Published networks, as users of the library load them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from support import stages, tiny
from support.stages import ROOT

from pondering import Network, from_pretrained
from pondering.model.stacking import select
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig, Params
from pondering.project.paths import PUBLISHED, Layout
from pondering.results.results import read_table
from pondering.results.tables import best_setting, headline, per_seed
from pondering.tasks import make_task
from pondering.train.build import make_halting, make_network

NAMES = [
    "/".join(path.parts[-3:-1])
    for path in sorted((ROOT / "reports/reduced/models").glob("*/*/run.json"))
]


@cache
def params() -> Params:
    return load_params(ROOT / "params.yaml")


def by_the_pipeline(name: str) -> tuple[Network, Replica, int]:
    """The network as the pipeline builds it, its replica and its number of updates."""
    experiment, mechanism = name.split("/")
    folder = Layout(ROOT, "reduced", PUBLISHED).run(experiment, mechanism)
    record = json.loads((folder / "run.json").read_text())
    config, evaluation = record["config"], params().experiment(experiment)
    whole = ExperimentConfig.model_validate(config | {"evaluation": evaluation.evaluation})
    replicas = [Replica.of_record(mechanism, each) for each in record["replicas"]]
    index = json.loads((folder.parent / "index.json").read_text())[mechanism]
    (k,) = (n for n, each in enumerate(replicas) if each.record().items() <= index.items())
    replica, stacked = replicas[k], make_network(whole, make_task(whole.task, experiment), replicas)
    stacked.load_state_dict(load_file(folder / "parameters.safetensors"))
    single = select(stacked, k, make_halting(whole, replica))
    return single.eval(), replica, whole.updates(mechanism)


@pytest.mark.parametrize("name", NAMES)
def test_a_network_is_the_pipelines_and_its_card_is_the_tables(name: str) -> None:
    """The network has the setting that the pages show."""
    wanted, replica, updates = by_the_pipeline(name)
    network, card = from_pretrained(name)
    experiment = name.split("/")[0]
    inputs = torch.randint(0, 9, (3, 4))
    if card.task["name"] != "wikipedia":
        size = make_task(dict(card.task), experiment).input_size
        inputs = torch.randint(-1, 2, (3, 4, size)).float()
    with torch.no_grad():
        sampled = (torch.Generator().manual_seed(1) for _ in range(2))
        got, want = (each(inputs, generator=next(sampled)) for each in (network, wanted))
    assert got.mixture.equal(want.mixture) and got.ponder_time.equal(want.ponder_time)
    assert network.halting.max_steps == wanted.halting.max_steps
    assert network.halting.carry == wanted.halting.carry
    rows = headline(read_table(Layout(ROOT, "reduced", PUBLISHED).table(experiment)))
    part = rows[(rows["mechanism"] == replica.variant) & (rows["seed"] == replica.seed)]
    part = part[np.isclose(part["setting"], replica.setting)]
    means = part[["error", "ponder_time"]].mean()
    assert (card.error, card.ponder_time) == pytest.approx(tuple(means))
    assert (card.seed, card.updates) == (replica.seed, updates)
    ((setting, value),) = card.setting.items()
    assert replica.text() == f"{replica.mechanism}, {setting} {value:g}, seed {card.seed}"
    assert f"{best_setting(per_seed(rows), name.split('/')[1]):g}" == f"{replica.setting:g}"


@pytest.mark.parametrize(
    "name",
    ["parity_interpolation/act", "parity_extrapolation/repeat", "comparison/certainty",
     "comparison/dact", "comparison_logic/correctness", "logic/act"],
)  # fmt: skip
def test_a_published_network_has_the_error_and_steps_of_its_table(name: str) -> None:
    """The test sets follow from their seeds alone."""
    network, card = from_pretrained(name, profile="reduced")
    task, examples = make_task(dict(card.task), name.partition("/")[0]), 1_000
    batch = next(iter(task.evaluation_sets(examples).values())).torch(torch.device("cpu"))
    parts = [batch.take(slice(k, k + examples)) for k in range(0, len(batch.difficulty), examples)]
    with torch.no_grad():
        pondered = [(network(part.inputs, part.mask), part) for part in parts]
    answers = ((network.halting.predict(each), part) for each, part in pondered)
    errors = [task.error(each, part).mean().item() for each, part in answers]
    steps = [(each.ponder_time.sum(0) / part.mask.sum(0)).mean().item() for each, part in pondered]
    assert sum(errors) / len(errors) == pytest.approx(card.error, abs=5e-4)
    assert sum(steps) / len(steps) == pytest.approx(card.ponder_time, abs=5e-3)


def test_setting_and_seed_choose_among_published_replicas(tmp_path: Path) -> None:
    values = tiny.document(evaluation={"publish": 1})
    project = tiny.write(tmp_path, values).parent
    stages.work(project, "datasets", "train", "evaluate")
    published = stages.publish_results(project) / "models"
    tensors = load_file(published / "tiny/act/parameters.safetensors")
    trained = load_file(project / "data/results/quick/networks/tiny/act/parameters.safetensors")
    replicas = json.loads((published / "tiny/act/run.json").read_text())["replicas"]
    assert [(each["setting"], each["seed"]) for each in replicas] == [(0.01, 0), (0.1, 0)]
    assert all(each.equal(trained[name][[0, 2]].half()) for name, each in tensors.items())
    for k, tau in enumerate((0.01, 0.1)):
        network, card = from_pretrained("tiny/act", published, setting=tau)
        assert (card.setting, card.seed) == ({"tau": tau}, 0)
        assert network.heads.weight.equal(tensors["heads.weight"][k].float())
    index = json.loads((published / "tiny/index.json").read_text())["act"]
    _, card = from_pretrained("tiny/act", published)
    assert (card.setting["tau"], card.seed) == (index["setting"], index["seed"])
    with pytest.raises(ValueError, match=r"there are: 0.01 seed 0, 0.1 seed 0$"):
        from_pretrained("tiny/act", published, setting=0.01, seed=7)


def test_a_name_in_a_folder_and_a_path_load_the_same_network(tmp_path: Path) -> None:
    wanted = from_pretrained("sort/act")
    shutil.copytree(ROOT / "reports" / "reduced" / "models" / "sort", tmp_path / "models" / "sort")
    for name, folder in (("sort/act", tmp_path / "models"), (tmp_path / "models/sort/act", None)):
        network, card = from_pretrained(str(name), folder)
        nothing = dict.fromkeys(("question", "unit", "error", "ponder_time"))
        assert card == replace(wanted.card, **nothing) != wanted.card
        assert network.heads.weight.equal(wanted.network.heads.weight)
    for part in ("cards", "tables"):
        shutil.copytree(ROOT / "reports" / "reduced" / part, tmp_path / part)
    assert from_pretrained("sort/act", tmp_path / "models").card == wanted.card


def test_an_unknown_name_is_refused_with_the_known_names(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^parity/atc: is not published; there are: "):
        from_pretrained("parity/atc")
    with pytest.raises(ValueError, match=r"there are: addition/act, .*wikipedia/act$"):
        from_pretrained("parity")
    with pytest.raises(ValueError, match="no published networks"):
        from_pretrained("parity/act", tmp_path)


def test_loading_a_network_imports_only_torch_and_safetensors() -> None:
    code = (
        "import importlib.metadata, json, sys, torch, safetensors.torch\n"
        "before = {name.partition('.')[0] for name in sys.modules}\n"
        "from pondering import Sweep, from_pretrained\n"
        "network, card = from_pretrained('parity/act')\n"
        "network(torch.ones(1, 1, 64))\n"
        "after = {name.partition('.')[0] for name in sys.modules} - before\n"
        "print(json.dumps(sorted(after & set(importlib.metadata.packages_distributions()))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) - {"pondering"} == set()


def test_a_network_of_every_mechanism_is_published() -> None:
    """Another test compares each published network with the pipeline's."""
    experiments = load_params(ROOT / "params.yaml", "reduced").experiments.values()
    used = {name for each in experiments for name in each.mechanisms}
    assert {name.partition("/")[2] for name in NAMES} == used
