"""Stage `values`: what decides each experiment's numbers, its values and its replicas' hashes."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
def main(profile: str) -> None:
    """Write EXPERIMENT.json for each experiment into data/values/PROFILE and data/hashes/PROFILE.

    The first has what `params.yaml` says of it, merged, with every default. The second has the hash
    of each replica, by its name, and that of the program that evaluates.
    """
    with stage():
        from pondering.params.read import load_params
        from pondering.project.atomic import json_text, write_together
        from pondering.train import program
        from pondering.train.replica import by_hash

        params, written = load_params(profile=profile), {}
        for name, config in params.experiments.items():
            hashes = {"evaluation": program.evaluation()}
            for mechanism in config.mechanisms:
                replicas = by_hash(params, name, mechanism)
                hashes |= {each.text(): sha256 for sha256, each in replicas.items()}
            values = {"title": config.title, "question": config.question} | config.plain()
            written[Path("data/values", profile, f"{name}.json")] = json_text(values)
            written[Path("data/hashes", profile, f"{name}.json")] = json_text(hashes)
        write_together(written)


if __name__ == "__main__":
    main()
