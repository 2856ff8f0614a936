"""The output of ``trec_eval -q``: a measure, a group and a value per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from ndcg_tracker.errors import InputError


class TrecEvalOutput:
    """The reader of this output, except the lines over all groups (see ``conformance.Reader``)."""

    endings = ()

    def is_of(self, first_bytes: bytes) -> bool:
        """Return False, because the program knows this output before it asks packages."""
        return False

    def read(self, file: BinaryIO) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield each line and its record."""
        for number, line in enumerate(file, 1):
            parts = line.decode().split()
            if parts and parts[1:2] != ["all"]:
                if len(parts) != 3:
                    what = f"{len(parts)} fields where trec_eval has 3"
                    raise InputError(what, where=number, advice="correct the line")
                yield number, dict(zip(("measure", "group", "value"), parts, strict=True))
