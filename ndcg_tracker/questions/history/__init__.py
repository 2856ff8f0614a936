"""How did a metric go from run to run, and where did it step?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC, Dataset, Judge, MetricText, OnlyTagged, Option
from ndcg_tracker.compare.options import Version, labels_version

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.questions.history.gather import History, HistoryResult
    from ndcg_tracker.questions.history.say import HistoryFilter
    from ndcg_tracker.storage.store import HasStore


Branch = Annotated[str | None, Option("Only runs with the tag branch=NAME.", metavar="NAME")]
Commit = Annotated[str, Option("Only runs whose git commit has this prefix.", metavar="PREFIX")]
Since = Annotated[str | None, Option("Only runs stored at this time or later: ISO 8601, in UTC.", metavar="DATE")]
Until = Annotated[str | None, Option("Only runs stored until this time; a date includes that day.", metavar="DATE")]
Last = Annotated[int | None, Option("Only the newest N.", metavar="N", least=1)]
ShownLabels = Annotated[
    Version,
    Option(
        "Labels: a version, or newest.",
        metavar="VERSION",
        default="the newest that each run has",
        typed=str | None,
        read=labels_version,
    ),
]
NewSteps = Annotated[bool, Option("Show only the steps that the newest run brings to light.")]


def history(
    self: HasStore,
    metric: MetricText = DEFAULT_METRIC,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    tags: OnlyTagged = None,
    branch: Branch = None,
    commit: Commit = "",
    since: Since = None,
    until: Until = None,
    last: Last = None,
    new_steps: NewSteps = False,
    labels: ShownLabels = None,
    judge: Judge = None,
) -> pd.DataFrame:
    """Return a metric over the runs of a dataset, oldest first: one row per run, with its 95% interval.

    ``step`` is true at the first run after the mean stepped, ``delta`` the paired difference to the run before;
    ``drift_change`` is set at the last run of a slow drift, over the runs ``drift_between``.
    Parameters: ``tags``, ``branch`` (the tag of this name), ``commit`` (its beginning), ``since``, ``until`` (ISO
    8601, UTC) and ``last`` choose runs; steps are looked for among these. ``new_steps``: only the rows of steps
    that the newest of these runs has brought to light. ``labels``: a version of the labels, or "newest", by default the
    newest that each run has; ``judge``: whose labels (see ``compare``). Raises: InputError for a date that is none;
    ReferenceNotFoundError for an unknown dataset.
    """
    from ndcg_tracker.questions.history.say import HistoryFilter

    chosen = HistoryFilter(tags or {}, commit, since, until, last, branch, labels, judge)
    return history_report(self, metric, dataset=dataset, wanted=chosen, new_steps=new_steps).to_frame()


def history_report(
    self: HasStore,
    metric: str,
    *,
    dataset: str = DEFAULT_DATASET,
    wanted: HistoryFilter | None = None,
    new_steps: bool = False,
) -> HistoryResult:
    """Return the history as plain rows with its notes (see ``history``); with ``new_steps`` which steps are new."""
    from ndcg_tracker.questions.history.gather import HistoryResult, history_of, new_steps_of
    from ndcg_tracker.questions.history.say import HistoryFilter

    chosen = wanted or HistoryFilter()
    with self.store().read() as tx:
        of_dataset = history_of(tx, dataset, metric, chosen)

        def without_newest() -> History:
            return history_of(tx, dataset, metric, chosen, without_run_id=of_dataset.rows[-1]["run_id"])

        new = new_steps_of(of_dataset, without_newest) if new_steps else None
    return HistoryResult(of_dataset, new)


def history_of_suite(
    self: HasStore,
    name: str,
    metric: str = DEFAULT_METRIC,
    *,
    by_tag: str | None = None,
    wanted: HistoryFilter | None = None,
    new_steps: bool = False,
) -> HistoryResult:
    """Return the macro means of a suite's systems, the oldest first, with their steps.

    A system counts from the time when it has a run on every dataset; it is named as in ``suite``, by ``by_tag`` or
    by its runs' name. ``wanted``, ``new_steps``: see ``history_report``. Raises: ReferenceNotFoundError.
    """
    from ndcg_tracker.questions.history.gather import HistoryResult, new_steps_of
    from ndcg_tracker.questions.history.gather_suite import history_on_suite
    from ndcg_tracker.questions.history.say import HistoryFilter

    chosen = wanted or HistoryFilter()
    with self.store().read() as tx:
        of_suite = history_on_suite(tx, name, metric, chosen, by_tag)

        def without_newest() -> History:
            return history_on_suite(tx, name, metric, chosen, by_tag, without=of_suite.rows[-1]["run"])

        new = new_steps_of(of_suite, without_newest) if new_steps else None
    return HistoryResult(of_suite, new)
