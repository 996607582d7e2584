"""What `pondering show` prints of one example: bars for a single input, a table for a sequence."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

from pondering.params.mechanisms import MECHANISMS
from pondering.show.replay import Example, Moment
from pondering.show.terminal import VISIBLE, Terminal, clipped

NARROW = 12  # characters for a distribution beside the other columns
INDENT = 5
LONGEST = 24  # rows of a sequence's table, unless it is the user's own
WEIGHTS = {  # what p_n is where it is no weight in a mean
    "repeat": "p_n is the weight of step n: the last output alone counts.",
    "certainty": "p_n says where it stops; it answers by the most certain step until then.",
    "dact": "p_n = π_(n-1) h_n, R is what is left for the last step; the answer takes the share "
    "π_(n-1) from step n, and the rest from the answer before.",
}
BLANKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def draw(example: Example, title: str, mechanism: str, terminal: Terminal) -> Iterator[str]:
    """The lines of one example.

    Args:
        title: what it is, for the rule above it.
        mechanism: its name.
    """
    rule = f"── {title} "
    yield terminal.paint(rule + "─" * max(0, terminal.width - len(rule)), "title")
    if len(example.moments) == 1:
        yield from _single(example.moments[0], mechanism, terminal)
    else:
        yield from _sequence(example, mechanism, terminal)


def legend(examples: list[Example], mechanism: str, terminal: Terminal) -> Iterator[str]:
    """What the bars and columns mean."""
    moment = examples[0].moments[0]
    words = [_weights(moment, mechanism)]
    if any(len(example.moments) == 1 for example in examples):
        if moment.prior:
            words.append("┊ is the prior, ◀ a halt sampled from p_n, as the paper evaluates.")
        elif moment.sampled is not None:
            words.append("◀ is a halt sampled from p_n.")
        words.append("A full bar is 1. y_n is what step n alone would say.")
    else:
        if moment.sampled is not None:
            words.append(
                "E[n] is the expected step, n a sampled one (states are handed on as sampled)."
            )
        words.append("P is the probability given to the target.")
    for line in terminal.wrapped(" ".join(words)):
        yield terminal.paint(line, "dim")


def _weights(moment: Moment, mechanism: str) -> str:
    """What p_n is."""
    if moment.sampled is not None:
        return "p_n is the probability of halting at step n; the prediction is the mean over it."
    if mechanism in WEIGHTS:
        return WEIGHTS[mechanism]
    rest = "; R is what is left for the last step" if MECHANISMS[mechanism].remainder else ""
    return f"p_n is the weight of step n in the answer{rest}."


def _single(moment: Moment, mechanism: str, terminal: Terminal) -> Iterator[str]:
    """One vector: input, target, prediction, one bar per step."""
    picture = moment.input.split("\n") if len(moment.input) > 1 else [moment.input]
    if len(picture) > 1:
        yield from (f"  {line}".rstrip() for line in _trimmed(picture))
    else:
        room = terminal.width - 12
        for start in range(0, len(moment.input) or 1, room):  # cut anywhere: bits have no words
            yield f"{'' if start else 'input':12}{moment.input[start : start + room]}"
    yield f"{'target':12}{moment.target}"
    sure = "" if moment.chance is None else f", P({moment.target}) = {moment.chance:.3f}"
    verdict = "" if moment.right is None else " ✓ right" if moment.right else " ✗ wrong"
    kind = "right" if moment.right else "wrong"
    said = f"{'prediction':12}{moment.prediction}{verdict}{sure}"
    for line in terminal.wrapped(said, "", " " * 12):
        mark = terminal.plain(verdict.strip())
        yield line.replace(mark, terminal.paint(mark, kind)) if mark else line
    yield from terminal.wrapped(f"{'pondering':12}{_counts(moment, mechanism)}", "", " " * 12)
    yield ""
    yield from _bars(moment, mechanism, terminal)


def _counts(moment: Moment, mechanism: str) -> str:
    """Expectation and sample, where there is one; else N, and R where it means anything."""
    if moment.sampled is not None:
        told = f"expected steps Σ n p_n = {moment.expected_steps:.2f} of {moment.ponder_time}"
        sampled = f"halts at n = {moment.sampled.steps}, says {moment.sampled.prediction}"
        return f"{told}; sampled: {sampled}"
    if MECHANISMS[mechanism].remainder:
        rest = f"N = {moment.ponder_time}, R = {moment.remainder:.3f}"
        cost = moment.ponder_time + moment.remainder  # what tau multiplies (Graves Eq. 10)
        return f"{rest}, N + R = {cost:.3f}" if mechanism == "act" else rest
    return f"N = {moment.ponder_time}" + (", fixed" if mechanism == "repeat" else "")


def _bars(moment: Moment, mechanism: str, terminal: Terminal) -> Iterator[str]:
    """One line per step: n, p_n, its bar, what the step alone says and how sure it is."""
    aim = f"P({moment.target})".ljust(5) if moment.chances else ""
    said = max(3, min(14, max(map(len, moment.answers))))
    width = max(8, min(60, terminal.width - 21 - said - len(aim)))
    yield terminal.paint(
        f"{'n':>4}  {'p_n':>5}  {'0':{width - 1}}1  {'y_n':{said}}  {aim}".rstrip(), "dim"
    )
    last = _last(moment)
    for index, p in enumerate(moment.weights[: last + 1]):
        prior = moment.prior[index] if moment.prior else None
        bar = terminal.paint(terminal.bar(p, width, prior), "bar")
        chance = f"{moment.chances[index]:.3f}" if moment.chances else ""
        line = f"{index + 1:4}  {_short(p)}  {bar}  {clipped(moment.answers[index], said):{said}}"
        end = _mark(moment, mechanism, index + 1)
        yield f"{line}  {chance:{len(aim)}} {end}".rstrip()
    if last + 1 < len(moment.weights):
        rest = sum(moment.weights[last + 1 :])
        steps = f"{last + 2} to {len(moment.weights)}"
        yield terminal.paint(f"      steps {steps} have {rest:.4f} together", "dim")


def _short(p: float) -> str:
    """Three decimals in five characters."""
    return "<.001" if 0 < p < VISIBLE else f"{p:5.3f}"


def _last(moment: Moment) -> int:
    """The index of the last step worth a line: a distribution's tail of nothing is summed up."""
    if moment.sampled is None:
        return len(moment.weights) - 1
    seen = [index for index, p in enumerate(moment.weights) if p >= VISIBLE]
    return max([moment.sampled.steps - 1, *seen])


def _mark(moment: Moment, mechanism: str, step: int) -> str:
    if moment.sampled is not None:
        return "◀" if step == moment.sampled.steps else ""
    return "◀ R" if MECHANISMS[mechanism].remainder and step == moment.ponder_time else ""


def _sequence(example: Example, mechanism: str, terminal: Terminal) -> Iterator[str]:
    """Several vectors: a table with one line per input time."""
    moments, judged = example.moments, example.judged
    good = sum(bool(moment.right) for moment in judged)
    told = f"{len(moments)} inputs; {good} of {len(judged)} targets right"
    if example.text:
        bits = [-math.log2(max(moment.chance or 0.0, 1e-30)) for moment in judged]
        told += f", {sum(bits) / len(bits):.2f} bits per character"
        yield from _passage(moments, terminal)
        yield ""
    yield told
    shown = moments if not example.split else moments[:LONGEST]
    yield from _table(shown, mechanism, terminal)
    if len(shown) < len(moments):
        yield terminal.paint(f"      … and {len(moments) - len(shown)} more inputs", "dim")


def _table(moments: list[Moment], mechanism: str, terminal: Terminal) -> Iterator[str]:
    """t, input, target, prediction, its probability, the counts and the distribution."""
    inputs = [BLANKS.get(moment.input, moment.input) for moment in moments]
    targets = [BLANKS.get(moment.target, moment.target) for moment in moments]
    said = [BLANKS.get(moment.prediction, moment.prediction) for moment in moments]
    b, c = (max(map(len, column)) for column in ([*targets, "target"], [*said, "said"]))
    counts = _heads(moments[0], mechanism)
    others = 5 + 1 + b + 1 + c + 8 + len(counts) + 1
    most = min(max(terminal.width // 3, terminal.width - 60), terminal.width - others)
    a = max(3, min(most, max(map(len, [*inputs, "input"]))))
    below = terminal.width - others - a < NARROW  # then each distribution has its own line
    room = terminal.width - (INDENT if below else others + a)
    longest = max(len(_steps(moment)) for moment in moments)
    head = f"{'t':>4} {clipped('input', a):{a}} {'target':{b}} {'said':{c}}   {'P':>4}"
    head += f" {counts} "
    strips = clipped("p_1, p_2, … in percent", room)
    for line in [head, " " * INDENT + strips] if below else [head + strips]:
        yield terminal.paint(line.rstrip(), "dim")
    for t, moment in enumerate(moments):
        tick = _tick(moment.right, terminal)
        chance = "" if moment.chance is None else f"{moment.chance:.2f}"
        line = f"{t + 1:4} {clipped(inputs[t], a):{a}} {targets[t]:{b}} {said[t]:{c}} {tick}"
        line += f" {chance:4} {_numbers(moment, mechanism)} "
        strip = terminal.paint(terminal.strip(_steps(moment), room, longest), "bar")
        yield from [line.rstrip(), " " * INDENT + strip] if below else [line + strip]


def _steps(moment: Moment) -> tuple[float, ...]:
    """p_1 ... p_N without a tail of nothing."""
    last = max([0, *(i for i, p in enumerate(moment.weights) if p >= VISIBLE)])
    return moment.weights[: last + 1]


def _heads(moment: Moment, mechanism: str) -> str:
    """Over the columns that `_numbers` fills."""
    if moment.sampled is not None:
        return " E[n]   n"
    return "  N     R" if MECHANISMS[mechanism].remainder else "  N"


def _numbers(moment: Moment, mechanism: str) -> str:
    """The counts of one row."""
    if moment.sampled is not None:
        return f"{moment.expected_steps:5.2f} {moment.sampled.steps:3}"
    rest = f" {moment.remainder:5.3f}" if MECHANISMS[mechanism].remainder else ""
    return f"{moment.ponder_time:3}{rest}"


def _tick(right: bool | None, terminal: Terminal) -> str:
    if right is None:
        return " "
    return terminal.paint("✓", "right") if right else terminal.paint("✗", "wrong")


def _passage(moments: list[Moment], terminal: Terminal) -> Iterator[str]:
    """Text with the steps of each character as heights below it, from the fewest to the most."""
    steps = [
        moment.expected_steps if moment.sampled is not None else float(moment.ponder_time)
        for moment in moments
    ]
    low, high = min(steps), max(steps)
    text = "".join(" " if m.input == " " else BLANKS.get(m.input, m.input) for m in moments)
    for start in range(0, len(text), terminal.width):
        part = slice(start, start + terminal.width)
        yield text[part]
        if high > low:
            heights = [max(VISIBLE, (each - low) / (high - low)) for each in steps[part]]
            yield terminal.paint("".join(map(terminal.height, heights)), "bar")
    spread = f"from {low:.3g} to {high:.3g} steps" if high > low else f"{low:.3g} steps everywhere"
    yield terminal.paint(spread, "dim")


def _trimmed(picture: list[str]) -> list[str]:
    """A picture without its blank lines and the blank columns on its left."""
    lines = [line for line in picture if line.strip()] or picture[:1]
    return textwrap.dedent("\n".join(lines)).split("\n")
