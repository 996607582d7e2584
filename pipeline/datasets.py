"""Stage `datasets`: freeze an experiment's evaluation sets and prepared data, with a data card."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.option("--experiment", required=True, help="A name in params.yaml.")
def main(profile: str, experiment: str) -> None:
    """Write data/tasks/PROFILE/EXPERIMENT.npz and its card."""
    with stage():  # imports take seconds: Ctrl-C may come among them
        from pondering.data.frozen import card, freeze
        from pondering.params.read import load_params
        from pondering.project.paths import Layout
        from pondering.tasks import make_task
        from pondering.train.fit import check_fit

        params = load_params(Path("params.yaml"), profile)
        config = params.experiment(experiment)
        layout = Layout(Path(), profile)
        frozen = layout.frozen(experiment)
        task = make_task(config.task, experiment, frozen)
        check_fit(f"{experiment}.{profile}", config, task)
        freeze(task, layout.raw, frozen, config.evaluation.examples)
        card(task, config, frozen, layout.card(experiment))
        click.echo(f"datasets: {frozen} holds the frozen evaluation sets of {experiment}")


if __name__ == "__main__":
    main()
