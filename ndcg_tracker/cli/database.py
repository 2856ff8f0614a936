"""``ndcg-track db``, ``doctor``, ``sql``, ``ui`` and ``mcp``: the database, its health and its content."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import Option, Positional
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.questions.show.gather import Convention


app = options.command_group("Manage the database: upgrade, check, back up, restore, grant.")


_SHOWN_DAMAGE = 50


def _location() -> str:
    from ndcg_tracker.asked import database_location

    return database_location(options.surroundings.database)


@app.command("upgrade")
def upgrade_database() -> None:
    """Create the schema, or upgrade it to the latest version.

    A SQLite file is backed up first.

    Example: ndcg-track db upgrade
    """
    from ndcg_tracker.storage.database import upgrade

    result = upgrade(_location())
    if result.backup is not None:
        options.say(f"backed up to {result.backup}")
    if not result.changed:
        options.say(f"nothing to do: the schema is at {result.after}, the latest version")
    else:
        before = f"upgraded from {result.before} to" if result.before else "created schema"
        options.say(f"{before} {result.after}")


@app.command("current")
def show_state(format: options.Output = "text") -> None:
    """Show what is at the location, and its schema version.

    The command writes nothing.

    Example: ndcg-track db current
    """
    from ndcg_tracker.storage.database import current

    state = current(_location())
    options.show_rows(format, ["state", "detail"], [(state.kind.value, state.detail)])


@app.command("check")
def check_database() -> None:
    """Check the database for damage.

    The command checks the file, whether tables, views and indexes are there, rows without an owner, and the digests of
    runs and labels. It also recomputes every result from items and labels. Next to a SQLite database it writes a file,
    to test locks.

    Example: ndcg-track db check
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.runs.check import check_database as check
    from ndcg_tracker.runs.check import checked_text

    with drawn_progress("checking", "the database", "runs", 1) as progress:
        result = check(_location(), progress)
    for line in result.damage[:_SHOWN_DAMAGE]:
        options.say(line)
    if result.damage[_SHOWN_DAMAGE:]:
        options.say(f"... and {len(result.damage) - _SHOWN_DAMAGE:,} more")
    if result.damage:
        raise DatabaseError("the database is damaged", advice="restore a backup, or report the lines above")
    if result.is_sealed:
        options.say("the structure of the sealed database is intact; its content is not checked")
        return
    options.say(checked_text(result.n_runs, result.n_evaluations, result.n_computed, result.n_results))


@app.command("backup")
def backup_database(
    target: Annotated[str, Positional("The copy; it must not exist yet.", metavar="FILE")],
) -> None:
    """Copy a SQLite database, even while others write to it.

    The command checks the copy.

    Example: ndcg-track db backup copy.db
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.storage.database import backup

    with drawn_progress("copying to", target) as progress:
        path = backup(_location(), target, progress)
    options.say(f"backed up to {path}; the file is intact")


@app.command("restore")
def restore_database(
    backup: Annotated[str, Positional("A copy that db backup made; it is not changed.", metavar="FILE")],
) -> None:
    """Create a new SQLite database from a backup, and check it.

    The location must be empty. For Postgres, use pg_restore, and then run doctor.

    Example: ndcg-track db restore copy.db
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.storage.database import restore

    with drawn_progress("restoring", backup) as progress:
        path = restore(_location(), backup, progress)
    options.say(f"restored {path}; the file is intact")


@app.command("vacuum")
def vacuum_database(
    full: Annotated[bool, Option("On Postgres, rewrite the tables; others wait meanwhile.")] = False,
) -> None:
    """Reclaim the space of deleted rows.

    SQLite rewrites the file: others wait, and the disk needs as much space again. On Postgres the space becomes free
    for new rows while others work, and the command updates the planner's statistics; only --full returns the space to
    the disk.

    Example: ndcg-track db vacuum
    """
    from ndcg_tracker.storage.database import vacuum

    result = vacuum(_location(), full=full)
    options.say(f"{result.before / 1e6:,.1f} MB before, {result.after / 1e6:,.1f} MB now")


@app.command("grant")
def grant_rights(
    owner: Annotated[str, Option("The role that upgrades the schema, renames and deletes.", metavar="ROLE")],
    writer: Annotated[
        str,
        Option(
            "The role that ingests, rescores, tags, sets aliases and runs gates, but cannot delete a run.",
            metavar="ROLE",
        ),
    ],
    reader: Annotated[str, Option("The role that reads with the command line.", metavar="ROLE")],
    dashboards: Annotated[str | None, Option("The role that reads only the public views.", metavar="ROLE")] = None,
    apply: Annotated[bool, Option("Run the statements: all of them or none.")] = False,
) -> None:
    """Print the SQL for the rights of a team on Postgres.

    The roles must exist. The SQL revokes all their other rights on the tables. Run the command again after db upgrade.

    Example: ndcg-track db grant --owner ops --writer ci --reader team
    """
    from ndcg_tracker.storage.database import grant
    from ndcg_tracker.storage.upkeep.grants import Roles

    statements = grant(_location(), Roles(owner, writer, reader, dashboards), apply=apply)
    options.show("\n".join(f"{statement};" for statement in statements))
    if apply:
        options.say("granted")


doctor = options.Group(rich_markup_mode=None)

_SHOWN_EFFECT = 5e-5


@doctor.callback(invoke_without_command=True)
def examine_database(context: typer.Context, format: options.Output = "text") -> None:
    """Check a database; with conventions, show why NDCG values differ.

    It tells the schema's version, the engine's, the space and the integrity, and writes nothing. The exit code is 2 if
    a check is bad.

    Example: ndcg-track doctor
    """
    if context.invoked_subcommand is not None:
        return
    from ndcg_tracker.asked import database_location
    from ndcg_tracker.errors import DatabaseError, worded
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.render.text import findings_text
    from ndcg_tracker.storage.upkeep.health import examine

    findings = list(examine(database_location(options.surroundings.database)))
    rows = [
        (one.check, one.state, worded(one.found, options.as_option), worded(one.advice, options.as_option))
        for one in findings
    ]
    if format == "text":
        options.show(findings_text(rows, **options.screen()))
    else:
        options.show(rows_as(format, ["check", "state", "found", "advice"], rows))
    bad = [finding.check for finding in findings if finding.state == "bad"]
    if bad:
        raise DatabaseError(f"problems found: {', '.join(bad)}", advice='see "advice"')


@doctor.command("conventions")
def show_conventions(
    run: options.Run,
    cutoff: Annotated[int, Option("The cutoff of NDCG.", least=1)] = 10,
    dataset: options.AnyDataset = None,
    judge: options.Judge = None,
    format: options.Output = "text",
) -> None:
    """Show one stored run's NDCG as every tool computes it.

    Also show how much each convention changes it.

    Example: ndcg-track doctor conventions dense
    """
    from ndcg_tracker.render.formats import as_object, paths, picked
    from ndcg_tracker.render.json import json_text
    from ndcg_tracker.render.report import Column

    with options.tracker() as tracker:
        conventions = tracker.conventions(run, cutoff=cutoff, dataset=dataset, judge=judge)
    if format == "json":
        keys = paths("text metric mean refusal effects open_ties tie_order")
        objects = [picked(keys, convention) | {"refusal": convention.refusal or None} for convention in conventions]
        options.show(json_text(as_object(objects)))
        return
    exact, ours = format == "csv", conventions[0].mean
    rows = []
    for of in conventions:
        further = None if of.mean is None or ours is None else of.mean - ours
        ends = (None, None) if of.open_ties is None else (of.open_ties.low, of.open_ties.high)
        rows.append((of.text, of.mean, further, of.refusal or _causes(of, exact=exact), *(ends if exact else ())))
    change = Column("difference", "change", digits=4, signed=True)
    columns = [Column("metric"), Column("mean", digits=4), change, Column("because of")]
    ties = [Column("ties_low"), Column("ties_high")] if exact else []
    options.show_rows(format, [*columns, *ties], rows, cell_width=100)


def _causes(convention: Convention, *, exact: bool) -> str:
    """Return the axes that change the value, each with its change; people also see how ties are broken."""
    shown = [effect for effect in convention.effects if exact or abs(effect.change) >= _SHOWN_EFFECT]
    told = [", ".join(f"{effect.axis}={effect.value} {effect.change:+{'' if exact else '.4f'}}" for effect in shown)]
    ties = convention.open_ties
    if ties is not None and not exact:
        of_sort = f"its sort leaves ties open in lists of {ties.from_items} items or more"
        told.append(f"{of_sort}: {ties.low:.4f} to {ties.high:.4f}")
    if convention.tie_order is not None and not exact:
        told.append("ties in the order of the run's input")
    return "; ".join(filter(None, told))


@takes(Tracker.query)
def sql(
    asked: Asked,
    query: Annotated[str, Positional("One SELECT; - reads it from standard input.")],
    format: options.Output = "text",
) -> None:
    """Run a read-only query on the public views.

    Examples of views are run_summary, group_history, group_diff, items and labels. The documentation lists all of them
    with their columns (docs/schema.md).

    Example: ndcg-track sql "SELECT run, n_items, source FROM run_details"
    """
    import sys

    text = sys.stdin.read() if query == "-" else query
    result = asked.answered(Tracker.query, query=text)
    if "explain" in asked.named and format == "text":  # complete lines, however long
        options.show("\n".join(str(line) for (line,) in result.rows))
        return
    options.show_rows(format, result.columns, result.rows)


def ui(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 means any free port.")] = 0,
    host: Annotated[
        str, Option("A name of this machine: 127.0.0.1, localhost or ::1; any address behind a proxy.")
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, if there is a display.")
    ] = True,
    judge: Annotated[
        str | None,
        Option(
            "Let one person grade items there, and store them as labels of this judge; of a team: A,B.", metavar="NAME"
        ),
    ] = None,
    proxy_secret: Annotated[
        str | None, Option("Serve a team behind a proxy, which sends the secret in this file.", metavar="FILE")
    ] = None,
    allowed_host: Annotated[
        list[str] | None, Option("The name under which the team opens the page; repeatable.", metavar="NAME")
    ] = None,
) -> None:
    """Browse the database on a local web page.

    The page shows runs, history, comparisons, groups, labels and gates. It only reads; with --judge it also stores the
    grades of one person. Only this machine can open it, with the address that the command prints. With --proxy-secret
    and --allowed-host, a proxy that authenticates people serves it to a team. Ctrl-C ends it.

    Example: ndcg-track ui --db ndcg-track.db
    """
    from ndcg_tracker.integrations import library

    for name in ("starlette", "uvicorn"):
        library(name, "ui")
    from ndcg_tracker.ui.server import Team, serve

    refuse("ui", {"proxy_secret": proxy_secret, "allowed_host": allowed_host})
    team = Team.of(proxy_secret, allowed_host) if proxy_secret and allowed_host else None
    with Tracker(options.surroundings.database, read_only=True) as tracker:
        tracker.store()  # refuses a sealed database
        serve(tracker, options.say, host=host, port=port, browser=browser, judge=judge, team=team)


def mcp(
    files: Annotated[str, Option("The folder whose files the agent may read.", ("--files",), metavar="FOLDER")] = ".",
) -> None:
    """Serve an agent over the Model Context Protocol.

    The agent's client starts this command and talks to it over standard input and output. Each tool returns what the
    command of the same name prints; gate and labels_sample record what they do, as the commands do. The agent reads
    files in FOLDER alone, by default the current one. The server ends when its input is closed.

    Example: ndcg-track mcp --db ndcg-track.db
    """
    from ndcg_tracker.integrations import library

    library("mcp", "mcp")
    from ndcg_tracker.integrations.mcp import serve

    if not Path(files).is_dir():
        raise InputError(f"--files {files} is not a folder", advice="give the folder whose files the agent may read")
    serve(options.surroundings.database, files)
