"""Rankings and labels written as Python dicts, for tests."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.metrics.kernel.mean import GroupResults
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking

Run = dict[str, dict[str, float]]


def ranking_of(run: Run) -> Ranking:
    """Return the ranking of a dict of scores, items in the order of the dict."""
    rows = [(group, item, score) for group, items in run.items() for item, score in items.items()]
    return Ranking.from_rows(
        Keys.from_strings([row[0] for row in rows]),
        Keys.from_strings([row[1] for row in rows]),
        np.array([row[2] for row in rows], dtype=np.float64),
    )


def labels_of(labels: Run) -> LabelLists:
    """Return the labels of a dict of grades."""
    rows = [(group, item, grade) for group, items in labels.items() for item, grade in items.items()]
    return LabelLists.from_rows(
        Keys.from_strings([row[0] for row in rows]),
        Keys.from_strings([row[1] for row in rows]),
        np.array([row[2] for row in rows], dtype=np.float64),
    )


def joined(run: Run, labels: Run) -> JudgedRanking:
    """Return the run with its labels joined."""
    return judged(ranking_of(run), labels_of(labels))


def results(metric: str, run: Run, labels: Run) -> GroupResults:
    """Return what one metric says of a run."""
    return group_results(joined(run, labels), [parse_metric(metric)])[0]


def value(metric: str, grades: list[float], *further: float) -> float:
    """Return a metric of one ranked list of grades, ``further`` being labels that were not retrieved."""
    items = [f"d{place:03}" for place in range(len(grades))]
    labels = dict(zip(items, map(float, grades), strict=True)) | {f"x{i}": grade for i, grade in enumerate(further)}
    run = {item: float(len(items) - place) for place, item in enumerate(items)}
    return float(results(metric, {"q": run}, {"q": labels}).values[0])
