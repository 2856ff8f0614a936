"""The comparison slice by slice: the attributes of groups to slice by, and where the runs differ."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.sample import numbered
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Index, Mask
from ndcg_tracker.words.texts import unit

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True)
class Slicing:
    """The attribute to slice by, and its value for each paired group of the first metric, None for no value."""

    attribute: str
    values: Sequence[str | None]

    def masks(self) -> dict[str | None, Mask]:
        """Return which groups have each value."""
        names, codes = numbered(self.values)
        return dict(zip(names, codes == np.arange(len(names))[:, None], strict=True))


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """The values of one attribute, as text: of each group in ``ids``, in order, its place in ``names``, -1 for none."""

    attribute: str
    ids: Index
    names: Sequence[str]
    codes: Index

    def of(self, group_ids: Index) -> Slicing:
        """Return the value of each group, None where it has none."""
        places = np.minimum(np.searchsorted(self.ids, group_ids), max(0, self.ids.size - 1))
        codes = self.codes[places]
        codes[self.ids[places] != group_ids] = -1
        return Slicing(self.attribute, np.array([*self.names, None], dtype=object)[codes].tolist())


def attributes_of(tx: ReadTransaction, dataset_id: int, ids: Index) -> dict[str, list[str | None]]:
    """Return, for each attribute that some of these groups have, its value in each as text, None where it has none."""
    each = (of.of(ids) for of in _every(tx, dataset_id).values())
    return {by.attribute: list(by.values) for by in each if any(value is not None for value in by.values)}


def attribute_values(tx: ReadTransaction, run: RunRecord, attribute: str) -> AttributeValues:
    """Return the values of an attribute in a run's dataset (InputError where none of its groups has it)."""
    return _known(_every(tx, run.dataset_id), run, attribute)


def _every(tx: ReadTransaction, dataset_id: int) -> dict[str, AttributeValues]:
    """Return the values of every attribute of a dataset, by name."""
    ids, rows = tx.groups.attribute_rows(dataset_id)
    each = {}
    for name in sorted({name for row in rows for name in row}):
        codes, texts = dict[Any, int](), dict[str, int]()
        of_rows = np.array([codes.setdefault(row.get(name), len(codes)) for row in rows], dtype=np.int64)
        of_value = [-1 if value is None else texts.setdefault(text_of(value), len(texts)) for value in codes]
        if texts:
            each[name] = AttributeValues(name, ids, [*texts], np.array(of_value, dtype=np.int64)[of_rows])
    return each


def _known(every: Mapping[str, AttributeValues], run: RunRecord, attribute: str) -> AttributeValues:
    if attribute not in every:
        what = f"no {unit()} of dataset {run.dataset!r} has an attribute {attribute!r}"
        raise InputError(what, advice=_advice(attribute, [*every], run))
    return every[attribute]


MOST_SLICES = 50
"""An attribute with more values is an identifier rather than a slice."""
_MOST_NUMBERS = 20
"""More different numbers than these are cut into quantiles."""
_QUANTILES = 4


def asked_slices(
    tx: ReadTransaction, run: RunRecord, by: Sequence[str] = ()
) -> tuple[tuple[AttributeValues, ...], dict[str, int]]:
    """Return the attributes to slice by, numbers cut into quantiles, and those with too many values.

    Parameters: ``by``: "all" or nothing for every attribute of the dataset, NAME, or NAME:N for N quantiles. Raises:
    InputError where no group has an attribute, or where it is to be cut but is not numbers.
    """
    every = _every(tx, run.dataset_id)
    chosen = dict.fromkeys(every) if not by or "all" in by else dict[str, int | None]()
    for text in by:
        name, _, number = text.rpartition(":")
        if name in every and text not in every and number.isdecimal() and int(number) > 1:
            chosen[name] = int(number)
        elif text != "all":
            chosen[text] = None
    each = [_cut(_known(every, run, name), n, run) for name, n in chosen.items()]
    left_out = {of.attribute: n for of in each if (n := len(of.names)) > MOST_SLICES and of.attribute not in by}
    return tuple(of for of in each if of.attribute not in left_out), left_out


def _cut(of: AttributeValues, n: int | None, run: RunRecord) -> AttributeValues:
    """Return an attribute of numbers cut into quantiles, if these are asked for or there are many numbers."""
    if n is None and len(of.names) <= _MOST_NUMBERS:
        return of
    try:
        number_of = np.array(of.names, dtype=np.float64)
    except ValueError as error:
        if n is None:
            return of
        what = f"attribute {of.attribute!r} of dataset {run.dataset!r} is not of numbers"
        advice = f"slice by its values with {argument('by', of.attribute)}"
        raise InputError(f"{what}, such as {str(error).partition(': ')[2]}", advice=advice) from None
    n = n or _QUANTILES
    ends = np.unique(np.quantile(number_of[of.codes[of.codes >= 0]], np.arange(1, n + 1) / n, method="lower"))
    codes = np.searchsorted(ends, number_of)
    lows = [text_of(float(number_of[codes == code].min())) for code in range(ends.size)]
    names = [
        low if low == high else f"{low} to {high}" for low, high in zip(lows, map(text_of, ends.tolist()), strict=True)
    ]
    return replace(of, names=names, codes=np.append(codes, -1)[of.codes])


_MOST_NAMES = 10


def _advice(attribute: str, names: list[str], run: RunRecord) -> str:
    close = difflib.get_close_matches(attribute, names, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    if not names:
        return f"set it with: ndcg-track groups set FILE --dataset {shlex.quote(run.dataset)}"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"the attributes are: {', '.join(names[:_MOST_NAMES])}{more}"


def text_of(value: Any) -> str:
    """Return a value as the name of a slice: a whole number without decimals, whichever engine it comes from.

    >>> text_of(3.0), text_of(3), text_of(0.25), text_of("de")
    ('3', '3', '0.25', 'de')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
