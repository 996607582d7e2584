"""Publishes a report of made-up results that contain an attacker's strings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from support.synthetic_results import card_of, made_up_results

from pondering.claims.claims import load_register
from pondering.project.paths import PUBLISHED, Layout
from pondering.report.pages import build, build_index
from pondering.results.results import Results

ROOT = Path(__file__).parents[2]
REGISTER = load_register(ROOT / "claims.yaml", ROOT / "reports/reduced/remarks.yaml")
CLAIMS = tuple(each for each in REGISTER.claims if not each.ours)
HOSTILE = "<script>alert('x')</script>"


def publish(source: Results, folder: Path) -> Path:
    """Write results as the stages do, then their report; returns the profile's folder.

    Args:
        source: made-up results.
        folder: reports/ of a project.
    """
    layout = Layout(folder.parent, source.profile, PUBLISHED)
    home = layout.report
    origin = {
        "commit": "3f9c2ab", "command": "dvc repro", "device": HOSTILE, "wall_seconds": 4000.4
    }  # fmt: skip
    for kind in ("tables", "curves", "provenance"):
        (home / kind).mkdir(parents=True, exist_ok=True)
    for name, table in source.tables.items():
        table.to_csv(home / "tables" / f"{name}.csv", index=False)
        for mechanism in ("repeat", "act"):
            path = layout.provenance(name, mechanism)
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(origin))
        if name == "parity":  # the other experiment has no record of its evaluation
            layout.provenance(name).write_text(json.dumps(origin))
    for name, curves in source.curves.items():
        for mechanism, part in curves.groupby("mechanism"):
            layout.curves(name, mechanism).parent.mkdir(exist_ok=True)
            part.to_csv(layout.curves(name, mechanism), index=False)
    build(source, REGISTER, layout, {})
    return home


def hostile_results() -> Results:
    """Results of three experiments, with an attacker's strings in every text."""
    source = made_up_results(seeds=3, points=20)
    names = ("parity", "wikipedia")
    cards = {
        name: replace(card_of(name), what=f"{HOSTILE} {name}", stand_in=True, source=HOSTILE)
        for name in (*names, "extra")
    }
    cards["extra"] = replace(cards["extra"], title=HOSTILE, splits={HOSTILE: HOSTILE})
    tables = {name: source.tables[name] for name in names}
    tables["extra"] = source.tables["parity"].assign(experiment="extra", split=HOSTILE)
    curves = {name: source.curves[name] for name in names}
    return Results("quick", tables, curves, source.traces, cards)


def hostile_site(folder: Path) -> Path:
    """Publish them with the page that leads to all; returns the folder, reports/ of a project."""
    publish(hostile_results(), folder)
    build_index(folder, {})
    return folder
