"""Every row of the reliability table in its quick size; ``python -m tests.torture`` runs the full one."""

import importlib
import itertools
from pathlib import Path

import pytest
from postgres_server import PostgresServer

from .disk_full import NOT_MOUNTED
from .report import Outcome, Setting, as_json, markdown
from .small_disks import can_be_mounted

MODULES = [
    "kills",
    "rescore_kills",
    "command_kills",
    "signals",
    "writers",
    "same_file",
    "start_ups",
    "disk_full",
    "memory",
    "forgeries",
    "hand_edits",
]


# test_transactions.py has eight writers and the same run at once on both engines, test_gates_at_once.py gates; a team
# takes ten seconds; test_cli_signals.py and test_sealing_moves.py kill commands; memory is measured by night
IN_THE_NIGHTLY = {
    *((name, engine) for name in ("rescore_kills", "command_kills") for engine in ("sqlite", "postgres")),
    ("held_servers", "sqlite"),
    ("memory", "sqlite"),
    *((name, "sqlite") for name in ("writers", "signals", "kills", "disk_full")),
    ("writers", "postgres"),
    ("team", "postgres"),
    ("same_file", "postgres"),
    ("start_ups", "postgres"),
    ("memory", "postgres"),
    ("forgeries", "postgres"),
    ("hand_edits", "postgres"),
    ("refusing_servers", "postgres"),
    *((name, "postgres") for name in ("kills", "signals", "disk_full")),
    ("start_ups", "sqlite"),
}
CASES = [
    pytest.param(name, engine, marks=[pytest.mark.nightly] if (name, engine) in IN_THE_NIGHTLY else [])
    for name, engine in [
        *itertools.product(MODULES, ("sqlite", "postgres")),
        ("held_servers", "sqlite"),
        ("team", "postgres"),
        ("refusing_servers", "postgres"),
    ]
]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(("name", "engine"), CASES)
def test_a_row_in_its_quick_size(tmp_path: Path, postgres_server: PostgresServer, name: str, engine: str) -> None:
    module = importlib.import_module(f"{__package__}.{name}")
    found = list(module.outcomes(Setting("quick", tmp_path, postgres_server, (engine,))))
    assert found
    excused = NOT_MOUNTED if not can_be_mounted() else None  # by nothing else
    assert [one.figure for one in found if not one.met and one.figure != excused] == []


def test_the_table() -> None:
    met = Outcome(1, "a | b", "-", "0 lost", "0 lost\nof 2", met=True, note="n")
    missed = Outcome(2, "c", "SQLite", "1", "0", met=False)
    assert markdown([met, missed]) == (
        "| row | test | engine | goal | measured | met | note |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| 1 | a \\| b | - | 0 lost | 0 lost of 2 | yes | n |\n"
        "| 2 | c | SQLite | 1 | 0 | **no** |  |"
    )
    assert as_json([missed]) == (
        '[\n {\n  "row": 2,\n  "what": "c",\n  "engine": "SQLite",\n  "goal": "1",\n  "figure": "0",\n  "met": false,\n'
        '  "note": ""\n }\n]'
    )
