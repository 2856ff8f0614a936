"""Samples and decisions from arrays, for tests of the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ndcg_tracker.compare.estimate import sliced
from ndcg_tracker.compare.limits import HarmLimit
from ndcg_tracker.compare.results import Estimate
from ndcg_tracker.compare.sample import Sample, Strata
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.questions.gate.decide import Decision, Levels, Part, Rules, decide, decide_set, harm_of, slices_of
from ndcg_tracker.questions.gate.decide_candidate import with_parts
from ndcg_tracker.rankings import Floats, Mask


def sample_of(delta: Floats, *, weights: Floats | None = None, **further: Any) -> Sample:
    """Return the sample of the groups whose weight is not 0."""
    sample = Sample(delta, weights=weights, **further)
    return sample if weights is None or weights.all() else sample.of(np.flatnonzero(weights))


def decided(
    delta: Floats, margin: float, *, fail_alpha: float = 0.01, same_lists: Mask | None = None, **further: Any
) -> Decision:
    """Return the decision on differences."""
    return decide(sample_of(delta, same=same_lists, **further), Rules(margin), Levels(failing=fail_alpha))


def decided_set(delta: Floats, margin: float, *, mean: float | None = None, **further: Any) -> Decision:
    """Return the decision on just these groups."""
    return decide_set(sample_of(delta, **further), Rules(margin), mean)


def with_slices(
    decision: Decision,
    delta: Floats,
    values: Sequence[str | None],
    margin: float,
    *,
    same_lists: Mask | None = None,
    weights: Floats | None = None,
    by: str = "country",
) -> Decision:
    """Return a decision with slices of the groups."""
    rules = replace(decision.rules, by=by, part_margin=margin)
    counts = np.ones(delta.size) if weights is None else weights
    counted = [value for value, weight in zip(values, counts, strict=True) if weight]
    sample = sample_of(delta, same=same_lists, weights=weights)
    parts = slices_of(rules, list(sample.slices(Slicing.of(by, counted))), decision.levels or Levels())
    return replace(decision, rules=rules, parts=(*decision.parts, *parts))


def strata_of(deltas: Sequence[Floats] | Mapping[str, Floats], same: Sequence[bool] = (), **further: Any) -> Strata:
    """Return datasets as strata; ``same``: of each, whether all lists are the same."""
    named = deltas if isinstance(deltas, Mapping) else {str(place): delta for place, delta in enumerate(deltas)}
    flags = same or [False] * len(named)
    parts = {
        name: Sample(delta, same=np.full(delta.size, is_same), **further)
        for (name, delta), is_same in zip(named.items(), flags, strict=True)
    }
    return Strata(parts, further.get("limits"))


def decided_suite(
    deltas: Sequence[Floats] | Mapping[str, Floats],
    margin: float,
    same: Sequence[bool] = (),
    *,
    dataset_margin: float | None = None,
    fail_alpha: float = 0.01,
    **further: Any,
) -> Decision:
    """Return the decision on datasets, each a part with its own margin if there is one."""
    by = None if dataset_margin is None else "dataset"
    rules = Rules(margin, by=by, part_margin=dataset_margin or 0.0)
    strata, levels = strata_of(deltas, same, **further), Levels(failing=fail_alpha)
    return with_parts(decide(strata, rules, levels), strata, list(strata.parts.items()), levels)


def harmed(limit: HarmLimit, each: Sequence[tuple[str | None, Sample]]) -> tuple[Part, ...]:
    """Return how many groups lose much, of all and of slices."""
    return harm_of(Rules(0.0, by="x", max_harm=limit), each)


def slices(delta: Floats, values: Sequence[str | None], **further: Any) -> tuple[Estimate, ...]:
    """Return what slices say, the worst first."""
    return sliced(Sample(delta, **further), [Slicing.of("", values)])
