"""Carry labels to new ids of their items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import Positional, asks, made
from ndcg_tracker.render.formats import Said
from ndcg_tracker.render.report import Report, Table, columns
from ndcg_tracker.runs.question import CarryKeywords, CarryTold
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.runs.carry import CarriedLabels
    from ndcg_tracker.storage.store import HasStore


Mapped = Annotated[
    str | Mapping[str, str] | None,
    Positional("A file with the columns old and new.", metavar="[MAPPING]", typed=str | None),
]


@asks(CarryTold)
def carry_labels(self: HasStore, mapping: Mapped = None, **keywords: Unpack[CarryKeywords]) -> CarriedLabels:
    """Make a version of the latest labels in which the old and the new id of an item are one.

    Runs with old ids and runs with new ids are evaluated under this one version. Either id has the grade: in a list
    that has both, the higher place counts, and the ideal has the item once.

    Parameters: one of ``mapping`` (a path, or a dict from old to new ids), ``pattern`` (such as "^v2-") and ``by_text``
    says which ids are one. ``rescore``: evaluate the stored runs under the version. Returns: the version, how many
    items were carried, and what is unclear: an item that was split is listed, and keeps its label. Raises: InputError
    if there is nothing to carry; ReferenceNotFoundError.
    """
    from ndcg_tracker.ingest.reading import read_mapping
    from ndcg_tracker.runs.carry import carry_labels
    from ndcg_tracker.runs.ingest import source_name

    pairs, source = None, None
    if isinstance(mapping, Mapping):
        pairs = [(str(old), str(new)) for old, new in mapping.items()]
    elif mapping is not None:
        pairs, source = read_mapping(mapping), source_name(mapping)
    with self.store().write("content") as tx:
        return carry_labels(tx, made(CarryTold, keywords), pairs, source)


def carried_said(done: CarriedLabels) -> Said:
    """Return the output for labels that were carried."""
    return Said(
        done,
        lambda: [_report(done)],
        lambda: Table(columns("item", "other"), [(of.item, other) for of in done.unclear for other in of.others]),
    )


def _report(done: CarriedLabels) -> Report:
    version = f"version {done.version} of dataset {done.dataset!r}"
    stored = f"{'stored' if done.is_new else 'already stored'} as {version}"
    carried = f"carried {counted(done.n_carried, 'labelled item')}"
    told = [f"{carried}; {done.n_unclear:,} unclear, {done.n_alone:,} without another id"]
    if done.is_new and not done.n_carried:
        told.append("no stored id is another one now: it counts for ids to come")
    if done.n_without_label:
        told.append(f"{counted(done.n_without_label, 'row')} of the mapping without a label")
    if done.rescored:
        told.append(f"rescored {sum(bool(run.metrics) for run in done.rescored)} of {len(done.rescored)} runs")
    rows = [[of.item, ", ".join(of.others)] for of in done.unclear]
    if rows:
        told.append("unclear: its grade stays with its own id; read the texts, and label the others yourself")
    return Report(
        stored if done.is_new or done.n_carried else f"no label is carried; the latest is still {version}",
        sentences=told,
        tables=[Table(columns("unclear", "may be"), rows)] if rows else [],
    )
