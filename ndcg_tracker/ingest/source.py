"""Read files, compressed or not, and standard input in one way: as blocks of whole lines, numbered and checked."""

from __future__ import annotations

import io
import os
import shlex
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, BinaryIO, Self

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import DoubtfulError
from ndcg_tracker.ingest.detection import (
    N_TELLING,
    BrokenDataError,
    Readable,
    archive_of,
    compression_named,
    compression_of,
)
from ndcg_tracker.unpacking import GrowsError, largest
from ndcg_tracker.words.texts import shown_name

_AT_ONCE = 1 << 20  # bytes cut into lines at a time
_WINDOW = 1 << 18  # bytes processed at a time: the temporary arrays fit into the cache
_NEWLINE = 0x0A


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Whole lines of a file.

    ``parts``: the text as it was read, each part ending with a line: a copy of everything would not fit the cache.
    ``first_line``: the number of the first line, from 1. ``first_row``: how many rows come before it in the file.
    ``is_last``: whether nothing comes after it, so that its last record is complete.
    """

    name: str
    parts: tuple[bytes, ...]
    first_line: int = 1
    first_row: int = 0
    is_last: bool = True

    @property
    def is_first(self) -> bool:
        """Whether it begins with the file."""
        return self.first_line == 1

    @property
    def text(self) -> bytes:
        """All of the text in one piece."""
        return b"".join(self.parts)

    @property
    def n_bytes(self) -> int:
        """How many bytes the text has."""
        return sum(map(len, self.parts))

    def error(self, what: str, line: int | None = None, **parts: str) -> InputError:
        """Return the error that says ``what`` is wrong here; ``parts``: its advice."""
        return InputError(what, where=self.name if line is None else f"{self.name}:{line}", **parts)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number, from 1, and the bytes of every line, without its end; checked to be UTF-8 without NUL."""
        number = self.first_line - 1
        for part in self.pieces(_AT_ONCE):
            plain = is_plain_text(part)
            lines = part.split(b"\n")
            if not lines[-1]:
                lines.pop()
            for line in lines:
                number += 1
                if not plain:
                    self._check_text(line, number)
                yield number, line[:-1] if line.endswith(b"\r") else line

    def pieces(self, n_bytes: int) -> Iterator[bytes]:
        """Yield the text in pieces of whole lines: of each part, at least ``n_bytes`` bytes, except its last piece."""
        for part in self.parts:
            start = 0
            while start < len(part):
                end = part.find(b"\n", start + n_bytes - 1) + 1 or len(part)
                yield part if end - start == len(part) else part[start:end]
                start = end

    def divided(self, end: int) -> tuple[TextBlock, TextBlock]:
        """Return the block's first ``end`` bytes, which end with a line, and what follows them."""
        before: list[bytes] = []
        after = list(self.parts)
        while after and end >= len(after[0]):
            end -= len(after[0])
            before.append(after.pop(0))
        if end:
            before.append(after[0][:end])
            after[0] = after[0][end:]
        n_lines = sum(map(count_lines, before))
        return (
            replace(self, parts=tuple(before), is_last=True),
            replace(self, parts=tuple(after), first_line=self.first_line + n_lines),
        )

    def _check_text(self, line: bytes, number: int) -> None:
        if b"\0" in line:
            raise self.error("a NUL byte", number, advice="write the file again as text without it")
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise self.error(
                f"byte 0x{line[error.start]:02x} is not UTF-8", number, advice="save the file as UTF-8"
            ) from None


def count_lines(text: bytes) -> int:
    """Return how many lines end in a text.

    >>> count_lines(b"a\\nb\\nc")
    2
    """
    data = np.frombuffer(text, dtype=np.uint8)
    windows = range(0, data.size, _WINDOW)
    return sum(int(np.count_nonzero(data[first : first + _WINDOW] == _NEWLINE)) for first in windows)


def is_plain_text(block: bytes) -> bool:
    """Return whether a block is UTF-8 without NUL bytes.

    >>> is_plain_text("größer".encode()), is_plain_text(b"\\xff")
    (True, False)
    """
    if b"\0" in block:
        return False
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def plain_lines(block: bytes) -> bytes:
    """Return the block with every line ending in a bare newline.

    Raises: DoubtfulError for bytes that are not UTF-8, for NUL, and for a carriage return inside a line.
    """
    if not is_plain_text(block):
        raise DoubtfulError("not plain text")
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
        if b"\r" in block:
            raise DoubtfulError("a carriage return inside a line")
    return block


Progress = Callable[[int, int | None], None]
_watching: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def watched(progress: Progress | None) -> Iterator[None]:
    """Call a function with the bytes read so far and the size of the input, None while that is unknown.

    It is called for what this thread opens in the context.
    """
    token = _watching.set(progress)
    try:
        yield
    finally:
        _watching.reset(token)


BLOCK = 1 << 22  # bytes; larger blocks do not fit the cache, and their memory is cleared again each time
LONGEST_LINE = 1 << 24
_IN_MEMORY = 1 << 26
BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Source:
    """One input, readable from its start as often as needed; use it in a ``with`` statement.

    Parameters: ``path``, a file, or ``-`` for ``stdin`` (None: the process's own). ``once``: do not copy an input that
    gives its bytes only once; it can then be read once, by ``head`` and after that by one other method. ``name``: its
    name in errors, None for the path. Raises: InputError if it cannot be opened.
    """

    first_line, first_row = 1, 0
    is_first = is_last = True  # a whole file, seen as a part of one

    def __init__(
        self,
        path: str,
        *,
        stdin: BinaryIO | None = None,
        once: bool = False,
        name: str | None = None,
    ) -> None:
        self.path = path
        self.name = name or ("<stdin>" if path == "-" else shown_name(path))
        self._progress = _watching.get()
        self._once = once
        self._raw = self._opened(stdin)
        self.size = None if isinstance(self._raw, SinglePass) else self._raw.seek(0, io.SEEK_END)
        self._raw.seek(0)
        self._packed: str | None = None
        beginning = self._part(self._raw.read, N_TELLING)
        self._compression = compression_of(beginning)
        named = compression_named(path)
        if named is not None and named is not self._compression and beginning:
            self.close()
            what = f"is not {named.name} data, although its name says so"
            raise self.error(what, advice=f"compress it with {named.program} or rename it")
        if self._compression is not None:
            self._packed = f"the {self._compression.name} data"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the input."""
        self._raw.close()

    def error(self, what: str, line: int | None = None, **parts: str) -> InputError:
        """Return the error that says ``what`` is wrong here; ``parts``: its advice."""
        return InputError(what, where=self.name if line is None else f"{self.name}:{line}", **parts)

    def report(self, n_bytes: int | None = None) -> None:
        """Report how many bytes of the input are done: by default those that were read."""
        if self._progress is not None:
            self._progress(self._raw.tell() if n_bytes is None else n_bytes, self.size)

    @property
    def n_bytes_read(self) -> int:
        """The size of the input, or while it is unknown, how much was read."""
        return self._raw.tell() if self.size is None else self.size

    def head(self, n_bytes: int) -> bytes:
        """Return the first bytes, decompressed; fewer only if there are no more. Raises: InputError for an archive."""
        stream, parts, missing = self._stream(), [], n_bytes
        while missing and (part := self._read(stream, missing, n_bytes - missing)):
            parts.append(part)
            missing -= len(part)
        head = b"".join(parts)
        archive = archive_of(head)
        if archive is not None:
            raise self.error(f"is {archive}, which cannot be read", advice="unpack it and give a file from it")
        if head.startswith(_UTF_16) or any({*head[at:64:2]} == {0} for at in (0, 1)[: len(head) - 1]):
            utf_8 = f"iconv -f UTF-16 -t UTF-8 {shlex.quote(self.name)} > NEW"
            raise self.error("is UTF-16", advice=f"save it as UTF-8, for example with: {utf_8}")
        return head

    def file_path(self) -> str | None:
        """Return the path under which another library can open the same bytes, None if there is none."""
        return None if self._compression is not None or not isinstance(self._raw, io.BufferedReader) else self.path

    def content(self) -> bytes:
        """Return all bytes, decompressed."""
        return b"".join(self._parts())

    def copy(self) -> IO[bytes]:
        """Return all bytes, decompressed, as a file in memory or, if it is large, a temporary one."""
        return self._copied(self._parts())

    def _parts(self) -> Iterator[bytes]:
        stream, done = self._stream(is_final=True), 0
        while part := self._read(stream, BLOCK, done):
            yield part
            done += len(part)
            self.report()

    def pieces(self, n_bytes: int = BLOCK) -> Iterator[bytes]:
        """Yield the content in pieces of whole lines, of about ``n_bytes`` bytes; a leading BOM is dropped."""
        stream, rest, done, n_lines = self._stream(is_final=True), b"", 0, 0
        while block := self._read(stream, n_bytes, done):
            if done == 0 and n_bytes < len(BOM):
                block += self._read(stream, len(BOM), done)
            whole = block.removeprefix(BOM) if done == 0 else block
            done += len(block)
            self.report()
            end = whole.rfind(b"\n") + 1
            if self.size is None:
                n_lines += count_lines(whole)
            if end:
                yield b"".join((rest, memoryview(whole)[:end]))
                rest = whole[end:]
            else:
                rest += whole
            if len(rest) > LONGEST_LINE:
                number = n_lines if self.size is None else self._n_lines(done - len(rest))
                what = f"a line longer than {LONGEST_LINE >> 20} MiB"
                raise self.error(what, number + 1, advice="check that this is the right file")
        if rest:
            yield rest

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number, from 1, and the bytes of every line, without its end; checked to be UTF-8 without NUL."""
        number = 1
        for block in self.pieces(1 << 20):
            last = number - 1
            for last, line in TextBlock(self.name, (block,), number).lines():
                yield last, line
            number = last + 1

    def _n_lines(self, n_bytes: int) -> int:
        """Return how many lines the first bytes have."""
        stream, number = self._stream(), 0
        while n_bytes > 0 and (part := self._read(stream, min(n_bytes, BLOCK), 0)):
            number += count_lines(part)
            n_bytes -= len(part)
        return number

    def _opened(self, stdin: BinaryIO | None) -> IO[bytes] | SinglePass:
        if self.path == "-":
            stream = stdin if stdin is not None else getattr(sys.stdin, "buffer", None)
            if stream is None:
                raise self.error("there is no standard input here", advice="give a file")
            if _is_endless(stream):
                raise self.error("is a device", advice="give a file, a pipe or -")
            return SinglePass(stream) if self._once else self._spooled(stream)
        try:
            with ExitStack() as stack:
                file = stack.enter_context(Path(self.path).open("rb"))
                facts = os.fstat(file.fileno())
                if _is_device(facts) and not file.isatty():
                    raise self.error("is a device", advice="give a file, a pipe or -")
                is_regular = stat.S_ISREG(facts.st_mode)
                if not is_regular and not self._once:
                    return self._spooled(file)
                stack.pop_all()
                return file if is_regular else SinglePass(file, closes=True)
        except FileNotFoundError:
            raise self.error("no such file", advice="check the path") from None
        except IsADirectoryError:
            raise self.error("is a directory", advice="name a file in it") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise self.error(f"cannot be opened ({reason})", advice="check the path and its permissions") from None

    def _spooled(self, stream: IO[bytes]) -> IO[bytes]:
        """Return a copy that can be read twice, in memory or, if it is large, in a temporary file."""

        def parts() -> Iterator[bytes]:
            done = 0
            at_once = getattr(stream, "read1", stream.read)  # what is there: a signal need not wait for more
            while part := self._part(at_once, 1 << 20):
                yield part
                done += len(part)
                if self._progress is not None:
                    self._progress(done, None)

        return self._copied(parts())

    def _copied(self, parts: Iterable[bytes]) -> IO[bytes]:
        """Return a file of the parts, in memory or, if it is large, a temporary one (InputError if that is full)."""
        with ExitStack() as stack:
            copy: IO[bytes] = stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
            for part in parts:
                try:
                    copy.write(part)
                except OSError as error:
                    folder = shown_name(tempfile.gettempdir())
                    what = f"its copy in {folder} cannot be written ({error.strerror or error})"
                    raise self.error(what, advice="make room there, or name another folder with TMPDIR") from None
            copy.seek(0)
            stack.pop_all()
            return copy

    def _stream(self, *, is_final: bool = False) -> Readable:
        """Return the content from its start; ``is_final``: whether it will not be read again."""
        self._raw.seek(0)
        if is_final and isinstance(self._raw, SinglePass):
            self._raw.release()
        return self._raw if self._compression is None else self._compression.opened(self._raw)

    def _read(self, stream: Readable, n_bytes: int, done: int) -> bytes:
        """Return the next bytes; ``done``: how many came before, to limit how far a compressed file may expand."""
        part = self._part(stream.read, n_bytes)
        if self._packed and done + len(part) > largest(self._raw.tell()):
            grows = GrowsError(self._packed, "decompress it yourself if you trust it")
            raise self.error(grows.what, advice=grows.advice)
        return part

    def _part(self, read: Callable[[int], bytes], n_bytes: int) -> bytes:
        try:
            return read(n_bytes)
        except EOFError:
            raise self.error(f"{self._packed} ends too early", advice="fetch or compress the file again") from None
        except BrokenDataError as error:
            reason = shown_name(" ".join(str(error).split())[:100])
            raise self.error(
                f"{self._packed} is broken ({reason})", advice="fetch or compress the file again"
            ) from None
        except OSError as error:
            raise self.error(
                f"cannot be read ({error.strerror or error})", advice="check the disk and try again"
            ) from None


Lines = Source | TextBlock
"""A file, or a part of it, that can be read line by line."""


def _is_device(facts: os.stat_result) -> bool:
    """Return whether what was opened may be endless, such as /dev/zero and /proc/self/mem."""
    if stat.S_ISCHR(facts.st_mode) or stat.S_ISBLK(facts.st_mode):
        return True
    try:
        return facts.st_dev == Path("/proc/self").stat().st_dev
    except OSError:  # a system without /proc
        return False


def _is_endless(stream: IO[bytes]) -> bool:
    """Return whether a stream is a device (``< /dev/zero``), but neither a terminal nor /dev/null."""
    try:
        facts = os.fstat(stream.fileno())
        return _is_device(facts) and not stream.isatty() and facts.st_rdev != Path(os.devnull).stat().st_rdev
    except (OSError, AttributeError):  # not a file of the operating system
        return False


class SinglePass:
    """A stream that can go back to its start until it is released; it keeps what was read before then.

    ``closes``: whether closing this closes the stream.

    >>> import io
    >>> stream = SinglePass(io.BytesIO(b"abcd"))
    >>> stream.read(2), stream.seek(0), stream.release(), stream.read(3), stream.read(3), stream.tell()
    (b'ab', 0, None, b'abc', b'd', 4)
    """

    def __init__(self, stream: IO[bytes], *, closes: bool = False) -> None:
        self._stream = stream
        self._closes = closes
        self._at_once = getattr(stream, "read1", stream.read)  # what is there: a signal need not wait for more
        self._kept = bytearray()
        self._at = 0
        self._is_released = False

    def read(self, size: int, /) -> bytes:
        """Return the next ``size`` bytes, fewer only at the end."""
        parts = [bytes(self._kept[self._at : self._at + size])]
        missing = size - len(parts[0])
        while missing and (part := self._at_once(missing)):
            parts.append(part)
            missing -= len(part)
            if not self._is_released:
                self._kept += part
        self._at += size - missing
        return b"".join(parts)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go back to the start, the only allowed place. Raises: ValueError once bytes were read without being kept."""
        if offset or whence or self._at > len(self._kept):
            raise ValueError("a stream that was released cannot be read again")
        self._at = 0
        return 0

    def release(self) -> None:
        """Keep no more than was kept so far."""
        self._is_released = True

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._at

    def close(self) -> None:
        """Close the stream, if that was asked for."""
        if self._closes:
            self._stream.close()
