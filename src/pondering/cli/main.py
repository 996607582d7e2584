"""The `pondering` command. Each subcommand is imported when it is called: help comes at once."""

from __future__ import annotations

import importlib
from typing import Any

import click

from pondering.project.command import stage

COMMANDS = {  # module, name in it, what help says: the module is imported when it is wanted
    "claims": ("pondering.cli.claims", "claims_command", "Judge every claim of the papers."),
    "exits": ("pondering.cli.exits", "exits_command", "Compare exit rules at equal mean steps."),
    "judge": ("pondering.cli.judge", "judge_command", "Judge the claims by tables of your own."),
    "publish": ("pondering.cli.publish", "publish_command", "Copy results into git."),
    "report": ("pondering.cli.report", "report", "Draw the report again from its tables."),
    "show": ("pondering.show.command", "show", "Show how a trained network ponders."),
    "verify": ("pondering.cli.verify", "verify", "Compare tables with the committed ones."),
    "ui": ("pondering.cli.ui", "ui", "Open MLflow's own pages."),
}


class _Lazy(click.Group):
    """A group that knows its commands' names and imports one when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (*_, said) in sorted(COMMANDS.items())])

    def invoke(self, ctx: click.Context) -> Any:
        with stage():  # around the subcommand, its arguments too
            return super().invoke(ctx)


@click.command(cls=_Lazy, invoke_without_command=True)
@click.version_option(package_name="pondering")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Pondering: how neural networks decide how long to think.

    Run from the project's root, where params.yaml lies.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
