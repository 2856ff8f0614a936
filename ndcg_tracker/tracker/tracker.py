"""The tracker: every run of a team in one database, and the questions one asks of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ndcg_tracker.comparison import t_interval
from ndcg_tracker.comparison.pairing import Missing
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.ingest import Columns, RankedTable, read_frame, read_label_frame
from ndcg_tracker.metrics import Metric, parse_metric
from ndcg_tracker.rankings import LabelLists
from ndcg_tracker.reporting import HistoryRow
from ndcg_tracker.tracker.comparing import compared
from ndcg_tracker.tracker.datasets import known_dataset
from ndcg_tracker.tracker.ingestion import IngestResult, RunDetails, store_run
from ndcg_tracker.tracker.rescoring import RescoredRun, add_label_version, rescore_runs
from ndcg_tracker.tracker.results import ComparisonResult

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.storage.query_result import QueryResult
    from ndcg_tracker.storage.records import AliasRecord, EvaluationRecord, RunRecord
    from ndcg_tracker.storage.store import Store

DEFAULT_DATABASE = "ndcg-track.db"
DEFAULT_DATASET = "default"
DEFAULT_METRIC = "ndcg@10"
SQL_TIMEOUT_SECONDS = 60.0


def database_location(location: str | os.PathLike[str] | None = None) -> str:
    """Return where the database is: what was given, else ``NDCG_TRACK_DB``, else ``ndcg-track.db`` here."""
    return os.fspath(location) if location is not None else os.environ.get("NDCG_TRACK_DB") or DEFAULT_DATABASE


class Tracker:
    """Runs, labels, metrics and group results in one database.

    ``location``: a SQLAlchemy URL (``sqlite:///...``, ``postgresql+psycopg://...``) or the path of a SQLite file; by
    default ``NDCG_TRACK_DB``, else ``ndcg-track.db`` in the current folder. A new SQLite file comes to be with the
    first ``ingest``; on Postgres, ``ndcg-track db upgrade`` makes the schema. Opened when first used; close it, or
    use it in a ``with`` statement. Every method raises DatabaseError for a database that cannot be used as it is.

    >>> import tempfile, ndcg_tracker as nt
    >>> shop = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
    >>> with tempfile.TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     tracker.ingest(shop, name="bm25").outcome
    ...     tracker.sql("SELECT run, metric, round(mean, 4) AS mean FROM run_summary").to_dict("records")
    'stored'
    [{'run': 'bm25', 'metric': 'ndcg@10', 'mean': 0.6309}]
    """

    def __init__(self, location: str | os.PathLike[str] | None = None) -> None:
        self.location = database_location(location)
        self._store: Store | None = None

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def close(self) -> None:
        """Close the database; the tracker opens it again when it is used again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def store(self, *, create: bool = False) -> Store:
        """Return the open store; ``create`` makes a SQLite file that is not there yet."""
        if self._store is None:
            from ndcg_tracker.storage.store import Store

            self._store = Store.open(self.location, create=create)
        return self._store

    def ingest(
        self,
        frame: object,
        *,
        name: str,
        labels: object | None = None,
        dataset: str = DEFAULT_DATASET,
        metrics: str | Sequence[str] = DEFAULT_METRIC,
        group: str = "group",
        item: str | None = None,
        score: str = "score",
        label: str = "label",
        weight: str | None = None,
        tags: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        git_commit: str | None = None,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run from a frame, with its labels, metrics and the result of every group, in one transaction.

        Parameters: ``frame``, ``labels`` and the columns: see ``evaluate``. ``name``: unique within ``dataset``.
        ``metrics``: one text form or several. ``tags`` and ``parameters``: kept with the run. ``replace``: take the
        place of other content under this name. Returns: what became of it. Raises: InputError for a frame that cannot
        be taken; ConflictError where the name is taken by other content or a label contradicts a stored one.
        """
        columns = Columns(
            group=group,
            item=item,
            score=score,
            label=None if label == "label" or labels is not None else label,
            weight=weight,
        )
        table = read_frame(frame, columns)
        given = None if labels is None else read_label_frame(labels, Columns(group=group, item=item, label=label))
        details = RunDetails(name, dataset, None, git_commit, dict(parameters or {}), dict(tags or {}))
        return self.ingest_table(
            table, given, details, [metrics] if isinstance(metrics, str) else metrics, replace=replace
        )

    def ingest_table(
        self,
        table: RankedTable,
        labels: LabelLists | None,
        details: RunDetails,
        metrics: Sequence[str],
        *,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run that a reader has read (see ``ingest``)."""
        parsed = [parse_metric(text) for text in metrics]
        if not parsed:
            raise InputError("no metric was asked for; name at least one, such as ndcg@10")
        return store_run(self.store(create=True), table, labels, details, parsed, replace=replace)

    def compare(
        self,
        baseline: str,
        *candidates: str,
        dataset: str | None = None,
        metrics: str | Sequence[str] = (),
        missing: Missing = "error",
        top: int = 10,
    ) -> ComparisonResult:
        """Compare a baseline with one candidate or several, group by group, under the newest labels that they share.

        Parameters: ``baseline`` and ``candidates``: run references (name, id, ``@alias``, ``latest``, ``latest~2``,
        unique prefix). ``metrics``: text forms; by default all that both have. ``missing``: what to do with groups
        that have a result in one run only. ``top``: how many worst and best groups to keep. Raises:
        ReferenceNotFoundError; NotComparableError, naming the command that mends it.
        """
        parsed = [parse_metric(text) for text in ([metrics] if isinstance(metrics, str) else metrics)]
        with self.store().read() as tx:
            one = tx.resolve_run(baseline, dataset)
            others = [tx.resolve_run(candidate, dataset) for candidate in candidates]
            return ComparisonResult(compared(tx, one, others, parsed, missing=missing, top=top))

    def history(self, metric: str = DEFAULT_METRIC, *, dataset: str = DEFAULT_DATASET) -> pd.DataFrame:
        """Return a metric over the runs of a dataset, oldest first: one row per run, with its 95% interval."""
        import pandas as pd

        rows: list[dict[str, Any]] = [dict(row) for row in self.history_rows(metric, dataset=dataset)]
        for row in rows:
            row["ci_low"], row["ci_high"] = row.pop("ci") or (None, None)
        names = ["run", "run_id", "created_at_utc", "metric", "mean", "ci_low", "ci_high"]
        return pd.DataFrame(rows, columns=names)

    def history_rows(self, metric: str, *, dataset: str = DEFAULT_DATASET) -> list[HistoryRow]:
        """Return the history as plain rows (see ``history``); each run under the newest labels it was held to."""
        text = str(parse_metric(metric))
        with self.store().read() as tx:
            found = tx.history(known_dataset(tx, dataset).id, text)
        newest = {row.run_id: row for row in found}  # they come by run and label version
        weighted = parse_metric(text)["weights"] != "none"
        return [
            {
                "run": row.run,
                "run_id": row.run_id,
                "created_at_utc": row.created_at_utc,
                "metric": text,
                "mean": row.mean,
                "ci": None if weighted else _interval(row.mean, row.std_dev, row.n_groups),
            }
            for row in newest.values()
        ]

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

    def rescore(
        self, references: Sequence[str] = (), *, metrics: Sequence[str] = (), dataset: str | None = None
    ) -> list[RescoredRun]:
        """Evaluate stored runs (none named: all) under the newest labels, from their stored items.

        ``metrics``: text forms; by default the metrics that each run has.
        """
        parsed: list[Metric] = [parse_metric(text) for text in metrics]
        with self.store().write() as tx:
            if dataset is not None:
                known_dataset(tx, dataset)
            runs = [tx.resolve_run(reference, dataset) for reference in references] or tx.runs(dataset)
            return rescore_runs(tx, runs, parsed)

    def add_labels(
        self, labels: LabelLists, *, dataset: str = DEFAULT_DATASET, source: str | None = None
    ) -> tuple[int, bool]:
        """Make labels the newest version of a dataset; return the version and whether it is new."""
        with self.store(create=True).write() as tx:
            return add_label_version(tx, dataset, labels, source)

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
                raise ReferenceNotFoundError(f"alias @{name} is in several datasets ({names}); give --dataset")
            tx.delete_alias(found[0].dataset_id, name)
            return found[0]

    def query(self, query: str, *, timeout_seconds: float = SQL_TIMEOUT_SECONDS) -> QueryResult:
        """Run a read-only SQL query on the public views (see ``sql``) and return columns and rows."""
        return self.store().query(query, timeout_seconds=timeout_seconds)

    def sql(self, query: str, *, timeout_seconds: float = SQL_TIMEOUT_SECONDS) -> pd.DataFrame:
        """Run a read-only SQL query on the public views: run_summary, group_history, group_diff, items, labels, ...

        Raises: InputError for a query that is wrong, writes, or runs out of time.
        """
        import pandas as pd

        result = self.query(query, timeout_seconds=timeout_seconds)
        return pd.DataFrame(result.rows, columns=result.columns)


def _interval(mean: float | None, std_dev: float | None, n_groups: int) -> tuple[float, float] | None:
    return None if mean is None or std_dev is None else t_interval(mean, std_dev, n_groups)
