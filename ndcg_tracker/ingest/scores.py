"""Scores in a file of their own, one per line, as they belong to label/qid files."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice

import numpy as np

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.sources import Source
from ndcg_tracker.rankings.types import Floats


def needed_scores(source: Source, path: str | None) -> str:
    """Return the path of the scores that a label/qid file cannot do without. Raises: InputError if it is no use."""
    if path is None:
        raise source.error(
            f"a label/qid file has no scores; give the predictions, one per line, with {argument('scores', 'FILE')}"
        )
    if path == source.path == "-":
        raise source.error("the run and its scores cannot both come from standard input; put one in a file")
    return path


class Scores:
    """The scores of a file, from its start to its end, some at a time."""

    def __init__(self, file: Source) -> None:
        self._file = file
        self._scores = _scores(file)
        self._n_taken = 0

    def take(self, n_rows: int) -> Floats:
        """Return the next scores, NaN where there are no more: float64, shape (n_rows,).

        Raises: InputError naming the line of what is no number.
        """
        found = np.array(array("d", islice(self._scores, n_rows)), dtype=np.float64)
        self._n_taken += found.size
        return np.append(found, np.full(n_rows - found.size, np.nan))

    def finish(self, source: Source, n_rows: int) -> None:
        """Refuse a file with another number of scores than the rows of ``source``."""
        n_scores = self._n_taken + sum(1 for _ in self._scores)
        if n_scores != n_rows:
            counted = "1 score" if n_scores == 1 else f"{n_scores} scores"
            raise self._file.error(f"{counted} for the {n_rows} rows of {source.name}; give one per row")


def _scores(file: Source) -> Iterator[float]:
    for line_number, line in file.lines():
        text = line.strip(b" \t")
        if not text:
            continue
        try:
            yield number(text)
        except ValueError as error:
            raise file.error(f"score {error}", line_number) from None
