"""Families: stored runs of one recipe that was trained or run several times, and how much those differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.compare.results import MetricComparison
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.transactions import ReadTransaction

AA_TAG = "aa"
SEEDS = frozenset({"seed", "random_state", "random_seed"})
"""Parameters in which the runs of a family may differ."""
FEWEST_RUNS = 3
MOST_SEEDS = 1000
_FOUND = 2.8016
"""How many standard errors away from 0 a difference is found with 80% power at 5%: z(.975) + z(.8)."""


def family_of(run: RunRecord, runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the runs of a run's family, itself among them; none where nothing says that it has one.

    Those with its tag ``aa``; without that tag those whose parameters are its own but for the seed. Checkpoints of one
    training (``stage=iteration``) are no repeats.
    """
    if AA_TAG in run.tags:
        return tagged(str(run.tags[AA_TAG]), runs)
    if not SEEDS & run.parameters.keys() or is_checkpoint(run):
        return []
    recipe = _recipe(run)
    return [one for one in runs if not is_checkpoint(one) and SEEDS & one.parameters.keys() and _recipe(one) == recipe]


def tagged(aa: str, runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the runs with the tag ``aa=NAME`` that are no checkpoints."""
    return [run for run in runs if AA_TAG in run.tags and str(run.tags[AA_TAG]) == aa and not is_checkpoint(run)]


def retraining_note(tx: ReadTransaction, both: RunPair, first: MetricComparison) -> Note | None:
    """Return the note that an interval over groups does not cover other trainings, with how much those differ.

    None where no family of 3 runs or more is known, or its runs do not differ. ``first``: the comparison of the first
    metric. ``n_seeds``: how many trainings a side would find a true difference of this size with 80% power, None where
    more of them would not.
    """
    sides = [side.run for side in both.sides]
    if not any(AA_TAG in run.tags or SEEDS & run.parameters.keys() for run in sides) or first.standard_error is None:
        return None
    every = tx.runs.all(sides[0].dataset)
    records = tx.evaluations.history(both.dataset_id, first.metric, both.baseline.label_set.id)
    mean_of = {one.run_id: one.mean for one in records if one.mean is not None}
    families: dict[tuple[int, ...], tuple[str, list[float]]] = {}
    for run in sides:
        family = [one for one in family_of(run, every) if one.id in mean_of]
        if len(family) >= FEWEST_RUNS:
            name = f"{AA_TAG}={run.tags[AA_TAG]}" if AA_TAG in run.tags else f"the recipe of {run.name}"
            families.setdefault(tuple(one.id for one in family), (name, [mean_of[one.id] for one in family]))
    if not families:
        return None
    known = list(families.values())
    variance = float(np.mean([np.var(means, ddof=1) for _, means in known]))
    if not variance > 0:
        return None
    return Note(
        "retraining",
        {
            "sd": math.sqrt(variance),
            "n_runs": sum(len(means) for _, means in known),
            "families": [name for name, _ in known],
            "n_seeds": None if len(known) < len(sides) else _seeds(first, variance),
        },
    )


def _seeds(metric: MetricComparison, variance: float) -> int | None:
    room = ((metric.delta or 0.0) / _FOUND) ** 2 - (metric.standard_error or 0.0) ** 2
    seeds = math.ceil(2 * variance / room) if room > 0 else MOST_SEEDS + 1
    return max(2, seeds) if seeds <= MOST_SEEDS else None


def _recipe(run: RunRecord) -> dict[str, Any]:
    return {name: value for name, value in run.parameters.items() if name not in SEEDS}


def is_checkpoint(run: RunRecord) -> bool:
    """Return whether a run is a training that was not finished yet."""
    return run.tags.get("stage") == "iteration"
