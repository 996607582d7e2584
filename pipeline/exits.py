"""Stage `exits`: trained networks stopped by each exit rule."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.option("--experiment", required=True, help="A name in params.yaml.")
def main(profile: str, experiment: str) -> None:
    """Write the table of every rule at each of its thresholds."""
    with stage():  # imports take seconds: Ctrl-C may come among them
        from pondering.evaluate import exits
        from pondering.evaluate.stage import plan
        from pondering.params.read import load_params
        from pondering.project import machine

        work = plan(load_params(Path("params.yaml"), profile), experiment, Path())
        machine.settle(work.params.compute.threads)
        exits.run(work)


if __name__ == "__main__":
    main()
