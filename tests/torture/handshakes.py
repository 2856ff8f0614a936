"""Row 10: every command on an older, a newer, an unknown and a foreign database: told so, and nothing is written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import psycopg
from command_line import Printed
from migrated import catalogue_of, rows_of
from restored import kept_revisions, restore
from small_shop import BM25, DENSE, frame_of, labels_frame, write_csv
from thorough import LONG

from ndcg_tracker.storage import database as storage
from ndcg_tracker.storage.schema import VERSION_TABLE
from ndcg_tracker.storage.upkeep.handshake import newest_revision

from .databases import database, engine_name
from .programs import here
from .report import Outcome, Setting

GOAL = "each refused with the right cause, nothing written"
COMMANDS = (
    "ingest {files}/new.csv --labels {files}/labels.csv",
    "ingest {files}/new.csv --labels {files}/labels.csv --stream",
    "ingest {files}/new.csv --labels {files}/labels.csv --replace",
    "compare bm25 dense",
    "explain bm25 dense",
    "gate dense --baseline bm25 --margin 0.1",
    "history",
    "leaderboard",
    "diff bm25 dense",
    "plan bm25 dense",
    "reproduce bm25 dense",
    "rescore --all",
    "sql SELECT+1",
    "texts add {files}/texts.csv",
    "texts list",
    "texts delete --yes",
    "report bm25 dense --output {files}/report.html",
    "plot compare bm25 dense --output {files}/plot.svg",
    "plot slices bm25 dense --output {files}/plot.svg",
    "plot cutoffs bm25 dense --output {files}/plot.svg",
    "plot explain bm25 dense --group q1 --output {files}/plot.svg",
    "plot history --output {files}/plot.svg",
    "export --all --output {files}/exported",
    "import {files}/runs",
    "runs list",
    "runs show bm25",
    "show bm25",
    "runs rename bm25 other",
    "runs tag bm25 a=b",
    "runs prune --older-than 1d",
    "runs delete bm25 --yes",
    "alias set prod bm25",
    "alias list",
    "policy set owned --margin .01",
    "policy show",
    "policy history owned",
    "policy reset owned --reason x",
    "alias delete prod",
    "suite create other default",
    "suite list",
    "leaderboard --suite all",
    "compare --suite all bm25 dense",
    "gate --suite all dense --baseline bm25 --margin 0.1",
    "report --suite all bm25 dense --output {files}/suite.html",
    "plot compare --suite all bm25 dense --output {files}/plot.svg",
    "suite delete all",
    "labels add {files}/labels.csv",
    "labels carry --pattern ^new-",
    "labels list",
    "labels diff 1",
    "labels agreement",
    "labels needed bm25 dense",
    "labels sample bm25 dense --judge llm --budget 9",
    "datasets split fresh --seal .5 -m ndcg@10 --margin .01",
    "groups set {files}/groups.csv",
    "groups list",
    "db upgrade",
    "db current",
    "db check",
    "db backup {files}/copy.db",
    "db vacuum",
    "db grant --owner a --writer b --reader c",
    "doctor",
    "doctor conventions bm25",
    "ui --no-browser",
)
"""Every command that opens a database, a + for each blank within a word."""
PREPARED = (
    "ingest {files}/other.csv --name bm25 --labels {files}/labels.csv",
    "ingest {files}/new.csv --name dense",
    "ingest {files}/other.csv --name step --tag training=bm25 --tag stage=iteration --tag iteration=1",
    "labels add {files}/labels.csv --judge llm --rescore",
    "groups set {files}/groups.csv",
    "alias set prod dense",
    "alias set owned dense",
    "policy set owned --margin .02",
    "suite create all default",
)
"""What every command finds something in."""
DONE = {"gate": {0, 3, 4}}
"""The exit codes of commands that were done, where there are others than 0."""
WITHOUT_DATABASE = ("evaluate", "check", "metrics list", "metrics explain", "metrics sql", "demo", "db restore", "mcp")
"""Commands that open none, or one of their own, or one for each question that they are asked."""
NEEDING_EXTRAS = ("push mlflow", "push wandb", "pull mlflow")
"""Commands that import another tool first; they open the database through the same door."""


@dataclass(frozen=True)
class Condition:
    """A condition that a database may be in: ``said`` is in the message, ``state`` and ``detail`` in db current."""

    state: str
    detail: str
    said: str
    kept: str = ""
    statements: tuple[str, ...] = ()


def conditions() -> list[Condition]:
    """Return the conditions of the table: older, newer, unknown and foreign, each in all its forms."""
    newest = newest_revision()
    found = [
        Condition(
            "older", revision, f"has the older schema {revision}; this program needs {newest}; upgrade it with: ",
            kept=revision,
        )
        for revision in kept_revisions()
        if revision != newest
    ]  # fmt: skip
    for revision in (f"{int(newest) + 1:04}", "9999"):
        known = f"has the newer schema {revision}; this program knows up to {newest}"
        said = f"{known}; upgrade the program with: pip install --upgrade ndcg-tracker"
        statement = f"UPDATE {VERSION_TABLE} SET version_num = '{revision}'"
        found.append(Condition("newer", revision, said, newest, (statement,)))
    for detail, statement in (
        ("abc", f"UPDATE {VERSION_TABLE} SET version_num = 'abc'"),
        ("0000", f"UPDATE {VERSION_TABLE} SET version_num = '0000'"),
        ("none", f"DELETE FROM {VERSION_TABLE}"),
        (f"0001, {newest}", f"INSERT INTO {VERSION_TABLE} VALUES ('0001')"),
    ):
        said = f"has a schema that no version of ndcg-tracker has ({detail})"
        found.append(Condition("unknown", detail, said, newest, (statement,)))
    for table, statements in (
        ("songs", ("CREATE TABLE songs (id INTEGER)", "INSERT INTO songs VALUES (1)")),
        ("alembic_version", ("CREATE TABLE alembic_version (version_num TEXT)", "CREATE TABLE runs (id INTEGER)")),
    ):
        said = f"belongs to another program (it has a table '{table}')"
        found.append(Condition("foreign", table, said, statements=statements))
    return found


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield, per engine, what every command said of every condition, and whether anything was written."""
    write_files(setting.folder)
    for engine in setting.engines:
        wrong: list[str] = []
        n = 0
        # Quickly each command meets one condition, on SQLite two: it opens a database through the door of all.
        quick_turns = len(_chosen(setting)) // (1 if engine == "postgres" else 2)
        turns = quick_turns if setting.size == "quick" and not LONG else 1
        for number, condition in enumerate(_chosen(setting)):
            with in_condition(setting, engine, condition) as url:
                before, mark = content_of(url), mark_of(url)
                for command in COMMANDS[number % turns :: turns]:
                    if command == "db upgrade" and condition.state == "older":
                        continue  # this is what upgrades it
                    with patch.dict(os.environ, {"NDCG_TRACK_SEALED_DB": str(setting.folder / "sealed.db")}):
                        printed = here("--db", url, *words_of(command, setting.folder))
                    n += 1
                    wrong += [f"{condition.detail}, {command}: {text}" for text in untrue(command, printed, condition)]
                    if mark_of(url) != mark:
                        wrong.append(f"{condition.detail}, {command}: something was written")
                        mark = mark_of(url)
                if content_of(url) != before:
                    wrong.append(f"{condition.detail}: the content has changed")
        states = ", ".join(f"{one.state} ({one.detail})" for one in _chosen(setting))
        figure = f"{n - len(wrong)} of {n}: {len(COMMANDS)} commands on databases that are {states}"
        yield Outcome(10, "databases of others", engine_name(engine), GOAL, figure, not wrong, "; ".join(wrong[:5]))


def _chosen(setting: Setting) -> list[Condition]:
    """Return all conditions, or one of each state."""
    if setting.size == "full":
        return conditions()
    return list({condition.state: condition for condition in reversed(conditions())}.values())


def write_files(folder: Path) -> None:
    """Write what the commands read: runs, labels, attributes, and an export."""
    write_csv(folder / "new.csv", frame_of(BM25))
    write_csv(folder / "other.csv", frame_of(DENSE))
    write_csv(folder / "labels.csv", labels_frame())
    (folder / "groups.csv").write_text("group,locale\nq1,de\n", encoding="utf-8")
    (folder / "texts.csv").write_text("group,text\nq1,tent\n", encoding="utf-8")
    own = str(folder / "own.db")
    for command in ("ingest {files}/new.csv --labels {files}/labels.csv", "export new --output {files}/runs"):
        done = here("--db", own, *words_of(command, folder))
        if done.code != 0:
            raise RuntimeError(f"{command}: {done.err}")


def words_of(command: str, folder: Path) -> list[str]:
    """Return the words of a command, its files in a folder."""
    return [word.replace("+", " ").format(files=folder) for word in command.split()]


@contextmanager
def in_condition(setting: Setting, engine: str, condition: Condition) -> Iterator[str]:
    """Yield the URL of a database in a condition."""
    with database(setting, engine, upgraded=False) as url:
        if condition.kept:
            restore(url, condition.kept)
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
                for statement in condition.statements:
                    connection.execute(statement)
        else:
            with psycopg.connect(url.replace("+psycopg", "")) as server:
                for statement in condition.statements:
                    server.execute(statement.encode())
        if storage.current(url).kind.value != condition.state:
            raise RuntimeError(f"{url} is not {condition.state}")
        yield url


def mark_of(url: str) -> object:
    """Return what changes with every write: SQLite's files, byte by byte; the number of Postgres' next transaction."""
    if url.startswith("sqlite"):
        return content_of(url)
    with psycopg.connect(url.replace("+psycopg", "")) as server:
        return server.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()


def content_of(url: str) -> object:
    """Return everything that a database is: SQLite's files, byte by byte; the catalogue and all rows of Postgres."""
    if url.startswith("sqlite"):
        folder = Path(url.removeprefix("sqlite:///")).parent
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    with psycopg.connect(url.replace("+psycopg", "")) as server:
        files = server.execute(
            "SELECT relname, relkind, relfilenode FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"
        ).fetchall()
        has_version = any(name == VERSION_TABLE for name, _, _ in files)
        version = server.execute(f"SELECT * FROM {VERSION_TABLE}".encode()).fetchall() if has_version else None
    return files, version, catalogue_of(url), rows_of(url)


def untrue(command: str, printed: Printed, condition: Condition) -> list[str]:
    """Return what is wrong with what a command said of a database in a condition."""
    wrong = [] if "Traceback" not in printed.err + printed.out else ["a traceback"]
    if command == "db current":
        cells = printed.out.split("\n")[1] if printed.code == 0 else ""
        return wrong + ([] if condition.state in cells and condition.detail in cells else [printed.out + printed.err])
    if command.startswith("db backup"):  # a copy of what there is, whatever it is
        target = Path(words_of(command, Path())[-1]).name
        done = printed.code == 0 and printed.err.startswith("backed up to ") and target in printed.err
        refused = printed.code == 2 and printed.err.endswith("back up a Postgres database with its own tool, pg_dump\n")
        if done:
            Path(printed.err.removeprefix("backed up to ").partition(";")[0].strip()).unlink()
        return wrong + ([] if done or refused else [printed.err])
    if command == "doctor":
        table = " ".join(printed.out.split())
        told = condition.said.partition(";")[0].partition(" (")[0] in table
        right_code = printed.code == (0 if condition.state == "older" else 2)
        return wrong + ([] if told and right_code else [f"{printed.code} {printed.out}{printed.err}"])
    one_line = printed.out == "" and printed.err.startswith("error: ") and printed.err.count("\n") == 1
    right = printed.code == 2 and one_line and condition.said in printed.err
    return wrong + ([] if right else [f"{printed.code} {printed.out}{printed.err}"])
