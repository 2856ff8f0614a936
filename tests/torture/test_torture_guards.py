"""Rows 15, 16, 19 and 20, quickly: some attempts against ``sql``, every URL with a secret, some hogs and bombs."""

from pathlib import Path

import pytest
from postgres_server import PostgresServer

from . import escapes, input_bombs, secrets, sql_hogs
from .report import Setting


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_nothing_escapes_from_sql(tmp_path: Path, postgres_server: PostgresServer, engine: str) -> None:
    found = list(escapes.outcomes(Setting("quick", tmp_path, postgres_server, (engine,))))
    assert [(one.what, one.figure) for one in found if not one.met] == []
    assert len(found) == 2


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_there_are_enough_attempts(engine: str) -> None:
    attempts = escapes.attempts(engine)
    assert len(attempts) == len(set(attempts)) >= 120


def test_a_trace_is_found(tmp_path: Path) -> None:
    before = escapes.files_in(tmp_path)
    (tmp_path / "evil").write_bytes(b"x")
    assert escapes.files_in(tmp_path) != before


@pytest.mark.nightly
def test_no_command_prints_a_secret(tmp_path: Path, postgres_server: PostgresServer) -> None:
    (one,) = secrets.outcomes(Setting("quick", tmp_path, postgres_server, ()))
    assert one.met, one.figure


def test_a_secret_is_found_in_any_spelling() -> None:
    for text in ("x hunter2xyz", "HUNTER2XYZ", "p%C3%A4ssw%C3%B6rt9", "pässwört9"):
        assert secrets.leaks(text)
    assert not secrets.leaks("postgresql+psycopg://me:***@127.0.0.1")


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.nightly)])
def test_hogs_are_stopped(tmp_path: Path, postgres_server: PostgresServer, engine: str) -> None:
    found = list(sql_hogs.outcomes(Setting("quick", tmp_path, postgres_server, (engine,))))
    assert [one.figure for one in found if not one.met] == []
    assert len(found) == 1


def test_there_are_enough_hogs() -> None:
    assert len(set(sql_hogs.SQLITE.values())) >= 30
    assert len(set(sql_hogs.POSTGRES.values())) >= 15


def test_bombs_are_refused(tmp_path: Path, postgres_server: PostgresServer) -> None:
    found = list(input_bombs.outcomes(Setting("quick", tmp_path, postgres_server, ())))
    assert [one.figure for one in found if not one.met] == []
    assert len(found) == 2
