"""The tracker: every run of a team in one database, and the questions one asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ndcg_tracker.comparison import t_interval
from ndcg_tracker.comparison.pairing import Missing
from ndcg_tracker.ingest import RankedTable
from ndcg_tracker.metrics import Metric, parse_metric
from ndcg_tracker.rankings import LabelLists
from ndcg_tracker.reporting import HistoryRow
from ndcg_tracker.tracker.comparing import compared
from ndcg_tracker.tracker.conventions import Convention, conventions
from ndcg_tracker.tracker.datasets import known_dataset
from ndcg_tracker.tracker.evaluation import parsed_metrics, read_frames
from ndcg_tracker.tracker.housekeeping import Housekeeping
from ndcg_tracker.tracker.ingestion import IngestResult, RunDetails, store_run
from ndcg_tracker.tracker.rescoring import RescoredRun, add_label_version, rescore_runs
from ndcg_tracker.tracker.results import ComparisonResult
from ndcg_tracker.tracker.scoring import stored_weights
from ndcg_tracker.tracker.streaming import store_stream

if TYPE_CHECKING:
    import pandas as pd


DEFAULT_DATASET = "default"
DEFAULT_METRIC = "ndcg@10"


class Tracker(Housekeeping):
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
        table, given = read_frames(frame, labels, group=group, item=item, score=score, label=label, weight=weight)
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
        return store_run(self.store(create=True), table, labels, details, parsed_metrics(metrics), replace=replace)

    def ingest_stream(
        self,
        blocks: Iterable[RankedTable],
        labels: LabelLists | None,
        details: RunDetails,
        metrics: Sequence[str],
        *,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run that a reader reads block by block (see ``ingest`` and ``ndcg_tracker.ingest.stream_run``)."""
        return store_stream(self.store(create=True), blocks, labels, details, parsed_metrics(metrics), replace=replace)

    def compare(
        self,
        baseline: str,
        *candidates: str,
        dataset: str | None = None,
        metrics: str | Sequence[str] = (),
        missing: Missing = "error",
        top: int = 10,
        tie_bounds: bool = False,
    ) -> ComparisonResult:
        """Compare a baseline with one candidate or several, group by group, under the newest labels that they share.

        Parameters: ``baseline`` and ``candidates``: run references (name, id, ``@alias``, ``latest``, ``latest~2``,
        unique prefix). ``metrics``: text forms; by default all that both have. ``missing``: what to do with groups
        that have a result in one run only. ``top``: how many worst and best groups to keep. ``tie_bounds``: list the
        groups that ties in scores leave open. Raises: ReferenceNotFoundError; NotComparableError, naming the command
        that mends it.
        """
        parsed = [parse_metric(text) for text in ([metrics] if isinstance(metrics, str) else metrics)]
        with self.store().read() as tx:
            one = tx.resolve_run(baseline, dataset)
            others = [tx.resolve_run(candidate, dataset) for candidate in candidates]
            return ComparisonResult(compared(tx, one, others, parsed, missing=missing, top=top, tie_groups=tie_bounds))

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

    def conventions(self, reference: str, *, cutoff: int = 10, dataset: str | None = None) -> list[Convention]:
        """Return a run's NDCG as every tool computes it, each with the axes that move it."""
        with self.store().read() as tx:
            run = tx.resolve_run(reference, dataset)
            return conventions(tx, run, cutoff, stored_weights(tx, run.dataset_id))

    def add_labels(
        self, labels: LabelLists, *, dataset: str = DEFAULT_DATASET, source: str | None = None
    ) -> tuple[int, bool]:
        """Make labels the newest version of a dataset; return the version and whether it is new."""
        with self.store(create=True).write() as tx:
            return add_label_version(tx, dataset, labels, source)


def _interval(mean: float | None, std_dev: float | None, n_groups: int) -> tuple[float, float] | None:
    return None if mean is None or std_dev is None else t_interval(mean, std_dev, n_groups)
