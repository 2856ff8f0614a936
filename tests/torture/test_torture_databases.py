"""Quick sizes of rows 7 to 10: faults of Postgres, migrations, drift, and databases of others."""

from itertools import product
from pathlib import Path

import pytest
from all_commands import all_commands
from command_line import Printed
from postgres_server import PostgresServer

from . import drift, handshakes, migrations, postgres_faults
from .handshakes import COMMANDS, NEEDING_EXTRAS, WITHOUT_DATABASE, conditions, untrue
from .report import Setting

# tests/storage/upkeep has test_kept_databases.py for migrations, and test_schema_drift.py for drift
IN_THE_NIGHTLY = {
    (migrations, "sqlite"),
    (migrations, "postgres"),
    (handshakes, "postgres"),
    (drift, "sqlite"),
    (drift, "postgres"),
}
CASES = [
    pytest.param(row, engine, marks=[pytest.mark.nightly] if (row, engine) in IN_THE_NIGHTLY else [])
    for row, engine in product((migrations, handshakes, drift), ("sqlite", "postgres"))
]


@pytest.mark.parametrize(("row", "engine"), CASES)
def test_a_row(row: object, engine: str, tmp_path: Path, postgres_server: PostgresServer) -> None:
    found = list(row.outcomes(Setting("quick", tmp_path, postgres_server, (engine,))))  # type: ignore[attr-defined]
    assert found
    assert [(one.figure, one.note) for one in found if not one.met] == []


@pytest.mark.nightly
def test_faults_of_postgres(tmp_path: Path, postgres_server: PostgresServer) -> None:
    found = list(postgres_faults.outcomes(Setting("quick", tmp_path, postgres_server, ("postgres",))))
    assert len(found) == 4
    assert [(one.figure, one.note) for one in found if not one.met] == []


def commands_of(command: object, words: tuple[str, ...] = ()) -> list[str]:
    below = getattr(command, "commands", {})
    found = [" ".join(words)] if not below or getattr(command, "invoke_without_command", False) else []
    return found + [text for name, one in below.items() for text in commands_of(one, (*words, name))]


def test_every_command_is_tried_on_databases_of_others() -> None:
    known = [*COMMANDS, *WITHOUT_DATABASE, *NEEDING_EXTRAS]
    for name in commands_of(all_commands()):
        assert any(f"{command} ".startswith(f"{name} ") for command in known), name


def test_what_a_wrong_answer_is() -> None:
    older, newer, *_ = conditions()
    right = Printed(2, "", f"error: x.db: the database {older.said}ndcg-track --db x.db db upgrade\n")
    assert untrue("history", right, older) == []
    for wrong in (
        Printed(0, "", right.err),
        Printed(2, "a row\n", right.err),
        Printed(2, "", right.err + "more\n"),
        Printed(2, "", "error: x.db: no such table: runs\n"),
    ):
        assert untrue("history", wrong, older) == [f"{wrong.code} {wrong.out}{wrong.err}"]
    assert untrue("history", right, newer) != []
    assert untrue("db current", Printed(0, "state detail\nolder 0001\n", ""), older) == []
    assert untrue("db current", Printed(0, "state detail\ncurrent 0002\n", ""), older) != []
    assert untrue("db upgrade", Printed(0, "", "Traceback\n"), newer)[0] == "a traceback"
