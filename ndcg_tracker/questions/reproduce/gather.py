"""A stored run, compared with the one it reproduces or with a published mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.asked import DEFAULT_METRIC, REPRO_EVAL_CUTOFFS
from ndcg_tracker.compare.gather import pruned_notes
from ndcg_tracker.compare.gather_results import paired_results
from ndcg_tracker.compare.options import LabelView
from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.compare.run_pair import RunPair, adding_words, label_set_ref, shared_labels
from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.diff.gather import (
    by_id_where_tied,
    check_cutoff,
    check_rbo_p,
    mean_of_known,
    pairs_of_lists,
    shared_ranks,
)
from ndcg_tracker.questions.reproduce.decide import ListAgreement, PublishedMean, Reproduction, reproduced_metrics
from ndcg_tracker.questions.reproduce.question import ReproduceOptions
from ndcg_tracker.questions.reproduce.say import reproduction_said
from ndcg_tracker.questions.show.gather import shown_run
from ndcg_tracker.rankings.grouping import group_codes, places_in, segment_rows
from ndcg_tracker.rankings.sorting import id_order
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.runs.judges import counting_judge
from ndcg_tracker.statistics.similarity import repro_eval_ktu

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.ranking import Ranking
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


def reproduction(
    tx: ReadTransaction,
    original: RunRecord,
    reproduced: RunRecord,
    baselines: tuple[RunRecord, RunRecord] | None,
    options: ReproduceOptions,
) -> Reproduction:
    """Return how close a run comes to the original; ``baselines``: of the original and of the reproduced run.

    Raises: see ``Tracker.reproduce``.
    """
    check_rbo_p(options.rbo_p)
    for cutoff in options.cutoffs:
        check_cutoff(cutoff)
    runs = (original, reproduced, *(baselines or ()))
    tx.runs.require("groups", *runs)
    sides, metrics, newest = shared_labels(tx, runs, options.metrics, options)
    pairs = [RunPair.of(sides[0], sides[1], metrics, newest, options.labels is not None)]
    if baselines is not None:
        pairs += [RunPair.of(sides[2], sides[0], metrics, newest), RunPair.of(sides[3], sides[1], metrics, newest)]
    results = [[paired_results(tx, both, metric, options.missing) for metric in metrics] for both in pairs]
    notes = [*pairs[0].notes(), *pruned_notes(tx, pairs[0])]
    shared = np.empty(0, np.int64)
    if all("items" in tx.runs.holds(run.id) for run in (original, reproduced)):
        shared = np.intersect1d(tx.runs.group_ids(original.id), tx.runs.group_ids(reproduced.id), assume_unique=True)
    same_lists, lists = _lists(tx, original, reproduced, shared, options) if shared.size else (None, ())
    pairing = results[0][0].pairing
    return Reproduction(
        _ref(original),
        _ref(reproduced),
        original.dataset,
        label_set_ref(sides[0].label_set),
        None if baselines is None else (_ref(baselines[0]), _ref(baselines[1])),
        pairing.group_ids.size,
        pairing.only_in_baseline.size,
        pairing.only_in_candidate.size,
        shared.size,
        same_lists,
        options.rbo_p,
        lists,
        reproduced_metrics(
            results[0],
            None if baselines is None else (results[1], results[2]),
            [sides[1].evaluations[str(metric)].requested_as for metric in metrics],
        ),
        tuple(notes),
    )


def beside_published(tx: ReadTransaction, run: RunRecord, published: float, options: ReproduceOptions) -> PublishedMean:
    """Return the mean of a run, compared with a published one, under the first metric, else under the run's first.

    Raises: InputError for a number that the metric cannot have, and a run without metrics; ReferenceNotFoundError for a
    metric that the run does not have.
    """
    metric, view = next(iter(options.metrics), None), LabelView(labels=options.labels, judge=options.judge)
    if view.labels is None and not (metric is not None and metric.is_external):
        view = LabelView(judge=counting_judge(tx, run.dataset_id, run.dataset, options.judge))
    shown = shown_run(tx, run, metric, None, 0, view).by_group
    if shown is None:
        raise InputError(
            f"run {run.name!r} has no mean",
            advice=f"type: {adding_words(tx, [run], [DEFAULT_METRIC], LabelView(judge=view.judge))}",
        )
    low, high = parse_metric(shown.metric).limits or (-math.inf, math.inf)
    if not low <= published <= high:  # NaN is not in any interval
        raise InputError(
            f"{argument('published', published)} cannot be a mean of {shown.metric}, which is from {low:g} to {high:g}",
            advice="give a share, not percent" if published > high == 1 else "give another number",
        )
    return PublishedMean(
        *(_ref(run), run.dataset, shown.label_set_version, shown.judge, shown.metric, shown.requested_as),
        *(published, shown.mean, shown.ci, shown.n_groups, shown.n_missing),
    )


def _ref(run: RunRecord) -> RunRef:
    return RunRef(run.name, run.id)


def _lists(
    tx: ReadTransaction, original: RunRecord, reproduced: RunRecord, shared: Index, options: ReproduceOptions
) -> tuple[float | None, tuple[ListAgreement, ...]]:
    """Return the share of groups with the same lists, and how similar the lists are up to each cutoff."""
    cutoffs = tuple(dict.fromkeys(options.cutoffs or REPRO_EVAL_CUTOFFS))
    pairs = pairs_of_lists(tx, original, reproduced, shared)
    blocks = list(mapped(lambda pair: _block(*pair, cutoffs, options.rbo_p), pairs))
    if not options.cutoffs:
        longest = max(block.longest for block in blocks)
        if longest < cutoffs[0]:
            return _lists(tx, original, reproduced, shared, replace(options, cutoffs=(longest,)))
        cutoffs = tuple(cutoff for cutoff in cutoffs if cutoff <= longest)
    lists = [
        ListAgreement(cutoff, *(mean_of_known(np.concatenate(numbers)) for numbers in zip(*of_blocks, strict=True)))
        for cutoff, *of_blocks in zip(cutoffs, *(block.numbers for block in blocks), strict=False)
    ]
    return mean_of_known(np.concatenate([block.is_same for block in blocks])), tuple(lists)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some groups: whether both lists are the same, the length of the longest, KTU and RBO by cutoff."""

    is_same: Index
    longest: int
    numbers: list[tuple[Floats, Floats]]


def _block(original: Ranking, reproduced: Ranking, cutoffs: tuple[int, ...], rbo_p: float) -> _Block:
    original, reproduced = by_id_where_tied(original), by_id_where_tied(reproduced)
    ranks = shared_ranks(original, reproduced)
    longest = np.maximum(ranks.n_first, ranks.n_second)
    return _Block(
        (ranks.n_same_first() == longest).astype(np.int64),
        int(longest.max(initial=0)),
        [(_ktu(original, reproduced, cutoff), ranks.repro_eval_rbo(rbo_p, cutoff)) for cutoff in cutoffs],
    )


def _ktu(original: Ranking, reproduced: Ranking, cutoff: int) -> Floats:
    """Return the KTU of the first items, as many as both lists of a group have: float64, shape (n_groups,)."""
    lengths = np.minimum(np.minimum(np.diff(original.offsets), np.diff(reproduced.offsets)), cutoff)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    first, second = (_places_of_ids(ranking, lengths, offsets) for ranking in (original, reproduced))
    return repro_eval_ktu(group_codes(offsets), first, second, lengths.size)


def _places_of_ids(ranking: Ranking, lengths: Index, offsets: Index) -> Index:
    """Return the place of each of the first items of a group among their sorted ids, from 0."""
    order = id_order(ranking.item_keys, segment_rows(ranking.offsets[:-1], lengths), offsets)
    places = np.empty(order.size, dtype=np.int64)
    places[order] = places_in(lengths) - 1
    return places


@dataclass(frozen=True, repr=False)
class ReproductionResult(Answer):
    """A run, compared with the one that it reproduces or with a published mean; notebooks and ``print`` show a report.

    ``reproduction``: the typed numbers. ``to_frame`` has a row per metric.
    """

    reproduction: Reproduction | PublishedMean

    def _said(self) -> Said:
        return reproduction_said(self.reproduction)
