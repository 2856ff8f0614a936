"""``ndcg-track db``: the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.errors import DatabaseError

app = typer.Typer(
    help="The database: upgrade, check, back up, restore, grant.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


_SHOWN_DAMAGE = 50


def _location() -> str:
    from ndcg_tracker.defaults import database_location

    return database_location(options.surroundings.database)


@app.command("upgrade")
def upgrade_database() -> None:
    """Create the schema, or upgrade it to the newest version.

    A SQLite file is backed up first.
    """
    from ndcg_tracker.storage.database import upgrade

    result = upgrade(_location())
    if result.backup is not None:
        options.say(f"backed up to {result.backup}")
    if not result.changed:
        options.say(f"nothing to do: the schema is {result.after}, the newest")
    else:
        before = f"upgraded from {result.before} to" if result.before else "created schema"
        options.say(f"{before} {result.after}")


@app.command("current")
def show_state(format: options.Output = options.OutputFormat.text) -> None:
    """Show what is at the location and its schema version.

    Nothing is written.
    """
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.storage.database import current

    state = current(_location())
    options.show(rows_as(format.plain, ["state", "detail"], [(state.kind.value, state.detail)]))


@app.command("check")
def check_database() -> None:
    """Check the database for damage.

    The checks cover the file, the schema with its views, indexes and triggers, rows without an owner, the digests of
    runs and labels, and every result, which is computed again from items and labels.
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.runs.check import check_database as check
    from ndcg_tracker.runs.check import checked_text

    with drawn_progress("checking", "the database", "runs", 1) as progress:
        found = check(_location(), progress)
    for line in found.damage[:_SHOWN_DAMAGE]:
        options.say(line)
    if found.damage[_SHOWN_DAMAGE:]:
        options.say(f"... and {len(found.damage) - _SHOWN_DAMAGE:,} more")
    if found.damage:
        raise DatabaseError("the database is damaged", advice="restore a backup, or report the lines above")
    options.say(
        checked_text(found.n_runs, found.n_evaluations, found.n_computed, found.n_results, has_schema=found.has_schema)
    )


@app.command("backup")
def backup_database(
    target: Annotated[str, typer.Argument(metavar="FILE", help="The copy; it must not exist yet.")],
) -> None:
    """Copy a SQLite database, safe while others write.

    The copy is checked.
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.storage.database import backup

    with drawn_progress("copying to", target) as progress:
        path, n_runs = backup(_location(), target, progress)
    options.say(f"backed up to {path}{_checked(n_runs)}")


@app.command("restore")
def restore_database(
    backup: Annotated[str, typer.Argument(metavar="FILE", help="A copy that db backup made; it stays as it is.")],
) -> None:
    """Make a new SQLite database of a backup, checked.

    Nothing may be at the location yet. For Postgres, use pg_restore, and then doctor.
    """
    from ndcg_tracker.cli.input_files import drawn_progress
    from ndcg_tracker.storage.database import restore

    with drawn_progress("restoring", backup) as progress:
        path, n_runs = restore(_location(), backup, progress)
    options.say(f"restored {path}{_checked(n_runs)}")


def _checked(n_runs: int | None) -> str:
    """Return what was checked of a copy; None for one of another schema."""
    from ndcg_tracker.words.numbers import counted

    if n_runs is None:
        return "; checked: the file is whole; its schema is not the newest"
    return f"; checked: {counted(n_runs, 'run')}, each with all its lists and results"


@app.command("vacuum")
def vacuum_database(
    full: Annotated[
        bool, typer.Option("--full", help="On Postgres, rewrite the tables; others wait meanwhile.")
    ] = False,
) -> None:
    """Give the space of deleted rows back.

    SQLite writes the file anew: others wait, and the disk needs as much room again. On Postgres the space becomes free
    for new rows while others work, and the planner's statistics are renewed; only --full gives it to the disk. What
    executors of Spark staged of runs that nobody publishes any more is deleted.
    """
    from ndcg_tracker.storage.database import vacuum
    from ndcg_tracker.words.numbers import counted

    found = vacuum(_location(), full=full)
    if found.n_cleared:
        options.say(f"deleted what was staged of {counted(found.n_cleared, 'run')} and never published")
    options.say(f"{found.before / 1e6:,.1f} MB before, {found.after / 1e6:,.1f} MB now")


@app.command("grant")
def grant_rights(
    owner: Annotated[str, typer.Option("--owner", metavar="ROLE", help="Upgrades the schema, renames and deletes.")],
    writer: Annotated[
        str,
        typer.Option("--writer", metavar="ROLE", help="Ingests, rescores, tags, sets aliases, gates; deletes no run."),
    ],
    reader: Annotated[str, typer.Option("--reader", metavar="ROLE", help="Reads with the command line.")],
    dashboards: Annotated[
        str | None, typer.Option("--dashboards", metavar="ROLE", help="Reads the public views only.")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Run the statements, all or none.")] = False,
) -> None:
    """Print the SQL for the rights of a team on Postgres.

    The roles must exist. Whatever else these roles may do with the tables is taken from them. Run it again after db
    upgrade.
    """
    from ndcg_tracker.storage.database import grant
    from ndcg_tracker.storage.upkeep.grants import Roles

    statements = grant(_location(), Roles(owner, writer, reader, dashboards), apply=apply)
    options.show("\n".join(f"{statement};" for statement in statements))
    if apply:
        options.say("granted")
