"""What to judge next: the unjudged items of stored runs under the newest labels, whether or not these were scored."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.compare.run_pair import adding_command, check_one_dataset, label_set_ref
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.kernel.mean import GroupValues, aligned_weights
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import possible_moves, unjudged_items, what_stops
from ndcg_tracker.questions.labels.decide_needed import NeededLabels, most_needed
from ndcg_tracker.questions.labels.say_needed import NeededFormat, needed_as
from ndcg_tracker.rankings.join import JudgedRanking, judged, places_of
from ndcg_tracker.render.rows import as_object
from ndcg_tracker.runs.label_sets import numbered_labels
from ndcg_tracker.runs.scoring import stored_weights

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.rankings.types import Floats
    from ndcg_tracker.rankings.weights import GroupWeights
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import RunRecord


def labels_needed(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidates: Sequence[RunRecord],
    metric: Metric | None,
    budget: int,
    judge: str | None = None,
) -> NeededLabels:
    """Return which items to judge next (see ``Tracker.labels_needed``).

    Raises: InputError for a budget below 1, a metric without bounds, and labels without a grade that is worth
    something; NotComparableError for runs of several datasets, or without a metric in common.
    """
    if budget < 1:
        raise InputError(f"the budget must be 1 label or more, not {budget}")
    if not candidates:
        raise InputError("what to judge next takes two runs or more", advice="name a candidate after the baseline")
    for candidate in candidates:
        check_one_dataset(baseline, candidate, "judged together")
    label_set = numbered_labels(tx, baseline.dataset_id, baseline.dataset, judge=judge)
    labels, weights = tx.labels.lists(label_set.id), stored_weights(tx, baseline.dataset_id)
    metric = _metric(tx, [baseline, *candidates], metric, np.unique(labels.grades), labels.n_groups)
    one = judged(tx.runs.ranking(baseline.id), labels)
    moves, unjudged = [], set[tuple[str, str]]()
    for candidate in candidates:
        found = _moves(one, judged(tx.runs.ranking(candidate.id), labels), metric, weights)
        unjudged.update(found)
        moves.append(found)
    return NeededLabels(
        RunRef(baseline.name, baseline.id),
        tuple(RunRef(candidate.name, candidate.id) for candidate in candidates),
        baseline.dataset,
        label_set_ref(label_set),
        str(metric),
        len(unjudged),
        most_needed(moves, budget),
    )


def _metric(
    tx: ReadTransaction, runs: Sequence[RunRecord], metric: Metric | None, grades: Floats, n_groups: int
) -> Metric:
    """Return the metric that was asked for, else the first that all runs have and that has bounds."""
    if metric is not None:
        stop = what_stops(metric, grades, n_groups)
        if stop is not None:
            what = "for this measure" if stop == "measure" else f"with {stop}"
            raise InputError(
                f"how far unjudged items leave it open is not known {what}",
                where=metric.requested_as,
                advice=f"use {argument('metric', 'ndcg@10')}",
            )
        return metric
    evaluated = [[one.metric for one in tx.evaluations.of_run(run.id)] for run in runs]
    shared = [parse_metric(text) for text in evaluated[0] if all(text in of_run for of_run in evaluated[1:])]
    known = [one for one in shared if what_stops(one, grades, n_groups) is None]
    if not known:
        raise NotComparableError(
            "the runs share no metric of which is known how far unjudged items leave it open, such as ndcg@10",
            advice=f"type: {shlex.join(adding_command(runs, ['ndcg@10']))}",
        )
    return known[0]


def _moves(
    baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, weights: GroupWeights | None
) -> dict[tuple[str, str], float]:
    """Return how far each unjudged item could move the mean difference, by group and item."""
    values: list[GroupValues] = [group_values(side, [metric])[0] for side in (baseline, candidate)]
    keys = values[0].group_keys
    one, other = values[0].values, np.append(values[1].values, np.nan)[places_of(keys, values[1].group_keys)]
    paired = np.flatnonzero(~np.isnan(one + other))
    of_groups = aligned_weights(values[0], weights)
    shares = np.ones(paired.size) if of_groups is None else of_groups[paired]
    keys = keys.take(paired)
    items = unjudged_items(baseline, candidate, metric, keys)
    moves = (
        possible_moves(items, one[paired], other[paired]) * (shares / max(float(shares.sum()), 1e-300))[items.groups]
    )
    pairs = zip(keys.take(items.groups).to_list(), items.keys.to_list(), strict=True)
    return dict(zip(pairs, moves.tolist(), strict=True))


@dataclass(frozen=True)
class LabelsNeededResult:
    """What to judge next; notebooks and ``print`` show it as a table.

    ``needed``: the typed rows.
    """

    needed: NeededLabels

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track labels needed --format json`` prints."""
        found: dict[str, Any] = as_object(self.needed)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per item: group, item, and how far its grade could move the mean difference."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["items"], columns=["group", "item", "could_move"])

    def save(self, path: str | os.PathLike[str], format: NeededFormat = "csv") -> None:
        """Write the items for judges, as a file that ``labels add`` reads once grades are filled in.

        ``format``: "csv", "quepid" or "elasticsearch", or one without a place for grades. Raises: InputError where it
        cannot be written.
        """
        from ndcg_tracker.render.whole_file import whole_file

        with whole_file(os.fspath(path), "path") as write:
            write(needed_as(format, self.needed))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return needed_as("text", self.needed)
