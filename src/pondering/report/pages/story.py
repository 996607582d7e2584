"""What holds, in one table and ten sentences, with the numbers of the day.

The sentences are written for the published networks of `reduced`. Each has a condition beside it:
where new numbers no longer meet it, the sentence is left out until somebody rewrites it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pondering.project.atomic import atomic_write
from pondering.report.figures.methods import best_methods
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import best_setting, evaluated, headline, per_seed, splits_of

METHODS = {"plain": "Plain network", "act": "ACT", "pondernet": "PonderNet"}
ROWS = {  # experiment -> the number of the split shown, and the claim whose verdict is shown
    "parity": (0, "G1"),
    "logic": (0, "G4"),
    "addition": (0, "G6"),
    "sort": (0, "G8"),
    "wikipedia": (0, "G9"),
    "parity_interpolation": (0, "B1"),
    "parity_extrapolation": (1, "B2"),
    "mnist": (0, "M1"),
    "mnist_rotated": (0, "M2"),
}


@dataclass(frozen=True)
class Sentence:
    """A sentence of the story, and whether today's numbers still say so."""

    text: str
    holds: bool


def what_holds(results: Results, judged: Mapping[str, Any], folder: Path) -> str:
    """README's section on results, in Markdown: the table, then the story.

    Args:
        results: of one profile.
        judged: the content of its claims.json.
        folder: of the profile's published files, for the screens in it.
    """
    told = [each.text for each in story(results, judged, folder) if each.holds]
    numbered = "".join(f"{place}. {text}\n" for place, text in enumerate(told, 1))
    return f"{table(results, judged)}\n{numbered}"


def table(results: Results, judged: Mapping[str, Any]) -> str:
    """Every task with each method at the setting of its lowest mean test error, in Markdown."""
    claims = {each["id"]: each for each in judged["claims"]}
    lines = [["Task", *METHODS.values(), "In the paper", "Verdict"], ["---"] * 6]
    for experiment, (place, claim) in ROWS.items():
        rows = results.tables.get(experiment)
        if rows is None or claim not in claims or len(splits_of(rows)) <= place:
            continue
        card, split = results.cards[experiment], splits_of(rows)[place]
        seeds = per_seed(evaluated(rows, split=split))
        chosen = {each.name: each for each in best_methods(per_seed(headline(rows)), [*METHODS])}
        unit = "" if card.is_share else f" {card.unit.split()[0]}"
        cells = [
            _cell(chosen[name].of(seeds), name, unit) if name in chosen else "" for name in METHODS
        ]
        what = f"{card.title}: {card.what.partition(';')[0]}" + (", beyond" if place else "")
        found = claims[claim]
        paper = re.sub(r" ?\([^)]*\)", "", found["paper_value"]).rstrip(".")
        lines.append([what, *cells, paper, f"{claim} {found['verdict']}"])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(own: pd.DataFrame, name: str, unit: str) -> str:
    mean = own["error"].mean()
    error = f"{mean:.2f}{unit}" if unit else _percent(mean)
    return error if name == "plain" else f"{error}, {own['ponder_time'].mean():.1f} steps"


def story(results: Results, judged: Mapping[str, Any], folder: Path) -> list[Sentence]:
    """The ten sentences; fewer where an experiment or a quantity is missing.

    Args:
        results, judged, folder: see `what_holds`.
    """
    found = []
    for tell in (
        _what,
        _parity,
        _repetition,
        _scattered,
        _logic,
        _hard,
        _text,
        _robust,
        _beyond,
        _new,
    ):
        try:
            found.append(tell(_Numbers(results, judged, folder)))
        except LookupError:  # not run, or not measured
            continue
    return found


class _Numbers:
    """What the sentences ask of tables, verdicts and screens; LookupError where it is missing."""

    def __init__(self, results: Results, judged: Mapping[str, Any], folder: Path) -> None:
        self._results, self._folder = results, folder
        self.judged = {each["id"]: each for each in judged["claims"]}

    def quantity(self, claim: str, name: str, part: str = "") -> tuple[float, float, float]:
        """A measured quantity: its value and the bounds of its interval."""
        for each in self.judged[claim]["estimates"]:
            if each["quantity"] == name and each.get("part", "") in ("", part):
                found = each["value"], each["low"], each["high"]
                if None not in found:
                    return found
        raise KeyError(f"{claim}: {name}")

    def text(self, claim: str, name: str) -> str:
        """A measured quantity with its unit and interval, as `pondering claims` prints it."""
        estimates = {each["quantity"]: each for each in self.judged[claim]["estimates"]}
        return str(estimates[name]["text"])

    def networks(self, experiment: str, mechanism: str, *settings: float) -> pd.DataFrame:
        """One row a network: error and steps, of some settings; without settings of the best."""
        seeds = per_seed(headline(self._results.tables[experiment]))
        chosen = settings or (best_setting(seeds, mechanism),)
        own = seeds[(seeds["mechanism"] == mechanism) & seeds["setting"].isin(chosen)]
        if own.empty:
            raise KeyError(f"{experiment}: {mechanism} {settings}")
        return own

    def screened(self, screen: str) -> pd.Series:
        """The last training error of every network of a screen."""
        path = self._folder / "search" / f"{screen}.csv"
        if not path.is_file():
            raise KeyError(screen)
        rows = pd.read_csv(path).sort_values("update")
        return rows.groupby(["arm", "mechanism", "setting", "seed"])["error"].last()


def _solved(networks: pd.DataFrame, below: float = SOLVED_ERROR) -> int:
    return int((networks["error"] < below).sum())


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share < 0.1 else f"{100 * share:.0f}%"


def _what(numbers: _Numbers) -> Sentence:
    seeds = [each["seeds"] for each in numbers.judged.values() if each.get("seeds")]
    if not seeds:
        raise KeyError("seeds")
    return Sentence(
        f"We retrained ACT and PonderNet, on mostly smaller tasks, with {min(seeds)} to "
        f"{max(seeds)} seeds. Bounds were written down before the runs. The notes list what "
        "changed in them later.",
        min(seeds) >= 5,
    )


def _parity(numbers: _Numbers) -> Sentence:
    act = numbers.networks("parity", "act", 0.001, 0.003, 0.01)
    plain = numbers.networks("parity", "repeat", 1)
    return Sentence(
        "ACT makes parity of 64 leading bits learnable within 150,000 updates: "
        f"{_solved(act)} of {len(act)} networks solve it at tau 0.001 to 0.01, and "
        f"{_solved(plain)} of {len(plain)} plain networks. G1 fails all the same: the plain "
        f"network errs on {numbers.text('G1', 'plain_error')}, not on 30% or more, and ACT at tau "
        f"0.03 on {numbers.text('G1', 'act_error')}.",
        _solved(act) > 0.9 * len(act) and _solved(plain) == 0,
    )


def _repetition(numbers: _Numbers) -> Sentence:
    act = numbers.networks("parity", "act", 0.001, 0.003, 0.01)
    steps = act[act["error"] < SOLVED_ERROR]["ponder_time"].mean()
    two, screen = numbers.networks("parity", "repeat", 2), numbers.screened("parity-pondernet")
    return Sentence(
        f"These networks learn to take two steps for every input: {steps:.1f} on average (G3, Q2). "
        f"Two fixed steps do nearly as well, in {_solved(two)} of {len(two)} networks. PonderNet "
        f"solves the task in {int((screen < SOLVED_ERROR).sum())} of {len(screen)} networks of a "
        "screen.",
        bool(1.9 < steps < 2.3)
        and _solved(two) > 0.9 * len(two)
        and bool((screen >= SOLVED_ERROR).all()),
    )


def _scattered(numbers: _Numbers) -> Sentence:
    rise, low, _ = numbers.quantity("G3", "scattered_rise")
    return Sentence(
        "On 12 scattered elements ACT's steps do grow with difficulty, as Graves says: by "
        f"{rise:.1f} steps from the easiest to the hardest inputs (G3).",
        low > 1,
    )


def _logic(numbers: _Numbers) -> Sentence:
    act, plain = (numbers.networks("logic", *which) for which in (("act",), ("repeat", 1)))
    rise, low, _ = numbers.quantity("G5", "rise")
    errors = act["error"].mean(), plain["error"].mean()
    return Sentence(
        f"Logic replicates almost fully: ACT errs on {_percent(errors[0])} of sequences, a plain "
        f"network on {_percent(errors[1])}. From five gates to ten ACT takes {rise:.1f} steps more "
        "(G4, G5).",
        errors[0] < 0.01 and errors[1] > 0.2 and low > 1,
    )


def _hard(numbers: _Numbers) -> Sentence:
    act = numbers.networks("addition", "act")["error"].mean()
    gain, _, high = numbers.quantity("G8", "relative_gain")
    three = numbers.networks("sort", "repeat", 3)["error"].mean()
    best = numbers.networks("sort", "act")["error"].mean()
    return Sentence(
        f"Addition needs more updates than we had: ACT still errs on {_percent(act)} of sums. On "
        f"sorting ACT takes {_percent(gain)} of the errors away, where the paper has a half and "
        "three fixed steps take more (G6, G8).",
        bool(act > 0.2 and high < 0.4 and three < best),
    )


def _text(numbers: _Numbers) -> Sentence:
    _, low, high = numbers.quantity("G9", "difference")
    peaks = [numbers.quantity("G10", name) for name in ("space_peak", "bracket_peak", "id_rise")]
    return Sentence(
        f"On text ACT changes nothing measurable: it needs {numbers.text('G9', 'difference')} more "
        "a character. It ponders at spaces and brackets, but also at random digits (G9, G10).",
        low < 0 < high and all(each[1] > 0 for each in peaks),
    )


def _robust(numbers: _Numbers) -> Sentence:
    priors = numbers.quantity("B4", "pondernet_solved")[0]
    penalties = numbers.quantity("B4", "act_solved")[0]
    _, low, high = numbers.quantity("B1", "accuracy_gain")
    steps, prior = numbers.quantity("B5", "steps")[0], _mean_of_prior(0.1, 20)
    return Sentence(
        "On 12 scattered elements PonderNet's setting is easier to choose: most networks are right "
        f"on 85% or more at {priors:.0%} of its priors up to 0.85, and at {penalties:.0%} of ACT's "
        f"penalties (B4). Its accuracy is {numbers.text('B1', 'accuracy_gain')} higher, which is "
        f"not sure (B1). A long prior is followed, not overruled: {steps:.1f} steps, where the "
        f"prior's mean is {prior:.1f} (B5).",
        priors - penalties > 0.1 and low < 0 < high and abs(steps - prior) < 1,
    )


def _mean_of_prior(lambda_p: float, most: int) -> float:
    """Mean of PonderNet's prior, a geometric distribution cut off after `most` steps."""
    shares = [lambda_p * (1 - lambda_p) ** step for step in range(most)]
    return sum(share * step for step, share in enumerate(shares, 1)) / sum(shares)


def _beyond(numbers: _Numbers) -> Sentence:
    shares = [
        each["value"]
        for each in numbers.judged["Q5"]["estimates"]
        if each["quantity"] in ("accuracy_beyond_8_of_16", "accuracy_beyond_12_of_24")
        and each["value"] is not None
    ]
    if not shares:
        raise KeyError("Q5")
    return Sentence(
        "Nothing extrapolates: beyond the trained range every mechanism is right on "
        f"{min(shares):.0%} to {max(shares):.0%} of inputs, where guessing is right on 50% "
        "(B2, Q5).",
        max(shares) < 0.65,
    )


def _new(numbers: _Numbers) -> Sentence:
    _, _, high = numbers.quantity("Q1", "pondernet_correlation")
    usual = numbers.networks("bias_leading", "act", 0.001)
    higher = numbers.networks("bias_leading", "act[halt_bias=3]", 0.001)
    three = numbers.networks("comparison", "repeat", 3)["error"].mean()
    others = [numbers.networks("comparison", name)["error"].mean() for name in ("act", "pondernet")]
    reversed_kl = numbers.quantity("Q7", "error_difference", "Ways to halt")
    return Sentence(
        "New here: PonderNet thinks less on harder inputs at its paper's weight of the prior "
        f"(correlation {numbers.text('Q1', 'pondernet_correlation')}, Q1). From a halting bias of "
        f"3 ACT solves leading bits in {_solved(higher)} of {len(higher)} networks at tau 0.001, "
        f"from the usual bias of 1 in {_solved(usual)} of {len(usual)}, which does not yet decide "
        "(Q3). Reversing the KL changes the steps, not the errors (Q7). On 12 elements three fixed "
        f"steps err on {_percent(three)}, no more than any learned way to halt.",
        bool(high < -0.3 and _solved(higher) > _solved(usual) and three <= min(others))
        and -0.02 < reversed_kl[1] < reversed_kl[2] < 0.02,
    )


def write_readme(path: Path, profile: str, section: str) -> None:
    """Put a section between the marks that name its profile; a file without them stays as it is.

    Args:
        path: of README.md; it need not exist.
        profile: whose results the section tells.
        section: what `what_holds` returned.
    """
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    marks = rf"(<!-- results of {profile}[^>]*-->\n)(.*?)(<!-- end of results -->)"
    written = re.sub(marks, lambda found: f"{found[1]}{section}{found[3]}", text, flags=re.DOTALL)
    if written != text:
        atomic_write(path, written)
