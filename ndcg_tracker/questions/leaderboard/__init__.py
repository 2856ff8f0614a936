"""Which run is the best, and which ranks may each run have?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import DEFAULT_METRIC, AnyDataset, Everyday, Judge, MetricTexts, OnlyTagged, Option, Texts
from ndcg_tracker.compare.options import CheckWith, LabelsVersion, LeaderboardTest, Missing
from ndcg_tracker.metrics.language.text import parse_metric, parse_metrics

if TYPE_CHECKING:
    from ndcg_tracker.questions.leaderboard.gather import LeaderboardResult, RankedRun
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import HasStore


Runs = Annotated[
    str,
    Option(
        "Runs, or patterns such as 'bm25*'; by default all runs.",
        metavar="[RUN]...",
        is_positional=True,
        is_optional=True,
    ),
]
Test = Annotated[
    LeaderboardTest, Option("Paired t-test with Holm's correction, or sign flips corrected by the largest t.")
]
BySlices = Annotated[str | None, Everyday("Also show the first metric by this group attribute.", metavar="ATTRIBUTE")]
MissingGroups = Annotated[
    Missing,
    Option(
        "Groups missing from some runs: error counts them as the metric does, and refuses them if it gives them no "
        "result; zero counts them as 0; intersect leaves them out; skip also leaves out those in no run."
    ),
]
Measures = Annotated[
    Sequence[str],
    Option(
        "Also show this tag or parameter, a number such as latency_ms; repeatable.",
        ("--measure",),
        typed=Texts,
    ),
]


def leaderboard(
    self: HasStore,
    *runs: Runs,
    metrics: MetricTexts = DEFAULT_METRIC,
    dataset: AnyDataset = None,
    tags: OnlyTagged = None,
    test: Test = "t",
    by: BySlices = None,
    missing: MissingGroups = "error",
    measures: Measures = (),
    labels: LabelsVersion = None,
    judge: Judge = None,
    check_with: CheckWith = None,
) -> LeaderboardResult:
    """Rank runs by their means, with intervals of means and ranks, and tests of all pairs.

    Parameters: ``runs``: references or patterns such as ``"bm25*"``, none for all of ``dataset`` (which need not be
    named where there is one). ``tags``: only runs with these tags. ``metrics``: text forms; the first metric orders the
    runs. ``test``: "t" (paired t, Holm over all pairs) or "permutation" (sign flips, corrected by the largest t).
    ``by``: a group attribute; also show the first metric in each of its slices. ``missing``: groups that some runs
    lack, as in ``compare``; "intersect" leaves them out, "skip" also those that no run has. ``measures``: numbers of
    whole runs to show next to the metrics, such as latency, by the name of their tag or parameter. ``labels``: a
    version of the labels, or "newest"; by default the latest that most runs share. ``judge``: whose labels (see
    ``compare``). ``check_with``: who checked this judge; then pairs and ranks are by these answers, and means by the
    judge alone. Raises: ReferenceNotFoundError; NotComparableError, with the command that fixes it; InputError for
    options that do not go together.
    """
    from ndcg_tracker.questions.leaderboard.gather import LeaderboardQuestion, LeaderboardResult, leaderboard_of

    question = LeaderboardQuestion(
        runs,
        tuple(parse_metrics(metrics)),
        dataset,
        dict(tags or {}),
        test=test,
        missing=missing,
        by=by,
        measures=measures,
        labels=labels,
        judge=judge,
        check_with=check_with,
    )
    with self.store().read() as tx:
        return LeaderboardResult(leaderboard_of(tx, question))


def best(
    self: HasStore,
    metric: str = DEFAULT_METRIC,
    *,
    dataset: str | None = None,
    tags: Mapping[str, str] | None = None,
    judge: str | None = None,
) -> RunRecord:
    """Return the run with the best mean, no checkpoint; ``leaderboard`` says whether chance may have put it there.

    A UserWarning says if most of the first ranks are unjudged, or clearly more for some runs. Parameters and raises:
    see ``leaderboard``.
    """
    import warnings

    from ndcg_tracker.compare.arms import without_checkpoints
    from ndcg_tracker.compare.results import JudgedSpan
    from ndcg_tracker.compare.run_pair import check_one_sample

    ranked, notes = ranked_runs(self, metric, dataset=dataset, tags=tags, judge=judge)
    if not parse_metric(metric).is_external:
        check_one_sample([of_run.run for of_run in ranked if of_run.mean is not None])
    span = JudgedSpan.of(None, (of_run.judged for of_run in ranked))
    for note in notes if span is not None and (span.least < 0.5 or span.is_apart) else ():
        warnings.warn(note, stacklevel=2)
    kept, _ = without_checkpoints((of_run.run for of_run in ranked), tags or {})
    return (kept or [of_run.run for of_run in ranked])[0]


def ranked_runs(
    self: HasStore,
    metric: str = DEFAULT_METRIC,
    *,
    dataset: str | None = None,
    tags: Mapping[str, str] | None = None,
    judge: str | None = None,
) -> tuple[list[RankedRun], tuple[str, ...]]:
    """Return the runs with their means and judged shares, the best first, and notes on what may change their order.

    Runs that lack the metric under the latest labels that most of them have come last, without a mean. Parameters and
    raises: see ``leaderboard``.
    """
    from ndcg_tracker.questions.leaderboard.gather import LeaderboardQuestion, by_mean, judged_notes
    from ndcg_tracker.words.notes import in_words

    with self.store().read() as tx:
        question = LeaderboardQuestion((), (parse_metric(metric),), dataset, dict(tags or {}), judge=judge)
        ranked, span = by_mean(tx, question)
    names = [of_run.run.name for of_run in ranked if of_run.mean is not None]
    return ranked, in_words(judged_notes(span, names, ranked[0].run.dataset, metric, judge or ""))
