"""The comparison slice by slice: the attributes of groups to slice by, and where the runs differ."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings import Index
from ndcg_tracker.words.texts import unit

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class Slicing:
    """The attribute to slice by, and its value for each paired group of the first metric, None for no value."""

    attribute: str
    values: Sequence[str | None]

    def places(self) -> dict[str | None, Index]:
        """Return the places of the groups of each value."""
        places_of: dict[str | None, list[int]] = {}
        for place, value in enumerate(self.values):
            places_of.setdefault(value, []).append(place)
        return {value: np.array(listed) for value, listed in places_of.items()}


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """The values of one attribute, as text, by group id; a group without one is not among them."""

    attribute: str
    value_of: Mapping[int, str]

    def of(self, group_ids: Index) -> Slicing:
        """Return the value of each group, None where it has none."""
        return Slicing(self.attribute, [self.value_of.get(group_id) for group_id in group_ids.tolist()])


def attributes_of(tx: ReadTransaction, dataset_id: int, ids: Index) -> dict[str, list[str | None]]:
    """Return, for each attribute that some of these groups have, its value in each as text, None where it has none."""
    stored = tx.groups.attributes(dataset_id)
    names = sorted({name for attributes in stored.values() for name in attributes})
    of_groups = [stored.get(group_id, {}) for group_id in ids.tolist()]
    return {
        name: [None if of_group.get(name) is None else text_of(of_group[name]) for of_group in of_groups]
        for name in names
        if any(of_group.get(name) is not None for of_group in of_groups)
    }


def attribute_values(tx: ReadTransaction, run: RunRecord, attribute: str) -> AttributeValues:
    """Return the values of an attribute in a run's dataset (InputError where none of its groups has it)."""
    stored = tx.groups.attributes(run.dataset_id)
    value_of = {
        group_id: text_of(attributes[attribute])
        for group_id, attributes in stored.items()
        if attributes.get(attribute) is not None
    }
    if not value_of:
        names = sorted({name for attributes in stored.values() for name in attributes})
        raise InputError(
            f"no {unit()} of dataset {run.dataset!r} has an attribute {attribute!r}",
            advice=_advice(attribute, names, run),
        )
    return AttributeValues(attribute, value_of)


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
