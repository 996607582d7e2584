"""Claims on what happens inside a sequence or a text: what counts, and what noise alone gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claim_cases_graves import TAUS, plain_rows
from support.claim_tables import SEEDS, results, rows, step, trace

from pondering.claims.claims import load_claims
from pondering.claims.measures.quantities import Quantity
from pondering.claims.measures.sequences import excess_at_end, summed, within
from pondering.claims.verdicts import Judgement, judge
from pondering.results.results import Results

ROOT = Path(__file__).parents[2]
CLAIMS = {claim.id: claim for claim in load_claims(ROOT / "claims.yaml")}
DIGITS = (1, 2, 3, 4, 5)
Steps = list[dict[str, Any]]


def named(judgement: Judgement, name: str) -> Quantity:
    return next(quantity for quantity in judgement.quantities if quantity.name == name)


def sums(digits: Sequence[int], ponder: Callable[[int], float]) -> Steps:
    """A sequence of numbers of so many digits; the steps follow the digits of the summands."""
    steps, total = [], 0
    for place, count in enumerate(digits):
        number = int("3" * count)
        longer = max(count, len(str(total)))
        total += number
        steps.append(step(str(number), str(total) if place else "", ponder(longer)))
    return steps


def additions(traces: list[dict[str, Any]], error: Callable[[float], float] | None = None) -> Any:
    """G7 on these traces; every tau has learned, and its steps lie on a line."""
    table = rows(
        "addition", "act", TAUS, lambda s, k, d: error(s) if error else 0.01,
        lambda s, k, d: float(d), levels=DIGITS,
    )  # fmt: skip
    return judge(CLAIMS["G7"], results([table], traces={"addition": traces}))


def mixed(steps: Steps, seed: int, setting: float = TAUS[0]) -> dict[str, Any]:
    return trace("mixed", steps, seed=seed, setting=setting)


def test_steps_that_differ_from_sequence_to_sequence_alone_track_nothing() -> None:
    """Long numbers, many steps, but the same number all along: pooled, the correlation is high."""
    generator = np.random.default_rng(0)
    traces = []
    for seed in SEEDS:
        for level in (1, 4, 9):
            noise = iter(0.1 * generator.normal(size=9))
            digits = generator.integers(level, level + 3, 9).tolist()
            steps = sums(digits, lambda d, level=level, noise=noise: level + next(noise))
            traces.append(mixed(steps, seed))
    pooled = np.concatenate([summed(each["steps"]) for each in traces])
    assert np.corrcoef(pooled.T)[0, 1] > 0.9
    found = named(additions(traces), "tracking")
    assert abs(found.value) < 0.35


def test_steps_that_follow_the_digits_track_them_in_every_seed() -> None:
    traces = [mixed(sums([1, 2, 4, 5], lambda d: 1 + 0.5 * d), seed) for seed in SEEDS]
    found = named(additions(traces), "tracking")
    assert (found.value, found.seeds) == (pytest.approx(1.0), len(SEEDS))
    # one seed the other way round: the mean over seeds, with an interval over seeds
    traces[2] = mixed(sums([1, 2, 4, 5], lambda d: 9 - d), 2)
    found = named(additions(traces), "tracking")
    assert found.value == pytest.approx(1 / 3)
    assert found.low == pytest.approx(-1.0) and found.high == pytest.approx(1.0)


def test_a_seed_without_traces_has_diverged_and_tracks_nothing() -> None:
    traces = [mixed(sums([1, 2, 4, 5], float), seed) for seed in SEEDS[:2]]
    assert named(additions(traces), "tracking").value == pytest.approx(2 / 3)


def test_numbers_of_equal_digits_and_full_traces_cannot_show_tracking() -> None:
    alike = [mixed(sums([2, 2], float), seed) for seed in SEEDS]
    shown = [trace("sequence", sums([1, 2, 4], float), setting=TAUS[0])]
    for traces in (alike, shown, []):
        assert np.isnan(named(additions(traces), "tracking").value)
    assert np.isnan(within([])) and within([np.array([[1.0, 2], [5, 2]])]) == 0.0


def test_only_settings_that_have_learned_the_task_have_a_line() -> None:
    def of(wrong: Sequence[float]) -> Judgement:
        def ponder(tau: float, seed: int, digits: float) -> float:
            return 2 + (-1) ** int(digits) if tau in wrong else 0.9 * digits

        table = rows(
            "addition", "act", TAUS, lambda s, k, d: 0.9 if s in wrong else 0.05, ponder,
            levels=DIGITS,
        )  # fmt: skip
        traces = [mixed(sums([1, 2, 4, 5], float), seed) for seed in SEEDS]
        return judge(CLAIMS["G7"], results([table], traces={"addition": traces}))

    judgement = of(TAUS[2:])
    assert judgement.verdict == "reproduced", judgement.findings
    assert named(judgement, "linearity").value == pytest.approx(1.0)
    assert named(judgement, "highest_slope").value == pytest.approx(0.9)
    # the traces are of the lowest tau: where that has not learned, they say nothing
    assert np.isnan(named(of(TAUS[:1]), "tracking").value)
    nothing = of(TAUS)
    assert nothing.verdict == "cannot be judged at this scale"
    assert "not learned" in nothing.reason
    assert [quantity.name for quantity in nothing.quantities] == ["act_error"]


def sorting(ponder: Callable[[int], np.ndarray], seeds: Sequence[int] = SEEDS) -> Results:
    """Sequences of 2 to 6 numbers, then their order; `ponder` gives the steps of so many inputs."""
    traces = []
    for seed in seeds:
        for size in (2, 3, 4, 6):
            words = [("0.1", "")] * size + [("", "1")] * size
            steps = [step(*word, float(n)) for word, n in zip(words, ponder(size), strict=True)]
            traces.append(mixed(steps, seed))
    act = rows("sort", "act", TAUS, lambda s, k, d: 0.06, levels=range(2, 7))
    return results([plain_rows("sort", 0.12, range(2, 7)), act], traces={"sort": traces})


def test_noise_has_no_spike_at_the_end_of_the_inputs() -> None:
    """With a maximum in place of the mean every single one of these would have one."""
    generator = np.random.default_rng(1)
    values, held = [], 0
    criterion = next(c for c in CLAIMS["G8"].criteria if c.quantity == "end_spike")
    for _ in range(80):
        noise = sorting(lambda size: 3 + generator.normal(size=2 * size))
        found = named(judge(CLAIMS["G8"], noise), "end_spike")
        values.append(found.value)
        held += criterion.outcome(found) == "holds"
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(len(values))
    # three seeds on the right side by chance: one in eight
    assert held / len(values) < 0.25


def test_a_spike_is_the_mean_of_three_steps_less_that_of_the_rest() -> None:
    words = [("0.1", ""), ("0.2", ""), ("0.3", ""), ("", "0"), ("", "1"), ("", "2")]
    steps = [step(*word, n) for word, n in zip(words, (1.0, 2, 6, 4, 2, 3), strict=True)]
    assert excess_at_end(steps) == pytest.approx((2 + 6 + 4) / 3 - (1 + 2 + 3) / 3)
    assert np.isnan(excess_at_end(steps[:3])) and np.isnan(excess_at_end(steps[2:]))

    def spike(size: int) -> np.ndarray:
        return np.where(abs(np.arange(2 * size) - size + 1) < 2, 4.0, 1.0)

    found = named(judge(CLAIMS["G8"], sorting(spike)), "end_spike")
    assert (found.value, found.low, found.seeds) == (pytest.approx(3.0), pytest.approx(3.0), 3)


def texts(readings: Sequence[int], generator: np.random.Generator) -> Results:
    """Windows of a text with random steps, read by as many seeds; equal numbers read alike."""
    text = "so it goes, they say. <id>88419731</id> it is said, and so on. "
    windows = {
        reading: [
            [step(c, "", 2 + (c == " ") + n, 1.0 + c.isdigit())
             for c, n in zip(text, generator.normal(size=len(text)), strict=True)]
            for _ in range(16)
        ]
        for reading in sorted(set(readings))
    }  # fmt: skip
    traces = [
        trace("text", steps, seed=seed)
        for seed, reading in enumerate(readings)
        for steps in windows[reading]
    ]
    table = rows("wikipedia", "act", [6e-3], lambda s, k, d: 2.0, split="train")
    return results([table], traces={"wikipedia": traces})


def width(source: Results) -> float:
    found = named(judge(CLAIMS["G10"], source), "space_peak")
    assert found.low is not None and found.high is not None
    return found.high - found.low


def test_seeds_that_read_a_text_alike_are_no_further_evidence() -> None:
    one, same, other = (
        width(texts(readings, np.random.default_rng(3)))
        for readings in ([0], [0] * 6, [0, 1, 2, 3, 4, 5])
    )
    assert same == pytest.approx(one, rel=0.1)
    assert other < 0.8 * one


def test_seeds_that_differ_widen_the_interval_over_a_text() -> None:
    """Two seeds that always ponder at spaces and one that never does."""
    source = texts([0, 0, 0], np.random.default_rng(3))
    narrow = width(source)
    for each in source.traces["wikipedia"]:
        if each["seed"] == 2:
            each["steps"] = [one | {"ponder_time": 2.0 + (one["input"] == "i")}
                             for one in each["steps"]]  # fmt: skip
    assert width(source) > 2 * narrow
    assert named(judge(CLAIMS["G10"], source), "space_peak").seeds == 3
