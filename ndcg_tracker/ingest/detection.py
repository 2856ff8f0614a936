"""Detect from the name and the first bytes of a file how it is compressed and which reader it needs.

Archives are refused.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Any, Protocol, cast

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.extensions import READERS as READERS_OF_PACKAGES
from ndcg_tracker.extensions import installed, loaded
from ndcg_tracker.ingest.cells import is_number
from ndcg_tracker.words.texts import shown_name


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: the name of its reader, the endings of its files, and whether its columns have names."""

    name: str
    endings: tuple[str, ...]
    has_columns: bool


FORMATS = (
    Format("trec", (".run", ".trec", ".txt", ".qrels", ".res"), has_columns=False),
    Format("csv", (".csv",), has_columns=True),
    Format("tsv", (".tsv",), has_columns=True),
    Format("json", (".json",), has_columns=True),
    Format("jsonl", (".jsonl", ".ndjson"), has_columns=True),
    Format("yaml", (".yaml", ".yml"), has_columns=True),
    Format("parquet", (".parquet", ".pq"), has_columns=True),
    Format("svmlight", (".svm", ".svmlight", ".letor", ".libsvm"), has_columns=False),
    Format("trec_eval", (), has_columns=True),  # its output, for results
)
_OWN = ("trec", "csv", "tsv", "json", "jsonl", "parquet", "svmlight")
"""The readers that are not entry points."""
READERS = tuple(format.name for format in FORMATS)
WITH_COLUMNS = tuple(format.name for format in FORMATS if format.has_columns)
_BY_EXTENSION = {ending: format.name for format in FORMATS for ending in format.endings}
_DOCUMENT_KEYS = {
    *("requests", "details", "rank_eval", "judgmentRatings", "hits", "responses", "queries", "query_doc_pairs")
}
_SVMLIGHT = re.compile(rb"\S+[ \t]+(?:qid:\S+|[0-9]+:\S+)(?:[ \t].*)?")
_OUTPUT = re.compile(rb"(?=[^\t]{22})[A-Za-z][A-Za-z0-9_.,=-]* *\t[^\t]+\t[^\t]+")  # of trec_eval
_ITERATION = re.compile(rb"Q0|[0-9.]+")
_N_QRELS, _N_RUN = 4, 6  # fields


def detect_reader(path: str, first_bytes: bytes) -> str:
    """Return the name of the reader for a file: by its ending (a compression's left aside), else by its content.

    A file named .tsv whose first line is a TREC line is a TREC file. Parameters: ``first_bytes``, the beginning of
    the content, decompressed. Raises: InputError if neither helps.

    >>> detect_reader("bm25.run.gz", b""), detect_reader("-", b"1 qid:3 1:0.5"), detect_reader("-", b"group,score")
    ('trec', 'svmlight', 'csv')
    """
    reader = _BY_EXTENSION.get(PurePath(without_compression(path)).suffix.lower())
    if reader == "json":
        return _json_reader(first_bytes)
    if reader == "tsv":
        return "trec" if _is_trec(_first_line(first_bytes), b"\t") else "tsv"
    if reader is None or (reader == "trec" and _is_svmlight(_first_line(first_bytes))):
        reader = _by_content(first_bytes)
    reader = reader or _of_package(path, first_bytes)
    if reader is None:
        raise InputError(
            "cannot tell the format",
            where=_shown(path),
            advice=f"name it with {argument('reader')} ({' '.join(READERS)})",
        )
    return reader


def is_of_package(reader: str) -> bool:
    """Return whether an installed package has a reader (see ``conformance.Reader``); ours of rare formats are such."""
    name = reader.partition(":")[0]
    return name not in _OWN and name in installed(READERS_OF_PACKAGES)


def _of_package(path: str, first_bytes: bytes) -> str | None:
    """Return the only reader of a package that has the ending of a file, or knows its beginning."""
    own = {name: loaded(READERS_OF_PACKAGES, name) for name in installed(READERS_OF_PACKAGES)}
    ending = PurePath(without_compression(path)).suffix.lower()
    known = [name for name, reader in own.items() if ending in reader.endings]
    known = known or [name for name, reader in own.items() if reader.is_of(first_bytes)]
    return known[0] if len(known) == 1 else None


def detect_delimited(path: str, first_bytes: bytes) -> str:
    """Return the name of the reader for a table without header: by the file's ending, else by its first line.

    Raises: InputError if neither helps.

    >>> detect_delimited("top1000.dev.tsv.gz", b""), detect_delimited("top1000", b"1048585\\t7187158\\t1\\n")
    ('tsv', 'tsv')
    """
    reader = _BY_EXTENSION.get(PurePath(without_compression(path)).suffix.lower())
    if reader in ("csv", "tsv"):
        return reader
    line = _first_line(first_bytes)
    if b"\t" in line or b"," in line:
        return "tsv" if b"\t" in line else "csv"
    raise InputError(
        f"{argument('columns')} names the columns of a csv or tsv file, but the first line of this one has neither a "
        "comma nor a tab",
        where=_shown(path),
        advice="separate the columns with commas or tabs",
    )


def default_run_name(path: str) -> str:
    """Return the name of a run whose name was not given: the file's, without the endings of compression and format.

    Raises: InputError for standard input and for names that are not text.

    >>> default_run_name("runs/irc_pmc.run.gz"), default_run_name("input.runA"), default_run_name("bm25.k1=0.1")
    ('irc_pmc', 'input.runA', 'bm25.k1=0.1')
    """
    if path == "-":
        raise InputError(
            "a run from standard input has no name", where="<stdin>", advice=f"give one with {argument('name')}"
        )
    name = without_compression(PurePath(path).name)
    if PurePath(name).suffix.lower() in _BY_EXTENSION:
        name = PurePath(name).stem
    if not name or not name.isprintable():
        raise InputError(
            "cannot name a run after this file", where=_shown(path), advice=f"give a name with {argument('name')}"
        )
    return name


def _shown(path: str) -> str:
    return "<stdin>" if path == "-" else shown_name(path)


def _first_line(first_bytes: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment."""
    lines = (line.strip(b" \t\r") for line in first_bytes.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    return next((line for line in lines if line and not line.startswith(b"#")), b"")


def _by_content(first_bytes: bytes) -> str | None:
    if first_bytes.startswith(b"PAR1"):
        return "parquet"
    line = _first_line(first_bytes)
    if line.startswith((b"{", b"[")):
        return _json_reader(first_bytes)
    if _is_svmlight(line):
        return "svmlight"
    if _OUTPUT.fullmatch(line):
        return "trec_eval"
    if _is_trec(line):
        return "trec"
    if b"\t" in line:
        return "tsv"
    return "csv" if b"," in line else None


def _is_svmlight(line: bytes) -> bool:
    """Return whether a line belongs to a label/qid file."""
    is_like = _SVMLIGHT.fullmatch(line) and is_number(line.replace(b"\t", b" ").partition(b" ")[0])
    return bool(is_like) and not _is_trec(line)


def _is_trec(line: bytes, delimiter: bytes | None = None) -> bool:
    """Return whether a line belongs to a TREC run or qrels, or to a kind that the reader refuses by name.

    Parameters: ``delimiter``: what separates two fields, None for blanks and tabs.
    """
    fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
    if delimiter is not None and fields[:5] != line.split(delimiter)[:5]:
        return False
    if len(fields) < _N_QRELS:
        return False
    if len(fields) == _N_QRELS:
        return is_number(fields[3]) and (delimiter is None or _ITERATION.fullmatch(fields[1]) is not None)
    if len(fields) == _N_QRELS + 1 and delimiter is None:  # preferences, or a run without the group
        return (b"\t" not in line and is_number(fields[4])) or (fields[0] == b"Q0" and is_number(fields[3]))
    return is_number(fields[4], "score") and (len(fields) == _N_RUN or is_number(fields[3]))


def _json_reader(first_bytes: bytes) -> str:
    """Return the reader of JSON: ``jsonl`` if the first line is a complete flat record, else ``json``."""
    import json

    first, _, rest = first_bytes.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").partition(b"\n")
    try:
        record = json.loads(first) if first.startswith(b"{") else None
    except (ValueError, RecursionError):
        return "json"
    if not isinstance(record, dict):
        return "json"
    if rest.strip():
        return "jsonl"
    if {"task_name", "scores"} <= record.keys():
        return "json"  # as MTEB writes it for a task
    if record and all(isinstance(value, list) for value in record.values()):
        return "json"  # a list per group
    nested = [value for value in record.values() if _is_nested(value)]
    return "json" if nested and (len(nested) == len(record) or not _DOCUMENT_KEYS.isdisjoint(record)) else "jsonl"


def _is_nested(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(element, (dict, list)) for element in value)
    )


_AT_ONCE = 1 << 16  # compressed bytes read at a time
_MOST_MEMORY = 1 << 28  # bytes that xz may ask for; its strongest usual setting takes 65 MiB

N_TELLING = 10
"""How many of the first bytes show how a file is compressed."""


class Readable(Protocol):
    """Something that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""


class BrokenDataError(Exception):
    """Compressed data that is damaged."""


@dataclass(frozen=True, slots=True)
class Compression:
    """A compression: its name, the program that does it, the ending of its files, and how each part of one begins.

    ``opened`` turns a stream of compressed bytes into a stream of the content. Reading that raises EOFError if the
    data ends too early, BrokenDataError if it is damaged, and whatever reading the bytes raises.
    """

    name: str
    program: str
    endings: tuple[str, ...]
    begins: re.Pattern[bytes]
    opened: Callable[[Readable], Readable]


def compression_of(first_bytes: bytes) -> Compression | None:
    """Return how a file that begins with some bytes is compressed, None if it is not.

    >>> compression_of(b"\\x1f\\x8b\\x08").name, compression_of(b"BZh Q0 d 1 2 t")
    ('gzip', None)
    """
    return next((compression for compression in COMPRESSIONS if compression.begins.match(first_bytes)), None)


def compression_named(path: str) -> Compression | None:
    """Return the compression that a file's name ends with, None if there is none."""
    lower = path.lower()
    return next((compression for compression in COMPRESSIONS if lower.endswith(compression.endings)), None)


def without_compression(name: str) -> str:
    """Return a file's name without the ending of its compression.

    >>> without_compression("bm25.run.zst"), without_compression("bm25.run"), without_compression(".gz")
    ('bm25.run', 'bm25.run', '.gz')
    """
    compression = compression_named(name)
    ending = (
        "" if compression is None else next(suffix for suffix in compression.endings if name.lower().endswith(suffix))
    )
    return name[: len(name) - len(ending)] or name


def archive_of(first_bytes: bytes) -> str | None:
    """Return in words which kind of unreadable file begins with some bytes, None if the kind is unknown.

    >>> archive_of(b"PK\\x03\\x04")
    'a zip archive'
    """
    if first_bytes[257:262] == b"ustar":
        return "a tar archive"
    return next((kind for begins, kind in _ARCHIVES.items() if first_bytes.startswith(begins)), None)


class _Gzip:
    """The content of gzip data."""

    def __init__(self, raw: Readable) -> None:
        self._stream = gzip.GzipFile(fileobj=cast("IO[bytes]", raw), mode="rb")

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        try:
            return self._stream.read(size)
        except (gzip.BadGzipFile, zlib.error) as error:
            raise BrokenDataError(str(error)) from None


class _Parts:
    """The content of data in one or more parts, each of which its own decompressor reads; zeros may follow them."""

    def __init__(self, raw: Readable, decompressor: Callable[[], Any], errors: tuple[type[Exception], ...]) -> None:
        self._raw = raw
        self._new = decompressor
        self._errors = errors
        self._part = decompressor()
        self._waiting = b""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        while True:
            if self._part.eof:
                self._waiting = (self._part.unused_data or self._raw.read(_AT_ONCE)).lstrip(b"\0")
                while not self._waiting:
                    more = self._raw.read(_AT_ONCE)
                    if not more:
                        return b""
                    self._waiting = more.lstrip(b"\0")
                self._part = self._new()
            elif self._part.needs_input and not self._waiting:
                self._waiting = self._raw.read(_AT_ONCE)
                if not self._waiting:
                    raise EOFError
            given, self._waiting = self._waiting, b""
            try:
                content: bytes = self._part.decompress(given, size)
            except self._errors as error:
                raise BrokenDataError(str(error)) from None
            if content:
                return content


class _Zstd:
    """The content of zstd data, which Arrow reads."""

    def __init__(self, raw: Readable) -> None:
        import pyarrow as pa

        self._raw = _Kept(raw)
        self._stream = pa.CompressedInputStream(pa.PythonFile(self._raw, mode="r"), "zstd")

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        try:
            return cast("bytes", self._stream.read(size))
        except OSError as error:
            if error.errno is not None:
                raise
            if "runcated" in str(error):
                raise EOFError from None
            raise BrokenDataError(str(error)) from None


class _Kept:
    """A stream that stays open when its reader is closed."""

    closed = False

    def __init__(self, raw: Readable) -> None:
        self._raw = raw

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        return self._raw.read(size)

    def close(self) -> None:
        """Do nothing."""


def _bzip2(raw: Readable) -> Readable:
    import bz2

    return _Parts(raw, bz2.BZ2Decompressor, (OSError, ValueError))


def _xz(raw: Readable) -> Readable:
    import lzma

    return _Parts(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MOST_MEMORY), (lzma.LZMAError,))


COMPRESSIONS = (
    Compression("gzip", "gzip", (".gz",), re.compile(rb"\x1f\x8b"), _Gzip),
    Compression("zstd", "zstd", (".zst", ".zstd"), re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), _Zstd),
    Compression("bzip2", "bzip2", (".bz2",), re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)"), _bzip2),
    Compression("xz", "xz", (".xz",), re.compile(rb"\xfd7zXZ\x00"), _xz),
)
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a rar archive",
    b"\x04\x22\x4d\x18": "lz4 data",
    b"\x1f\x9d": "compress data",
    b"\x5d\x00\x00\x80\x00": "lzma data",
}
