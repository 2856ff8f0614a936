"""``ndcg-track doctor``: health checks, and why numbers differ."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.cli import options

if TYPE_CHECKING:
    from ndcg_tracker.questions.conventions import Convention

app = typer.Typer(rich_markup_mode=None)

_SHOWN_EFFECT = 5e-5


@app.callback(invoke_without_command=True)
def examine(context: typer.Context, format: options.Output = options.OutputFormat.text) -> None:
    """Check a database; conventions: why numbers differ.

    Nothing is written except a test of locks next to a SQLite file. The exit code is 2 if a check is bad.
    """
    if context.invoked_subcommand is not None:
        return
    from ndcg_tracker.defaults import database_location
    from ndcg_tracker.errors import DatabaseError, worded
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.render.text import findings_text
    from ndcg_tracker.storage.upkeep.health import examine

    found = list(examine(database_location(options.surroundings.database)))
    rows = [
        (one.check, one.state, worded(one.found, options.as_option), worded(one.advice, options.as_option))
        for one in found
    ]
    if format is options.OutputFormat.text:
        options.show(findings_text(rows, color=options.wants_color()))
    else:
        options.show(rows_as(format.plain, ["check", "state", "found", "advice"], rows))
    bad = [one.check for one in found if one.state == "bad"]
    if bad:
        raise DatabaseError(f"problems found: {', '.join(bad)}", advice='see "advice"')


@app.command("conventions")
def show_conventions(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Name, id, @alias, latest, latest~2 or a unique prefix.")],
    cutoff: Annotated[int, typer.Option(min=1, help="The cutoff of NDCG.")] = 10,
    dataset: options.AnyDataset = None,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Show one stored run's NDCG as every tool computes it.

    Also show how much each convention changes it.
    """
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.render.json import json_text
    from ndcg_tracker.render.report import Column

    with options.tracker() as tracker:
        found = tracker.conventions(run, cutoff=cutoff, dataset=dataset)
    if format is options.OutputFormat.json:
        options.show(json_text([_as_object(convention) for convention in found]))
        return
    ours = found[0].mean
    exact = format is options.OutputFormat.csv
    rows = [
        (
            convention.text,
            convention.mean,
            None if convention.mean is None or ours is None else convention.mean - ours,
            convention.refusal or _causes(convention, exact=exact),
            *(_open_ties(convention) if exact else ()),
        )
        for convention in found
    ]
    columns = [
        Column("metric"),
        Column("mean", digits=4),
        Column("difference", digits=4, signed=True),
        Column("because of"),
        *([Column("ties_low"), Column("ties_high")] if exact else []),
    ]
    options.show(rows_as(format.plain, columns, rows, color=options.wants_color(), cell_width=100))


def _causes(convention: Convention, *, exact: bool) -> str:
    """Return the axes that change the value, each with the change; for people also what no axis can tell."""
    shown = [effect for effect in convention.effects if exact or abs(effect.change) >= _SHOWN_EFFECT]
    causes = ", ".join(f"{effect.axis}={effect.value} {effect.change:+{'' if exact else '.4f'}}" for effect in shown)
    ties = convention.open_ties
    if exact or ties is None:
        return causes
    told = f"its sort leaves ties open in lists of {ties.from_items} or more: {ties.low:.4f} to {ties.high:.4f}"
    return f"{causes}; {told}" if causes else told


def _open_ties(convention: Convention) -> tuple[float | None, float | None]:
    """Return between which means the tool's sort leaves a value."""
    ties = convention.open_ties
    return (None, None) if ties is None else (ties.low, ties.high)


def _as_object(convention: Convention) -> dict[str, object]:
    return {
        "text": convention.text,
        "metric": convention.metric,
        "mean": convention.mean,
        "refusal": convention.refusal or None,
        "effects": [
            {"axis": effect.axis, "value": effect.value, "change": effect.change} for effect in convention.effects
        ],
        "open_ties": None if convention.open_ties is None else asdict(convention.open_ties),
    }
