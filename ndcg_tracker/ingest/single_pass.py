"""Pipes and standard input for those who go through them once: nothing is kept but the beginning."""

from __future__ import annotations

from typing import IO


class SinglePass:
    """A stream that can be gone back to its start until it is released; what was read before then is kept.

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
        """Go back to the start, the one place to go to. Raises: ValueError once bytes have gone by unkept."""
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
