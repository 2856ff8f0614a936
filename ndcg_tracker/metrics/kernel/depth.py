"""The depth axis: lists of which only the first ranks are read, as if a run had ended there."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ndcg_tracker.metrics.kernel.companions import worth_of_levels
from ndcg_tracker.metrics.kernel.cumulated import level_gains
from ndcg_tracker.metrics.kernel.graded_list import Scores
from ndcg_tracker.metrics.kernel.lists import Lists
from ndcg_tracker.metrics.kernel.ties import BY_GAIN, TieSpans, spans_around
from ndcg_tracker.metrics.language.measures import CUMULATED
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.grouping import group_codes, segment_rows
from ndcg_tracker.rankings.join import JudgedRanking
from ndcg_tracker.rankings.ranking import Ranking
from ndcg_tracker.rankings.sorting import id_order
from ndcg_tracker.rankings.types import Floats, Index

_AXES = ("depth", "ties", "score_type")


def read_to_depth(lists: Lists, metric: Metric) -> tuple[Lists, Metric]:
    """Return the lists as they would be if the run had ended at a metric's depth, and the metric without the depth.

    Where the depth falls between equal scores, the metric's ``ties`` say which items are read. Source: trec_eval,
    ``-M``; what ``unjudged=drop`` takes out counts, as there.
    """
    worth = _worth(lists, metric)[lists.levels.codes] if metric["ties"] in BY_GAIN else None
    axes = tuple(metric[axis] for axis in _AXES)
    key: Hashable = ("depth", axes, None if worth is None else worth.tobytes())

    def cut() -> Lists:
        alike = [each for each in lists.metrics if tuple(each[axis] for axis in _AXES) == axes] or [metric]
        judged = _cut(lists.judged.in_order, metric, worth)
        return Lists(judged, [each.with_axes(depth="all") for each in alike])

    return lists.once(key, cut), metric.with_axes(depth="all")


def _worth(lists: Lists, metric: Metric) -> Floats:
    """Return, by level, the key that orders items of equal score for the worst or the best: float64."""
    if metric.measure in CUMULATED:
        return level_gains(lists, metric, lists.level_grades(metric))
    return worth_of_levels(lists, metric)


def _cut(judged: JudgedRanking, metric: Metric, worth: Floats | None) -> JudgedRanking:
    """Return a run with no more than the first items of each list, joined with its labels."""
    ranking = judged.ranking
    with np.errstate(over="ignore"):  # what single precision cannot hold is infinite there, as in the kernel
        scores: Scores = ranking.scores.astype(np.float32) if metric["score_type"] == "f32" else ranking.scores
    lengths = np.minimum(np.diff(ranking.offsets), int(metric["depth"]))
    kept = np.zeros(ranking.n_items, dtype=np.bool_)
    kept[segment_rows(ranking.offsets[:-1], lengths)] = True
    ends = ranking.offsets[:-1] + lengths
    cut = np.flatnonzero((lengths > 0) & (ends < ranking.offsets[1:]))
    _, first, last = spans_around(scores, ranking.offsets, ends[cut] - 1)
    spans = TieSpans(first, last)
    members = spans.members()
    kept[members] = False
    n_read = ends[np.searchsorted(ranking.offsets, first, "right") - 1] - first
    ordered = members[_order(judged, metric, spans, worth)]
    kept[ordered[segment_rows(spans.bounds[:-1], n_read)]] = True
    rows = np.flatnonzero(kept)
    places = None if ranking.input_places is None else ranking.input_places[rows]
    offsets = np.searchsorted(rows, ranking.offsets)
    shorter = Ranking(ranking.group_keys, offsets, ranking.item_keys.take(rows), ranking.scores[rows], places)
    labelled = kept[judged.rows]
    return JudgedRanking(
        shorter,
        judged.labels,
        judged.run_groups,
        judged.label_groups,
        np.searchsorted(rows, judged.rows[labelled]),
        judged.label_rows[labelled],
    )


def _order(judged: JudgedRanking, metric: Metric, spans: TieSpans, worth: Floats | None) -> Index:
    """Return which member of its span of equal scores goes to the place of each member."""
    ranking, rows, bounds = judged.ranking, spans.members(), spans.bounds
    if worth is not None:
        of_rows = np.full(ranking.n_items, 0.0 if metric["unjudged"] in ("zero", "drop") else float(metric["unjudged"]))
        of_rows[judged.rows] = worth[judged.label_rows]
        worst_first = of_rows[rows] if metric["ties"] == "pessimistic" else -of_rows[rows]
        return np.lexsort((worst_first, group_codes(bounds)))
    if metric["ties"] == "input":
        came = rows if ranking.input_places is None else ranking.input_places[rows]
        return np.lexsort((came, group_codes(bounds)))
    order = id_order(ranking.item_keys, rows, bounds)
    if metric["ties"] == "item_asc":
        return order
    return order[np.repeat(bounds[:-1] + bounds[1:] - 1, spans.lengths) - np.arange(rows.size)]
