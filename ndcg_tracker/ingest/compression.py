"""Compressed files, known by their first bytes: gzip, zstd, bzip2 and xz; archives are refused."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, Protocol, cast

_AT_ONCE = 1 << 16  # compressed bytes read at a time
_MOST_MEMORY = 1 << 28  # bytes that xz may ask for; its strongest usual setting takes 65 MiB

N_TELLING = 10
"""How many of the first bytes tell how a file is compressed."""


class Readable(Protocol):
    """Something that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""


class BrokenDataError(Exception):
    """Compressed data that is damaged."""


@dataclass(frozen=True, slots=True)
class Compression:
    """One way to compress: its name, the program that does it, its files' ending, and how each part of one begins.

    ``opened`` turns a stream of compressed bytes into one of the content. Reading that raises EOFError where the data
    ends too early, BrokenDataError where it is wrong, and what reading the bytes raises.
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
    """Return in words what kind of unreadable file begins with some bytes, None if it is none that is known.

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
