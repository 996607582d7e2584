"""The `pondering` command. What a subcommand needs is imported when it runs: help comes at once."""

from __future__ import annotations

from typing import Any

import click

from pondering.cli.claims import claims_command
from pondering.cli.exits import exits_command
from pondering.cli.judge import judge_command
from pondering.cli.publish import publish_command
from pondering.cli.report import report
from pondering.cli.ui import ui
from pondering.cli.verify import verify
from pondering.project.command import stage
from pondering.show.command import show


class _Group(click.Group):
    """A group whose commands end in one line where they fail."""

    def invoke(self, ctx: click.Context) -> Any:
        with stage():  # around the subcommand, its arguments too
            return super().invoke(ctx)


COMMANDS = [
    claims_command, exits_command, judge_command, publish_command, report, show, ui, verify,
]  # fmt: skip


@click.group(cls=_Group, commands=COMMANDS, invoke_without_command=True)
@click.version_option(package_name="pondering")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Pondering: how neural networks decide how long to think.

    Run from the project's root, where params.yaml lies.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
