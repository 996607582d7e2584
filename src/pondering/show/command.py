"""`pondering show`: a trained network thinks about one input, as a table of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.results.units import number_text

if TYPE_CHECKING:  # torch is loaded with the network, not for --help
    from pondering.evaluate.networks import Card, Pretrained
    from pondering.params.schema import Params
    from pondering.show.steps import Pondering
    from pondering.tasks.base import Batch, Task

LEAST = 0.001  # the last steps are not shown if their halting probabilities add up to less
MEANING = {  # what halting probabilities mean where they do not weight a mean of answers
    "certainty": "It answers with the most certain step so far.",
    "dact": "Its halting probabilities mix the answer of each step with the answers before it.",
}


@click.command(short_help="Show how a trained network ponders.")
@click.argument("experiment", required=False)
@click.option("--profile", metavar="P", help="quick, reduced or paper; default: the active one.")
@click.option("--mechanism", metavar="M", default="act", show_default=True,
              help=f"{', '.join(MECHANISMS)}; with options as 'act[halt_bias=-3]'.")  # fmt: skip
@click.option(
    "--setting",
    type=float,
    metavar="X",
    help=f"Its {', '.join({e.setting: 0 for e in MECHANISMS.values()})}; default: of least error.",
)
@click.option("--seed", type=int, metavar="N", help="Training run; default: the first finished.")
@click.option("--input", "written", metavar="TEXT",
              help="Your input; default: one of the test set. Parity: signs + - 0, or bits "
              "(1 is +, 0 is -). Logic: '01 XOR; 1 AND'. Addition: '12 345'. Sort: '0.3 -1.2'. "
              "Wikipedia: any text. Digits: an image file.")  # fmt: skip
def show(
    experiment: str | None,
    profile: str | None,
    mechanism: str,
    setting: float | None,
    seed: int | None,
    written: str | None,
) -> None:
    """Show how a trained network ponders one input, step by step.

    \b
    pondering show parity --input 10110
    pondering show mnist --mechanism pondernet --input seven.png
    """
    params = load_params(profile=profile)
    if experiment is None:
        raise UserError(f"EXPERIMENT: missing; allowed: {', '.join(params.experiments)}")
    config, variant = params.experiment(experiment), Replica.of_row(mechanism, 0, 0)
    if variant.mechanism not in config.mechanisms:
        allowed = ", ".join(config.mechanisms)
        raise UserError(f"--mechanism: {mechanism!r} is unknown; allowed: {allowed}")

    from pondering.show.steps import ponder
    from pondering.tasks import make_task

    network, card = _find(params, experiment, variant, setting, seed)
    if card.status == "diverged":
        raise UserError(f"{_name(card).text()}: diverged; choose another --setting or --seed")
    frozen = params.layout.frozen(experiment)
    task = make_task(dict(card.task), experiment, frozen if frozen.is_file() else None)
    batch = one_of_the_test_set(task) if written is None else task.parse(written)
    click.echo(f"{experiment} in profile {params.profile}: {task.summary}")
    click.echo(_how_good(card, task))
    for text in task.unlike(batch):
        click.secho(f"warning: not as in training: {text}", fg="red")
    click.echo()
    vectors = ponder(network, task, batch.torch())
    table = _steps(vectors[0]) if len(vectors) == 1 else _sequence(vectors)
    for line in table:
        click.echo(line)
    if variant.mechanism in MEANING:
        click.echo(MEANING[variant.mechanism])


def _find(
    params: Params, experiment: str, variant: Replica, setting: float | None, seed: int | None
) -> Pretrained:
    """A network of the user's own results, else of the published ones.

    Raises:
        UserError: there is none.
    """
    from pondering.evaluate.networks import load
    from pondering.results.results import read_table
    from pondering.results.tables import best_setting, headline, per_seed

    for layout in (params.layout, params.published):
        place, table = layout.run(experiment, variant.mechanism), layout.table(experiment)
        if not (place / "run.json").is_file():
            continue
        usual = None
        if table.is_file():
            usual = best_setting(per_seed(headline(read_table(table))), variant.variant)
        try:
            return load(place, variant.variant, setting, seed, usual)
        except ValueError as error:
            raise UserError(str(error)) from None
    raise UserError(
        f"{experiment} {variant.variant}: no network here; with `profile: {params.profile}` run "
        f"`{params.training(experiment)}`, or choose another --profile or --mechanism"
    )


def one_of_the_test_set(task: Task) -> Batch:
    """An example of medium difficulty."""
    try:
        batch = next(iter(task.evaluation_sets(1).values()))
    except UserError as error:
        raise UserError(f"{error}, or give an input of your own: --input") from None
    middle = len(batch.difficulty) // 2
    return batch.take(slice(middle, middle + 1))


def _name(card: Card) -> Replica:
    """The replica that a card is of."""
    (setting,) = card.setting.values()
    return Replica.of_row(card.name.rpartition("/")[2], setting, card.seed)


def _how_good(card: Card, task: Task) -> str:
    """Which network it is, and how well it did in its evaluation."""
    words = _name(card).text()
    if card.status != "finished":
        words += f", {card.status}"
    if card.error is not None:
        wrong = f"{card.error:.2f} {task.unit}"
        if task.worst_error == 1:
            wrong = f"error {number_text(card.error, 'share')}"
        words += f"; on the test set: {wrong}, {card.ponder_time:.2f} steps"
    return words


def _steps(vector: Pondering) -> Iterator[str]:
    """A single input: a line for each step."""
    first, *others = vector.input.split("\n")  # a picture has several lines
    yield f"input   {first}"
    yield from (f"        {line}".rstrip() for line in others)
    yield f"target  {vector.target}"
    yield ""
    yield "step  halting probability  would answer"
    shown = _shown(vector.probabilities)
    for n, p, answer in zip(range(shown), vector.probabilities, vector.answers, strict=False):
        yield f"{n + 1:4}  {p:19.3f}  {answer:12}  {_judged(vector, answer)}".rstrip()
    if shown < len(vector.answers):
        yield f"{shown + 1} to {len(vector.answers)}: less than {LEAST} together"
    yield ""
    yield f"answer  {vector.answer}, {_judged(vector, vector.answer)}".rstrip(", ")
    yield f"steps   {vector.steps:.3g}"


def _sequence(vectors: list[Pondering]) -> Iterator[str]:
    """Several inputs: a line for each of them."""
    titles = ("input", "target", "answer", "", "steps", "halting probability of each step")
    rows = [
        (
            *(repr(words) if words.isspace() else words for words in (v.input, v.target, v.answer)),
            _judged(v, v.answer),
            f"{v.steps:.3g}",
            " ".join(f"{p:.3f}" for p in v.probabilities[: _shown(v.probabilities)]),
        )
        for v in vectors
    ]
    widths = [
        max(len(click.unstyle(cell)) for cell in column)
        for column in zip(titles, *rows, strict=True)
    ]
    for row in (titles, *rows):
        padded = (
            cell + " " * (width - len(click.unstyle(cell)))
            for cell, width in zip(row, widths, strict=True)
        )
        yield "  ".join(padded).rstrip()
    scored = [v for v in vectors if v.scored]
    yield ""
    yield f"{sum(v.answer == v.target for v in scored)} of {len(scored)} targets right"


def _shown(probabilities: Sequence[float]) -> int:
    """How many steps have a line."""
    shown = len(probabilities)
    while shown > 1 and sum(probabilities[shown - 1 :]) < LEAST:
        shown -= 1
    return shown


def _judged(vector: Pondering, answer: str) -> str:
    """An answer in one word; none where no target is known."""
    if not vector.scored:
        return ""
    return click.style("right", "green") if answer == vector.target else click.style("wrong", "red")
