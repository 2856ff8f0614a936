"""Attributes of groups, as values to slice by."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.errors import InputError
from ndcg_tracker.runs.groups import _MAX_SHOWN

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.transactions import ReadTransaction


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """The values of one attribute, as text, by group id; a group without one is not among them."""

    attribute: str
    value_of: Mapping[int, str]

    def of(self, group_ids: Index) -> Slicing:
        """Return the value of each group, None where it has none."""
        return Slicing(self.attribute, [self.value_of.get(group_id) for group_id in group_ids.tolist()])


def attributes_of(tx: ReadTransaction, dataset_id: int, ids: Index) -> dict[str, list[str | None]]:
    stored = tx.groups.attributes(dataset_id)
    names = sorted({name for attributes in stored.values() for name in attributes})
    of_groups = [stored.get(group_id, {}) for group_id in ids.tolist()]
    return {
        name: [None if one.get(name) is None else text_of(one[name]) for one in of_groups]
        for name in names
        if any(one.get(name) is not None for one in of_groups)
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
        known = sorted({name for attributes in stored.values() for name in attributes})
        raise InputError(
            f"no group of dataset {run.dataset!r} has an attribute {attribute!r}",
            advice=_advice(attribute, known, run),
        )
    return AttributeValues(attribute, value_of)


def _advice(attribute: str, known: list[str], run: RunRecord) -> str:
    close = difflib.get_close_matches(attribute, known, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    if not known:
        return f"set it with: ndcg-track groups set FILE --dataset {shlex.quote(run.dataset)}"
    more = f" and {len(known) - _MAX_SHOWN} more" if len(known) > _MAX_SHOWN else ""
    return f"there {'is' if len(known) == 1 else 'are'} {', '.join(known[:_MAX_SHOWN])}{more}"


def text_of(value: Any) -> str:
    """Return a value as a slice is named: a whole number without decimals, whichever engine it comes from.

    >>> text_of(3.0), text_of(3), text_of(0.25), text_of("de")
    ('3', '3', '0.25', 'de')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
