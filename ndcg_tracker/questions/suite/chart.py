"""Two systems on the datasets of a suite, as a picture."""

from __future__ import annotations

from ndcg_tracker.compare.chart import Bar, forest
from ndcg_tracker.metrics.language.agreement import familiar_name
from ndcg_tracker.questions.suite.decide import SuiteComparison, verdict_of
from ndcg_tracker.render.charts.theme import Spec


def suite_forest(found: SuiteComparison) -> Spec:
    """Return the difference on each dataset with its interval, then those of all datasets together."""
    bars = [
        Bar(one.dataset, None, one.delta, one.ci, one.verdict, one.p_adjusted, one.n)
        for one in found.deltas
        if one.delta is not None
    ]
    n = sum(bar.n for bar in bars)
    for name, one in (
        ("macro, other queries", found.macro),
        ("macro, other datasets", found.over_datasets),
        ("micro, other queries", found.micro),
    ):
        verdict = verdict_of(one.mean, one.p_value, found.direction)
        bars.append(Bar(name, None, one.mean, one.ci, verdict, one.p_value, n))
    title = f"{found.candidate} against {found.baseline} on suite {found.suite}: {familiar_name(found.metric)}"
    return forest(bars, title)
