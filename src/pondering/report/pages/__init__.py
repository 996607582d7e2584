"""The static site under reports/: a view of the tidy results, rebuilt whole at any time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pondering.claims.claims import load_register
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.schema import ExperimentConfig
from pondering.project.paths import PUBLISHED, Layout, current
from pondering.report.pages.site import build, build_index
from pondering.report.pages.story import what_holds, write_readme
from pondering.results.results import Results

__all__ = ["build", "build_index", "write_pages"]


def write_pages(
    root: Path,
    profile: str,
    encodings: Mapping[str, Mapping[str, Any]],
    layout: Layout | None = None,
) -> str:
    """Write a profile's report from whatever has been run, and the page that leads to all.

    README.md gets the results too, if its table is of this profile.

    Args:
        root: the project.
        profile: quick, reduced or paper.
        encodings: by task, what its inputs are made of; see `data/encoding.py`.
        layout: where the results lie; None: what the pipeline has written, else what is published.

    Returns:
        how many claims have which verdict, in words.
    """
    settings = load_params(root / "params.yaml", profile).experiments
    layout = layout or current(root, profile)
    settings = {name: _evaluated(layout.provenance(name), now) for name, now in settings.items()}
    results = Results.of(layout)
    register = load_register(root / "claims.yaml", layout.remarks)
    page = build(results, register, layout, settings)
    build_index(root / PUBLISHED, encodings)
    judged = json.loads((layout.report / "claims.json").read_text(encoding="utf-8"))
    write_readme(root / "README.md", profile, what_holds(results, judged))
    verdicts = Counter(view.judgement.verdict for view in page.claims)
    return ", ".join(f"{count} {words}" for words, count in verdicts.items())


def _evaluated(record: Path, now: ExperimentConfig) -> ExperimentConfig:
    """The settings that a table was made with, from its record; without one, today's."""
    if not record.is_file():
        return now
    values = json.loads(record.read_text("utf-8"))["config"]
    for name in (each for each in MECHANISMS if values.get(each, {}).get("seeds") == []):
        del values[name]  # older records say so that a mechanism is left out
    return ExperimentConfig.model_validate(values)
