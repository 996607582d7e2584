"""`pondering provenance`: the stages and the origin of a published figure."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
from support import argv

from pondering.claims.claims import load_register
from pondering.cli.provenance import lines
from pondering.params.read import load_params
from pondering.project.documents import read_yaml
from pondering.report.figures import FIGURES, decisions, exits, question_figure

ROOT = Path(__file__).parents[2]
shown, refused = partial(argv.shown, "provenance"), partial(argv.refused, "provenance")
OF_PARITY = ("repeat", "act", "pondernet")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real parameters and stages, with one run and its evaluation recorded."""
    for name in ("params.yaml", "dvc.yaml", "claims.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    text = (tmp_path / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(re.sub(r"(?m)^profile: \w+", "profile: quick", text))
    folder = tmp_path / "reports/quick/provenance"
    folder.mkdir(parents=True)
    record = {
        "commit": "c0ffee", "params_hash": "9a9a", "config": {"hidden": 7}, "data_hash": "da7a",
        "device": "A Processor", "versions": {"python": "3.11.7", "torch": "2.13.0"},
        "wall_seconds": 1234.5, "updates": 3500, "key": "secret",
    }  # fmt: skip
    (folder / "parity-act.json").write_text(json.dumps(record))
    trained = {"act": "e5ca", "repeat": "1ee7"}
    evaluated = record | {"commit": "beef", "data_hash": "5e75", "trained_hash": trained}
    (folder / "parity.json").write_text(json.dumps(evaluated))
    (folder / "sort-act.json").write_text(json.dumps(record | {"commit": "another"}))
    figures = tmp_path / "reports/quick/figures"
    figures.mkdir()
    (figures / "graves-04.svg").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_training_that_contributed_has_its_line(project: Path) -> None:
    path = project / "reports/quick/provenance/parity-act.json"
    record = json.loads(path.read_text())
    first = {"commit": "01de5", "device": "Another", "wall_seconds": 60.0, "updates": 3500}
    first["replicas"] = ["act, tau 0.1, seed 0", "act, tau 0.1, seed 1"]
    path.write_text(
        json.dumps(record | {"replicas": ["act, tau 0.1, seed 2"], "earlier": [first, first]})
    )
    output = shown("graves-04")
    assert "  Replicas    act, tau 0.1, seed 2\n" in output
    said = "  Earlier     replicas act, tau 0.1, seed 0; act, tau 0.1, seed 1, commit 01de5, "
    assert output.count(said + "device Another, wall seconds 60 s, updates 3,500\n") == 2


def test_the_stages_from_data_to_report_in_order(project: Path) -> None:
    output = shown("graves-04")
    assert output.splitlines()[:2] == [
        "graves-04: Graves 2016, Fig. 4. Parity: error by time penalty",
        "reports/quick/figures/graves-04.svg",
    ]
    found = re.findall(r"^  (\w+@\S+) +python (pipeline/\w+\.py .*)$", output, re.MULTILINE)
    where = "--profile quick --experiment parity"
    assert found == [
        ("datasets@quick-parity", f"pipeline/datasets.py {where}"),
        *(
            (f"train@quick-parity-{name}", f"pipeline/train.py {where} --mechanism {name}")
            for name in OF_PARITY
        ),
        ("evaluate@quick-parity", f"pipeline/evaluate.py {where}"),
        ("report@quick", "pipeline/report.py --profile quick"),
    ]


def test_what_is_recorded_of_every_training_behind_it(project: Path) -> None:
    output = shown("graves-04")
    blocks = dict(re.findall(r"^train@quick-(\S+)\n((?:  .*\n?)+)", output, re.MULTILINE))
    assert list(blocks) == [f"parity-{name}" for name in OF_PARITY]
    assert blocks["parity-repeat"] == blocks["parity-pondernet"] == "  not run yet\n"
    facts = dict(re.findall(r"^  (\w+) +(.*)$", blocks["parity-act"], re.MULTILINE))
    assert facts["Commit"] == "c0ffee"
    assert facts["Parameters"] == "9a9a"
    assert facts["Data"] == "da7a"
    assert facts["Device"] == "A Processor"
    assert facts["Versions"] == "python 3.11.7, torch 2.13.0"
    assert facts["Time"].startswith("2")  # 20.6 minutes, in whatever words
    assert "secret" not in output and "another" not in output


def test_what_is_recorded_of_every_evaluation_behind_it(project: Path) -> None:
    output = shown("beyond-layout")
    blocks = dict(re.findall(r"^evaluate@quick-(\S+)\n((?:  .*\n?)+)", output, re.MULTILINE))
    assert list(blocks) == ["parity", "parity_scattered"]
    assert blocks["parity_scattered"] == "  not run yet\n"
    facts = dict(re.findall(r"^  (\w+) +(.*)$", blocks["parity"], re.MULTILINE))
    assert facts["Commit"] == "beef"
    assert facts["Data"] == "5e75"
    assert facts["Trained"] == "act e5ca, repeat 1ee7"
    assert {"Parameters", "Device", "Versions", "Time"} < set(facts)
    assert "secret" not in output


def test_another_profile_with_data_from_outside(project: Path) -> None:
    output = shown("beyond-layout", "--profile", "reduced")
    assert "reports/reduced/figures/beyond-layout.svg: not drawn yet" in output
    names = re.findall(r"^  (\w+@\S+) +python", output, re.MULTILINE)
    assert names[0] == "download@reduced"
    assert names[1:3] == ["datasets@reduced-parity", "datasets@reduced-parity_scattered"]
    assert names[-1] == "report@reduced"
    assert len(names) == 1 + 2 + 2 * len(OF_PARITY) + 2 + 1


def test_every_figure_has_stages_that_dvc_has(project: Path) -> None:
    params = load_params()
    stages = read_yaml(ROOT / "dvc.yaml")["stages"]
    asked = load_register(ROOT / "claims.yaml").questions
    for spec in (*FIGURES, *map(question_figure, asked)):
        known = [f"{stage}@quick-{name}" for stage in ("datasets", "evaluate")
                 for name in spec.experiment]  # fmt: skip
        known += [
            f"train@quick-{name}-{each}"
            for name in spec.experiment
            for each in params.experiment(name).mechanisms
        ]
        if spec.family in (exits, decisions):
            assert {*spec.experiment} <= {*stages["exits"]["matrix"]["experiment"]}
            known += [f"exits@quick-{name}" for name in spec.experiment]
        text = "\n".join(lines(spec.id, params))
        *names, last = re.findall(r"^  (\w+@\S+) +python", text, re.MULTILINE)
        assert sorted(names) == sorted(known), spec.id
        assert last == "report@quick"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("graves-4",),
            ("FIGURE: 'graves-4' is unknown; did you mean 'graves-04' or ",),
        ),
        (("table-1",), ("FIGURE: 'table-1' is unknown", *(spec.id for spec in FIGURES))),
        ((), ("FIGURE: missing", "graves-04")),
        (("graves-04", "--profile", "quik"), ("'quik'", "did you mean 'quick'?")),
    ],
)
def test_a_mistake_is_one_line(
    project: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    line = refused(*arguments)
    assert all(word in line for word in words)


def test_a_damaged_record_is_one_line(project: Path) -> None:
    for name in ("parity-act", "parity"):
        record = project / f"reports/quick/provenance/{name}.json"
        record.write_text("{")
        # the figure is named before the record is read
        done = argv.run("provenance", "graves-04")
        assert done.exit_code == 2
        assert f"/{name}.json: not readable" in done.stderr
        record.unlink()


def test_make_passes_the_figure_on() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--old-file", ".venv/ready", "provenance", "FIGURE=graves-04"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "pondering provenance 'graves-04'" in done.stdout
