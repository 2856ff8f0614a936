"""How far labels reach two runs: covered, open within a range, or not the same ids; and who labelled what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.results import ENDS, End, JudgedShare, ListedShare, OpenStop, Unjudged
from ndcg_tracker.metrics.unjudged_bounds import unjudged_range, what_stops
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import JudgedRanking, judged, matching_rows, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import span_of
from ndcg_tracker.words.notes import Fact, Note, carry_command

if TYPE_CHECKING:
    from ndcg_tracker.compare.decide import PairedResults
    from ndcg_tracker.compare.options import CompareOptions
    from ndcg_tracker.compare.options import Unjudged as Worth
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats, Index, Mask
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.store import ReadTransaction

FIRST = 3
"""The ranks in which labelled items are missed."""
FEWEST, SMALLEST = 3, 0.03
"""At least so many of the labelled items there, and so large a share, have to vanish."""
REPLACED = 0.9
"""Ids were changed if this share of the vanished items have a new id in their place."""
LIKE_OTHERS = 0.5
"""Under another model, labelled items vanish less than half as often as items without a label."""
HAND_GAP = 0.1
"""If the shares that one judge labelled differ by more than this, the judges may have made the difference."""
MOST_GROUPS = 20_000
"""With more groups, a comparison does not look how far unjudged items leave it open; a gate does."""
_ITEMS_READ = 400_000
"""About so many items of a run are enough to see that ids were changed."""


def coverage(
    tx: ReadTransaction,
    both: RunPair,
    results: Sequence[PairedResults],
    shares: Sequence[JudgedShare],
    options: CompareOptions,
) -> tuple[list[PairedResults], list[Note], tuple[ListedShare, ...]]:
    """Return the results with what the labels of two runs or arms leave open, notes on the labels, and who lists them.

    Each metric is covered, open within a range (``PairedResults.ends``), or not reached by them
    (``PairedResults.unreached``): one run has other ids; or, for a gate, others labelled or were shown what one run
    ranks first.
    ``shares``: the judged shares by cutoff. ``options.unjudged``: None for "range" if it may matter: up to 20,000
    groups, and less than 95% judged, or clearly more judged in one run. Items are read once, and only if they are
    needed.
    """
    sides = _Sides(tx, both, next((of.graded for of in results if of.graded is not None), None))
    own = [not (metric.is_external or metric.shown_only) for metric in both.metrics]
    ids = results[own.index(True)].pairing.group_ids if any(own) else None
    told = [] if ids is None else sides.other_ids_notes(ids, shares, is_stable=options.ids_are_stable)
    origin = sides.origin_notes(both.metric.cutoff) if ids is not None else []
    notes = [*origin, *told, *sides.spans_notes()]
    is_other = bool(told) and told[0].kind == "other_ids"
    worth = options.unjudged
    if worth == "zero" and not is_other:
        return list(results), notes, sides.listed
    unreached = next(iter([*(told if is_other else []), *origin]), None)
    found = []
    for metric, of, is_own in zip(both.metrics, results, own, strict=True):
        if is_own and (is_other or of.about.check is None):
            left, ends = (None, {}) if is_other else _open(sides, metric, of, shares, worth)
            found.append(replace(of, unreached=unreached, ends=ends).knowing(unjudged=left))
        else:  # drawn answers settle what labels leave open
            found.append(of)
    return found, notes, () if options.for_screen else sides.listed


def _open(
    sides: _Sides, metric: Metric, results: PairedResults, shares: Sequence[JudgedShare], worth: Worth | None
) -> tuple[Unjudged | None, Mapping[End, Floats]]:
    """Return what unjudged items leave open of a metric, and the differences at both ends, if these are known."""
    share = next((share for share in shares if share.cutoff == metric.cutoff), None)
    if share is None or results.not_judged is not None:
        return None, {}
    is_asked = worth is not None
    if not (share.baseline != 1.0 or share.candidate != 1.0 if is_asked else share.is_open):
        return None, {}
    stop = sides.stop(metric, results, is_asked=is_asked)
    if stop is not None:
        return Unjudged(share, stop=stop), {}
    keys = sides.tx.groups.keys(sides.both.dataset_id, results.pairing.group_ids)
    moved = [unjudged_range(baseline, candidate, metric, keys) for baseline, candidate in product(*sides.judged)]
    limits, n_items = results.every.limits or (-np.inf, np.inf), max(of_pair.n_items for of_pair in moved)
    by = {end: np.mean([getattr(of_pair, end) for of_pair in moved], axis=0) for end in ENDS}
    ends = {end: np.clip(results.every.delta + by[end], *limits) for end in ENDS}
    return Unjudged(share, n_items, int((ends["low"] != ends["high"]).sum())), ends


class _Sides:
    """The items of all runs of two arms with their labels, read when they are wanted."""

    def __init__(self, tx: ReadTransaction, both: RunPair, graded: LabelLists | None = None) -> None:
        self.tx = tx
        self.both = both
        self._graded = graded

    @cached_property
    def has_items(self) -> bool:
        """Whether the items of all runs are stored."""
        return all("items" in self.tx.runs.holds(side.run.id) for side in self.both.sides)

    @cached_property
    def labels(self) -> LabelLists:
        """The labels of both, with the answers that count as labels."""
        return self._graded or self.tx.labels.lists(self.both.baseline.label_set.id)

    @cached_property
    def judged(self) -> list[list[JudgedRanking]]:
        """The runs of both arms with their labels."""
        return self._judged(self.labels)

    @cached_property
    def _has_zero(self) -> bool:
        if self._graded is not None:
            return bool((self._graded.grades == 0).any())
        return self.tx.labels.has_judged_zero(self.both.baseline.label_set.id)

    def some_judged(self, group_ids: Index) -> list[list[JudgedRanking]]:
        """Return these lists of some groups, where there are very many."""
        step = max(side.run.n_items for side in self.both.sides) // _ITEMS_READ + 1
        if step == 1:
            return self.judged
        some = group_ids[::step]
        return self._judged(self.tx.labels.lists(self.both.baseline.label_set.id, some), some)

    def _judged(self, labels: LabelLists, ids: Index | None = None) -> list[list[JudgedRanking]]:
        rankings = self.tx.runs.ranking
        return [[judged(rankings(side.run.id, ids), labels) for side in of_arm] for of_arm in self.both.sides_of]

    def stop(self, metric: Metric, results: PairedResults, *, is_asked: bool) -> OpenStop | None:
        """Return why no end of the differences is known, None where both are."""
        if not self.has_items:
            return "items"
        if results.means is not None:
            return "measure"
        if not self._has_zero:
            return "positives"
        if not is_asked and results.pairing.group_ids.size > MOST_GROUPS:
            return "size"
        return what_stops(metric, np.unique(self.labels.grades))

    def other_ids_notes(self, ids: Index, shares: Sequence[JudgedShare], *, is_stable: bool) -> list[Note]:
        """Return the notes of ``other_ids_notes``."""
        runs = {side.run.digest for side in self.both.sides}
        if len(runs) == 1 or not self.has_items:
            return []
        found, arms = [], self.both.arms
        for place, other in ((0, "candidate"), (1, "baseline")):
            if any(getattr(of, other) == 1.0 and (of.cutoff is None or of.cutoff > FIRST) for of in shares):
                continue  # where all first items have a label, no new ids are there
            lists, names = self.some_judged(ids), (arms[place].name, arms[1 - place].name)
            each = (Vanished.between(*pair) for pair in product(lists[place], lists[1 - place]))
            told = [_told(self, of, names, is_stable) for of in each if is_many(of.n, of.n_labelled)]
            found += [notes for notes in told if notes and (place == 0 or notes[0].kind != "part_missing")]
        return min(found, key=lambda notes: notes[0].kind == "part_missing", default=[])

    @property
    def listed(self) -> tuple[ListedShare, ...]:
        """The shares of the labelled and relevant items of shared groups that both list; () if no item was read."""
        if "judged" not in vars(self):
            return ()
        each = [[run.ranking for run in of_arm] for of_arm in self.judged]
        is_shared = np.all(
            [places_of(self.labels.group_keys, run.group_keys) >= 0 for of_arm in each for run in of_arm], axis=0
        )
        found = [[places_of(self.labels.item_keys, run.item_keys) >= 0 for run in of_arm] for of_arm in each]
        labelled = is_shared[group_codes(self.labels.offsets)]
        chosen = {"labelled": labelled, "relevant": labelled & (self.labels.grades > 0)}
        return tuple(
            ListedShare(of, *(float(np.mean([of_run[some].mean() for of_run in of_arm])) for of_arm in found))
            for of, some in chosen.items()
            if some.any()
        )

    def spans_notes(self) -> list[Note]:
        """Return a note on each run with chunks that have several gold spans of their group, of which one counts."""
        same = self.labels.same_items if "labels" in vars(self) else None  # else all first items are judged
        if same is None or not same.spans:
            return []
        runs = [side.run for side in self.both.sides]
        n_beside = {run.name: same.n_beside(self.tx.runs.ranking(run.id), self.labels) for run in runs}
        return [Note("spans_beside", {"n": n, "run": name}) for name, n in n_beside.items() if n]

    def origin_notes(self, cutoff: int | None) -> list[Note]:
        """Return notes where other judges labelled what one run ranks first, or only the other run was ever shown."""
        every = {of.version: of for of in self.tx.labels.sets(self.both.dataset_id, None)}
        chain = [self.both.baseline.label_set]
        while (extended := every.get(chain[-1].extends or 0)) is not None:
            chain.append(extended)
        shown = dict.fromkeys(name for of in chain for name in (of.from_runs or {}).get("runs", ()))
        runs = [side.run.name for side in self.both.sides]
        unseen = [run for run in runs if run not in shown]
        are_logs = bool(shown and unseen) and not self._has_zero
        notes = [Note("never_shown", {"runs": [*shown], "unseen": unseen})] if are_logs else []
        for after, before in pairwise(chain if self.has_items else chain[:1]):
            if after.hand != before.hand:
                rows, _ = matching_rows(self.labels, self.tx.labels.lists(before.id))
                is_added = np.ones(self.labels.n_items)
                is_added[rows] = 0.0
                baseline, candidate = (_mean_of_first(is_added, of_arm[0], cutoff) for of_arm in self.judged)
                if abs(candidate - baseline) > HAND_GAP:
                    facts: dict[str, Fact] = {"hand": after.hand, "baseline": baseline, "candidate": candidate}
                    return [*notes, Note("other_hands", facts)]
        return notes


def _mean_of_first(of_labels: Floats, run: JudgedRanking, cutoff: int | None) -> float:
    """Return the mean of a number of each label over the judged first ranks of a run."""
    first = run.label_rows[_ranks(run)[run.rows] < (np.inf if cutoff is None else cutoff)]
    return float(of_labels[first].mean()) if first.size else 0.0


def _ranks(run: JudgedRanking) -> Index:
    """Return the rank of each row of a run, from 0: int64, shape (n_items,)."""
    offsets = run.ranking.offsets
    return np.arange(run.ranking.n_items) - offsets[group_codes(offsets)]


@dataclass(frozen=True)
class Vanished:
    """The labelled items in the first three ranks of one run that occur in no list of another.

    ``n``: how many of the ``n_labelled`` ones. ``replaced``: the share of them that have, within one place of their
    rank in the other run, an id that no list of the first one has and no label either. ``others``: the share of items
    without a label that vanish. ``ids``: the ids that vanished, and ``new``: such ids of the other run in each group.
    """

    n: int
    n_labelled: int
    replaced: float
    others: float
    ids: list[str]
    new: list[list[str]]

    @classmethod
    def between(cls, before: JudgedRanking, after: JudgedRanking) -> Vanished:
        """Return the items of ``before`` that vanished from ``after``, in the groups of both; of spans, documents."""
        old, keys = _ids(before), _ids(after)
        stays = places_of(old, keys) >= 0
        is_new = _is_unlabelled(after) & (places_of(keys, old) < 0)
        unlabelled, ranks, codes = _is_unlabelled(before), _ranks(before), group_codes(before.ranking.offsets)
        groups = places_of(before.ranking.group_keys, after.ranking.group_keys)
        had = ~unlabelled & (ranks < FIRST) & (groups[codes] >= 0)
        gone = np.flatnonzero(had & ~stays)
        offsets, places = after.ranking.offsets, groups[codes[gone]]
        starts, ends = offsets[places], offsets[places + 1]
        near = starts[:, None] + np.maximum(ranks[gone, None] + np.arange(-1, 2), 0)
        replaced = (is_new[np.minimum(near, is_new.size - 1)] & (near < ends[:, None])).any(axis=1)
        others = ~stays[unlabelled]
        counts = gone.size, int(had.sum())
        if not is_many(*counts):
            return cls(*counts, 0.0, 0.0, [], [])
        new = [
            keys.take(start + np.flatnonzero(is_new[start:end])).to_list()
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        shares = float(replaced.mean()), float(others.mean()) if others.size else 0.0
        return cls(*counts, *shares, old.take(gone).to_list(), new)

    @property
    def are_many(self) -> bool:
        """Whether enough vanished to matter, as often as other items do."""
        return is_many(self.n, self.n_labelled) and self.n / self.n_labelled >= LIKE_OTHERS * self.others

    @property
    def is_replaced(self) -> bool:
        """Whether new ids are in the places of these items."""
        return self.are_many and self.replaced >= REPLACED

    @property
    def pattern(self) -> str | None:
        """The text before or after all vanished ids that makes them new ones, or the other way round, as a pattern."""
        each = [
            {affix for other in new for affix in (*_affixes(other, old), *_affixes(old, other))}
            for old, new in zip(self.ids, self.new, strict=True)
        ]
        return min(set.intersection(*each), default=None) if each else None


def _ids(run: JudgedRanking) -> Keys:
    """Return what may have been renamed: the ids of the items, or the documents of spans, which have other cuts."""
    keys, same = run.ranking.item_keys, run.labels.same_items
    if same is None or not same.spans:
        return keys
    return Keys.from_strings([(span_of(item) or (item,))[0] for item in keys.to_list()])


def _is_unlabelled(run: JudgedRanking) -> Mask:
    unlabelled = np.ones(run.ranking.n_items, dtype=np.bool_)
    unlabelled[run.rows] = False
    return unlabelled


def is_many(n: int, n_labelled: int) -> bool:
    """Return whether so many of the labelled items vanished that it matters."""
    return n >= FEWEST and n >= SMALLEST * n_labelled


def _affixes(long: str, short: str) -> list[str]:
    """Return the patterns of the text before and after one id within another; of one character they prove nothing."""
    if len(long) < len(short) + 2:
        return []
    before, after = re.escape(long[: -len(short)]), re.escape(long[len(short) :])
    found = [f"^{before}"] * long.endswith(short) + [f"{after}$"] * long.startswith(short)
    return [affix.replace("\\-", "-") for affix in found]


def other_ids_notes(
    tx: ReadTransaction, both: RunPair, group_ids: Index, shares: Sequence[JudgedShare] = (), *, is_stable: bool = False
) -> list[Note]:
    """Return what to say where many labelled items that one side ranks first occur in no list of the other.

    The first note is "other_ids" if their ids were changed. Asked both ways: labels may have been rewritten to new ids.
    Parameters: ``group_ids``: the compared groups. ``shares``: the judged shares, if known. ``is_stable``: whether to
    take the items for gone, and only say so.
    """
    return _Sides(tx, both).other_ids_notes(group_ids, shares, is_stable=is_stable)


def _told(sides: _Sides, vanished: Vanished, names: tuple[str, str], is_stable: bool) -> list[Note]:
    """Return what to say of vanished items, nothing if they vanished as under another model."""
    pattern = vanished.pattern
    by_text = pattern is None and _have_same_texts(sides, vanished)
    facts: dict[str, Fact] = {"n": vanished.n, "n_labelled": vanished.n_labelled, "run": names[0], "other": names[1]}
    if not (vanished.is_replaced or pattern or by_text):
        is_missing = vanished.are_many and vanished.replaced < 1 - REPLACED
        return [Note("part_missing", facts)] if is_missing else []
    if is_stable:
        return [Note("ids_are_stable", facts)]
    by = ("--pattern", pattern) if pattern else ("--by-text",) if by_text else ()
    return [Note("other_ids", facts), Note("carry_labels", command=carry_command(sides.both.baseline.run.dataset, *by))]


def _have_same_texts(sides: _Sides, vanished: Vanished) -> bool:
    """Return whether the stored text of most vanished items is, or is part of, that of a new id in the same list."""
    tx, dataset_id = sides.tx, sides.both.dataset_id
    if not tx.texts.any(dataset_id):
        return False
    keys = dict.fromkeys([*vanished.ids, *(one for new in vanished.new for one in new)])
    texts = {record.item_key: record.text for record in tx.texts.of_items(dataset_id, [*keys]) if record.text}
    known = [
        any(texts[old] in texts[one] or texts[one] in texts[old] for one in new if one in texts)
        for old, new in zip(vanished.ids, vanished.new, strict=True)
        if old in texts
    ]
    return len(known) >= FEWEST and sum(known) >= REPLACED * len(known)
