"""A metric over the runs of a dataset, with the runs at which it stepped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.notes import Note
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.reporting.history import HistoryRow
from ndcg_tracker.reporting.notes import note_text
from ndcg_tracker.statistics.t import limited, t_interval
from ndcg_tracker.tracker.datasets import known_dataset
from ndcg_tracker.tracker.history_filter import HistoryFilter
from ndcg_tracker.tracker.history_steps import FoundStep, steps_of

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.storage.records import HistoryRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

_COLUMNS = ("run", "run_id", "created_at_utc", "metric", "mean", "ci_low", "ci_high", "step", "delta", "p_adjusted")
_MORE_COLUMNS: tuple[str, ...] = (
    *("git_commit", "label_set_version", "tags", "parameters"),
    *("step_change", "step_ci", "step_between", "step_before", "step_parameters", "step_possible"),
    "requested_as",
)


@dataclass(frozen=True, slots=True)
class History:
    """The history of one metric: a row per run, oldest first, and what must be known to read them.

    ``facts``: the latter as notes, ``notes``: in words. ``n_without_filter``: how many runs have the metric at all.
    ``n_in_dataset``: how many runs there are.
    """

    rows: tuple[HistoryRow, ...]
    facts: tuple[Note, ...]
    n_without_filter: int
    n_in_dataset: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the rows, in words."""
        return tuple(map(note_text, self.facts))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run; ``step_between`` holds the names of two runs, both included, and
        ``step_parameters`` by name what a parameter was before the step and what after it."""
        import pandas as pd

        table = []
        for row in self.rows:
            low, high = row["ci"] or (None, None)
            table.append({**row, "ci_low": low, "ci_high": high})
        return pd.DataFrame(table, columns=[*_COLUMNS, *_MORE_COLUMNS])


def history_of(tx: ReadTransaction, dataset: str, metric: str, wanted: HistoryFilter) -> History:
    """Return the history of a metric over the runs that are wanted, each under its newest labels.

    Raises: ReferenceNotFoundError for an unknown dataset; MetricError for a wrong text.
    """
    text = str(parse_metric(metric))
    dataset_id = known_dataset(tx, dataset).id
    newest = {record.run_id: record for record in tx.history(dataset_id, text)}  # they come by run and label version
    runs = tx.runs(dataset)
    details = {run.id: run for run in wanted.chosen([run for run in runs if run.id in newest])}
    records = [newest[run_id] for run_id in details]
    notes: list[Note] = []
    versions = sorted({record.label_set_version for record in records})
    if len(versions) > 1:
        n_runs = [sum(record.label_set_version == version for record in records) for version in versions]
        command = ("ndcg-track", "rescore", "--all", "--dataset", dataset, "--metric", metric)
        counts = tuple(zip(versions, n_runs, strict=True))
        notes.append(Note("different_labels", {"versions": counts}, command))
    parsed = parse_metric(text)
    if parsed.shown_only is None:
        steps = steps_of(tx, dataset_id, text, records, notes)
    else:
        steps = {}
        notes.append(Note("shown_only", {"metric": text, "why": parsed.shown_only}))
    no_interval = parsed["weights"] != "none" or parsed.shown_only is not None
    rows = [_row(record, details, text, steps.get(record.run_id), no_interval, parsed.limits) for record in records]
    return History(tuple(rows), tuple(notes), len(newest), len(runs))


def _row(
    record: HistoryRecord,
    details: Mapping[int, RunRecord],
    metric: str,
    found: FoundStep | None,
    no_interval: bool,
    limits: tuple[float, float] | None,
) -> HistoryRow:
    """Return one run as JSON has it; ``limits``: between which numbers every value lies, if known."""
    run = details[record.run_id]
    step = None if found is None else found.step
    between, before = None, None
    if found is not None and found.first is not None and found.last is not None:
        between = (details[found.first].name, details[found.last].name)
        before = None if found.before is None else details[found.before]
    ci = None
    change_limits = None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])
    if not no_interval and record.mean is not None and record.std_dev is not None:
        ci = t_interval(record.mean, record.std_dev, record.n_groups)
    if limits is not None and record.mean is not None and limits[0] <= record.mean <= limits[1]:
        ci = limited(ci, limits)
    return {
        "run": record.run,
        "run_id": record.run_id,
        "created_at_utc": record.created_at_utc,
        "metric": metric,
        "mean": record.mean,
        "ci": ci,
        "step": step is not None and step.is_step,
        "delta": None if step is None else step.delta,
        "p_adjusted": None if step is None else step.p_adjusted,
        "git_commit": record.git_commit,
        "label_set_version": record.label_set_version,
        "tags": run.tags,
        "parameters": run.parameters,
        "step_change": None if step is None else step.change,
        "step_ci": None if step is None else limited(step.change_ci, change_limits),
        "step_between": between,
        "step_before": None if before is None else before.name,
        "step_parameters": None if before is None else _changed(before.parameters, run.parameters),
        "step_possible": step is not None and step.is_possible,
        "requested_as": record.requested_as,
    }


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """Return the parameters that differ, each with its value before and after, None where there was none.

    >>> _changed({"k1": "0.9", "b": "0.4"}, {"k1": "1.2", "b": "0.4", "fields": "title"})
    {'fields': (None, 'title'), 'k1': ('0.9', '1.2')}
    """
    pairs = {key: (before.get(key), after.get(key)) for key in sorted({*before, *after})}
    return {key: values for key, values in pairs.items() if values[0] != values[1]}
