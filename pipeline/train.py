"""Stage `train`: one experiment, all its mechanisms, settings and seeds, with a data card."""

from __future__ import annotations

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.option("--experiment", required=True, help="A name in params.yaml.")
@click.option("--mechanism", multiple=True, help="One of the experiment's; all if left out.")
def main(profile: str, experiment: str, mechanism: tuple[str, ...]) -> None:
    """Train what is not in data/replicas, from the last checkpoint if there is one."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.data.frozen import card
        from pondering.params.read import load_params
        from pondering.track.writer import live
        from pondering.train.stage import run

        params = load_params(profile=profile)
        with live(params, experiment) as listen:
            run(params, experiment, mechanism, listen)
        card(params, experiment)


if __name__ == "__main__":
    main()
