"""Stage `evaluate`: an experiment's trained replicas against its frozen evaluation sets."""

from __future__ import annotations

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.option("--experiment", required=True, help="A name in params.yaml.")
def main(profile: str, experiment: str) -> None:
    """Write the tidy table, the summary for `dvc metrics` and the traces."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.evaluate.stage import Evaluation, run
        from pondering.params.read import load_params

        run(Evaluation(load_params(profile=profile), experiment))


if __name__ == "__main__":
    main()
