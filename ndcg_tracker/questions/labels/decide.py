"""Two sets of labels side by side, a comparison under each of several versions, and what to judge next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ndcg_tracker.compare.results import Comparison, LabelSetRef, RunRef, Verdict
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.join import matching_rows, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelDetail, LabelLists
from ndcg_tracker.statistics.similarity import Kappa, SignedError
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import GroupTexts, Text

NAMED_GROUPS = 10
"""How many groups that only one label set has are named."""


@dataclass(frozen=True, slots=True)
class GradeFrequency:
    """How many labels have a grade."""

    grade: float
    n: int


@dataclass(frozen=True, slots=True)
class LabelVersion:
    """A version of a dataset's labels.

    ``n_items``: different ids of items. ``n_runs``: runs evaluated under it. ``judge``: who gave the labels, "" for the
    unnamed judge. ``extends``: the version whose labels it contains, with those that ``added_by`` gave. ``from_runs``:
    the runs whose logs the labels come from. ``model`` and ``prompt``: of a model that gave them, "" where not said.
    ``repeats``: how far several labels of an item spread, whose mean counts. ``left_out``: how many were not numbers.
    """

    dataset: str
    version: int
    digest: str
    created_at_utc: str
    source: str | None
    n_groups: int
    n_items: int
    n_labels: int
    grades: tuple[GradeFrequency, ...]
    n_runs: int
    judge: str = ""
    extends: int | None = None
    added_by: str | None = None
    from_runs: tuple[str, ...] = ()
    model: str = ""
    prompt: str = ""
    repeats: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class GradeCount:
    """How many pairs of group and item have one grade in the first labels and one in the second, None for no label."""

    first: float | None
    second: float | None
    n: int


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A label whose grade differs between two label sets; what each says besides the grade, None for nothing."""

    group: str
    item: str
    first: float
    second: float
    first_detail: LabelDetail | None = field(default=None, metadata={"if_any": True})
    second_detail: LabelDetail | None = field(default=None, metadata={"if_any": True})


@dataclass(frozen=True, slots=True)
class SetSizes:
    """How many things two sets have: in each, in both, only in the first (``gone``), and only in the second."""

    first: int
    second: int
    in_both: int
    gone: int
    new: int


@dataclass(frozen=True, slots=True)
class LabelsDiff:
    """Two label sets of a dataset.

    ``labels``: pairs of group and item. ``n_equal``: pairs with the same grade in both. ``grades``: how often each
    grade of the first met each grade of the second, by grade, unlabelled last. ``changes``: labels whose grade differs,
    the largest difference first. ``gone_groups`` and ``new_groups``: some of the groups that only one set has.
    ``agreement``: the share of the labels in both with the same grade; None if no pair is in both.
    """

    dataset: str
    first: LabelSetRef
    second: LabelSetRef
    groups: SetSizes
    labels: SetSizes
    n_equal: int
    grades: tuple[GradeCount, ...]
    changes: tuple[GradeChange, ...]
    gone_groups: tuple[str, ...]
    new_groups: tuple[str, ...]
    agreement: float | None


def labels_diff(
    dataset: str, sets: tuple[LabelSetRef, LabelSetRef], first: LabelLists, second: LabelLists, *, top: int = 10
) -> LabelsDiff:
    """Return what differs between two label sets; ``top``: how many changed labels to keep.

    >>> refs = LabelSetRef(1, "a"), LabelSetRef(2, "b")
    >>> keys = Keys.from_strings
    >>> old = LabelLists.from_rows(keys("qqr"), keys("abc"), np.array([1.0, 0.0, 2.0]))
    >>> new = LabelLists.from_rows(keys("qqs"), keys("abd"), np.array([1.0, 2.0, 1.0]))
    >>> diff = labels_diff("shop", refs, old, new)
    >>> diff.labels.in_both, diff.agreement, diff.changes[0].item, diff.new_groups
    (2, 0.5, 'b', ('s',))
    """
    rows, others = matching_rows(first, second)
    before, after = first.grades[rows], second.grades[others]
    differs = np.flatnonzero(before != after)
    gone = np.flatnonzero(places_of(first.group_keys, second.group_keys) < 0)
    new = np.flatnonzero(places_of(second.group_keys, first.group_keys) < 0)
    n_both, n_equal = int(rows.size), int(rows.size - differs.size)
    return LabelsDiff(
        dataset,
        *sets,
        SetSizes(first.n_groups, second.n_groups, first.n_groups - gone.size, gone.size, new.size),
        SetSizes(first.n_items, second.n_items, n_both, first.n_items - n_both, second.n_items - n_both),
        n_equal,
        _grade_counts(first.grades, second.grades, rows, others),
        _changes((first, second), rows[differs], before[differs], after[differs], top),
        _named(first.group_keys, gone),
        _named(second.group_keys, new),
        n_equal / n_both if n_both else None,
    )


def _grade_counts(first: Floats, second: Floats, rows: Index, others: Index) -> tuple[GradeCount, ...]:
    """Return how often each grade met each other grade; NaN stands for no label and sorts last."""
    only_first, only_second = np.delete(first, rows), np.delete(second, others)
    first_grades = np.concatenate([first[rows], only_first, np.full(only_second.size, np.nan)])
    second_grades = np.concatenate([second[others], np.full(only_first.size, np.nan), only_second])
    levels, codes = np.unique(np.concatenate([first_grades, second_grades]), return_inverse=True)
    pairs, counts = np.unique(codes[: first_grades.size] * levels.size + codes[first_grades.size :], return_counts=True)
    grades = [None if np.isnan(level) else float(level) for level in levels]
    return tuple(
        GradeCount(grades[pair // levels.size], grades[pair % levels.size], n)
        for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True)
    )


def _changes(
    sides: tuple[LabelLists, LabelLists], rows: Index, before: Floats, after: Floats, top: int
) -> tuple[GradeChange, ...]:
    """Return the labels that changed most; equal changes keep their order."""
    most = np.argsort(-np.abs(after - before), kind="stable")[:top]
    names = [keys.to_list() for keys in sides[0].keys_of(rows[most])]
    details = ([of.details.get(pair) for pair in zip(*names, strict=True)] for of in sides)
    return tuple(map(GradeChange, *names, before[most].tolist(), after[most].tolist(), *details))


def _named(keys: Keys, places: Index) -> tuple[str, ...]:
    return tuple(keys.take(places[:NAMED_GROUPS]).to_list())


@dataclass(frozen=True, slots=True)
class VersionVerdict:
    """The verdict under one version of the labels, and whether it rests on low information.

    ``judge``: who gave these labels, "" for the unnamed judge. ``is_open``: whether unjudged items alone could turn the
    verdict.
    """

    version: int
    verdict: Verdict
    low_information: bool = False
    judge: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdicts on a metric of a candidate under each version of the labels, by judge, the oldest first.

    ``changes``: whether one version gives another verdict than the others (see ``concluded``).
    ``turns_between_judges``: whether the latest labels of one judge give another verdict than those of the others.
    """

    candidate: str
    metric: str
    verdicts: tuple[VersionVerdict, ...]
    changes: bool
    turns_between_judges: bool

    @classmethod
    def of(cls, candidate: str, metric: str, verdicts: Sequence[VersionVerdict]) -> Conclusion:
        """Return the conclusion from some verdicts."""
        newest = {of.judge: concluded(of.verdict) for of in verdicts}
        turns = len({concluded(of.verdict) for of in verdicts}) > 1, len(set(newest.values())) > 1
        return cls(candidate, metric, tuple(verdicts), *turns)


@dataclass(frozen=True, slots=True)
class VersionsComparison:
    """A baseline compared with its candidates under every version of the labels, of one judge or of all.

    ``comparisons``: by candidate, then by judge and version, oldest first; p-values are corrected as under one version.
    ``not_evaluated``: candidates, versions under which they or the baseline lack the metrics, and their judges;
    ``notes`` have the commands that add them.
    """

    comparisons: tuple[Comparison, ...]
    not_evaluated: tuple[tuple[str, int, str], ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The conclusions for each candidate and tested metric."""
        verdicts_of: dict[tuple[str, str], list[VersionVerdict]] = {}
        for comparison in self.comparisons:
            for metric in comparison.metrics:
                if metric.verdict is not None:
                    told = verdicts_of.setdefault((comparison.candidate.name, metric.metric), [])
                    of = comparison.label_set
                    facts = metric.has_low_information, of.judge, metric.is_open
                    told.append(VersionVerdict(of.version, metric.verdict, *facts))
        return tuple(Conclusion.of(*of, verdicts) for of, verdicts in verdicts_of.items())


@dataclass(frozen=True, slots=True)
class RunError:
    """By how much a judge's grades are above another's among the first ranks of a run, on average, over ``n`` items."""

    run: str
    n: int
    error: float | None
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class DrawnAnswers:
    """The answers of ``checked_by`` to ``designs`` that check ``judge``; ``n``: how many, ``n_open``: still to come."""

    judge: str
    checked_by: str
    designs: tuple[int, ...]
    n: int
    n_open: int


@dataclass(frozen=True, slots=True)
class JudgesAgreement:
    """Two judges of one dataset, by the latest labels of each, or by answers to designs.

    ``diff``: their labels side by side. ``kappa``: None if undefined. ``metric``: up to its cutoff items are first
    ranks. ``answers``: if there are any, all figures use only these. Errors are the grade of ``judge`` minus that of
    ``against``: ``signed_error`` over all pairs, ``signed_errors`` for each run among its first ranks. ``pairs``: group
    and item of all pairs, with the grades of ``judge`` and of ``against``. ``reasons``: of both for each pair, none if
    no label has one.
    """

    diff: LabelsDiff
    kappa: Kappa | None
    metric: str
    notes: tuple[Note, ...]
    judge: str
    against: str
    answers: DrawnAnswers | None
    signed_error: SignedError
    signed_errors: tuple[RunError, ...]
    pairs: tuple[tuple[str, str, float, float], ...]
    reasons: tuple[tuple[str, str], ...] = ()


def concluded(verdict: Verdict | None) -> Verdict | None:
    """Return the conclusion from a verdict: identical results count as no difference detected."""
    return "no_difference_detected" if verdict == "identical" else verdict


@dataclass(frozen=True, slots=True)
class ItemToGrade:
    """An item for somebody to grade, with the texts of its group and its own texts, None if none is stored.

    ``could_move``: how far its grade could move the mean difference of two of the runs, None if that is not known.
    """

    group: str
    item: str
    could_move: float | None = None
    query: str | None = None
    title: str | None = None
    text: str | None = None
    url: str | None = None

    @classmethod
    def of(cls, group: str, item: str, texts: GroupTexts | None) -> ItemToGrade:
        """Return an item with its stored texts."""
        if texts is None:
            return cls(group, item)
        query, own = texts.query or Text(), texts.items.get(item, Text())
        return cls(group, item, None, query.text or query.title, own.title, own.text, own.url)


@dataclass(frozen=True, slots=True)
class NeededLabels:
    """What to judge next for a baseline and its candidates under one metric.

    ``label_set``: the labels, by default the latest, in which the items have no label; version 0 if the judge has none
    yet. ``n_unjudged``: how many unjudged items the first ranks of the runs contain. ``items``: first those that could
    move a difference most; in a first batch, first those of the first rank in every group.
    """

    baseline: RunRef
    candidates: tuple[RunRef, ...]
    dataset: str
    label_set: LabelSetRef
    metric: str
    n_unjudged: int
    items: tuple[ItemToGrade, ...]
    notes: tuple[Note, ...] = ()

    @property
    def is_first_batch(self) -> bool:
        """Whether the judge has no labels yet."""
        return not self.label_set.version


def most_needed(moves: Sequence[Mapping[tuple[str, str], float]], budget: int | None) -> tuple[ItemToGrade, ...]:
    """Return the items that could move a difference most, at most ``budget``, None for all.

    Parameters: ``moves``: for each candidate, how far each item, by group and id, could move the difference. An item
    counts by the difference that it could move most; equal items keep their order. With a budget, items that cannot
    move anything are left out.

    >>> [item.item for item in most_needed([{("q", "a"): 0.1, ("q", "b"): 0.0}, {("q", "c"): 0.2}], 3)]
    ['c', 'a']
    """
    most: dict[tuple[str, str], float] = {}
    for of_candidate in moves:
        for pair, move in of_candidate.items():
            most[pair] = max(move, most.get(pair, 0.0))
    ordered = sorted(most.items(), key=lambda entry: -entry[1])[:budget]
    return tuple(ItemToGrade(group, item, move) for (group, item), move in ordered if move > 0 or budget is None)


@dataclass(frozen=True, slots=True)
class LabelsSample:
    """A sample of whole queries of two runs: the items in them that people should grade.

    ``design``: its number, ``label_set``: the labels of the judge whom it checks, or those with the holes; ``checks``:
    the judge, None for holes. ``n_groups``: how many queries there are, ``n_open`` of them have open items.
    ``n_drawn``: how many are in the sample, ``n_items``: with so many items, ``n_answered`` of these are graded
    already. ``needed``: how many queries a verdict needs, and about how many items these have. ``half_width``: up to
    about so wide is the 95% interval on either side, None if that is not known. ``items``: the rest, query by query, in
    the order of the sample.
    """

    design: int
    dataset: str
    baseline: RunRef
    candidate: RunRef
    label_set: LabelSetRef
    checks: str | None
    metric: str
    budget: int
    n_groups: int
    n_open: int
    n_drawn: int
    n_items: int
    n_answered: int
    needed: tuple[int, int]
    half_width: float | None
    items: tuple[ItemToGrade, ...]
    notes: tuple[Note, ...] = ()
