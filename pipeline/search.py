"""A learning-rate search: a table, its figure and its origin.

Not a stage: its outcome is fixed in params.yaml by hand.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from pondering.params.mechanisms import MECHANISMS
from pondering.project.command import Command, stage
from pondering.project.errors import UserError

RULE = "the rate with the least training error, mean over settings and seeds, at the last point"


def numbers(_: click.Context, option: click.Parameter, text: str) -> list[Any]:
    """An option's numbers, written with commas; seeds are whole ones."""
    whole = option.name == "seeds"
    found = []
    for part in text.split(","):
        try:
            found.append(int(part) if whole else float(part))
        except ValueError:
            found.append(math.nan)
        if not 0 < found[-1] < math.inf:
            kind = "whole number" if whole else "number"
            raise UserError(f"{option.opts[0]}: {part!r} is not allowed; a {kind} above 0 is")
    return found


@click.command(cls=Command)
@click.argument("experiment")
@click.option("--mechanism", default="act", type=click.Choice(MECHANISMS))
@click.option("--profile", default="reduced")
@click.option(
    "--rates", default="0.001,0.003,0.01", callback=numbers, help="Learning rates, with commas."
)
@click.option(
    "--settings", default="0.001,0.01", callback=numbers, help="Its settings, with commas."
)
@click.option(
    "--seeds", default="1000", callback=numbers, help="Seeds, with commas; none of a published run."
)
@click.option("--updates", default=3000, type=click.IntRange(min=1))
@click.option("--points", default=10, type=click.IntRange(min=1))
@click.option("--name", help="The table's, EXPERIMENT-MECHANISM unless given.")
@click.option("--draw", is_flag=True, help="Train nothing: draw NAME's figure from its table.")
def main(
    experiment: str, mechanism: str, profile: str, rates: list[float], settings: list[float],
    seeds: list[int], updates: int, points: int, name: str | None, draw: bool,
) -> None:  # fmt: skip
    """Search EXPERIMENT; write reports/PROFILE/search/NAME.csv, its figure and its origin."""
    with stage():  # imports take seconds: Ctrl-C may come among them
        import pandas as pd

        from pondering.params.read import load_params
        from pondering.project.atomic import json_text, write_together
        from pondering.project.paths import Layout
        from pondering.report.figures.rates import figure_rates
        from pondering.report.figures.style import save
        from pondering.results.tables import best_rate
        from pondering.train.search import Search, run, task_of

        if name is not None and ("/" in name or not name):
            raise UserError(f"--name: {name!r} is not allowed; a file's name without ending is")
        name, layout = name or f"{experiment}-{mechanism}", Layout(Path(), profile)
        path = layout.search(name)
        record = path.with_suffix(".json")
        if draw and not (path.is_file() and record.is_file()):
            raise UserError(f"--name: {path} and {record.name} are not both there to draw from")
        if not draw:
            params = load_params(Path("params.yaml"), profile)
            tried = Search(
                params, experiment, mechanism, rates, settings, seeds, updates, points, name
            )
            table, origin = run(tried, Path())
            content = table.to_csv(index=False, float_format="%.6g")
            write_together({path: content, record: json_text(origin)})
        try:
            table = pd.read_csv(path)
            values = json.loads(record.read_text())["config"]["task"]
            task = task_of(values, experiment, layout)
        except (ValueError, LookupError, TypeError):
            raise UserError(
                f"{path} or {record.name} is damaged; without --draw both are made again"
            ) from None
        what, worst = f"Profile {profile}: {task.summary}", task.worst_error
        save(figure_rates(table, what, task.unit, worst), path.with_suffix(""))
        click.echo(f"{path}: {RULE}: {best_rate(table, worst):g}")


if __name__ == "__main__":
    main()
