"""A report's file, written beside what is printed: whole, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ndcg_tracker.errors import InputError


@contextmanager
def whole_file(path: str | None, option: str) -> Iterator[Callable[[str | bytes], None]]:
    """Yield a function that takes the content of a file, which is written if the block ends well and else unchanged.

    A place that cannot be written to is refused at the beginning, before anything is done. What is not a regular file,
    such as /dev/null or a pipe, is written to as it is.

    Parameters: ``path``: of the file; None for no file: the content goes nowhere. ``option``: the option that names it,
    for the message. Raises: InputError.
    """
    content: list[bytes] = []

    def add(more: str | bytes) -> None:
        content.append(more.encode("utf-8") if isinstance(more, str) else more)

    if path is None:
        yield add
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        yield add
        with told_of_place(path, option):
            target.write_bytes(b"".join(content))
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    with told_of_place(path, option):
        if target.is_dir():
            raise IsADirectoryError
        beside.touch(exist_ok=False)
    try:
        yield add
        with told_of_place(path, option):
            beside.write_bytes(b"".join(content))
            if target.exists():
                shutil.copymode(target, beside)
            beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


@contextmanager
def told_of_place(path: str, asked_by: str) -> Iterator[None]:
    """Turn what the operating system says within into one InputError that names the file and who asked for it."""
    try:
        yield
    except OSError as error:
        why = "it is a folder" if isinstance(error, IsADirectoryError) else error.strerror or str(error)
        raise InputError(f"cannot write {path!r}: {why}", where=asked_by, advice="give another file") from error
