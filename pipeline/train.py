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
        from pondering.project.atomic import sha256_file
        from pondering.project.provenance import git_commit, processor
        from pondering.train.replica import data_hash
        from pondering.train.stage import run

        params = load_params(Path("params.yaml"), profile)
        config = params.experiment(experiment)
        lock = Path("dvc.lock")
        info = track.RunInfo(
            profile,
            experiment,
            mechanism,
            config.of_mechanism(mechanism),
            tuple(tuple(each.row().values()) for each in config.replicas(mechanism)),
            git_commit(Path()),
            sha256_file(lock) if lock.is_file() else "none",
            data_hash(params, config),
            processor(),
            Path(),
        )
        with track.live(info) as tracker:
            run(params, experiment, Path(), (mechanism,), tracker.log)


if __name__ == "__main__":
    main()
