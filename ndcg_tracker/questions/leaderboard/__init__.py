"""Which run is the best, and which ranks may each run have?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import DEFAULT_METRIC, Positional, asks, made
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.leaderboard.question import LeaderboardKeywords, LeaderboardQuestion

if TYPE_CHECKING:
    from ndcg_tracker.questions.leaderboard.gather import LeaderboardResult, RankedRun
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import HasStore


Runs = Annotated[
    str,
    Positional("Runs, or patterns such as 'bm25*'; by default all runs.", metavar="[RUN]...", is_optional=True),
]
TESTED = ("metrics", "suite", "by_tag", "test", "by", "missing", "measures", "labels", "check_with")
"""Options of tests and tables, which the order by means alone does not need."""


@asks(LeaderboardQuestion)
def leaderboard(self: HasStore, *runs: Runs, **keywords: Unpack[LeaderboardKeywords]) -> LeaderboardResult:
    """Rank runs by their means, with intervals of means and ranks, and tests of all pairs.

    Parameters: ``runs``: references or patterns such as ``"bm25*"``, none for all of ``dataset`` (which need not be
    named where there is one). ``tags``: only runs with these tags. ``metrics``: text forms; the first metric orders the
    runs. ``test``: "t" (paired t, Holm over all pairs) or "permutation" (sign flips, corrected by the largest t).
    ``by``: a group attribute; also show the first metric in each of its slices. ``missing``: groups that some runs
    lack, as in ``compare``; "intersect" leaves them out, "skip" also those that no run has. ``measures``: numbers of
    whole runs to show next to the metrics, such as latency, by the name of their tag or parameter. ``labels``: a
    version of the labels, or "newest"; by default the latest that most runs share. ``judge``: whose labels (see
    ``compare``). ``check_with``: who checked this judge; then pairs and ranks are by these answers, and means by the
    judge alone. ``suite``: rank systems by their macro mean over the datasets of this suite, each of which is a slice;
    ``runs`` are then names of systems or patterns, and a system without a run on some dataset is left out. ``by_tag``:
    runs of one system share the value of this tag, not their name. Raises: ReferenceNotFoundError; NotComparableError,
    with the command that fixes it; InputError for options that do not go together.
    """
    from ndcg_tracker.questions.leaderboard.gather import LeaderboardResult, leaderboard_of

    question = made(LeaderboardQuestion, keywords, references=runs)
    with self.store().read() as tx:
        return LeaderboardResult(leaderboard_of(tx, question))


@asks(LeaderboardQuestion, but=TESTED)
def best(self: HasStore, metric: str = DEFAULT_METRIC, **keywords: Unpack[LeaderboardKeywords]) -> RunRecord:
    """Return the run with the best mean, no checkpoint; ``leaderboard`` says whether chance may have put it there.

    A UserWarning says if most of the first ranks are unjudged, or clearly more for some runs. Parameters and raises:
    see ``leaderboard``.
    """
    import warnings

    from ndcg_tracker.compare.arms import without_checkpoints
    from ndcg_tracker.compare.results import JudgedSpan
    from ndcg_tracker.compare.run_pair import check_one_sample

    ranked, notes = ranked_runs(self, metric, **keywords)
    if not parse_metric(metric).is_external:
        check_one_sample([of_run.run for of_run in ranked if of_run.mean is not None])
    span = JudgedSpan.of(None, (of_run.judged for of_run in ranked))
    for note in notes if span is not None and (span.least < 0.5 or span.is_apart) else ():
        warnings.warn(note, stacklevel=2)
    kept, _ = without_checkpoints((of_run.run for of_run in ranked), keywords.get("tags") or {})
    return (kept or [of_run.run for of_run in ranked])[0]


@asks(LeaderboardQuestion, but=TESTED)
def ranked_runs(
    self: HasStore, metric: str = DEFAULT_METRIC, **keywords: Unpack[LeaderboardKeywords]
) -> tuple[list[RankedRun], tuple[str, ...]]:
    """Return the runs with their means and judged shares, the best first, and notes on what may change their order.

    Runs that lack the metric under the latest labels that most of them have come last, without a mean. Parameters and
    raises: see ``leaderboard``.
    """
    from ndcg_tracker.questions.leaderboard.gather import by_mean, judged_notes
    from ndcg_tracker.words.notes import in_words

    with self.store().read() as tx:
        question = made(LeaderboardQuestion, {**keywords, "metrics": metric})
        ranked, span = by_mean(tx, question)
    names = [of_run.run.name for of_run in ranked if of_run.mean is not None]
    return ranked, in_words(judged_notes(span, names, ranked[0].run.dataset, metric, question))
