"""A traced text, each character tinted by its steps."""

from __future__ import annotations

from pondering.report.pages.tint import tinted_texts


def test_tints_run_from_the_fewest_to_the_most_steps() -> None:
    steps = [{"input": c, "target": "x", "ponder_time": n, "loss": 0.5}
             for c, n in (("a", 1.0), (" ", 3.0), ("\n", 2.0))]  # fmt: skip
    trace = {"kind": "text", "mechanism": "act", "setting": 0.006, "seed": 0, "steps": steps}
    text = tinted_texts([trace], {})[0]
    assert [one.level for one in text.characters] == [0, 10, 5]
    assert (text.low, text.high, text.characters[2].shown) == ("1.00", "3.00", "↵\n")
    assert text.characters[1].label.startswith("space → “x” · N 3.00 · loss 0.72 bits")
    assert text.constant == "" and text.title == "ACT, τ = 6e-3: reading 1 of 1, by seed 0"


def test_a_text_of_equal_steps_says_so_and_no_seed_is_picked() -> None:
    steps = [{"input": "a", "target": "x", "ponder_time": 6.0}]
    traces = [{"kind": "text", "mechanism": "act", "setting": 0.006, "seed": seed, "steps": each}
              for seed in (1, 0) for each in (steps, 2 * steps)]  # fmt: skip
    first, second = tinted_texts(traces, {"act": 6})
    assert first.title == "ACT, τ = 6e-3: reading 1 of 2, by seed 0" and len(first.characters) == 1
    assert second.title == "ACT, τ = 6e-3: reading 2 of 2, by seed 1"
    assert first.constant == "Every character took 6 steps (the cap)."
    wider = tinted_texts(traces, {"act": 7})
    assert wider[0].constant == "Every character took 6 steps."
