"""Pair the group results of two runs, and treat those without a partner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from ndcg_tracker.compare.options import Missing
from ndcg_tracker.compare.results import GroupCounts
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.words.texts import counted

_DENSE = 4  # ids that fill a quarter of their range are looked up in a table: 4 times faster than by bisection


@dataclass(frozen=True, slots=True)
class Pairing:
    """The group results of one metric in two runs, group by group.

    ``group_ids``: int64, shape (n,), ascending, the paired groups. ``baseline`` and ``candidate``: float64, shape
    (n,), finite. ``only_in_baseline`` and ``only_in_candidate``: int64, ascending, the groups with a result in one
    run only (under ``missing`` "zero" they are among the paired ones too). ``undefined``: how many groups have a
    result in neither run. ``missing``: the policy that was applied. ``in_neither``: int64, ascending, the groups that
    no run has although both have a result there; under ``missing`` "skip" they are left out, else they are paired.
    """

    group_ids: Index
    baseline: Floats
    candidate: Floats
    only_in_baseline: Index
    only_in_candidate: Index
    undefined: int
    missing: Missing = "error"
    in_neither: Index = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def delta(self) -> Floats:
        """Candidate minus baseline of every paired group: float64, shape (n,)."""
        return np.asarray(self.candidate - self.baseline)

    @property
    def groups(self) -> GroupCounts:
        """How many groups are paired, and how many are not."""
        return GroupCounts(
            self.group_ids.size,
            only_in_baseline=self.only_in_baseline.size,
            only_in_candidate=self.only_in_candidate.size,
            undefined=self.undefined,
            missing=self.missing,
            in_neither=self.in_neither.size,
        )

    @property
    def sample(self) -> Sample:
        """The sample of the paired groups."""
        seen = np.isin(self.group_ids, self.in_neither, invert=True) if self.in_neither.size else None
        return Sample(self.delta, values=(self.baseline, self.candidate), seen=seen)


def pair(
    baseline_ids: Index,
    baseline_values: Floats,
    candidate_ids: Index,
    candidate_values: Floats,
    *,
    missing: Missing = "error",
    groups_of_runs: Sequence[Index] = (),
    metric: str = "",
) -> Pairing:
    """Return the group results of two runs, paired by group.

    A group with a defined result in one run, and none or an undefined one in the other, is in that run only; a group
    that is undefined or absent in both is counted as undefined.

    Parameters: ``baseline_ids`` and ``candidate_ids``: int64, strictly ascending. ``baseline_values`` and
    ``candidate_values``: float64 of the same shapes, NaN = undefined, never infinite. ``missing``: what to do with
    groups in one run only: "error" refuses, "zero" pairs them with 0, "intersect" leaves them out, and "skip" also
    leaves out those that no run has. ``groups_of_runs``: of each run the groups that it has, int64, ascending, if the
    metric gives a result to groups that a run lacks (see ``lacked``). ``metric``: its text, for the message. Raises:
    InputError if ``missing`` is "error" and there are such groups, or is not a known policy; ValueError if the arrays
    are not as described.

    >>> ids = np.array([1, 2, 3, 4])
    >>> both = pair(ids, np.array([0.5, 1.0, np.nan, 0.25]), ids[:3], np.array([0.75, np.nan, np.nan]), missing="zero")
    >>> both.group_ids.tolist(), both.delta.tolist(), both.only_in_baseline.tolist(), both.undefined
    ([1, 2, 4], [0.25, -1.0, -0.25], [2, 4], 1)
    """
    if missing not in get_args(Missing):
        raise InputError(
            f"unknown missing policy {missing!r}", advice="choose error, zero, intersect or skip", joint=": "
        )
    has_baseline = _defined(baseline_ids, baseline_values, "baseline")
    has_candidate = _defined(candidate_ids, candidate_values, "candidate")
    ids, values = baseline_ids[has_baseline], baseline_values[has_baseline]
    other_ids, other_values = candidate_ids[has_candidate], candidate_values[has_candidate]
    places = places_of_ids(other_ids, ids)
    has_partner = places >= 0
    partner = np.zeros(other_ids.size, dtype=np.bool_)
    partner[places[has_partner]] = True
    only_in_baseline, only_in_candidate = ids[~has_partner], other_ids[~partner]
    n_groups = candidate_ids.size + int((places_of_ids(candidate_ids, baseline_ids) < 0).sum())
    undefined = n_groups - ids.size - only_in_candidate.size
    n_alone = only_in_baseline.size + only_in_candidate.size
    if n_alone and missing == "error":
        where = f"one run only ({only_in_baseline.size} in the baseline, {only_in_candidate.size} in the candidate)"
        raise without_partner(n_alone, where, metric)
    if n_alone and missing == "zero":
        all_ids = np.sort(np.concatenate([ids, only_in_candidate]), kind="stable")  # two ascending stretches: a merge
        values, other_values = _filled(all_ids, ids, values), _filled(all_ids, other_ids, other_values)
    else:
        all_ids, values, other_values = ids[has_partner], values[has_partner], other_values[places[has_partner]]
    in_none, left_out = lacked(all_ids, groups_of_runs, missing)
    return Pairing(
        all_ids[~left_out],
        values[~left_out],
        other_values[~left_out],
        only_in_baseline,
        only_in_candidate,
        undefined,
        missing,
        all_ids[in_none],
    )


def without_partner(n: int, where: str, metric: str) -> InputError:
    """Return the error for groups that have a result in some runs only; ``where``: which runs these are."""
    what = f"{counted(n, 'group')} {'has' if n == 1 else 'have'} a result in {where}"
    ways = f"{argument('missing', 'zero')} (count 0 there) or {argument('missing', 'intersect')} (leave them out)"
    return InputError(what, where=metric, advice=f"choose {ways}", joint=": ")


def lacked(ids: Index, groups_of_runs: Sequence[Index], missing: Missing) -> tuple[Mask, Mask]:
    """Return which groups no run has, and which ones ``missing`` leaves out: bool, shape (n,).

    "intersect" leaves out the groups that only some runs have, and "skip" also those that none has.

    >>> lacked(np.array([1, 2, 3]), [np.array([1, 2]), np.array([1])], "intersect")
    (array([False, False,  True]), array([False,  True, False]))
    """
    n_lack = np.zeros(ids.size, dtype=np.int64)
    for of_run in groups_of_runs:
        n_lack += places_of_ids(of_run, ids) < 0
    in_none = (n_lack == len(groups_of_runs)) & (n_lack > 0)
    if missing not in ("intersect", "skip"):
        return in_none, np.zeros(ids.size, dtype=np.bool_)
    return in_none, (n_lack > 0) & ~(in_none & (missing == "intersect"))


def _defined(ids: Index, values: Floats, run: str) -> Mask:
    """Return where the values are defined, after checking that ids and values are as promised."""
    if ids.ndim != 1 or ids.shape != values.shape:
        raise ValueError(f"{run}: ids and values must be two arrays of one length, not {ids.shape} and {values.shape}")
    if ids.size > 1 and not (ids[1:] > ids[:-1]).all():
        raise ValueError(f"{run}: the group ids must be strictly ascending")
    if np.isinf(values).any():
        raise ValueError(f"{run}: a group result must not be infinite")
    return np.asarray(~np.isnan(values))


def places_of_ids(ids: Index, wanted: Index) -> Index:
    """Return the place of each wanted id (ascending too) among ascending ids: int64, -1 where it is absent."""
    if np.array_equal(ids, wanted):
        return np.arange(ids.size)
    if not ids.size or not wanted.size:
        return np.full(wanted.size, -1, dtype=np.int64)
    first = min(int(ids[0]), int(wanted[0]))
    width = max(int(ids[-1]), int(wanted[-1])) - first + 1
    if width <= _DENSE * (ids.size + wanted.size):
        place_of = np.full(width, -1, dtype=np.int64)
        place_of[ids - first] = np.arange(ids.size)
        return np.asarray(place_of[wanted - first])
    places = np.minimum(np.searchsorted(ids, wanted), ids.size - 1)
    return np.where(ids[places] == wanted, places, -1)


def _filled(all_ids: Index, ids: Index, values: Floats) -> Floats:
    """Return the values on the axis of all ids, 0 where there is none."""
    filled = np.zeros(all_ids.size)
    filled[places_of_ids(all_ids, ids)] = values
    return filled
