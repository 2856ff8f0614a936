"""Row 13: gzip files cut, bent, packed too tightly, followed by something, empty, or made of several members."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run
from ndcg_tracker.ingest.table import RankedTable

from .report import Outcome, Setting

_SEED = 13
_MIB = 1 << 20
_LARGEST = 1 << 28  # bytes that a small file may grow to; beyond, a hundred times its size
_ALL_ITEMS = 6

Rows = list[tuple[str, str, float]]


@dataclass
class Tally:
    """What became of damaged files: how many were tried and taken, and what should not have happened."""

    n_tried: int = 0
    n_taken: int = 0
    wrong: list[str] = field(default_factory=list)

    def figure(self) -> str:
        """Return the counts in words."""
        told = f"{len(self.wrong)} wrong, first: {self.wrong[0]}" if self.wrong else "0 wrong"
        return f"{self.n_tried} readings, {self.n_tried - self.n_taken} refused, {self.n_taken} rightly taken: {told}"


def plain_text(n_items: int = _ALL_ITEMS) -> bytes:
    """Return a small TREC run."""
    lines = [f"q{place // 3} Q0 d{place} 1 {(n_items - place) * 0.37!r} tag\n" for place in range(n_items)]
    return "".join(lines).encode()


def truncated(packed: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the data cut after every byte but the last."""
    yield from ((f"cut after {length} bytes", packed[:length]) for length in range(len(packed)))


def bent_trailers(packed: bytes, n_values: int) -> Iterator[tuple[str, bytes]]:
    """Yield the data with every byte of its checksum and length set to other values."""
    for place in range(len(packed) - 8, len(packed)):
        for change in range(1, n_values + 1):
            yield f"byte {place} ^ {change}", packed[:place] + bytes([packed[place] ^ change]) + packed[place + 1 :]


def flipped(packed: bytes, bits: Iterable[int]) -> Iterator[tuple[str, bytes]]:
    """Yield the data with these bits of every byte turned over, one at a time."""
    for place in range(len(packed)):
        for bit in bits:
            yield f"bit {place}.{bit}", packed[:place] + bytes([packed[place] ^ 1 << bit]) + packed[place + 1 :]


def followed(packed: bytes, n_random: int) -> Iterator[tuple[str, bytes]]:
    """Yield the data with something after it."""
    random = Random(_SEED)
    tails = [b"\n", b" ", b"x", b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08", packed[:10], packed[:-1], b"q Q0 d 1 1 t\n"]
    tails += [b"\0", b"\0" * 511, b"\0\0x", b"\0" * 7 + packed, b"\0\n"]
    tails += [random.randbytes(random.randint(1, 20)) for _ in range(n_random)]
    yield from ((f"then {tail[:12]!r}", packed + tail) for tail in tails)


def empty() -> Iterator[tuple[str, bytes]]:
    """Yield what has no rows."""
    nothing = gzip.compress(b"")
    for what, content in (("no bytes", b""), ("an empty member", nothing), ("three empty members", nothing * 3)):
        yield what, content
    for what, content in (("blank lines", b"\n \n"), ("a byte order mark", b"\xef\xbb\xbf"), ("a NUL", b"\0")):
        yield what, gzip.compress(content)


def several_members(text: bytes, n_ways: int) -> Iterator[tuple[str, bytes]]:
    """Yield the text cut anywhere into members, empty ones and members of any compression among them."""
    random = Random(_SEED)
    for way in range(n_ways):
        cuts = sorted(random.randint(0, len(text)) for _ in range(random.randint(1, 6)))
        parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        yield (
            f"way {way} into {len(parts)} members",
            b"".join(gzip.compress(one, random.randint(0, 9)) for one in parts),
        )


def unpacked(content: bytes) -> bytes | None:
    """Return gzip data as zlib decompresses it by RFC 1952, None if it refuses it; zeros may follow the last member."""
    text = b""
    try:
        while content:
            member = zlib.decompressobj(wbits=31)
            text += member.decompress(content)
            if not member.eof:
                return None
            content = member.unused_data.lstrip(b"\0") if member.unused_data.startswith(b"\0") else member.unused_data
    except zlib.error:
        return None
    return text


def judge(tally: Tally, what: str, content: bytes, folder: Path, *, header: int = 0) -> None:
    """Read the content in every way and note what should not be; its first ``header`` bytes may bend without harm."""
    path = folder / "a.run.gz"
    path.write_bytes(content)
    text = unpacked(content)
    expected = None if text is None else _rows_of(text)
    for way, read in _ways(path, content):
        tally.n_tried += 1
        try:
            found: Rows | str = read()
        except InputError as error:
            found = str(error)
        except Exception as error:
            found = []
            tally.wrong.append(f"{what}: {way}: {type(error).__name__}: {error}")
        if isinstance(found, str):
            if not found.isprintable() or not found.startswith((f"{path}:", "<stdin>:")):
                tally.wrong.append(f"{what}: {way}: {found!r}")
            if expected is not None:
                tally.wrong.append(f"{what}: {way}: refused though good: {found}")
        else:
            tally.n_taken += 1
            if found != expected and not (header and found == _rows_of(plain_text())):
                tally.wrong.append(f"{what}: {way}: taken")


def bombs(tally: Tally, folder: Path) -> None:
    """Read small files that unpack to more than is allowed, as every file that a command reads."""
    lines = [b"q%d Q0 d 1 1 " % number + b"t" * _MIB + b"\n" for number in range(_LARGEST // _MIB + 8)]
    contents = {"run": _bomb(lines), "many members": b"".join(gzip.compress(line, 9) for line in lines)}
    contents["scores"] = contents["sizes"] = _bomb([b"1" + b" " * _MIB + b"\n"] * len(lines))
    contents["zeros"] = _bomb([b"\0" * _MIB] * len(lines))
    contents["PAR1"] = _bomb([b"PAR1" * (_MIB // 4)] * len(lines))
    paths = {}
    for name, content in contents.items():
        paths[name] = folder / f"{name}.gz"
        paths[name].write_bytes(content)
    small = folder / "small.svm"
    small.write_bytes(b"1 qid:q 1:1\n")
    bare = folder / "bare.svm"
    bare.write_bytes(b"1 1:1\n")
    (folder / "bare.svm.query").write_bytes(contents["sizes"])
    numbers = folder / "numbers"
    numbers.write_bytes(b"1\n")

    def piped() -> object:
        with paths["run"].open("rb") as stdin:
            return _streamed("-", stdin)

    readings: dict[str, Callable[[], object]] = {
        "a run": lambda: read_run(str(paths["run"]), reader="trec"),
        "a run as a stream": lambda: _streamed(str(paths["run"]), None),
        "a run through a pipe as a stream": piped,
        "labels": lambda: read_labels(str(paths["run"]), reader="trec"),
        "many members": lambda: read_run(str(paths["many members"]), reader="trec"),
        "many members as a stream": lambda: _streamed(str(paths["many members"]), None),
        "scores": lambda: read_run(str(small), scores_path=str(paths["scores"])),
        "group sizes": lambda: read_run(str(bare), scores_path=str(numbers)),
        "a Parquet file": lambda: read_run(str(paths["PAR1"]), reader="parquet"),
        "a Parquet file as a stream": lambda: _streamed(str(paths["PAR1"]), None, "parquet"),
        "zeros as CSV": lambda: read_run(str(paths["zeros"]), reader="csv"),
        "zeros as JSON lines": lambda: read_run(str(paths["zeros"]), reader="jsonl"),
    }
    for name, read in readings.items():
        tally.n_tried += 1
        try:
            read()
            tally.wrong.append(f"{name}: taken")
        except InputError as error:
            if not str(error).isprintable():
                tally.wrong.append(f"{name}: {error!r}")
        except Exception as error:
            tally.wrong.append(f"{name}: {type(error).__name__}: {error}")
    for path in folder.iterdir():
        path.unlink()


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield one outcome per kind of damage."""
    is_full = setting.size == "full"
    folder = setting.folder / "gzip"
    folder.mkdir(exist_ok=True)
    text = plain_text()
    packed = gzip.compress(text, mtime=0)
    named = _with_all_fields(text)
    cut = text.index(b"\n", len(text) // 2) + 1
    two = gzip.compress(text[:cut], mtime=0) + gzip.compress(text[cut:], mtime=0)
    refused = "all refused in one clear line"
    right = "refused in one clear line, or taken as RFC 1952 has it; at once, from a pipe and with --stream"
    kinds: list[tuple[str, str, Iterator[tuple[str, bytes]], int]] = [
        ("cut at every byte", refused, truncated(packed), 0),
        ("cut at every byte, all header fields", refused, truncated(named), 0),
        ("two members, cut at every byte", right, truncated(two), 0),
        ("every byte of the trailer wrong", refused, bent_trailers(packed, 255 if is_full else 8), 0),
        ("a bit flipped", right, flipped(packed, range(8) if is_full else (2, 5)), 10),
        ("something after the data", right, followed(packed, 2000 if is_full else 50), 0),
        ("nothing in it", refused, empty(), 0),
        ("several members", "all taken, rows equal", several_members(text, 1000 if is_full else 25), 0),
    ]
    for what, goal, contents, header in kinds:
        tally = Tally()
        for name, content in contents:
            judge(tally, name, content, folder, header=header)
        too_many = goal == refused and tally.n_taken > 0
        too_few = goal.startswith("all taken") and tally.n_taken < tally.n_tried
        is_met = not (tally.wrong or too_many or too_few)
        yield Outcome(13, f"gzip: {what}", "-", goal, tally.figure(), met=is_met)
    if is_full:
        tally = Tally()
        bombs(tally, folder)
        yield Outcome(13, "gzip: bombs", "-", refused, tally.figure(), met=not tally.wrong)


def _bomb(parts: Iterable[bytes]) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    pieces = [packer.compress(part) for part in parts]
    return b"".join(pieces) + packer.flush()


def _with_all_fields(text: bytes) -> bytes:
    """Return gzip data whose header has an extra field, a name, a comment and a checksum of its own."""
    plain = gzip.compress(text, mtime=0)
    header = plain[:3] + b"\x1e" + plain[4:10] + b"\x04\x00abcd" + b"name\0" + b"comment\0"
    return header + (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little") + plain[10:]


def _ways(path: Path, content: bytes) -> Iterator[tuple[str, Callable[[], Rows]]]:
    yield "file", lambda: _listed([read_run(str(path), reader="trec")])
    yield "pipe", lambda: _listed([read_run("-", reader="trec", stdin=io.BytesIO(content))])
    yield "file, --stream", lambda: _streamed(str(path), None, block_rows=2)
    yield "pipe, --stream", lambda: _streamed("-", io.BytesIO(content), block_rows=2)


def _streamed(path: str, stdin: io.BufferedIOBase | None, reader: str = "trec", block_rows: int = 1 << 16) -> Rows:
    with stream_run(path, reader=reader, stdin=stdin, block_rows=block_rows) as stream:  # type: ignore[arg-type]
        return _listed(list(stream))


def _rows_of(text: bytes) -> Rows | None:
    with suppress(InputError):
        return _listed([read_run("-", reader="trec", stdin=io.BytesIO(text))])
    return None


def _listed(tables: list[RankedTable]) -> Rows:
    rows: Rows = []
    for one in tables:
        ranking = one.ranking
        items, numbers, ends = ranking.item_keys.to_list(), ranking.numbers.tolist(), ranking.offsets.tolist()
        for group, key in enumerate(ranking.group_keys.to_list()):
            rows += [(key, items[row], numbers[row]) for row in range(ends[group], ends[group + 1])]
    return rows
