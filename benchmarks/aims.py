"""Fills the table of aims in docs/speed.md, from files in `benchmarks/results`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from bench import HERE
from page import targets

from pondering.project.atomic import atomic_write

BEGIN, END = "<!-- aims -->\n", "<!-- end of aims -->\n"


def filled(text: str, results: dict[str, dict[str, Any]]) -> str:
    """The page with a table of each result that `bench.py` has written, by the stem of its file."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    lines, measured = [], set()
    for stem, result in results.items():
        cores = "" if result["kind"] == "cuda" else f"{result['processes']} cores, "
        link = f"[every row](../benchmarks/results/{stem}.md)"
        there = [each for each in result["targets"] if each["measured"] != "not measured"]
        rows = targets(result | {"targets": there})
        lines += [f"On {cores}{result['device']} ({link}):", "", *rows, ""]
        measured |= {each["name"] for each in there}
    names = dict.fromkeys(each["name"] for result in results.values() for each in result["targets"])
    missing = [name for name in names if name not in measured]
    lines += [f"Not measured: {'; '.join(missing)}."] if missing else []
    return "".join([before, BEGIN, "\n".join(lines).rstrip(), "\n", END, after])


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(paths: tuple[Path, ...]) -> None:
    """Fill it from the results at PATHS."""
    page = HERE.parent / "docs/speed.md"
    text = page.read_text(encoding="utf-8")
    results = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    atomic_write(page, filled(text, results))


if __name__ == "__main__":
    main()
