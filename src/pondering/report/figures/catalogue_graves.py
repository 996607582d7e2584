"""The figures of Graves 2016 with the paper's values and captions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from matplotlib.figure import Figure

from pondering.report.figures import graves2016 as graves
from pondering.report.figures import words, words_traces
from pondering.report.figures.captions import setting_shown, unequal_training
from pondering.report.figures.spec import FigureSpec
from pondering.results.results import Results

BARS = (
    "Bars: mean error over seeds by time penalty τ at the end of training, with standard errors; "
    "points: seeds. Grey: the plain network, without ACT; green: every input processed a fixed "
    "number of times (not in the paper). A diverged seed counts as wholly wrong."
)
LEARNING = (
    "Above: error in training, on sequences as training draws them, of every length and "
    "difficulty; faint lines seeds and bold lines means. Below: error on the fixed test sequences "
    "after training, so that it need not be where the curves end, against mean steps per input; "
    "small points seeds, large points means, half axes of the ellipses standard errors; dotted: "
    "the plain network, without ACT."
)
LEARNING_TEXT = (
    "Above: bits per character in training, faint lines seeds and bold lines means. Below: bits on "
    "a fixed part of the training text after training against mean steps per character; small "
    "points seeds, large points means, half axes of the ellipses standard errors; dotted: the "
    "plain network, without ACT. Neither axis of bits starts at zero."
)
BARS_TEXT = (
    "Bars: mean bits per character over seeds by time penalty τ at the end of training, with "
    "standard errors; points: seeds. Grey: the plain network, without ACT; green: every character "
    "processed a fixed number of times (not in the paper). A diverged seed counts as 8 bits per "
    "character. Diamonds: means on held-out text."
)
DIFFICULTY = (
    "Mean steps per input (above) and error (below) against difficulty, one line for each time "
    "penalty; bands: one standard error over seeds either side; dotted: the plain network, without "
    "ACT."
)
SEQUENCES = (
    "Bars: steps at each time step of single sequences drawn as in training, inputs below and "
    "outputs above (purple where wrong); of the first seed, not the best one."
)
TEXT = (
    "Bars: steps of each seed at each character, dotted the most that any took; lines: loss and "
    "entropy of the first seed's prediction of the next character in bits. Under each row the text "
    "read, over it the next character as the first seed predicts it (purple where wrong)."
)


def _figure(
    number: int,
    experiment: str,
    title: str,
    body: Callable[[Results], Figure | None],
    text: Callable[[Results], str],
    paper_value: str,
    reads: str,
    note: Callable[[Results], str] | None = None,
) -> FigureSpec:
    """A figure of one experiment; without a `note` it compares ACT with the networks without."""
    return FigureSpec(
        f"graves-{number:02d}", "Graves 2016", f"Fig. {number}", (experiment,), title, body, text,
        paper_value, reads, (note or partial(unequal_training, experiments=(experiment,)),),
    )  # fmt: skip


GRAVES = (
    _figure(
        4, "parity", "Parity: error by time penalty", graves.figure_4,
        partial(words.of_settings, experiment="parity"),
        "Without ACT the mean error is almost 40% (guessing is 50%); for τ up to 0.03 it is below "
        "5%.", BARS,
    ),
    _figure(
        5, "parity", "Parity: learning, and error against ponder", graves.figure_5,
        partial(words.of_learning, experiment="parity"),
        "A lower τ learns faster and more accurately with more ponder, whose spread is large at "
        "low τ.", LEARNING,
    ),
    _figure(
        6, "parity", "Parity: ponder and error by number of bits", graves.figure_6,
        partial(words.of_difficulty, experiment="parity"),
        "With intermediate τ ponder grows about linearly with the number of bits; without ACT or "
        "with high τ the error climbs steeply while ponder stays flat.", DIFFICULTY,
    ),
    _figure(
        8, "logic", "Logic: error by time penalty", graves.figure_8,
        partial(words.of_settings, experiment="logic"),
        "Without ACT the sequence error is about 0.2 (guessing is 0.5); it is virtually zero for "
        "all τ up to 0.01.", BARS,
    ),
    _figure(
        9, "logic", "Logic: learning, and error against ponder", graves.figure_9,
        partial(words.of_learning, experiment="logic"),
        "Networks with low τ solve the task in about 10,000 iterations.", LEARNING,
    ),
    _figure(
        10, "logic", "Logic: ponder and error by number of gates", graves.figure_10,
        partial(words.of_difficulty, experiment="logic"),
        "Ponder rises gradually from 5 to 10 gates and is surprisingly high at the easiest inputs; "
        "without ACT and with high τ the error jumps after 5 gates.", DIFFICULTY,
    ),
    _figure(
        12, "addition", "Addition: error by time penalty", graves.figure_12,
        partial(words.of_settings, experiment="addition"),
        "Solved for every τ of the grid.", BARS,
    ),
    _figure(
        13, "addition", "Addition: learning, and error against ponder", graves.figure_13,
        partial(words.of_learning, experiment="addition"),
        "Networks with high τ need fewer examples.", LEARNING,
    ),
    _figure(
        14, "addition", "Addition: ponder and error by number of digits", graves.figure_14,
        partial(words.of_difficulty, experiment="addition"),
        "Ponder is about linear in the digits, with a slope near 1 for the highest τ.", DIFFICULTY,
    ),
    _figure(
        15, "addition", "Addition: ponder in single sequences", graves.figure_15,
        partial(words_traces.of_sequences, experiment="addition", setting=graves.ADDITION_TAU),
        "Within a sequence ponder tracks the digits of the two numbers being summed (τ = 9e-4).",
        SEQUENCES,
        partial(setting_shown, experiment="addition", kind="sequence", setting=graves.ADDITION_TAU),
    ),
    _figure(
        17, "sort", "Sort: error by time penalty", graves.figure_17,
        partial(words.of_settings, experiment="sort"),
        "About 12% without ACT, about 6% at the best τ.", BARS,
    ),
    _figure(
        18, "sort", "Sort: learning, and error against ponder", graves.figure_18,
        partial(words.of_learning, experiment="sort"),
        "The best τ takes about 9 times the computation of the network without ACT.", LEARNING,
    ),
    _figure(
        19, "sort", "Sort: ponder and error by length", graves.figure_19,
        partial(words.of_difficulty, experiment="sort"),
        "Error grows fast with length, ponder sublinearly.", DIFFICULTY,
    ),
    _figure(
        20, "sort", "Sort: ponder in single sequences", graves.figure_20,
        partial(words_traces.of_sequences, experiment="sort", setting=graves.SORT_TAU),
        "Ponder spikes near the end of the input sequence (τ = 1e-3).", SEQUENCES,
        partial(setting_shown, experiment="sort", kind="sequence", setting=graves.SORT_TAU),
    ),
    _figure(
        21, "wikipedia", "Text: bits per character by time penalty", graves.figure_21,
        partial(words.of_settings, experiment="wikipedia", split="train"),
        "Bits per character are about the same with and without ACT and across τ (on the training "
        "text).", BARS_TEXT,
    ),
    _figure(
        22, "wikipedia", "Text: learning, and bits against ponder", graves.figure_22,
        partial(words.of_learning, experiment="wikipedia", split="train"),
        "Little ponder; networks with ACT are a little more data-efficient.", LEARNING_TEXT,
    ),
    _figure(
        23, "wikipedia", "Text: ponder in running text", graves.figure_23,
        partial(words_traces.of_text, setting=graves.TEXT_TAU, markup=False),
        "Ponder peaks at spaces, and more at commas and full stops (τ = 6e-3).",
        f"{TEXT} The stretch of the evaluation text with the fewest tags and digits.",
        partial(setting_shown, experiment="wikipedia", kind="text", setting=graves.TEXT_TAU),
    ),
    _figure(
        24, "wikipedia", "Text: ponder among tags and numbers", graves.figure_24,
        partial(words_traces.of_text, setting=graves.TEXT_TAU, markup=True),
        "Ponder peaks at opening brackets of XML tags and does not rise on random ID digits, where "
        "loss and entropy do (τ = 6e-3).",
        f"{TEXT} The stretch of the evaluation text with the most tags and digits.",
        partial(setting_shown, experiment="wikipedia", kind="text", setting=graves.TEXT_TAU),
    ),
)  # fmt: skip
