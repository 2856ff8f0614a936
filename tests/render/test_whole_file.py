"""Files that are written completely or not at all, whatever killed processes have left beside them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from refused import refusal_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.render.whole_file import whole_file

DAY = 24 * 60 * 60


def write(path: Path, content: str) -> None:
    with whole_file(str(path), "--output") as add:
        add(content)


def test_what_a_killed_process_left_stops_nobody(tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    for name in (f".r.html.{os.getpid()}", f".ndcg-track-{os.getpid()}", f".ndcg-track-{os.getpid():016x}"):
        (tmp_path / name).touch()
    write(page, "new")
    assert page.read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 4


def test_only_our_own_files_of_yesterday_are_removed(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("kept")
    ours = {".ndcg-track-0123456789abcdef": True, ".ndcg-track-fedcba9876543210": False}
    others = [
        ".ndcg-track-0123456789abcdeg",
        ".ndcg-track-0123456789abcdef0",
        ".r.html.123",
        "ndcg-track-0123456789abcdef",
    ]
    for name in [*ours, *others]:
        (tmp_path / name).write_text("half")
    (tmp_path / ".ndcg-track-00000000000000aa").symlink_to(tmp_path / "page")
    (tmp_path / ".ndcg-track-00000000000000bb").mkdir()
    for name in [*others, *(name for name, is_old in ours.items() if is_old), "page"]:
        os.utime(tmp_path / name, (time.time() - DAY - 60,) * 2)
    os.utime(tmp_path / ".ndcg-track-00000000000000bb", (0, 0))
    os.utime(tmp_path / ".ndcg-track-00000000000000aa", (0, 0), follow_symlinks=False)
    write(tmp_path / "r.html", "new")
    kept = {*others, "page", "r.html", ".ndcg-track-fedcba9876543210", ".ndcg-track-00000000000000bb"}
    assert {file.name for file in tmp_path.iterdir()} == kept
    assert (tmp_path / "page").read_text() == "kept"


def test_a_process_that_takes_days_writes_its_file_all_the_same(tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    with whole_file(str(page), "--output") as add:
        (unfinished,) = tmp_path.iterdir()
        os.utime(unfinished, (0, 0))
        write(tmp_path / "another", "other")
        assert not unfinished.exists()
        add("late")
    assert page.read_text() == "late"
    assert {file.name for file in tmp_path.iterdir()} == {"r.html", "another"}


def test_a_block_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    page.write_text("old")
    page.chmod(0o640)
    with pytest.raises(ZeroDivisionError), whole_file(str(page), "--output") as add:
        add(str(1 // 0))
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]
    write(page, "new")
    assert (page.read_text(), page.stat().st_mode & 0o777) == ("new", 0o640)
    assert (
        refusal_of(InputError, write, tmp_path, "x")
        == f"--output: cannot write '{tmp_path}': it is a folder; give another path"
    )
