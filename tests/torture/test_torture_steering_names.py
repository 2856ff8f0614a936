"""Row 24, quickly: some names that steer a log or a paper, through every command in one format each."""

from pathlib import Path

import pytest
from postgres_server import PostgresServer

from .report import Setting
from .steering_names import STEERING_NAMES, outcomes


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_no_name_steers_a_log_or_a_paper(tmp_path: Path, postgres_server: PostgresServer, engine: str) -> None:
    found = list(outcomes(Setting("quick", tmp_path, postgres_server, (engine,))))
    assert [(one.what, one.figure) for one in found if not one.met] == []
    assert len(found) == 1


def test_there_are_enough_of_them() -> None:
    assert len(STEERING_NAMES) == len(set(STEERING_NAMES)) >= 130
