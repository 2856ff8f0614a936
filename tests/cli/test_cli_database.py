"""``ndcg-track db``."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from command_line import CommandLine

import ndcg_tracker as nt
from ndcg_tracker.storage.upkeep.handshake import newest_revision

pytestmark = pytest.mark.both_engines


def execute(url: str, *statements: str) -> None:
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=sa.NullPool)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def test_upgrade_makes_the_schema_once(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = CommandLine(database_url, capsys)
    assert command.rows("db", "current")[0]["state"] in ("missing", "empty")
    assert command.said("db", "upgrade") == f"created schema {newest_revision()}\n"
    assert command.said("db", "upgrade") == f"nothing to do: the schema is at {newest_revision()}, the latest version\n"
    assert command.rows("db", "current") == [{"state": "current", "detail": newest_revision()}]
    assert command.rows("runs", "list") == []


def test_current_in_every_format(sqlite_command: CommandLine, folder: Path) -> None:
    assert sqlite_command.done("db", "current").splitlines()[1].split() == ["missing"]
    assert sqlite_command.done("db", "current", "--format", "csv").splitlines() == ["state,detail", "missing,"]
    assert sqlite_command.done("db", "current", "--format", "markdown").splitlines()[2].startswith("| missing |")
    assert list(folder.iterdir()) == []


def test_ingest_makes_a_sqlite_file_but_not_a_postgres_schema(
    sqlite_command: CommandLine, postgres_url: str, files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    sqlite_command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    message = CommandLine(postgres_url, capsys).refused("ingest", "bm25.csv", "--labels", "labels.csv")
    assert "the database is empty; create its tables with: ndcg-track --db" in message
    assert message.endswith(" db upgrade")


def test_nothing_else_makes_a_database(sqlite_command: CommandLine, folder: Path) -> None:
    for arguments in (["runs", "list"], ["history"], ["rescore", "--all"], ["sql", "SELECT 1"], ["alias", "list"]):
        message = sqlite_command.refused(*arguments)
        assert "the database does not exist; create it with: ndcg-track --db " in message
    assert list(folder.iterdir()) == []


def test_check_of_a_whole_database(shop: CommandLine) -> None:
    whole = "the database is intact: 2 runs; 10 results of groups computed again\n"
    assert shop.said("db", "check") == whole


def test_check_of_tags_that_someone_changed(shop: CommandLine) -> None:
    broken = "[[" if shop.url.startswith("sqlite") else "[[]]"
    execute(shop.url, f"UPDATE runs SET tags = '{broken}' WHERE name = 'bm25'")
    printed = shop("db", "check")
    assert (printed.code, printed.err.splitlines()) == (
        2,
        [
            "1 runs whose tags are not a JSON object",
            "error: the database is damaged; restore a backup, or report the lines above",
        ],
    )
    assert shop.refused("runs", "list").endswith(
        " where a JSON object should be; see what is damaged with: ndcg-track db check"
    )
    (row,) = [one for one in json.loads(shop("doctor", "--format", "json").out) if one["check"] == "integrity"]
    assert row["found"] == "1 runs whose tags are not a JSON object"


def test_what_is_not_verifiable_is_counted(command: CommandLine, files: None) -> None:
    command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    with nt.Tracker(command.url) as tracker:
        tracker.log_results({"q1": 7.0}, name="bm25", metric="latency", direction="lower", range=(0, 100))
    assert command.said("db", "check") == (
        "the database is intact: 1 run; 5 results of groups computed again; not verifiable: 1 of 2 evaluations\n"
    )


def test_check_of_a_damaged_database(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    sqlite_command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    with closing(sqlite3.connect(folder / "ndcg-track.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM runs")
        connection.commit()
    printed = sqlite_command("db", "check")
    *damage, last = printed.err.splitlines()
    assert (printed.code, printed.out) == (2, "")
    assert damage
    assert last == "error: the database is damaged; restore a backup, or report the lines above"


def test_backup(sqlite_command: CommandLine, files: None, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sqlite_command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    checked = "; the file is intact\n"
    assert sqlite_command.said("db", "backup", "copy.db") == f"backed up to copy.db{checked}"
    assert CommandLine("restored.db", capsys).said("db", "restore", "copy.db") == f"restored restored.db{checked}"
    assert re.fullmatch(r"0\.\d MB before, 0\.\d MB now\n", sqlite_command.said("db", "vacuum"))
    assert sqlite_command.refused("db", "backup", "copy.db") == (
        "copy.db: the file already exists; give the backup a new name"
    )
    copy = CommandLine("copy.db", capsys)
    assert copy.rows("runs", "list") == sqlite_command.rows("runs", "list")
    assert copy.said("db", "check").startswith("the database is intact: 1 run; ")


def test_backup_of_postgres_is_for_its_own_tool(postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = CommandLine(postgres_url, capsys).refused("db", "backup", "copy.db")
    assert message.endswith(": back up a Postgres database with its own tool, pg_dump")


def test_databases_of_others_are_left_alone(folder: Path, capsys: pytest.CaptureFixture[str], files: None) -> None:
    with closing(sqlite3.connect(folder / "music.db")) as connection:
        connection.execute("CREATE TABLE songs (id INTEGER)")
    before = (folder / "music.db").read_bytes()
    foreign = CommandLine("music.db", capsys)
    message = (
        "music.db: the database belongs to another program (it has a table 'songs'); give --db a separate database"
    )
    assert foreign.refused("ingest", "bm25.csv", "--labels", "labels.csv") == message
    assert foreign.refused("db", "upgrade") == message
    assert foreign.rows("db", "current") == [{"state": "foreign", "detail": "songs"}]
    assert (folder / "music.db").read_bytes() == before
    no_database = CommandLine("bm25.csv", capsys)
    assert no_database.refused("runs", "list") == (
        "bm25.csv: not a SQLite database, it is a file of another kind; give --db another path"
    )


@pytest.mark.parametrize(
    ("location", "message"),
    [
        (
            "",
            "a database in memory stores nothing: give --db the path of a SQLite file, such as ndcg-track.db",
        ),
        (
            "mysql://me:secret@host/db",
            "mysql:// is not a database for ndcg_tracker: give the path of a SQLite file, sqlite:///path or "
            "postgresql://user@host/database",
        ),
        (
            "postgresql://me:secret@127.0.0.1:1/db?password=secret",
            "postgresql+psycopg://me:***@127.0.0.1:1/db?password=***: no server answers there; is it running?",
        ),
    ],
)
def test_locations_that_are_none(location: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = CommandLine(location, capsys)
    for arguments in (["runs", "list"], ["db", "upgrade"], ["db", "check"]):
        assert command.refused(*arguments) == message
    printed = command("--debug", "runs", "list")
    assert "cret" not in printed.err + printed.out


def test_a_path_needs_no_scheme(sqlite_command: CommandLine, files: None, capsys: pytest.CaptureFixture[str]) -> None:
    sqlite_command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    assert CommandLine("ndcg-track.db", capsys).rows("runs", "list")[0]["run"] == "bm25"
