"""A screen of recipes on seeds of its own: PLAN.yaml to PLAN.csv and PLAN.json.

Not a stage: the recipe that it chooses is written into params.yaml by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from pondering.project.command import stage
from pondering.project.errors import UserError


@click.command()
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path))
def main(path: Path) -> None:
    """Train every arm of PLAN, a file reports/PROFILE/search/NAME.yaml.

    Arms that have been trained are kept as long as their key is the same.
    """
    with stage():  # imports take seconds: Ctrl-C may come among them
        import pandas as pd

        from pondering.params.read import PROFILES
        from pondering.params.screens import read_screen
        from pondering.project.atomic import json_text, write_together
        from pondering.results.arms import ranked
        from pondering.train.screen import COLUMNS, parts

        profile = path.parent.parent.name
        if path.parent.name != "search" or profile not in PROFILES or path.suffix != ".yaml":
            raise UserError(f"{path}: a plan lies at reports/PROFILE/search/NAME.yaml")
        screen = read_screen(path)
        every = parts(screen, profile, Path())
        table, record = pd.DataFrame(columns=COLUMNS), {}
        if (written := path.with_suffix(".json")).is_file():
            if not (rows_of := path.with_suffix(".csv")).is_file():
                raise UserError(f"{rows_of}: no such file, though {written.name} lies beside it")
            record = json.loads(written.read_text(encoding="utf-8"))["parts"]
            table = pd.read_csv(rows_of)
        keys = {name: each["key"] for name, each in record.items()}
        kept = [each.name for each in every if keys.get(each.name) == each.plan.key]
        record = {name: record[name] for name in kept}
        order = {arm: number for number, arm in enumerate(screen.arms)}
        table = table[(table["arm"] + ", " + table["mechanism"]).isin(kept)]
        for each in every:
            if each.name not in kept:
                rows, record[each.name] = each.train()
                table = pd.concat([table, rows]) if len(table) else rows
                table = table.sort_values("arm", key=lambda arms: arms.map(order), kind="stable")
            values = {"plan": screen.model_dump(mode="json"), "parts": record}
            content = table.to_csv(index=False, float_format="%.6g")
            write_together({path.with_suffix(".csv"): content, written: json_text(values)})
        task = every[0].plan.task
        judged = screen.solved_below, task.worst_error
        for row in ranked(table, *judged).itertuples():
            share = f"{row.solved} of {row.networks} solved"
            click.echo(f"{row.arm}: {share}, median error {row.median:.2%}")


if __name__ == "__main__":
    main()
