"""`pondering show`: a trained network at work on a few inputs, in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pondering.params.read import PROFILES, SETTING_NAMES, load_params
from pondering.project.command import completed
from pondering.project.errors import UserError
from pondering.show.terminal import Terminal

if TYPE_CHECKING:  # torch is loaded when a network is: help comes at once
    from pondering.evaluate.load import Loaded
    from pondering.show.replay import Example

MOST = 1000  # examples at once


@click.command()
@click.argument(
    "experiment", required=False, shell_complete=completed(lambda: load_params().experiments)
)
@click.option("--list", "everything", is_flag=True, help="Say what is trained, in every profile.")
@click.option("--profile", metavar="P", help="quick, reduced or paper; else the active one.",
              shell_complete=completed(lambda: PROFILES))  # fmt: skip
@click.option("--mechanism", metavar="M", default="act", show_default=True,
              shell_complete=completed(lambda: SETTING_NAMES),
              help=f"{', '.join(SETTING_NAMES)}; with options as 'act[halt_bias=-3]'.")  # fmt: skip
@click.option(
    "--setting",
    type=float,
    metavar="X",
    help=f"Its {' or '.join(dict.fromkeys(SETTING_NAMES.values()))}; else of least error here.",
)
@click.option("--seed", type=int, metavar="N", help="Which training run; else the first finished.")
@click.option("--count", type=click.IntRange(1, MOST), metavar="N", default=3, show_default=True,
              help="How many inputs.")  # fmt: skip
@click.option("--input", "written", metavar="TEXT",
              help="An input of your own. Parity: signs + - 0, or bits (1 is +, 0 is -). Logic: "
              "'01 XOR; 1 AND'. Addition: '12 345'. Sort: '0.3 -1.2'. Wikipedia: any text. "
              "Digits: an image file.")  # fmt: skip
@click.option("--difficulty", type=float, metavar="D", help="Only inputs of this difficulty.")
def show(
    experiment: str | None, everything: bool, profile: str | None, mechanism: str,
    setting: float | None, seed: int | None, count: int, written: str | None,
    difficulty: float | None,
) -> None:  # fmt: skip
    """Show how a trained network ponders: its halting distribution, step by step.

    \b
    pondering show parity
    pondering show parity --input 10110
    pondering show mnist --mechanism pondernet --input seven.png
    pondering show --list
    """
    terminal = Terminal.of(sys.stdout)
    if written is not None and difficulty is not None:
        told = "chooses from the evaluation set; leave it out with --input"
        raise UserError(f"--difficulty: {told}")
    if everything:
        from pondering.show import listing

        for line in listing.lines(experiment, profile, terminal):
            terminal.write(line)
        return
    params = load_params(profile=profile)
    if experiment is None:
        known = ", ".join(params.experiments)
        raise UserError(f"EXPERIMENT: missing; allowed: {known} (or --list: what is trained)")
    config = params.experiment(experiment)

    from pondering.evaluate import load
    from pondering.project import machine
    from pondering.show import replay

    machine.settle(params.compute.threads)
    loaded = load.load(Path(), params, experiment, mechanism, setting, seed)
    unlike: list[str] = []
    if written is not None:
        batch, unlike = loaded.task.own_input(written)
        chosen = [replay.Chosen("", None, batch)]
    else:
        size = config.evaluation.examples
        sets = replay.evaluation_sets(loaded.task, loaded.layout, experiment, size)
        chosen = replay.pick(sets, count, difficulty)
    _write(
        experiment,
        loaded,
        replay.examples(loaded.network, loaded.task, chosen),
        unlike,
        terminal,
    )


def _write(
    experiment: str,
    loaded: Loaded,
    examples: list[Example],
    unlike: Sequence[str],
    terminal: Terminal,
) -> None:
    """Which network it is, in what the input differs from those of training, and each example."""
    from pondering.show import draw

    for text in _heading(experiment, loaded):
        for line in terminal.wrapped(text):
            terminal.write(line)
    for text in unlike:
        for line in terminal.wrapped(f"warning: not as in training: {text}"):
            terminal.write(terminal.paint(line, "wrong"))
    mechanism = loaded.replica.mechanism
    for number, example in enumerate(examples, 1):
        terminal.write()
        title = _title(example, number, len(examples))
        for line in draw.draw(example, title, mechanism, terminal):
            terminal.write(line)
    terminal.write()
    for line in draw.legend(examples, mechanism, terminal):
        terminal.write(line)


def _heading(experiment: str, loaded: Loaded) -> Iterator[str]:
    """Which network this is, and how good."""
    from pondering.show.listing import how_wrong

    yield f"{experiment} in profile {loaded.layout.profile}: {loaded.task.summary}"
    words = loaded.replica.text()
    if loaded.status != "finished":
        words += f", {loaded.status}"
    if loaded.standing is not None:
        error = how_wrong(loaded.standing.error, type(loaded.task))
        words += f"; evaluated: {error}, {loaded.standing.ponder_time:.2f} steps"
    yield words


def _title(example: Example, number: int, count: int) -> str:
    if not example.split:
        return "your input"
    level = "" if example.difficulty is None else f", difficulty {example.difficulty:g}"
    return f"{number} of {count} · {example.split}{level}"
