from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import resource
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_outcomes import listed, source_of
from refused import refusal_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import source
from ndcg_tracker.ingest.reading import read_labels, read_run
from ndcg_tracker.ingest.source import Source, watched

RUN = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\nq2 Q0 d1 1 .5 tag\n"
ROWS = [("q1", "d1", 2.5), ("q1", "d2", 1.5), ("q2", "d1", 0.5)]


def refusal(path: Path | str, stdin: bytes = b"") -> str:
    return refusal_of(InputError, read_run, str(path), reader="trec", stdin=io.BytesIO(stdin))


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


PACKERS = {
    "gzip": (".gz", gzip.compress),
    "zstd": (".zst", zstd),
    "bzip2": (".bz2", bz2.compress),
    "xz": (".xz", lzma.compress),
}
packers = pytest.mark.parametrize(
    ("name", "ending", "packed"), [pytest.param(name, *PACKERS[name], id=name) for name in PACKERS]
)
Packed = Callable[[bytes], bytes]


@packers
def test_compressed_files_are_read_under_any_name_and_from_standard_input(
    tmp_path: Path, name: str, ending: str, packed: Packed
) -> None:
    for path in (f"a.run{ending}", "a.run", f"A.RUN{ending.upper()}"):
        (tmp_path / path).write_bytes(packed(RUN))
        assert listed(read_run(str(tmp_path / path)).ranking) == ROWS
    assert listed(read_run("-", stdin=io.BytesIO(packed(RUN))).ranking) == ROWS
    assert listed(read_run("-", stdin=io.BytesIO(RUN)).ranking) == ROWS


@packers
def test_several_parts_are_one_file_and_zeros_may_follow(name: str, ending: str, packed: Packed) -> None:
    content = packed(RUN[:25]) + packed(b"") + packed(RUN[25:]) + (b"" if name == "zstd" else bytes(70_000))
    for once in (False, True):
        with Source("-", stdin=io.BytesIO(content), once=once) as source:
            assert source.head(9) == RUN[:9]
            assert source.content() == RUN


def test_zstd_has_parts_without_content() -> None:
    nothing = b"\x5a\x2a\x4d\x18\x03\0\0\0abc"
    assert listed(read_run("-", stdin=io.BytesIO(nothing + zstd(RUN) + nothing)).ranking) == ROWS


@packers
def test_compressed_data_cut_at_any_byte_is_refused(tmp_path: Path, name: str, ending: str, packed: Packed) -> None:
    whole = packed(RUN)
    n_telling = {"gzip": 2, "zstd": 4, "bzip2": 10, "xz": 6}[name]
    path = tmp_path / f"a.run{ending}"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        expected = f"the {name} data ends too early; fetch or compress the file again"
        if length < n_telling:
            expected = f"is not {name} data, although its name says so; compress it with {name} or rename it"
        if length == 0:
            expected = "is empty; give a file that has rows"
        assert refusal(path) == f"{path}: {expected}"
        assert refusal("-", whole[:length]).startswith("<stdin>:")


@pytest.mark.parametrize("name", ["bzip2", "xz"])
def test_every_flipped_byte_of_bzip2_and_xz_is_noticed(name: str) -> None:
    whole = PACKERS[name][1](RUN)
    for place in range(len(whole)):
        content = whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :]
        if content != bz2.compress(RUN) and place != 35:  # this bit of bzip2 pads a table and means nothing
            assert refusal("-", content).startswith("<stdin>:")


def test_every_flipped_byte_of_the_gzip_checksum_and_of_its_data_is_noticed(tmp_path: Path) -> None:
    whole = gzip.compress(RUN, mtime=0)
    path = tmp_path / "a.run.gz"
    for place in range(10, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        assert refusal(path).startswith(f"{path}: the gzip data ")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("gzip", "is broken (Not a gzipped file (b'ga'))"),
        ("zstd", "is broken (ZSTD decompress failed: Unknown frame descriptor)"),
        ("bzip2", "is broken (Invalid data stream)"),
        ("xz", "is broken (Input format not supported by decoder)"),
    ],
)
def test_garbage_after_compressed_data_is_refused(name: str, found: str) -> None:
    content = PACKERS[name][1](RUN) + b"garbage, and more of it"
    assert refusal("-", content) == f"<stdin>: the {name} data {found}; fetch or compress the file again"


def test_a_compressed_file_that_is_named_after_another_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.run.zst"
    path.write_bytes(gzip.compress(RUN))
    assert refusal(path) == f"{path}: is not zstd data, although its name says so; compress it with zstd or rename it"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04rest", "a zip archive"),
        (b"7z\xbc\xaf\x27\x1crest", "a 7z archive"),
        (gzip.compress(b"a.run".ljust(257, b"\0") + b"ustar  \0"), "a tar archive"),
        (b"\x04\x22\x4d\x18rest", "lz4 data"),
        (lzma.compress(RUN, lzma.FORMAT_ALONE), "lzma data"),
    ],
    ids=["zip", "7z", "tar", "lz4", "lzma"],
)
def test_archives_are_refused(content: bytes, kind: str) -> None:
    assert refusal("-", content) == f"<stdin>: is {kind}, which cannot be read; unpack it and give a file from it"


def test_ids_that_look_like_bzip2_are_text() -> None:
    assert listed(read_run("-", stdin=io.BytesIO(b"BZh9 Q0 d 1 2 t\n")).ranking) == [("BZh9", "d", 2.0)]


def test_xz_that_asks_for_much_memory_is_refused() -> None:
    greedy = lzma.compress(RUN, filters=[{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 29}])
    assert refusal("-", greedy) == (
        "<stdin>: the xz data is broken (Memory usage limit exceeded); fetch or compress the file again"
    )


@pytest.mark.nightly(but=2)
@packers
def test_large_compressed_files_come_whole(name: str, ending: str, packed: Packed) -> None:
    numbers = random.Random(1)
    content = b"".join(b"%d %r\n" % (line, numbers.random()) for line in range(50_000))
    with Source("-", stdin=io.BytesIO(packed(content)), once=True) as source:
        assert source.head(1 << 20) == content[: 1 << 20]
        assert b"".join(source.pieces(1 << 17)) == content


@pytest.mark.nightly(but=4)
@packers
def test_a_bomb_is_not_unfolded(tmp_path: Path, name: str, ending: str, packed: Packed) -> None:
    path = tmp_path / f"bomb.run{ending}"
    path.write_bytes(packed(b"q Q0 d 1 1 t" + b" " * ((1 << 20) - 13) + b"\n") * 300)
    expected = f"{path}: the {name} data grows to more than 100 times its size; decompress it yourself if you trust it"
    with pytest.raises(InputError) as caught, Source(str(path)) as source:
        for _ in source.pieces():
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
        blocks = list(source.pieces(size))
        assert b"".join(blocks) == b"x" + content == source.content()
        assert all(block.endswith(b"\n") for block in blocks[:-1])


@pytest.mark.parametrize("packed", [False, True])
def test_progress_ends_with_the_size_of_the_file(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(gzip.compress(RUN) if packed else RUN)
    seen: list[tuple[int, int | None]] = []
    with watched(lambda done, total: seen.append((done, total))):
        read_run(str(path))
    size = path.stat().st_size
    assert seen[-1] == (size, size)
    assert seen == sorted(seen)


def test_progress_of_standard_input_knows_no_total_until_all_is_there() -> None:
    seen: list[tuple[int, int | None]] = []
    with watched(lambda done, total: seen.append((done, total))):
        read_run("-", stdin=io.BytesIO(RUN))
    assert seen == [(len(RUN), None), (len(RUN), len(RUN))]


def test_what_is_gone_through_once_can_be_looked_at_before() -> None:
    for content in (RUN * 1000, gzip.compress(RUN * 1000)):
        with Source("-", stdin=io.BytesIO(content), once=True) as source:
            assert source.size is None
            assert source.head(40) == source.head(40) == RUN[:40]
            assert b"".join(source.pieces(100)) == RUN * 1000
        with Source("-", stdin=io.BytesIO(content), once=True) as source, source.copy() as copy:
            assert copy.read() == RUN * 1000


def test_what_was_not_kept_cannot_be_read_again() -> None:
    with Source("-", stdin=io.BytesIO(RUN * 1000), once=True) as source:
        assert len(list(source.pieces(1 << 14))) > 2
        with pytest.raises(ValueError, match="cannot be read again"):
            source.head(1)


def test_a_line_without_end_is_refused_in_a_pipe_too() -> None:
    content = RUN + b"x" * (20 << 20)
    with Source("-", stdin=io.BytesIO(content), once=True) as source, pytest.raises(InputError) as caught:
        list(source.pieces(1 << 20))
    assert str(caught.value) == "<stdin>:4: a line longer than 16 MiB; check that this is the right file"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/random", "/proc/self/mem", "/proc/self/pagemap"])
@pytest.mark.parametrize("is_once", [False, True])
def test_what_need_have_no_end_is_refused_behind_a_link_too(tmp_path: Path, device: str, is_once: bool) -> None:
    if not Path(device).exists():
        pytest.skip(f"this system has no {device}")
    link = tmp_path / "linked.run"
    link.symlink_to(device)
    for path in (link, device):
        with pytest.raises(InputError) as caught:
            Source(str(path), once=is_once)
        assert str(caught.value) == f"{path}: is a device; give a file, a pipe or -"


def test_a_device_as_standard_input_is_refused() -> None:
    with Path("/dev/zero").open("rb") as endless, pytest.raises(InputError) as caught:
        Source("-", stdin=endless)
    assert str(caught.value) == "<stdin>: is a device; give a file, a pipe or -"
    with Path("/dev/null").open("rb") as empty, Source("-", stdin=empty) as opened:
        assert opened.content() == b""


def test_no_room_for_the_copy_of_a_pipe_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(source, "_IN_MEMORY", 1 << 10)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(InputError) as caught:
            Source("-", stdin=io.BytesIO(b"q Q0 d 1 0.5 t\n" * 200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(caught.value) == (
        f"<stdin>: its copy in {tmp_path} cannot be written (File too large); "
        "make room there, or name another folder with TMPDIR"
    )
