"""What hangs on a run as files: figures, the data card, the published network with its card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica
from pondering.project.atomic import json_text
from pondering.project.paths import Layout
from pondering.track.stages import Key, Stage, key_of, origin_of

_MODEL = """\
---
library_name: pondering
license: mit
tags: [adaptive-computation, {mechanism}]
---
# {title} on {card[title]}: {setting}, seed {seed}

{card[question]} Data: {card[what]} ({card[source]}).

A {network[cell]} with {network[hidden]} hidden units and {title}, from the profile
`{profile}`: the one that stands for its mechanism is the lowest seed of the setting with the lowest
mean error over seeds that did not diverge, however well it did itself.

| On | {card[unit]} | ponder steps |
|---|---|---|
{table}

Means over {difficulty}, each value with equal weight. Status of the training: {status}.

- `parameters.safetensors`: parameters, with a leading axis of {count} published networks.
- `run.json`: which these are, and what they were trained with.
- Watch it think: `pondering show {experiment} --profile {profile} --mechanism {mechanism}`
- Trained at commit {commit} on {device}.
"""


def of_stage(stage: Stage, values: Mapping[Key, Mapping[str, float]]) -> dict[str, bytes]:
    """The files of a train stage by their place in its run.

    Args:
        stage: a finished one.
        values: error and ponder of each of its replicas, as `fill.evaluation` gives.

    Returns:
        The figures of the claims that it decides, the data card, and its published network.
    """
    layout = Layout(stage.root, stage.profile)
    found = {f"figures/{file.name}": file.read_bytes() for file in _figures(layout, stage)}
    card = read_card(layout, stage.experiment)
    if card is not None:
        found["data/card.json"] = json_text(card).encode()
    folder = layout.models(stage.experiment, stage.mechanism)
    if card is not None and (folder / "run.json").is_file():
        found |= {f"model/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())}
        found["model/README.md"] = model_card(stage, card, values).encode()
    return found


def read_card(layout: Layout, experiment: str) -> dict[str, Any] | None:
    """An experiment's data card; None where there is none."""
    card = layout.card(experiment)
    found: dict[str, Any] | None = json.loads(card.read_text()) if card.is_file() else None
    return found


def of_report(layout: Layout) -> dict[str, bytes]:
    """A profile's figures and the text of its report."""
    files = [p for p in sorted(layout.report.glob("figures/*")) if p.suffix in (".png", ".svg")]
    files += layout.report.glob("report.md")
    return {str(file.relative_to(layout.report)): file.read_bytes() for file in files}


def model_card(
    stage: Stage, card: Mapping[str, Any], values: Mapping[Key, Mapping[str, float]]
) -> str:
    """What the published network of a stage is, in Markdown.

    Args:
        stage: its stage.
        card: the data card of its experiment.
        values: error and ponder of the stage's replicas.
    """
    layout = Layout(stage.root, stage.profile)
    run = json.loads((layout.models(stage.experiment, stage.mechanism) / "run.json").read_text())
    index = layout.published(stage.experiment) / "index.json"
    published = json.loads(index.read_text())[stage.mechanism]
    replica = Replica.of_record(stage.mechanism, published)
    key = key_of(replica.variant, replica.setting, replica.seed)
    own, origin = values.get(key, {}), origin_of(stage.record(), key)
    rows = [
        f"| {words} | {own[f'{split}_error']:.4g} | {own.get(f'{split}_ponder_time', 0):.4g} |"
        for split, words in card["splits"].items()
        if f"{split}_error" in own
    ]
    return _MODEL.format(
        title=MECHANISMS[stage.mechanism].title,
        mechanism=stage.mechanism,
        experiment=stage.experiment,
        profile=stage.profile,
        setting=replica.setting_name(),
        seed=replica.seed,
        count=len(run["replicas"]),
        status=published["status"],
        card=card,
        network=run["config"]["network"],
        table="\n".join(rows),
        difficulty=" and ".join(dict.fromkeys(card["difficulty"].values())),
        commit=origin["commit"],
        device=origin["device"],
    )


def mirror(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Make a folder hold these files and no others; whether that changed anything."""
    there = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    stale = there.keys() - files.keys()
    new = [
        name
        for name, content in files.items()
        if name not in there or there[name].read_bytes() != content
    ]
    for name in stale:
        there[name].unlink()
    for name in new:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(files[name])
    return bool(stale or new)


def _figures(layout: Layout, stage: Stage) -> list[Path]:
    """The figures of the claims that a stage decides, as PNG."""
    claims = layout.report / "claims.json"
    if not claims.is_file():
        return []
    own = f"{stage.experiment}-{stage.mechanism}"
    names = {
        figure
        for claim in json.loads(claims.read_text())["claims"]
        if own in claim["runs"]
        for figure in claim["figures"]
    }
    files = (layout.report / "figures" / f"{name}.png" for name in sorted(names))
    return [file for file in files if file.is_file()]
