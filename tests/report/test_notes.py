"""Every result in notes and docs/library.md, computed again: a comment says from what.

`24.2%<!--G1 plain_error-->` is a claim's or a question's quantity without its interval; `all`
behind it is with it; `Q8/certainty` is one part of several. `8.7%<!--parity act 0.003 error-->` is
the mean over seeds at a setting; `range` is the lowest to the highest, `most` the highest, `steps`
the mean number of steps, `solved` how many networks are below 5% (logic: 2%), `seen` the share of
test inputs that training had met, `peak` the range over seeds of the most steps logged in training,
`hardest` the mean error at the highest difficulty, `depth` the mean error after all steps,
`refitted` that of a head fitted anew there, `mean_halting` that with the mean halting distribution,
`best_fixed` that of the best fixed number of steps, `after_2` that of two. `13 of
16<!--parity-recipe | slow halting unit | act-->` are the networks of a mechanism that an arm of a
search has solved; `error` behind it is their mean error in training at the end. `19.1 (16.6 to
21.6)<!--beyond-front, front moves by-->` is the first number behind these words in what the report
says of a figure, with its interval.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache

import pandas as pd
import pytest
from support.published import ROOT

from pondering.results.arms import ranked
from pondering.results.exits import FIXED as FIXED_STEPS
from pondering.results.exits import best_fixed
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import evaluated, headline, replica_means

REDUCED = ROOT / "reports/reduced"
REPORT = (REDUCED / "report.md").read_text(encoding="utf-8")
NOTES = (REDUCED / "NOTES.md").read_text(encoding="utf-8")
LIBRARY = (ROOT / "docs/library.md").read_text(encoding="utf-8").partition("\nAll are imported")[0]
NUMBER = re.compile(r"([^\n<|]*?)<!--(.+?)-->", re.S)
RESULT = re.compile(r"\d[\d.,]*(?:%| points| nats| of \d+ )|\d\.\d+ (?:steps|bits)")
FIXED = ("below 5%, on logic 2%.", "has below 5%", "has almost 40%")  # "solved"; the paper


@cache
def results() -> Results:
    return Results.load(ROOT / "reports", "reduced")


@cache
def estimates() -> dict[str, str]:
    judged = json.loads((REDUCED / "claims.json").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for claim in judged["claims"] + judged["questions"]:
        for each in claim["estimates"]:
            part = each.get("part", "").lower().replace(" ", "_")
            for where in {claim["id"], f"{claim['id']}/{part}"}:
                found.setdefault(f"{where} {each['quantity']}", []).append(each["text"])
    return {name: texts[0] for name, texts in found.items() if len(texts) == 1}


def percent(share: float) -> str:
    """Two digits, as the README has them."""
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1f}%"


def computed(source: str) -> str:
    """The text that a number's source gives."""
    if source.startswith("beyond-"):
        figure, _, words = source.partition(", ")
        (said,) = re.findall(rf"!\[([^]]*)\]\(figures/{figure}\.png\)", REPORT)
        number = rf".*?{words} (-?[\d.]+) \(95% interval (-?[\d.]+) to (-?[\d.]+)\)"
        mean, low, high = re.match(number, said).groups()
        return f"{mean} ({low} to {high})".replace("-", "\N{MINUS SIGN}")
    if " | " in source:
        name, arm, last = source.split(" | ")
        mechanism, _, what = last.partition(" ")
        plan = json.loads((REDUCED / f"search/{name}.json").read_text(encoding="utf-8"))["plan"]
        rows = pd.read_csv(REDUCED / f"search/{name}.csv").query("mechanism == @mechanism")
        if what == "error":
            ended = rows[(rows["arm"] == arm) & (rows["update"] == rows["update"].max())]
            return percent(ended["error"].mean())
        found = ranked(rows, plan["solved_below"], 1.0).set_index("arm").loc[arm]
        return f"{found['solved']:.0f} of {found['networks']:.0f}"
    first, *rest = source.split()
    if re.fullmatch(r"[GBMFQ]\d+(/\S+)?", first):
        text = estimates()[f"{first} {rest[0]}"]
        return text if rest[1:] == ["all"] else text.split(" (")[0]
    experiment, _, split = first.partition("/")
    mechanism, setting, what = rest
    if what == "peak":
        curves = results().curves[experiment]
        same = (curves["mechanism"] == mechanism) & (curves["setting"] == float(setting))
        peaks = curves[same].groupby("seed")["ponder_time"].max()
        return f"{peaks.min():.1f} to {peaks.max():.1f}"
    if what in ("refitted", "depth", "mean_halting", "best_fixed"):
        rows = getattr(results(), "exits" if what == "best_fixed" else "readouts")[experiment]
        rows = rows[(rows["mechanism"] == mechanism) & (rows["setting"] == float(setting))]
        rows = rows[rows["split"] == (split or "test")]
        known = best_fixed(rows, math.inf)[1] if what == "best_fixed" else rows[what].mean()
        return percent(known)
    if what.startswith("after_"):
        rows = results().exits[experiment]
        rows = rows[(rows["mechanism"] == mechanism) & (rows["setting"] == float(setting))]
        fixed = rows[(rows["split"] == "test") & (rows["rule"] == FIXED_STEPS)]
        return percent(fixed[fixed["ponder_time"] == float(what[6:])]["error"].mean())
    table = results().tables[experiment]
    rows = evaluated(table, split=split) if split else headline(table)
    if what == "seen":
        return percent(rows[rows["mechanism"] == mechanism]["seen"].mean())
    if what == "hardest":
        rows = rows[rows["difficulty"] == rows["difficulty"].max()]
    own = replica_means(rows).loc[(mechanism, float(setting))]
    errors = own["error"]
    if what == "backwards":  # solved networks whose steps fall with difficulty
        solved = errors[errors < SOLVED_ERROR].index
        rows = rows[(rows["mechanism"] == mechanism) & (rows["setting"] == float(setting))]
        trends = {
            seed: each["difficulty"].corr(each["ponder_time"], method="spearman")
            for seed, each in rows.groupby("seed")
        }
        return f"{sum(trends[seed] < 0 for seed in solved)} of {len(solved)}"
    if what == "range":
        return f"{percent(errors.min())} to {percent(errors.max())}"
    if what == "median":
        return percent(errors.median())
    if what == "most":
        return percent(errors.max())
    if what == "solved":
        below = 0.02 if experiment == "logic" else SOLVED_ERROR
        return f"{(errors < below).sum()} of {len(errors)}"
    mean = own["ponder_time" if what == "steps" else "error"].mean()
    return f"{mean:.1f}" if what == "steps" else percent(mean)


@pytest.mark.parametrize(("text", "source"), NUMBER.findall(NOTES + LIBRARY))
def test_a_number_is_that_of_its_source(text: str, source: str) -> None:
    whole = rf"(?<![\d.,\u2212-]){re.escape(computed(source))}$"  # no digit or sign before it
    assert re.search(whole, " ".join(text.split())), source


def test_every_result_has_a_source() -> None:
    """What stands before a number on its line needs a source of its own."""
    left = NUMBER.sub(lambda found: found[1].removesuffix(computed(found[2])), NOTES + LIBRARY)
    for each in FIXED:
        assert each in left
        left = left.replace(each, "")
    assert RESULT.findall(left) == []


def test_the_verdicts_are_those_of_the_report() -> None:
    rows = re.findall(r"^\| ([GBMF]\d+) \|.*\|.*\| (.+?) \|.*\|$", NOTES, re.M)
    claims = json.loads((REDUCED / "claims.json").read_text(encoding="utf-8"))["verdicts"]
    assert dict(rows) == {k: each.removesuffix(" at this scale") for k, each in claims.items()}
    assert len(NOTES.splitlines()) <= 120
