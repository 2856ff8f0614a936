"""The differences of two stored runs that a plan goes by."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndcg_tracker.compare.gather import compared
from ndcg_tracker.compare.options import CompareOptions, LabelView
from ndcg_tracker.compare.results import NOT_COMPARABLE
from ndcg_tracker.errors import InputError, NdcgTrackerError, NotComparableError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.diff.gather import runs_diff
from ndcg_tracker.words.notes import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ndcg_tracker.compare.decide import PairedResults
    from ndcg_tracker.compare.sample import Sample
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.statistics.planned import Pilot
    from ndcg_tracker.storage.store import ReadTransaction

_CHEAPER = ("ndcg", "RR", "AP")


@dataclass(frozen=True)
class PilotPair:
    """The differences of two runs.

    ``pilot``: what they show of further ones; ``others``: the same of further metrics from 0 to 1. ``labels_each``:
    about how many items of a group are among the first of either run, None if items are not known.
    """

    sample: Sample
    pilot: Pilot
    others: Mapping[str, Pilot]
    labels_each: float | None
    dataset: str


def gathered(
    tx: ReadTransaction, runs: tuple[str, str], metric: Metric, view: LabelView, dataset: str | None
) -> PilotPair:
    """Return the differences of two runs. Raises: see ``Tracker.plan``."""
    baseline, candidate = runs
    every = CompareOptions(labels=view.labels, judge=view.judge, dataset=dataset)
    pair = compared(tx, baseline, [candidate], replace(every, metrics=(metric,)))[0]
    why, results = pair.comparison.metrics[0].about.not_comparable, pair.results[0]
    if why is not None:
        raise NotComparableError(NOT_COMPARABLE[why], advice=f"see ndcg-track compare {baseline} {candidate}")
    if results.no_inference is not None:
        raise InputError(f"{sentence(results.no_inference)}; so no plan applies", where=metric.requested_as)
    sample, pilot = results.sample, results.sample.pilot
    if sample.repeats is not None or pilot is None:
        raise InputError("a plan goes by two single runs, and without drawn answers", advice="name two runs")
    further = compared(tx, baseline, [candidate], every)[0].results
    first, second = (arm.runs[0] for arm in pair.both.arms)
    longest, labels_each = max(run.n_items / max(run.n_groups, 1) for run in (first, second)), None
    with suppress(NdcgTrackerError):  # lists that are not stored
        diff = runs_diff(tx, first, second, depth=metric.cutoff or 10)
        labels_each = None if diff.overlap is None else min(diff.depth, longest) * (2 - diff.overlap)
    cheaper = [(of.about, of.sample.pilot) for of in further if _may_be_cheaper(of)]
    others = {about.requested_as or about.metric: each for about, each in cheaper if each is not None}
    return PilotPair(sample, pilot, others, labels_each, pair.comparison.dataset)


def _may_be_cheaper(results: PairedResults) -> bool:
    metric = parse_metric(results.about.metric)
    is_known = metric.measure in _CHEAPER and metric.limits == (0.0, 1.0)
    return is_known and results.no_inference is None
