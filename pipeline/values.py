"""Stage `values`: what `params.yaml` says of each experiment, merged, with every default."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
def main(profile: str) -> None:
    """Write data/values/PROFILE/EXPERIMENT.json for each experiment of a profile."""
    with stage():
        from pondering.params.read import load_params
        from pondering.project.atomic import json_text, write_together

        params = load_params(profile=profile)
        write_together(
            {
                Path("data/values", profile, f"{name}.json"): json_text(
                    {"title": config.title, "question": config.question} | config.plain()
                )
                for name, config in params.experiments.items()
            }
        )


if __name__ == "__main__":
    main()
