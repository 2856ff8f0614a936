"""Row 13, quickly."""

import gzip
from pathlib import Path

import pytest
from postgres_server import PostgresServer

from .gzip_damage import Tally, judge, outcomes, plain_text, unpacked
from .report import Setting


@pytest.mark.nightly
def test_damaged_gzip_files(tmp_path: Path, postgres_server: PostgresServer) -> None:
    found = list(outcomes(Setting("quick", tmp_path, postgres_server, ())))
    assert [(one.what, one.figure) for one in found if not one.met] == []
    assert len(found) == 8


def test_gzip_by_the_rules() -> None:
    packed = gzip.compress(b"abc")
    assert unpacked(packed + packed + b"\0\0") == b"abcabc"
    assert unpacked(packed + b"x") is None
    assert unpacked(packed[:-1]) is None
    assert unpacked(b"") == b""


def test_other_rows_are_told(tmp_path: Path) -> None:
    tally = Tally()
    judge(tally, "good", gzip.compress(plain_text()), tmp_path)
    assert (tally.n_tried, tally.n_taken, tally.wrong) == (4, 4, [])
