from __future__ import annotations

import gzip
import io
import os
import threading
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_outcomes import listed, source_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import read_labels, read_run
from ndcg_tracker.ingest.sources import Source

RUN = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\nq2 Q0 d1 1 .5 tag\n"
ROWS = [("q1", "d1", 2.5), ("q1", "d2", 1.5), ("q2", "d1", 0.5)]


def refusal(path: Path | str, stdin: bytes = b"") -> str:
    with pytest.raises(InputError) as caught:
        read_run(str(path), reader="trec", stdin=io.BytesIO(stdin))
    return str(caught.value)


def test_gzip_is_read_under_any_name_and_from_standard_input(tmp_path: Path) -> None:
    for name in ("a.run.gz", "a.run", "A.RUN.GZ"):
        (tmp_path / name).write_bytes(gzip.compress(RUN))
        assert listed(read_run(str(tmp_path / name)).ranking) == ROWS
    assert listed(read_run("-", stdin=io.BytesIO(gzip.compress(RUN))).ranking) == ROWS
    assert listed(read_run("-", stdin=io.BytesIO(RUN)).ranking) == ROWS


def test_gzip_of_several_members_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(RUN[:25]) + gzip.compress(RUN[25:]))
    assert listed(read_run(str(path)).ranking) == ROWS


def test_gzip_cut_at_any_byte_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(RUN)
    path = tmp_path / "a.run.gz"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        expected = "the gzip data ends too early; fetch or compress the file again"
        if length < 2:
            expected = "is no gzip data in spite of its name; compress it with gzip or rename it"
        if length == 0:
            expected = "is empty; give a file that has rows"
        assert refusal(path) == f"{path}: {expected}"
        assert refusal("-", whole[:length]).startswith("<stdin>:")


def test_every_flipped_byte_of_the_gzip_checksum_and_of_its_data_is_noticed(tmp_path: Path) -> None:
    whole = gzip.compress(RUN, mtime=0)
    path = tmp_path / "a.run.gz"
    for place in range(10, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        assert refusal(path).startswith(f"{path}: the gzip data ")


def test_garbage_after_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(RUN) + b"garbage")
    expected = f"{path}: the gzip data is broken (Not a gzipped file (b'ga')); fetch or compress the file again"
    assert refusal(path) == expected


def test_a_bomb_is_not_unfolded(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(b"q Q0 d 1 1 t" + b" " * ((1 << 20) - 13) + b"\n") for _ in range(300)]
    path = tmp_path / "bomb.run.gz"
    path.write_bytes(b"".join(parts) + packer.flush())
    expected = f"{path}: the gzip data grows to more than 100 times its size; decompress it yourself if you trust it"
    with pytest.raises(InputError) as caught, Source(str(path)) as source:
        for _ in source.blocks():
            pass
    assert str(caught.value) == expected


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.run") == f"{tmp_path}/none.run: no such file; check the path"
    assert refusal("") == "'': is a directory; name a file in it"
    assert refusal(tmp_path) == f"{tmp_path}: is a directory; name a file in it"
    path = tmp_path / "a.run"
    path.write_bytes(b"")
    assert refusal(path) == f"{path}: is empty; give a file that has rows"
    assert refusal(f"{path}/x").endswith("cannot be opened (Not a directory); check the path and its permissions")
    assert refusal("a\0b") == "a\\x00b: cannot be opened (embedded null byte); check the path and its permissions"
    assert refusal("a\nb") == "a\\nb: no such file; check the path"


def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(RUN)
    path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may read everything, nobody may not
    try:
        assert refusal(path) == f"{path}: cannot be opened (Permission denied); check the path and its permissions"
    finally:
        os.seteuid(user)


def test_a_pipe_can_be_read_although_it_gives_its_bytes_only_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(RUN,))
    writer.start()
    assert listed(read_run(str(path)).ranking) == ROWS
    writer.join()


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(RUN + b"x" * (40 << 20))
    assert refusal(path) == f"{path}:4: a line longer than 16 MiB; check that this is the right file"


def test_a_byte_order_mark_is_dropped_once() -> None:
    for content in (b"\xef\xbb\xbf1 0 d 2\n", b"1 0 d 2\n"):
        assert listed(read_labels("-", reader="trec", stdin=io.BytesIO(content))) == [("1", "d", 2.0)]
    twice = read_labels("-", reader="trec", stdin=io.BytesIO(b"\xef\xbb\xbf" * 2 + b"1 0 d 2\n"))
    assert listed(twice) == [("\ufeff1", "d", 2.0)]


@given(st.binary(max_size=40), st.integers(1, 50))
def test_blocks_are_the_content_cut_after_lines(content: bytes, size: int) -> None:
    with source_of(b"x" + content) as source:
        blocks = list(source.blocks(size))
        assert b"".join(blocks) == b"x" + content == source.content()
        assert all(block.endswith(b"\n") for block in blocks[:-1])


@pytest.mark.parametrize("packed", [False, True])
def test_progress_ends_with_the_size_of_the_file(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(gzip.compress(RUN) if packed else RUN)
    seen: list[tuple[int, int | None]] = []
    read_run(str(path), progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert seen[-1] == (size, size)
    assert seen == sorted(seen)


def test_progress_of_standard_input_knows_no_total_until_all_is_there() -> None:
    seen: list[tuple[int, int | None]] = []
    read_run("-", stdin=io.BytesIO(RUN), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(len(RUN), None), (len(RUN), len(RUN))]


def test_what_is_gone_through_once_can_be_looked_at_before() -> None:
    for content in (RUN * 1000, gzip.compress(RUN * 1000)):
        with Source("-", stdin=io.BytesIO(content), once=True) as source:
            assert source.size is None
            assert source.head(40) == source.head(40) == RUN[:40]
            assert b"".join(source.blocks(100)) == RUN * 1000
        with Source("-", stdin=io.BytesIO(content), once=True) as source, source.copy() as copy:
            assert copy.read() == RUN * 1000


def test_what_was_not_kept_cannot_be_read_again() -> None:
    with Source("-", stdin=io.BytesIO(RUN * 1000), once=True) as source:
        assert len(list(source.blocks(1 << 14))) > 2
        with pytest.raises(ValueError, match="cannot be read again"):
            source.head(1)


def test_a_line_without_end_is_refused_in_a_pipe_too() -> None:
    content = RUN + b"x" * (20 << 20)
    with Source("-", stdin=io.BytesIO(content), once=True) as source, pytest.raises(InputError) as caught:
        list(source.blocks(1 << 20))
    assert str(caught.value) == "<stdin>:4: a line longer than 16 MiB; check that this is the right file"
