"""`pondering compare`: what an edit of params.yaml did, as a table and a figure."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pondering.cli import options
from pondering.cli.verify import committed
from pondering.params.read import Params, load_params
from pondering.params.replica import Replica, title_of
from pondering.project.command import completed
from pondering.project.documents import read_yaml
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.project.provenance import commit_of, git

if TYPE_CHECKING:  # loaded where the command runs: help comes at once
    import pandas as pd

    from pondering.claims.measures.quantities import Unit
    from pondering.results.changes import Change
    from pondering.results.results import Card, Results

PARAMS = Path("params.yaml")
NO_EDIT = "No value of params.yaml changed: it is the program's doing, or the machine's"
ARROW = " \N{RIGHTWARDS ARROW} "
LEGEND = (
    "Means over seeds with 95% intervals. The difference is that of the same seeds, after less "
    "before; none where the seeds are not the same."
)


def _revisions() -> list[str]:
    names = (git(Path(), "for-each-ref", "--format=%(refname:short)") or "").split()
    return ["HEAD", *names] if names else []


@click.command("compare")
@click.argument("rev", default="HEAD", shell_complete=completed(_revisions))
@click.argument(
    "experiment", required=False, shell_complete=completed(lambda: options.with_tables("tables"))
)
@options.profile
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default="reports/compare.svg",
    show_default=True,
    help="The figure, .svg or .png.",
)
def compare_command(rev: str, experiment: str | None, profile: str | None, out: Path) -> None:
    """Say what an edit of params.yaml did: errors and steps at the commit REV, and now.

    Of EXPERIMENT, or of each whose numbers are others now.

    \b
    pondering compare
    pondering compare HEAD~3 parity --out parity.png
    """
    if out.suffix not in (".svg", ".png"):
        raise UserError(f"--out: {out} must end in .svg or .png")
    from pondering.report.figures import style
    from pondering.report.figures.before_after import figure_changes
    from pondering.results.changes import changes

    params = load_params(profile=profile)
    before, results = tables(rev, experiment, params)
    found = [each for name in before for each in changes(before[name], results.tables[name])]
    edits = list(edited(rev, params.profile, {each.experiment for each in found} or before))
    if not found:
        whose = experiment or f"profile {params.profile}"
        todo = "run `make repro`" if edits else "edit params.yaml and run `make repro`"
        said = f"the errors and steps of {whose} are those of {rev}"
        click.echo(f"compare: {said}; {todo}, or name an older commit")
        return
    edits = edits or [NO_EDIT]
    legend = textwrap.wrap(LEGEND, options.width())
    click.echo("\n".join([*edits, "", *lines(found, results.cards), "", *legend]))
    what = f"Profile {params.profile}. {'; '.join(edits)}"
    style.write(figure_changes(found, results.cards, what, rev), out)
    click.echo(f"The figure: open {out}")


def tables(
    rev: str, experiment: str | None, params: Params
) -> tuple[dict[str, pd.DataFrame], Results]:
    """Experiment -> its table at a commit, of those that have one then and now; and what is now.

    Args:
        rev: the commit, as git reads it.
        experiment: the one that is asked for; None for all.
        params: of the profile.

    Raises:
        UserError: there is no such commit, or no table of it or of now.
    """
    from pondering.results.results import Results, read_table

    if experiment:
        params.experiment(experiment)
    _check(rev, params)
    layout = Layout(Path(), params.profile)
    results = Results.load(layout.report.parent, params.profile)
    names = [name for name in results.tables if experiment in (None, name)]
    path = layout.table(experiment) if experiment else layout.report / "tables"
    if not names:
        raise UserError(f"{path}: no table; `make repro` makes it")
    texts = {name: committed(Path(), layout.table(name), rev) for name in names}
    then = {
        name: read_table(Path(f"{rev}:{layout.table(name)}"), text)
        for name, text in texts.items()
        if text
    }
    if not then:
        raise UserError(f"{rev} has no {path}; `git log --oneline -- {path}` lists commits for REV")
    return then, results


def _check(rev: str, params: Params) -> None:
    """Refuse what git does not know."""
    if commit_of(Path()) is None:
        raise UserError("there is no commit here to compare with; run it in a checkout")
    if commit_of(Path(), rev) is None:
        todo = "`git log --oneline` lists those there are"
        if rev in params.experiments:
            todo = f"`pondering compare HEAD {rev}` compares the experiment"
        raise UserError(f"REV: git knows no commit {rev!r}; {todo}")


def edited(rev: str, profile: str, experiments: Collection[str]) -> Iterator[str]:
    """Each value of params.yaml that is another than at a commit, where it concerns experiments.

    Raises:
        UserError: the file of that commit is no YAML.
    """
    text = committed(Path(), PARAMS, rev)
    then = _values(read_yaml(Path(f"{rev}:{PARAMS}"), text)) if text else {}
    now = _values(read_yaml(PARAMS))
    for key in now | then:
        block, _, rest = key.partition(".")
        own = block in experiments and rest.partition(".")[0] in ("common", profile)
        if then.get(key) != now.get(key) and (own or block in ("compute", "device")):
            before, after = (values.get(key, "not there") for values in (then, now))
            yield f"{key}: {before}{ARROW}{after}"


def _values(document: dict[str, Any]) -> dict[str, Any]:
    """Each value by its key with those above it, joined by dots."""
    import pandas as pd

    flat: dict[str, Any] = pd.json_normalize(document).to_dict("records")[0]
    return flat


def lines(found: Sequence[Change], cards: Mapping[str, Card]) -> Iterator[str]:
    """A heading for each experiment and split, and two rows for each setting.

    Args:
        found: at least one change.
        cards: experiment -> data card.
    """
    yield _cells("", "before", "after", "difference")
    for (experiment, split), own in groupby(found, lambda each: (each.experiment, each.split)):
        card = cards[experiment]
        yield f"{card.title}{f': {card.splits[split]}' if len(card.splits) > 1 else ''}"
        for change in own:
            yield f"  {_setting(change)}"
            error: Unit = "share" if card.is_share else "bits"
            gap: Unit = "points" if card.is_share else "bits"
            yield _row("error", change, "error", error, gap, least=0)
            yield _row("steps", change, "ponder_time", "number", "number", least=1)


def _setting(change: Change) -> str:
    """The mechanism, its setting, and how many seeds there are."""
    entries = [Replica.of_row(*each, 0) for each in (change.before, change.after) if each]
    names = ARROW.join(dict.fromkeys(each.setting_name() for each in entries))
    parts = (change.rows_before, change.rows_after)
    seeds = [str(rows["seed"].nunique()) for rows in parts if len(rows)]
    title = title_of(change.mechanism)
    return f"{title}, {names}; seeds: {ARROW.join(dict.fromkeys(seeds))}"


def _row(name: str, change: Change, value: str, unit: Unit, gap: Unit, least: float) -> str:
    """What stood before, what stands now, none of it below `least`, and the difference."""
    means = [_mean(each, unit, least) for each in change.per_seed(value)]
    return _cells(f"    {name}", *means, _mean(change.difference(value), gap))


def _mean(values: pd.Series | None, unit: Unit, least: float = -math.inf) -> str:
    """A mean over seeds with its interval; a dash where there is nothing to be a mean of."""
    from pondering.claims.measures.quantities import mean_over_seeds, quantity_text

    if values is None or values.empty:
        return "-"
    found = mean_over_seeds("", "", unit, values)
    low = None if found.low is None else max(found.low, least)
    return quantity_text(dataclasses.replace(found, low=low))


def _cells(first: str, *others: str) -> str:
    return f"{first:11}{''.join(f'{each:26}' for each in others)}".rstrip()
