"""Fills the table of aims in docs/speed.md, from `benchmarks/results/DEVICE.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from bench import HERE
from page import targets

from pondering.project.atomic import atomic_write

BEGIN, END = "<!-- aims -->\n", "<!-- end of aims -->\n"


def filled(text: str, result: dict[str, Any], stem: str) -> str:
    """The page with the table of a result that `bench.py` has written as `stem`.json."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    link = f"[every row](../benchmarks/results/{stem}.md)"
    line = f"On {result['processes']} cores, {result['device']} ({link}):"
    there = [each for each in result["targets"] if each["measured"] != "not measured"]
    rows = targets(result | {"targets": there})
    missing = [each["name"] for each in result["targets"] if each not in there]
    rows += ["", f"Not measured: {'; '.join(missing)}."] * bool(missing)
    return "".join([before, BEGIN, "\n".join([line, "", *rows]), "\n", END, after])


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def main(path: Path) -> None:
    """Fill it from the result at PATH."""
    page = HERE.parent / "docs/speed.md"
    text = page.read_text(encoding="utf-8")
    result = json.loads(path.read_text(encoding="utf-8"))
    atomic_write(page, filled(text, result, path.stem))


if __name__ == "__main__":
    main()
