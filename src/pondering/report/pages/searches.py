"""The searches that were run beside an experiment, for a link from its section."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pondering.params.read import SETTING_NAMES
from pondering.project.errors import UserError
from pondering.report.figures import style
from pondering.report.pages import names
from pondering.results.arms import CLOSE, ranked
from pondering.results.results import CONTROL


@dataclass(frozen=True)
class SearchLink:
    """One search that has a figure: its mechanism, what was tried, and the figure's place."""

    title: str
    words: str
    figure: str


def searches(folder: Path) -> dict[str, tuple[SearchLink, ...]]:
    """Experiment -> its searches that left a record and a figure.

    Args:
        folder: holds EXPERIMENT-MECHANISM[-MORE].json, of screens EXPERIMENT-NAME.json, and beside
            each its table, and its figure once its last part has ended.

    Raises:
        UserError: a record cannot be read, or its table is missing.
    """
    found: dict[str, tuple[SearchLink, ...]] = {}
    for record in sorted(folder.glob("*.json")):
        if not (table := record.with_suffix(".csv")).is_file():
            raise UserError(f"{table}: no such file, though {record.name} lies beside it")
        if not (figure := record.with_suffix(".png")).is_file():
            continue
        experiment, _, rest = record.stem.partition("-")
        mechanism = rest.partition("-")[0]
        title = names.TITLES.get(mechanism, "Recipe")
        try:
            content = json.loads(record.read_text(encoding="utf-8"))
            if "plan" in content:
                words = _arms(content["plan"], pd.read_csv(table))
            else:
                words = _words(content, mechanism)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
            raise UserError(f"{record}: not a record of a search ({problem!r})") from None
        link = SearchLink(title, words, f"search/{figure.name}")
        found[experiment] = (*found.get(experiment, ()), link)
    return found


def _arms(plan: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """What a screen tried, and by which of its recipes how many networks solved the task."""
    seeds = names.listed(map(str, plan["seeds"]))
    recipes = f"{len(plan['arms'])} recipe{'s' if len(plan['arms']) > 1 else ''}"
    order = ranked(rows, plan["solved_below"], math.inf)["arm"]
    own = ranked(rows[rows["mechanism"] != CONTROL], plan["solved_below"], math.inf)
    counts = own.set_index("arm")[["solved", "networks"]]
    arms = (f"{arm}: {counts['solved'][arm]} of {counts['networks'][arm]}" for arm in order)
    rule = f"the best recipe first, by the median error where {CLOSE} networks or fewer lie between"
    told = f"networks that solved the task in training, {rule}: {'; '.join(arms)}"
    return f"{recipes}, seeds {seeds}, {plan['updates']:,} updates; {told}"


def _words(record: Mapping[str, Any], mechanism: str) -> str:
    """What was tried; a training kept beside the published one names it in its configuration."""
    config = record["config"]
    own, training = config[mechanism], config["training"]
    rates = record.get("rates") or [own.get("learning_rate") or training["learning_rate"]]
    settings = record.get("settings") or own[SETTING_NAMES[mechanism]]
    seeds = record.get("seeds") or config["seeds"]
    many = "learning rate" if len(rates) == 1 else "learning rates"
    tried = names.listed(names.settings_listed(mechanism, settings))
    return (
        f"{style.SYMBOL[mechanism]} = {tried} at {many} "
        f"{names.listed(map(style.number, rates))}, seeds {names.listed(map(str, seeds))}, "
        f"{record['updates']:,} updates"
    )
