"""What a format or a measure of another package has to be, and checks that its tests import.

A package names them in its ``pyproject.toml``, under ``[project.entry-points."ndcg_tracker.readers"]`` and
``[project.entry-points."ndcg_tracker.measures"]``: the name that users type, and a class without arguments.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from math import isfinite, nan
from typing import Any, BinaryIO, Protocol

import numpy as np

from ndcg_tracker.ingest.frames import read_frame
from ndcg_tracker.rankings import Floats
from ndcg_tracker.rankings.ranking import Ranking


class Reader(Protocol):
    """A format of files; its name follows ``--reader``.

    ``endings``: of the names of its files, in lower case with a dot, such as ``(".avro",)``.
    """

    endings: tuple[str, ...]

    def is_of(self, first_bytes: bytes) -> bool:
        """Return whether a file begins in a way that no other format does; asked for files that nothing else knows."""

    def read(self, file: BinaryIO) -> Any:
        """Return what a file holds.

        That is a table that ``evaluate`` takes, what JSON could hold (records, ``{group: {item: number}}``), or an
        iterator of pairs: the line, from 1, and the record in it. Raises: InputError, ``where`` being the line, and
        anything else for a file that it cannot read.
        """


class Measure(Protocol):
    """A measure; its name is that of a metric, which may have a cutoff: ``NAME@10``. More has to be better.

    ``meaning``: in words. ``is_share``: whether its values lie between 0 and 1.
    """

    meaning: str
    is_share: bool

    def value(self, grades: Floats, labels: Floats, cutoff: int | None) -> float:
        """Return the value of a list: ``grades`` of its items, best rank first and cut, NaN for items without a label.

        ``labels``: the grades of all labelled items of the group, in any order.
        """


def check_reader(reader: Reader, content: bytes, run: Mapping[str, Mapping[str, float]]) -> None:
    """Check a reader with the content of a file and the run that it holds.

    Raises: AssertionError, which says what is wrong.
    """
    assert all(ending == ending.lower() and ending.startswith(".") for ending in reader.endings), (
        "an ending is in lower case and begins with a dot"
    )
    assert reader.is_of(b"") is False, "is_of(b'') has to be False"
    assert isinstance(reader.is_of(content[:1000]), bool), "is_of has to return True or False"
    wanted, found = (_listed(read_frame(held).ranking) for held in (run, _records(reader, content)))
    assert found == wanted, f"the file is read as {found}, but the run is {wanted}"


def _records(reader: Reader, content: bytes) -> Any:
    held = reader.read(BytesIO(content))
    if not isinstance(held, Iterator):
        return held
    pairs = list(held)
    lines = [line for line, _ in pairs]
    assert lines == sorted(lines), "the lines have to rise"
    assert min(lines, default=1) >= 1, "the first line has the number 1"
    return [record for _, record in pairs]


def _listed(ranking: Ranking) -> list[tuple[str, list[str], list[float]]]:
    keys, items, bounds = ranking.group_keys.to_list(), ranking.item_keys.to_list(), ranking.offsets.tolist()
    scores = ranking.scores.tolist()
    return [(key, items[a:b], scores[a:b]) for key, a, b in zip(keys, bounds, bounds[1:], strict=False)]


def check_measure(measure: Measure, grades: Sequence[int] = (0, 1, 2, 3)) -> None:
    """Check a measure on short lists of some grades. Raises: AssertionError, which says what is wrong."""
    assert measure.meaning, "a measure has a meaning"
    assert isinstance(measure.is_share, bool), "a measure is a share or not"
    for labels, n_more, cutoff in itertools.product(
        itertools.combinations_with_replacement(grades, 3), range(2), (None, 1, 2)
    ):
        for shown in itertools.permutations([*map(float, labels), *[nan] * n_more]):
            value = _value(measure, shown, labels, cutoff)
            assert isfinite(value), f"the value of {shown} is {value}"
            assert not measure.is_share or 0 <= value <= 1, f"the value of {shown} is {value}, and not a share"
            for rank in range(len(shown) - 1):
                one, other = np.nan_to_num(shown[rank : rank + 2])
                if one < other:
                    better = [*shown[:rank], shown[rank + 1], shown[rank], *shown[rank + 2 :]]
                    assert _value(measure, better, labels, cutoff) >= value - 1e-12, (
                        f"{shown} has a higher value than {better}, which has the better item first"
                    )


def _value(measure: Measure, shown: Sequence[float], labels: Sequence[float], cutoff: int | None) -> float:
    given, wanted = np.array(shown, dtype=np.float64)[:cutoff], np.array(labels, dtype=np.float64)
    value = measure.value(given.copy(), wanted.copy(), cutoff)
    assert isinstance(value, int | float), f"the value is a {type(value).__name__}, not a number"
    return float(value)
