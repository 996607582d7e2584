"""Stage `exits`: where each exit rule would have stopped an experiment's trained networks."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import Command, stage


@click.command(cls=Command)
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.option("--experiment", required=True, help="A name in params.yaml, a task of vectors.")
def main(profile: str, experiment: str) -> None:
    """Write the table of every rule at each of its thresholds."""
    with stage():  # imports take seconds: Ctrl-C may come among them
        from pondering.evaluate.exits import run
        from pondering.params.read import load_params

        run(load_params(Path("params.yaml"), profile), experiment, Path())


if __name__ == "__main__":
    main()
