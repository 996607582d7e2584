"""Stage `train`: one experiment with one mechanism, all its settings and seeds in one process."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.params.mechanisms import MECHANISMS
from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.option("--experiment", required=True, help="A name in params.yaml.")
@click.option("--mechanism", required=True, type=click.Choice(MECHANISMS))
def main(profile: str, experiment: str, mechanism: str) -> None:
    """Train to the end of the plan, from the last checkpoint if there is one."""
    with stage():  # imports take seconds: Ctrl-C may come among them
        from pondering import track
        from pondering.params.read import load_params
        from pondering.train.stage import run

        params = load_params(Path("params.yaml"), profile)
        config = params.experiment(experiment)
        values = {mechanism: config.of_mechanism(mechanism)}
        with track.live(profile, experiment, values) as listen:
            run(params, experiment, Path(), (mechanism,), listen)


if __name__ == "__main__":
    main()
