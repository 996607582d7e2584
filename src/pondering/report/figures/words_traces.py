"""The figures of single sequences, texts and images in words."""

from __future__ import annotations

import pandas as pd

from pondering.report.figures import style
from pondering.report.figures.mnist import gallery_traces
from pondering.report.figures.phrases import in_steps
from pondering.report.figures.texts import MOST_STRIPS, most_steps, shown_steps, text_strips
from pondering.report.figures.traces import choose_traces
from pondering.results.results import Results


def of_sequences(results: Results, experiment: str, setting: float) -> str:
    """The ponder times of the sequences shown."""
    chosen = choose_traces(results.traces.get(experiment, []), "sequence", setting)[:3]
    lists = [", ".join(f"{s['ponder_time']:.3g}" for s in trace["steps"]) for trace in chosen]
    if not lists:
        return ""
    tau = style.number(chosen[0]["setting"])
    return f"Ponder at each time step, τ = {tau}: {'; '.join(lists)}."


def of_text(results: Results, setting: float, *, markup: bool) -> str:
    """The steps of every seed on the stretch shown, and the characters each pondered most."""
    strips, start = text_strips(results.traces.get("wikipedia", []), setting=setting, markup=markup)
    if not strips:
        return ""
    parts = []
    for trace in strips[:MOST_STRIPS]:
        pairs = [(s["input"], s["ponder_time"]) for s in shown_steps(trace, start)]
        frame = pd.DataFrame(pairs, columns=["c", "n"])
        parts.append(f"seed {trace['seed']}: {_pondered(frame, most_steps(strips))}")
    return (
        f"τ = {style.number(strips[0]['setting'])}, {len(shown_steps(strips[0], start))} "
        f"characters; {'; '.join(parts)}."
    )


def _pondered(frame: pd.DataFrame, most: float) -> str:
    """Mean steps and the characters with the most, from columns c and n; or that all are equal."""
    if frame["n"].max() - frame["n"].min() < 0.005:
        same = f"every character took {in_steps(frame['n'].iloc[0])}"
        return f"{same}, the most of any seed" if frame["n"].iloc[0] >= most > 1 else same
    top = frame.groupby("c")["n"].mean().sort_values(ascending=False, kind="stable").head(3)
    names = {" ": "space", "\n": "line end"}
    listed = ", ".join(f"{names.get(str(c), str(c))} ({n:.2f})" for c, n in top.items())
    return (
        f"{frame['n'].mean():.2f} steps on average ({frame['n'].min():.3g} to "
        f"{frame['n'].max():.3g}), most at {listed}"
    )


def of_gallery(results: Results) -> str:
    """The range of steps in the two rows of digits."""
    chosen = gallery_traces(results.traces.get("mnist", []))
    kind = "expected steps" if chosen and chosen[0]["mechanism"] == "pondernet" else "steps"
    parts = []
    for which in ("most", "fewest"):
        steps = [t["steps"][0]["ponder_time"] for t in chosen if t["which"] == which]
        if steps:
            parts.append(f"{which} {kind}: {min(steps):.3g} to {max(steps):.3g}")
    return f"{len(chosen)} digits; {'; '.join(parts)}." if parts else ""
