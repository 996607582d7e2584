"""The static site under reports/: a view of the tidy results, rebuilt whole at any time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pondering.claims.claims import load_register
from pondering.params.read import load_params
from pondering.project.paths import Layout
from pondering.report.pages.overview import overview, write_readme
from pondering.report.pages.site import build, build_index
from pondering.results.results import Results

__all__ = ["build", "build_index", "publish"]


def publish(root: Path, profile: str, encodings: Mapping[str, Mapping[str, Any]]) -> str:
    """Write a profile's report from whatever has been run, and the page that leads to all.

    README.md gets the results too, if its table is of this profile.

    Args:
        root: the project.
        profile: quick, reduced or paper.
        encodings: by task, what its inputs are made of; see `data/encoding.py`.

    Returns:
        how many claims have which verdict, in words.
    """
    # The settings are printed only: a changed one reaches the report through what it changes.
    params = load_params(root / "params.yaml", profile)
    results = Results.load(root / "reports", profile)
    register = load_register(root / "claims.yaml")
    page = build(results, register, Layout(root, profile).report, params.experiments)
    build_index(root / "reports", encodings)
    write_readme(root / "README.md", profile, overview(results, page))
    return ", ".join(f"{count} {words}" for words, count in page.counts.items() if count)
