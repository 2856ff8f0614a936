"""The comparison slice by slice: the attributes of groups to slice by, and where the runs differ."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Index
from ndcg_tracker.words.texts import did_you_mean, unit

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


def numbered(values: Sequence[str | None], *, none_alone: bool = False) -> tuple[list[Any], Index]:
    """Return the different values, and the place of each value among them; ``none_alone``: each None is one by itself.

    >>> numbered(["a", None, "a", None]), numbered(["a", None, "a", None], none_alone=True)[1]
    ((['a', None], array([0, 1, 0, 1])), array([0, 1, 0, 2]))
    """
    numbers: dict[object, int] = {}
    each = [(at,) if value is None else value for at, value in enumerate(values)] if none_alone else values
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in each), np.int64, len(each))
    return [*numbers], codes


@dataclass(frozen=True)
class Slicing:
    """The attribute to slice by: its values, None for no value, and of each paired group the place of its value.

    ``names``: those that some group has, in the order of their first groups. ``codes``: int64, shape (n_groups,).
    """

    attribute: str
    names: Sequence[str | None]
    codes: Index

    @classmethod
    def of(cls, attribute: str, values: Sequence[str | None]) -> Slicing:
        """Return the slicing by a value of each group."""
        return cls(attribute, *numbered(values))

    @property
    def values(self) -> list[str | None]:
        """The value of each group."""
        return [self.names[code] for code in self.codes.tolist()]

    def at(self, places: Index) -> Slicing:
        """Return the same for some of the groups."""
        return _in_order(self.attribute, self.names, self.codes[places])


def _in_order(attribute: str, names: Sequence[str | None], codes: Index) -> Slicing:
    """Return a slicing without names that no group has."""
    firsts = np.full(len(names), codes.size)
    firsts[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    order = np.argsort(firsts, kind="stable")
    kept = order[firsts[order] < codes.size]
    return Slicing(attribute, [names[place] for place in kept.tolist()], np.argsort(order)[codes])


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
        codes[(self.ids[places] != group_ids) | (codes < 0)] = len(self.names)
        return _in_order(self.attribute, [*self.names, None], codes)


def slicings_of(tx: ReadTransaction, dataset_id: int, ids: Index) -> list[Slicing]:
    """Return a slicing by each attribute that some of these groups have."""
    each = (of.of(ids) for of in _every(tx, dataset_id).values())
    return [by for by in each if any(name is not None for name in by.names)]


def attributes_of(tx: ReadTransaction, dataset_id: int, ids: Index) -> dict[str, list[str | None]]:
    """Return, for each attribute that some of these groups have, its value in each as text, None where it has none."""
    return {by.attribute: by.values for by in slicings_of(tx, dataset_id, ids)}


def attribute_values(tx: ReadTransaction, run: RunRecord, attribute: str) -> AttributeValues:
    """Return the values of an attribute in a run's dataset (InputError where none of its groups has it)."""
    return _known(_every(tx, run.dataset_id), run, attribute)


def _every(tx: ReadTransaction, dataset_id: int) -> dict[str, AttributeValues]:
    """Return the values of every attribute of a dataset, by name."""
    ids, rows = tx.groups.attribute_rows(dataset_id)
    each = {}
    for name in sorted({name for row in rows for name in row}):
        values, texts = [row.get(name) for row in rows], dict[str, int]()
        code_of = {
            value: -1 if value is None else texts.setdefault(text_of(value), len(texts))
            for value in dict.fromkeys(values)
        }
        if texts:
            codes = np.fromiter(map(code_of.__getitem__, values), np.int64, len(values))
            each[name] = AttributeValues(name, ids, [*texts], codes)
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
    if meant := did_you_mean(attribute, names):
        return meant
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
