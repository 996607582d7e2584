"""The tables of an experiment: what every setting reached, and how it was set up, in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import setting_text
from pondering.params.read import ExperimentConfig
from pondering.params.replica import read_variant, title_of
from pondering.report.figures import style
from pondering.report.pages import names
from pondering.results.results import Card
from pondering.results.statistics import SOLVED_ERROR, solve_rate
from pondering.results.tables import (
    best_setting,
    evaluated,
    headline,
    per_seed,
    per_setting,
    splits_of,
)

SPLITS_ON_FIGURES_ALONE = frozenset({"angle"})
"""Splits with too many difficulties and no mean worth a row."""

SETTING = ["mechanism", "setting"]

OWN_VALUES = {"beta": "β = {:g}", "max_steps": "at most {} steps", "epsilon": "ε = {:g}"}
"""A mechanism's own values in words; others are `name = value`."""


@dataclass(frozen=True)
class SummaryRow:
    """One setting of one mechanism on one split, in printed form."""

    mechanism: str
    setting: str
    split: str
    error: str
    median: str
    solved: str
    rate: str
    ponder: str
    seeds: int
    diverged: int
    unfinished: bool


def summary_rows(
    table: pd.DataFrame, card: Card, solved_error: float = SOLVED_ERROR
) -> list[SummaryRow]:
    """Every setting with its mean and median error, solve rate with interval, steps and seeds.

    Args:
        table: the evaluation rows of one experiment.
        card: its data card.
        solved_error: a seed with a smaller error has solved the task.

    Returns:
        Rows in the order of mechanisms, those with options after those without, settings and
        splits; the expectation, which PonderNet has, after its sampled prediction.
    """
    rows = []
    expected = table.loc[table["prediction"] == "expected", "mechanism"].unique()
    splits = [each for each in splits_of(table) if each not in SPLITS_ON_FIGURES_ALONE]
    seeds = {
        (prediction, split): per_seed(
            evaluated(table, split=split, prediction=prediction)
        ).set_index(SETTING)
        for prediction in ("sampled", "expected")
        for split in splits
    }
    means = {key: per_setting(each.reset_index()).set_index(SETTING) for key, each in seeds.items()}
    for mechanism in names.variants(table["mechanism"].unique()):
        settings = sorted(table.loc[table["mechanism"] == mechanism, "setting"].unique())
        for prediction in ("sampled", *(["expected"] if mechanism in expected else [])):
            for setting, split in product(settings, splits):
                if (mechanism, setting) in means[prediction, split].index:
                    own = seeds[prediction, split].loc[[(mechanism, setting)]]
                    mean = means[prediction, split].loc[(mechanism, setting)]
                    name = names.setting_sign(mechanism, float(setting))
                    name += ", expectation" if prediction == "expected" else ""
                    title = title_of(mechanism), name
                    rows.append(_row(own, mean, card, title, split, solved_error))
    return rows


def _row(
    seeds: pd.DataFrame, means: pd.Series, card: Card, title: tuple[str, str], split: str,
    solved_error: float,
) -> SummaryRow:  # fmt: skip
    solved = solve_rate(seeds["error"], solved_error)
    scale, digits, unit = printed(means["error"], card)
    median = seeds["error"].median()
    scale_m, digits_m, unit_m = printed(median, card)
    return SummaryRow(
        *title,
        card.splits[split],
        _plus_minus(scale * means["error"], scale * means["error_se"], digits, unit),
        f"{scale_m * median:.{digits_m}f}{unit_m}",
        "" if not card.is_share else f"{round(solved.estimate * solved.count)} of {solved.count}",
        f"{100 * solved.low:.0f} to {100 * solved.high:.0f}%" if card.is_share else "",
        ""
        if math.isnan(means["ponder_time"])
        else _steps(means["ponder_time"], means["ponder_se"]),
        len(seeds),
        int((seeds["status"] == "diverged").sum()),
        bool((seeds["status"] == "running").any()),
    )


def published_in_words(
    published: Mapping[str, tuple[float, int]],
    table: pd.DataFrame,
    card: Card,
    solved_error: float = SOLVED_ERROR,
) -> list[tuple[str, str]]:
    """Which network of each mechanism is published, its error, and how many of its seeds solved.

    Args:
        published: mechanism -> its setting and seed.
        table: the evaluation rows of the experiment.
        card: its data card.
        solved_error: a seed with a smaller error has solved the task.

    Returns:
        (mechanism, words) lines; what counts is the first split, as in the choice of the setting.
        Networks that an older program has published may be of another setting: the words say so.
    """
    seeds, splits, lines = per_seed(headline(table)), splits_of(table), []
    where = f" on {card.splits[splits[0]]}" if len(splits) > 1 else ""
    for mechanism, (setting, seed) in published.items():
        same = seeds["setting"].map(setting_text) == setting_text(setting)
        own = seeds[same & (seeds["mechanism"] == mechanism)].set_index("seed")["error"]
        scale, digits, unit = printed(own[seed], card)
        error = f"{scale * own[seed]:.{digits}f}{unit}"
        told = f"error {error}{where}" if card.is_share else f"{error} {card.unit}{where}"
        words = f"{names.setting_sign(mechanism, setting)}, seed {seed}: {told}"
        if card.is_share:
            solved = int((own < solved_error).sum())
            words += (
                f"; {solved} of {len(own)} {'seed' if len(own) == 1 else 'seeds'} solved the task"
            )
        best = best_setting(seeds, mechanism)
        if best is not None and setting_text(best) != setting_text(setting):
            lowest = names.setting_sign(mechanism, best)
            words += f"; chosen by an older rule: {lowest} has the lowest mean error"
        lines.append((names.TITLES[mechanism], words))
    return lines


CROSSING = (
    "PonderNet's two predictions differ inside a sequence too: to the next vector crosses, when "
    "sampled, the state of the step at which it halts; in the expectation, as in training, {}."
)
CARRIED = {
    "mean_field": "the mean of all steps' states, weighted by the chance to halt there",
    "last": "the state of the last step",
}


def crossing_in_words(
    table: pd.DataFrame, traces: Sequence[Mapping[str, Any]], config: ExperimentConfig | None
) -> str:
    """Which state crosses from one vector to the next in either prediction of PonderNet's.

    Args:
        table: the evaluation rows of one experiment.
        traces: its traces, which tell sequences from single vectors.
        config: its parameters; None takes their default.

    Returns:
        A sentence; empty without PonderNet, and where every example is a single vector.
    """
    sequences = any(len(trace["steps"]) > 1 for trace in traces)
    if not sequences or not (table["prediction"] == "expected").any():
        return ""
    return CROSSING.format(CARRIED[config.halting.carry if config else "mean_field"])


def settings_in_words(
    table: pd.DataFrame, card: Card, config: ExperimentConfig | None
) -> list[tuple[str, str]]:
    """How an experiment was set up, as (what, value) lines.

    Args:
        table: its evaluation rows.
        card: its data card.
        config: its parameters; None falls back on what the table itself tells.

    Returns:
        Lines from the data to the evaluation.
    """
    lines = [("Data", card.what), ("Source", card.source)]
    if config is None:
        return lines + _settings_of(table)
    halting, training = config.halting, config.training
    task = "; ".join(
        _of_task(key, value)
        for key, value in config.task.items()
        if key != "name" and value not in ((), [], {}, None)
    )
    flag = "with" if halting.first_step_flag else "without"
    lines += [("Task", task)] if task else []

    of_mechanism = table.groupby(table["mechanism"].map(lambda name: read_variant(name)[0]))
    seeds = of_mechanism["seed"].nunique().to_dict()  # as many as have run, which may not be all

    lines += [
        ("Network", _network(config)),
        (
            "Halting",
            f"at most {halting.max_steps} steps, ε = {halting.epsilon:g}, "
            f"halting bias {halting.halt_bias:g}, {flag} flag of the first step",
        ),
    ]
    for mechanism in filter(config.seeds_of, config.mechanisms):
        values = ", ".join(names.settings_listed(mechanism, config.settings(mechanism)))
        own = ", ".join(own_values(config, mechanism))
        more = f"; {own}" if own else ""
        lines.append((names.TITLES[mechanism], f"{style.SYMBOL[mechanism]} = {values}{more}"))
    lines += [
        ("Training", f"{_trained(config, config.updates)} updates of {training.batch} examples"),
        ("Optimiser", _optimiser(config)),
        ("Seeds", f"{_each({m: seeds[m] for m in names.TITLES if m in seeds})} a setting"),
        ("Evaluation", _evaluation(table)),
    ]
    return lines


def _network(config: ExperimentConfig) -> str:
    """The cell, its size, and how its weights begin where that is not torch's rule."""
    network = config.network
    words = [names.CELLS.get(network.cell, network.cell), f"{network.hidden} units"]
    words += ["Glorot's initial weights"] if network.init == "glorot" else []
    words += [] if network.forget_bias is None else [f"forget bias {network.forget_bias:g}"]
    return ", ".join(words)


def _optimiser(config: ExperimentConfig) -> str:
    """The learning rate, what lowers it, and clipping."""
    training = config.training
    words = ["Adam", f"learning rate {_trained(config, config.learning_rate)}"]
    words += [] if training.decay == "none" else [f"{training.decay} decay to 0"]
    if (factor := training.halting_rate) is not None:
        words.append(f"{factor:g} times the rate for the halting unit")
    clip = "no clipping" if training.clip is None else f"gradient norm clipped at {training.clip:g}"
    return ", ".join([*words, clip])


def _of_task(key: str, value: Any) -> str:
    """A parameter of a task: train_x and test_x say when they hold."""
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    for prefix, when in (("train_", " in training"), ("test_", " in tests")):
        if key.startswith(prefix):
            return f"{key.removeprefix(prefix).replace('_', ' ')}{when}: {_plain(value)}"
    return f"{key.replace('_', ' ')}: {_plain(value)}"


def seeds_in_words(rows: Sequence[SummaryRow]) -> str:
    """Seeds and diverged seeds in a sentence, where every row has the same; else empty."""
    counts = {(row.seeds, row.diverged) for row in rows}
    if len(counts) != 1:
        return ""
    seeds, diverged = counts.pop()
    unit = "seed" if seeds == 1 else "seeds"
    return f"{seeds} {unit} a setting, {diverged if diverged else 'none'} of them diverged."


def own_values(
    config: ExperimentConfig, mechanism: str, without_default: bool = True
) -> Iterator[str]:
    """What a mechanism has of its own, where it is neither the shared value nor its default.

    without_default: also what has no default, as PonderNet's beta.
    """
    for name, value in config.mechanism(mechanism).own.items():
        default = MECHANISMS[mechanism].own[name][1]
        if value is not None and value != default and (without_default or default is not ...):
            known = OWN_VALUES.get(name)
            yield known.format(value) if known else f"{name.replace('_', ' ')} = {_plain(value)}"


def _settings_of(table: pd.DataFrame) -> list[tuple[str, str]]:
    lines = []
    for mechanism in names.variants(table["mechanism"].unique()):
        rows = table[table["mechanism"] == mechanism]
        values = ", ".join(map(style.number, sorted(rows["setting"].unique())))
        symbol = style.SYMBOL[read_variant(mechanism)[0]]
        lines.append((title_of(mechanism), f"{symbol} = {values}"))
    seeds = table["seed"].nunique()
    return [*lines, ("Seeds", f"{seeds} a setting")]


def _evaluation(table: pd.DataFrame) -> str:
    """How many examples a network is tested on; classes are no difficulties, each has its own."""
    sets = table[~table["split"].isin(SPLITS_ON_FIGURES_ALONE)]
    sizes = sets.groupby(["split", "difficulty"])["examples"].first()
    if sizes.nunique() > 1:
        return f"{_plain(int(sizes.groupby('split').sum().max()))} examples"
    several = sizes.groupby("split").size().max() > 1
    of_each = " per difficulty, over which errors are averaged" if several else ""
    return f"{_plain(int(sizes.max()))} examples{of_each}"


def _trained(config: ExperimentConfig, of: Callable[[str], float]) -> str:
    """A value of the mechanisms that are to be trained."""
    return _each({name: of(name) for name in filter(config.seeds_of, config.mechanisms)})


def _each(values: Mapping[str, float]) -> str:
    """One value, or one for each mechanism where they differ."""
    if len(set(values.values())) == 1:
        return _plain(next(iter(values.values())))
    return ", ".join(f"{_plain(value)} ({names.TITLES[name]})" for name, value in values.items())


def _plain(value: Any) -> str:
    """A parameter in words: two numbers are a range, more are a list."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return (" to " if len(value) == 2 else ", ").join(map(_plain, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).replace("_", " ")
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def printed(error: float, card: Card) -> tuple[int, int, str]:
    """What an error is multiplied by, its digits behind the point and its sign in print."""
    if not card.is_share:
        return 1, 3, ""
    return 100, 2 if 100 * error < 1 else 1, "%"


def _plus_minus(mean: float, error: float, digits: int, unit: str) -> str:
    text = f"{mean:.{digits}f}"
    return f"{text}{unit}" if math.isnan(error) else f"{text} ± {error:.{digits}f}{unit}"


def _steps(mean: float, error: float) -> str:
    return f"{mean:.2f}" + ("" if math.isnan(error) else f" ± {error:.2f}")
