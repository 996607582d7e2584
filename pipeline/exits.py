"""Stage `exits`: trained networks stopped by each exit rule."""

from __future__ import annotations

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.argument("experiments", nargs=-1, required=True)
def main(profile: str, experiments: tuple[str, ...]) -> None:
    """Write the table of every rule at each of its thresholds, for EXPERIMENTS of params.yaml."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.evaluate import exits
        from pondering.evaluate.stage import Evaluation
        from pondering.params.read import load_params
        from pondering.project import machine

        params = load_params(profile=profile)
        machine.settle(params.compute.threads)
        for experiment in experiments:
            exits.run(Evaluation(params, experiment))
            click.echo(f"exits: {experiment}")


if __name__ == "__main__":
    main()
