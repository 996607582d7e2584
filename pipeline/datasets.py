"""Stage `datasets`: freeze the evaluation sets and prepared data of a profile, each with a card."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
def main(profile: str) -> None:
    """Write data/tasks/PROFILE/EXPERIMENT.npz and the card of every experiment."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.data.frozen import card, freeze
        from pondering.params.read import load_params
        from pondering.project.paths import Layout
        from pondering.tasks import make_task
        from pondering.train.fit import check_fit

        params, layout = load_params(Path("params.yaml"), profile), Layout(Path(), profile)
        tasks = {}
        for name, config in params.experiments.items():  # all are checked before one is written
            tasks[name] = make_task(config.task, name, layout.frozen(name))
            check_fit(f"{name}.{profile}", config, tasks[name])
        for name, config in params.experiments.items():
            frozen = layout.frozen(name)
            click.echo(f"datasets: {name} to {frozen}")
            freeze(tasks[name], layout.raw, frozen, config.evaluation.examples)
            card(tasks[name], config, frozen, layout.card(name))


if __name__ == "__main__":
    main()
