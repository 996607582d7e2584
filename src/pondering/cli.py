"""The `pondering` command. Each subcommand is imported when it is called: help comes at once."""

from __future__ import annotations

import importlib
from typing import Any

import click

from pondering.stage import Command, stage

COMMANDS = {
    "ahead": ("pondering.ahead", "ahead"),
    "check": ("pondering.commands", "check"),
    "claims": ("pondering.claims_cli", "claims_command"),
    "next": ("pondering.commands", "whats_next"),
    "provenance": ("pondering.provenance_cli", "provenance_command"),
    "report": ("pondering.commands", "report"),
    "repro": ("pondering.ahead", "repro"),
    "show": ("pondering.show", "show"),
    "track": ("pondering.tracking_cli", "track_command"),
    "verify": ("pondering.commands", "verify"),
    "ui": ("pondering.tracking_cli", "ui_command"),
}


class _Lazy(Command, click.Group):
    """A group that knows its commands' names and imports one when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        with stage():  # around the subcommand's arguments
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


if __name__ == "__main__":
    main()
