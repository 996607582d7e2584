"""Stage `datasets`: freeze the evaluation sets and prepared data of a profile's experiments."""

from __future__ import annotations

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
@click.argument("tasks", nargs=-1, required=True)
def main(profile: str, tasks: tuple[str, ...]) -> None:
    """Write data/tasks/PROFILE/EXPERIMENT.npz for each experiment of TASKS."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.data.frozen import freeze
        from pondering.params.read import load_params
        from pondering.tasks import make_task

        params, found = load_params(profile=profile), {}
        for name, config in params.experiments.items():  # all are checked before one is written
            task = make_task(config.task, name, params.layout.frozen(name))
            if task.name in tasks:
                found[name] = task
        for name, task in found.items():
            examples = params.experiment(name).evaluation.examples
            freeze(task, params.layout.raw, params.layout.frozen(name), examples)


if __name__ == "__main__":
    main()
