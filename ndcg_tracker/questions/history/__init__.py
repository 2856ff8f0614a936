"""How did a metric go from run to run, and where did it step?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from ndcg_tracker.asked import (
    DEFAULT_DATASET,
    DEFAULT_METRIC,
    ByTag,
    Dataset,
    MetricText,
    OnSuite,
    Option,
    asks,
    made,
)
from ndcg_tracker.errors import ReferenceNotFoundError, Spelling, argument, in_python
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.question import HistoryFilter, HistoryKeywords

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.questions.history.digest import Digest
    from ndcg_tracker.questions.history.gather import History, HistoryResult
    from ndcg_tracker.questions.history.say import HistoryRow
    from ndcg_tracker.render.formats import Said
    from ndcg_tracker.storage.store import HasStore


After = Annotated[str, Option("The run after which everything is new.", metavar="RUN")]
NewSteps = Annotated[bool, Option("Show only the steps that the latest run reveals.")]


@asks(HistoryFilter)
def history(
    self: HasStore,
    metric: MetricText = DEFAULT_METRIC,
    *,
    suite: OnSuite = None,
    by_tag: ByTag = None,
    dataset: Dataset = DEFAULT_DATASET,
    new_steps: NewSteps = False,
    **runs: Unpack[HistoryKeywords],
) -> pd.DataFrame:
    """Return a metric over the runs of a dataset, oldest first: one row per run, with its 95% interval.

    ``step`` is true at the first run after the mean stepped; ``delta`` is the paired difference to the run before.
    ``drift_change`` is set at the last run of a slow drift, over the runs ``drift_between``. Parameters: ``tags``,
    ``branch`` (the tag of this name), ``commit`` (its beginning), ``since``, ``until`` (ISO 8601, UTC) and ``last``
    choose runs, and steps are looked for among these. ``new_steps``: only the rows of steps that the latest of these
    runs reveals. ``labels``: a version of the labels, or "newest", by default the latest that each run has; ``judge``:
    whose labels (see ``compare``). ``suite``: the macro means of the systems that have a run on every dataset of this
    suite, in the order of their last runs; ``by_tag``: the tag whose value names a system. Raises: InputError for an
    invalid date; ReferenceNotFoundError for an unknown dataset.
    """
    where: dict[str, Any] = {"suite": suite, "by_tag": by_tag, "dataset": dataset}
    return history_report(self, metric, **where, wanted=made(HistoryFilter, runs), new_steps=new_steps).to_frame()


def history_report(
    self: HasStore,
    metric: str = DEFAULT_METRIC,
    *,
    suite: str | None = None,
    by_tag: str | None = None,
    dataset: str = DEFAULT_DATASET,
    wanted: HistoryFilter | None = None,
    new_steps: bool = False,
) -> HistoryResult:
    """Return the history as plain rows with notes (see ``history``); with ``new_steps``, also which steps are new."""
    from ndcg_tracker.questions.history.gather import HistoryResult, history_of, new_steps_of

    chosen = wanted or HistoryFilter()
    with self.store().read() as tx:
        place = dataset if suite is None else tx.suites.known(suite)

        def without(later: Sequence[str]) -> History:
            return history_of(tx, place, metric, chosen, by_tag=by_tag, without=later)

        found = without(())
        new = new_steps_of(found, len(found.rows) - 1, without) if new_steps else None
    return HistoryResult(found, new)


@asks(HistoryFilter)
def history_digest(
    self: HasStore,
    after: After,
    metric: MetricText = DEFAULT_METRIC,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    **runs: Unpack[HistoryKeywords],
) -> Digest:
    """Return what is new in a history since a run: the digest of a night.

    It has the new runs, the steps that these reveal, the groups that lost most between the last run before them and the
    latest, the labels added since, and the items to judge. Parameters: ``after``: a run reference (see
    ``compare``), such as "before:2026-09-01", or an alias that you set after each digest. The others choose runs, and
    steps are looked for among these (see ``history``). Raises: InputError for an invalid date; ReferenceNotFoundError
    for an unknown run or dataset, and if none of the chosen runs is that old.
    """
    from ndcg_tracker.questions.history.gather import history_of
    from ndcg_tracker.questions.history.gather_digest import digest_of

    wanted = made(HistoryFilter, runs)
    with self.store().read() as tx:
        found = history_of(tx, dataset, metric, wanted)
        refuse_nothing(found, metric, wanted)
        return digest_of(tx, after, found, metric, wanted)


def history_answer(
    result: HistoryResult,
    wanted: HistoryFilter,
    *,
    new_only: bool = False,
    newest_first: bool = False,
    spelled: Spelling = in_python,
) -> Said:
    """Return the output of a history, which shows people the metric under the name of its tool.

    ``new_only``: only the steps that the latest run reveals. The other parameters: see ``history_said``.
    """
    from ndcg_tracker.metrics.language.dialects import familiar_name
    from ndcg_tracker.questions.history.say import history_said, new_steps_said

    rows, notes, dataset = result.rows, result.history.notes, result.history.dataset
    name = familiar_name(rows[0]["metric"], rows[-1].get("requested_as", ""))

    def shown(of_rows: Sequence[HistoryRow]) -> list[HistoryRow]:
        return [{**row, "metric": name} for row in of_rows]

    if new_only:
        new = result.new_steps or ()
        return replace(
            history_said(new), dataset=dataset, reports=new_steps_said(shown(new), shown(rows)[-1], notes).reports
        )
    for_people = history_said(shown(rows), notes=notes, newest_first=newest_first)
    return replace(history_said(rows), dataset=dataset, reports=for_people.reports)


def refuse_nothing(of_dataset: History, metric: str, wanted: HistoryFilter) -> None:
    """Refuse a history without any run (ReferenceNotFoundError), and say how to get one."""
    dataset = of_dataset.dataset
    if not of_dataset.n_in_dataset:
        begin = shlex.join(["ndcg-track", "ingest", "FILE", "--dataset", dataset])
        raise ReferenceNotFoundError(f"dataset {dataset!r} has no run yet", advice=f"store one with: {begin}")
    if not of_dataset.n_without_filter:
        others = [parse_metric(text) for text in of_dataset.other_metrics]
        if others and all(other.is_external for other in others):
            command = shlex.join(["ndcg-track", "history", "--dataset", dataset, "--metric", others[0].measure])
            raise ReferenceNotFoundError(
                f"no run of dataset {dataset!r} has {metric}: the dataset has only results of other engines",
                advice=f"see them with: {command}",
            )
        raise ReferenceNotFoundError(
            f"no run of dataset {dataset!r} has {metric}", advice=f"compute it with: {of_dataset.adding}"
        )
    if not of_dataset.rows and any(note.kind == "checkpoints" for note in of_dataset.notes):
        from ndcg_tracker.compare.arms import CHECKPOINTS

        advice = f"see them with {argument('tags', CHECKPOINTS)}"
        raise ReferenceNotFoundError("the requested runs are only checkpoints of trainings", advice=advice)
    if not of_dataset.rows:
        listed = shlex.join(["ndcg-track", "runs", "list", "--dataset", dataset])
        raise ReferenceNotFoundError(
            f"none of the {of_dataset.n_without_filter:,} runs of dataset {dataset!r} with {metric} has {wanted.words}",
            advice=f"use fewer filters, or see them with: {listed}",
        )
