"""The stored runs, aliases and groups: looking them up, renaming, tagging, deleting."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ndcg_tracker.errors import ReferenceNotFoundError, argument
from ndcg_tracker.tracker.datasets import known_dataset
from ndcg_tracker.tracker.opened import OpenedStore

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import AliasRecord, EvaluationRecord, RunRecord
    from ndcg_tracker.tracker.exporting import Exported
    from ndcg_tracker.tracker.group_facts import GroupRecord, GroupsSet
    from ndcg_tracker.tracker.importing import Imported


class Housekeeping(OpenedStore):
    """What one does with runs, aliases and groups beside ingesting and comparing."""

    def runs(self, dataset: str | None = None) -> list[RunRecord]:
        """Return the stored runs, oldest first."""
        with self.store().read() as tx:
            if dataset is not None:
                known_dataset(tx, dataset)
            return tx.runs(dataset)

    def run(self, reference: str, dataset: str | None = None) -> tuple[RunRecord, list[EvaluationRecord]]:
        """Return one run and its evaluations."""
        with self.store().read() as tx:
            run = tx.resolve_run(reference, dataset)
            return run, tx.evaluations(run.id)

    def rename_run(self, reference: str, name: str, dataset: str | None = None) -> RunRecord:
        """Give a run another name and return it as it was before."""
        with self.store().write() as tx:
            run = tx.resolve_run(reference, dataset)
            tx.rename_run(run.id, name)
            return run

    def tag_run(
        self, reference: str, tags: Mapping[str, str], *, remove: Sequence[str] = (), dataset: str | None = None
    ) -> dict[str, str]:
        """Add tags to a run, remove others, and return all it has."""
        with self.store().write() as tx:
            run = tx.resolve_run(reference, dataset)
            kept = {key: value for key, value in {**run.tags, **tags}.items() if key not in remove}
            tx.set_tags(run.id, kept)
            return kept

    def delete_run(self, reference: str | int, dataset: str | None = None) -> RunRecord:
        """Delete a run (an int is its id) with its items, evaluations and group results, and return what it was."""
        with self.store().write() as tx:
            run = tx.run(reference) if isinstance(reference, int) else tx.resolve_run(reference, dataset)
            tx.delete_run(run.id)
            return run

    def aliases(self, dataset: str | None = None) -> list[AliasRecord]:
        """Return the aliases."""
        with self.store().read() as tx:
            if dataset is not None:
                known_dataset(tx, dataset)
            return tx.aliases(dataset)

    def set_alias(self, alias: str, reference: str, dataset: str | None = None) -> RunRecord:
        """Point an alias, given with or without @, at a run and return the run."""
        with self.store().write() as tx:
            run = tx.resolve_run(reference, dataset)
            tx.set_alias(run.dataset_id, alias.removeprefix("@"), run.id)
            return run

    def delete_alias(self, alias: str, dataset: str | None = None) -> AliasRecord:
        """Delete an alias and return what it was."""
        name = alias.removeprefix("@")
        with self.store().write() as tx:
            found = [record for record in tx.aliases(dataset) if record.name == name]
            if not found:
                known = ", ".join(f"@{record.name}" for record in tx.aliases(dataset)) or "none"
                raise ReferenceNotFoundError(f"there is no alias @{name}; there is {known}")
            if len(found) > 1:
                names = ", ".join(record.dataset for record in found)
                raise ReferenceNotFoundError(
                    f"alias @{name} is in several datasets ({names}); give {argument('dataset')}"
                )
            tx.delete_alias(found[0].dataset_id, name)
            return found[0]

    def groups(self, dataset: str = "default") -> list[GroupRecord]:
        """Return the groups of a dataset with their weights and attributes."""
        from ndcg_tracker.tracker.group_facts import group_records

        with self.store().read() as tx:
            return group_records(tx, dataset)

    def set_groups(
        self,
        frame: object,
        *,
        dataset: str = "default",
        group: str | None = None,
        weight: str | None = None,
        attributes: Sequence[str] | None = None,
    ) -> GroupsSet:
        """Give groups of a dataset attributes and weights, from a frame with one row per group, in one transaction.

        Parameters: ``frame``: a pandas DataFrame, a pyarrow Table, a dict of columns, or the table that a reader made
        (``ndcg_tracker.ingest.read_groups``). ``group``, ``weight``: names of columns, by default ``group`` and, if
        there is one, ``weight``. ``attributes``: names of columns, by default all others. A null takes the attribute or
        the weight away; what the frame does not name stays. Means that rest on a weight that changes are computed
        again. Raises: InputError for a frame that cannot be taken, and where the dataset has none of its groups.
        """
        from ndcg_tracker.ingest.groups import GroupColumns, GroupTable, read_group_frame
        from ndcg_tracker.tracker.group_facts import store_group_facts

        columns = GroupColumns(group, weight, None if attributes is None else tuple(attributes))
        table = frame if isinstance(frame, GroupTable) else read_group_frame(frame, columns)
        with self.store().write() as tx:
            return store_group_facts(tx, dataset, table)

    def export_runs(
        self, folder: str | os.PathLike[str], references: Sequence[str] = (), *, dataset: str | None = None
    ) -> Exported:
        """Write runs (none named: all, of ``dataset`` if given) with all that belongs to them as Parquet files.

        The folder must not be there yet. Raises: ReferenceNotFoundError; InputError where it cannot be written.
        """
        from ndcg_tracker.exchange import ExportWriter
        from ndcg_tracker.tracker.exporting import export

        with self.store().read() as tx:
            if dataset is not None:
                known_dataset(tx, dataset)
            runs = [tx.resolve_run(reference, dataset) for reference in references] or tx.runs(dataset)
            if not runs:
                raise ReferenceNotFoundError("there are no runs to export; store one with: ndcg-track ingest FILE")
            with ExportWriter(Path(folder)) as writer:
                return export(tx, runs, writer)

    def import_runs(self, folder: str | os.PathLike[str], *, dataset: str | None = None) -> Imported:
        """Store what ``export_runs`` wrote, all of it or nothing; what is stored already stays as it is.

        ``dataset``: another name for the dataset of an export that holds one. Raises: InputError, ConflictError.
        """
        from ndcg_tracker.exchange import ExportReader
        from ndcg_tracker.tracker.importing import import_all

        with ExportReader(Path(folder)) as reader, self.store(create=True).write() as tx:
            return import_all(tx, reader, dataset)
