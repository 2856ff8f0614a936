"""Two judges of one dataset: how far they agree, and by how much one errs for each run.

If one of them answered designs that check the other one (``labels sample``), only these pairs count: those of whole
queries equally, and those that an older version drew one by one with the weight 1 / probability.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import without_checkpoints
from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.compare.run_pair import label_set_ref
from ndcg_tracker.compare.slices import Slicing, attribute_values
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.contributions import weights_of_rows
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.labels.decide import (
    DrawnAnswers,
    GradeCount,
    JudgesAgreement,
    RunError,
    SliceAgreement,
    labels_diff,
)
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import judged, matching_rows
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.runs.labels import judges_of, numbered_labels
from ndcg_tracker.statistics.similarity import Kappa, SignedError, signed_error, weighted_kappa
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import sample_command

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import DatasetRecord, DesignRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


def labels_of_both(first: LabelLists, second: LabelLists) -> tuple[LabelLists, LabelLists]:
    """Return the labels of the pairs of group and item that both have, by each.

    >>> keys = Keys.from_strings
    >>> one = LabelLists.from_rows(keys("qqr"), keys("abc"), np.array([1.0, 0.0, 2.0]))
    >>> two = LabelLists.from_rows(keys("qqs"), keys("abd"), np.array([1.0, 2.0, 1.0]))
    >>> [lists.grades.tolist() for lists in labels_of_both(one, two)]
    [[1.0, 0.0], [1.0, 2.0]]
    """
    rows = matching_rows(first, second)
    return tuple(  # type: ignore[return-value]
        replace(
            LabelLists.from_rows(
                lists.group_keys.take(group_codes(lists.offsets)[of]), lists.item_keys.take(of), lists.grades[of]
            ),
            by_row_number=lists.by_row_number,
        )
        for lists, of in zip((first, second), rows, strict=True)
    )


@dataclass(frozen=True)
class GradePairs:
    """The grades of two judges for the same items.

    ``lists``: the labels of the first and of the second judge, with the same pairs row by row. ``weights``: float64,
    shape (n,), the weight of each pair, None for equal weights. ``is_first``: whether the first judge is the one in
    doubt; errors are then its grade minus the second's, else the reverse.
    """

    lists: tuple[LabelLists, LabelLists]
    weights: Floats | None
    is_first: bool

    @property
    def every(self) -> Mask:
        """All pairs."""
        return np.ones(self.lists[0].n_items, dtype=np.bool_)

    def rows(self) -> tuple[tuple[str, str, float, float], ...]:
        """Return group, item, and the grades of the judge in doubt and of the other one."""
        first, second = self.lists if self.is_first else self.lists[::-1]
        names = self.keys.take(self.groups).to_list(), first.item_keys.to_list()
        return tuple(zip(*names, first.grades.tolist(), second.grades.tolist(), strict=True))

    @property
    def keys(self) -> Keys:
        """The ids of the groups."""
        return self.lists[0].group_keys

    @property
    def groups(self) -> Index:
        """The place of each pair's group: int64, shape (n,)."""
        return group_codes(self.lists[0].offsets)

    def of(self, rows: Index | Mask) -> tuple[tuple[Floats, Floats], Index, Floats | None]:
        """Return the grades, the groups and the weights of some of the pairs."""
        first, second = (lists.grades[rows] for lists in self.lists)
        return (first, second), self.groups[rows], None if self.weights is None else self.weights[rows]

    def kappa(self, rows: Index | Mask) -> Kappa | None:
        """Return weighted kappa over some of the pairs, with an interval over groups."""
        grades, groups, weights = self.of(rows)
        return weighted_kappa(*grades, groups, weights)

    def error(self, rows: Index | Mask) -> SignedError:
        """Return the mean of the errors over some of the pairs."""
        (first, second), groups, weights = self.of(rows)
        return signed_error(first - second if self.is_first else second - first, groups, weights)

    def counts(self) -> tuple[GradeCount, ...]:
        """Return how often each grade of the first met each grade of the second, and its share of all weights."""
        (first, second), _, weights = self.of(self.every)
        met, at = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
        at = at.reshape(-1)
        sums = np.bincount(at, weights, met.shape[1])
        each = zip(*met.tolist(), np.bincount(at, None, met.shape[1]).tolist(), sums / sums.sum(), strict=True)
        return tuple(GradeCount(one, other, n, float(share)) for one, other, n, share in each)


def run_errors(pairs: GradePairs, first_ranks: Mapping[str, Mask]) -> tuple[RunError, ...]:
    """Return the errors of a judge among the first ranks of each run, and those on items that only this run shows.

    ``first_ranks``: by run, bool, shape (n,), which of the pairs are among its first ranks.

    >>> keys = Keys.from_strings
    >>> one, two = (LabelLists.from_rows(keys("qqq"), keys("abc"), np.array(of)) for of in ([2.0, 1, 1], [1.0, 1, 0]))
    >>> shown = {"bm25": np.array([True, True, False]), "dense": np.array([False, True, True])}
    >>> [(of.run, of.error, of.alone.error) for of in run_errors(GradePairs((one, two), None, True), shown)]
    [('bm25', 0.5, 1.0), ('dense', 0.5, 1.0)]
    """
    n_showing = np.sum(list(first_ranks.values()), axis=0) if first_ranks else 0
    errors = []
    for run, shown in first_ranks.items():
        of_run = pairs.error(shown)
        alone = pairs.error(shown & (n_showing == 1)) if len(first_ranks) > 1 else None
        errors.append(RunError(run, of_run.n, of_run.error, of_run.ci, alone))
    return tuple(errors)


def slices_agreement(pairs: GradePairs, slicing: Slicing) -> tuple[SliceAgreement, ...]:
    """Return how far two judges agree in each slice of groups, the largest first, groups without a value last.

    ``slicing``: has a value for the group of each pair.
    """
    found = []
    for value, places in slicing.places().items():
        rows = np.flatnonzero(np.isin(pairs.groups, places))
        error = pairs.error(rows)
        found.append(SliceAgreement(slicing.attribute, value, error.n, pairs.kappa(rows), error.error, error.ci))
    return tuple(sorted(found, key=lambda row: (row.value is None, -row.n, row.value or "")))


@dataclass(frozen=True)
class _Drawn:
    """The answers of one judge to designs that check another judge.

    ``grades`` and ``weights``: of the same pairs; the weights are 1 / probability. ``run_ids``: of the designs' runs,
    None for a deleted run. ``newest_before``: the id of the latest version of labels that was stored before the first
    answer to any design.
    """

    answers: DrawnAnswers
    grades: LabelLists
    weights: LabelLists
    run_ids: frozenset[int | None]
    newest_before: int


def _drawn(tx: ReadTransaction, dataset_id: int, two: Sequence[str]) -> _Drawn | None:
    """Return the answers of one of two judges to designs that check the other one, or of both if both have some."""
    judge_of = {label_set.id: label_set.judge for label_set in tx.labels.sets(dataset_id, None)}
    stored = tx.designs.all(dataset_id)
    found = []
    for judge, other in (two, two[::-1]):
        designs = [of for of in stored if (judge_of[of.label_set_id], of.checked_by) == (judge, other)]
        if designs:
            found.append(_answers(tx, designs, judge, other))
    return max(found, key=lambda drawn: drawn.answers.n, default=None)


def _answers(tx: ReadTransaction, designs: Sequence[DesignRecord], judge: str, checked_by: str) -> _Drawn:
    """Return the answers to some designs; a pair counts by the largest of its probabilities."""
    grade_of: dict[tuple[int, str], float] = {}
    probabilities: dict[tuple[int, str], float] = {}
    for design in designs:
        for item in tx.designs.items(design.id):
            pair = item.group_id, item.item_key
            probabilities[pair] = max(item.probability, probabilities.get(pair, 0.0))
            if item.grade is not None:
                grade_of[pair] = item.grade
    weights = [1 / probabilities[answered] for answered in grade_of]
    ids = np.array([group_id for group_id, _ in grade_of], dtype=np.int64)
    keys = tx.groups.keys(designs[0].dataset_id, ids), Keys.from_strings([item for _, item in grade_of])
    numbers = tuple(design.number for design in designs)
    of_items = any(design.kind == "items" for design in designs)
    return _Drawn(
        DrawnAnswers(judge, checked_by, numbers, len(grade_of), len(probabilities) - len(grade_of), of_items),
        LabelLists.from_rows(*keys, np.array(list(grade_of.values()), dtype=np.float64)),
        LabelLists.from_rows(*keys, np.array(weights, dtype=np.float64)),
        frozenset(run.run_id for design in designs for run in design.runs),
        min(design.answered_after_label_set_id or 0 for design in designs),
    )


def judges_agreement(
    tx: ReadTransaction,
    dataset_name: str,
    judges: Sequence[str],
    metric: Metric,
    *,
    top: int = 10,
    by: str | None = None,
) -> JudgesAgreement:
    """Return how far two judges agree, and by how much one errs among the first ranks of the runs.

    ``judges``: two judges. One judge is compared with
    the only other one, or with the unnamed judge; without any, the only two judges are compared. ``top``: how many
    labels with different grades to keep. ``by``: an attribute of groups, for slices. Raises: InputError if it is not
    clear which two judges are meant, if one has neither labels nor answers to a design that checks the other one, or if
    no group has the attribute.
    """
    dataset = tx.datasets.known(dataset_name)
    two = _two(tx, dataset, judges)
    drawn = _drawn(tx, dataset.id, two)
    sets = [_newest(tx, dataset, judge, drawn) for judge in two]
    versions = [None if label_set is None else tx.labels.lists(label_set.id) for label_set in sets]
    every, notes = without_checkpoints(tx.runs.all(dataset.name))
    runs = [run for run in every if run.n_items and "items" in tx.runs.holds(run.id)]
    without = [run.name for run in every if run not in runs]
    notes += [Note("agreement_without_items", {"n": len(without), "first": without[0]})] if without else []
    of_judge = 1 if two[0] == "" else 0  # the judge in doubt, which is never the unnamed one
    shown, weights, showing = versions, None, runs
    refs = [LabelSetRef(0, "", judge) if of is None else label_set_ref(of) for judge, of in zip(two, sets, strict=True)]
    if drawn is not None:
        of_judge = two.index(drawn.answers.judge)
        answering = 1 - of_judge
        refs[answering] = LabelSetRef(0, "", two[answering])
        shown = [drawn.grades if place == answering else lists for place, lists in enumerate(versions)]
        showing = [run for run in runs if run.id in drawn.run_ids]
    first, second = (lists for lists in shown if lists is not None)
    both = labels_of_both(first, second)
    if drawn is not None:
        weights = labels_of_both(both[0], drawn.weights)[1].grades
    pairs = GradePairs(both, weights, of_judge == 0)
    diff = labels_diff(dataset.name, (refs[0], refs[1]), first, second, top=top)
    if drawn is not None:
        diff = replace(diff, grades=pairs.counts())
    notes += _notes(dataset.name, two[of_judge], pairs, drawn, sets[of_judge])
    slices = () if by is None else slices_agreement(pairs, _slicing(tx, dataset, by, pairs.keys, every))
    return JudgesAgreement(
        diff,
        pairs.kappa(pairs.every),
        str(metric),
        tuple(notes),
        two[of_judge],
        two[1 - of_judge],
        None if drawn is None else drawn.answers,
        pairs.error(pairs.every),
        run_errors(pairs, _first_ranks(tx, showing, metric, both[0])),
        slices,
        pairs.rows(),
    )


def _newest(tx: ReadTransaction, dataset: DatasetRecord, judge: str, drawn: _Drawn | None) -> LabelSetRecord | None:
    """Return the latest labels of a judge, None if it only has answers to designs (InputError without either)."""
    if drawn is not None and judge == drawn.answers.checked_by:
        return tx.labels.newest(dataset.id, judge)
    return numbered_labels(tx, dataset.id, dataset.name, judge=judge)


def _notes(
    dataset: str, judge: str, pairs: GradePairs, drawn: _Drawn | None, label_set: LabelSetRecord | None
) -> list[Note]:
    """Return further notes on the pairs."""
    notes = []
    if drawn is None and not pairs.lists[0].n_items:
        notes.append(Note("no_common_pair", {}, sample_command(["A", "B"], judge or "JUDGE", dataset)))
    if drawn is not None and drawn.answers.n_open:
        n = drawn.answers.n_open
        notes.append(Note("agreement_open", {"n": n, "n_drawn": n + drawn.answers.n}))
    if drawn is not None and label_set is not None and label_set.id > drawn.newest_before:
        notes.append(Note("newer_than_answers", {"version": label_set.version, "judge": judge}))
    return notes


def _slicing(
    tx: ReadTransaction, dataset: DatasetRecord, attribute: str, keys: Keys, runs: Sequence[RunRecord]
) -> Slicing:
    """Return the value of an attribute in some groups (InputError if no group has it)."""
    if not runs:
        raise InputError(
            f"dataset {dataset.name!r} has no runs, so {argument('by')} has nothing to slice",
            advice=f"store one with: {shlex.join(('ndcg-track', 'ingest', 'FILE', '--dataset', dataset.name))}",
        )
    return attribute_values(tx, runs[0], attribute).of(tx.groups.ids(dataset.id, keys))


def _first_ranks(tx: ReadTransaction, runs: Sequence[RunRecord], metric: Metric, pairs: LabelLists) -> dict[str, Mask]:
    """Return, for each run, which pairs it has among the first ranks that a metric looks at."""
    first_ranks = {}
    for run in runs if pairs.n_items else ():
        is_first = np.zeros(pairs.n_items, dtype=np.bool_)
        for ranking in tx.runs.ranking_blocks(run):
            side = judged(ranking, pairs)
            ranks = weights_of_rows(side, metric)[0][side.rows]
            is_first[side.label_rows[ranks <= (metric.cutoff or ranks.max(initial=0))]] = True
        first_ranks[run.name] = is_first
    return first_ranks


def _two(tx: ReadTransaction, dataset: DatasetRecord, judges: Sequence[str]) -> Sequence[str]:
    """Return the two judges that are meant; if only one has labels, the other is the one that answered designs."""
    if len(judges) > 2 or len(set(judges)) < len(judges):
        given = ", ".join(map(repr, judges))
        raise InputError(f"a comparison of judges needs two, not {given}", advice="name two")
    if len(judges) == 2:
        return judges
    every = judges_of(tx, dataset.id)
    if len(every) == 1:
        every += dict.fromkeys(of.checked_by for of in tx.designs.all(dataset.id) if of.checked_by is not None)
    if judges:
        others = [judge for judge in every if judge != judges[0]]
        return [others[0], *judges] if len(others) == 1 else ["", *judges]
    named = [judge for judge in every if judge]
    if not named:
        advice = "add some with ndcg-track labels add FILE --judge NAME"
        raise InputError(f"dataset {dataset.name!r} has no labels of a named judge", advice=advice)
    if len(every) == 2:
        return ["", *named] if len(named) == 1 else named
    if len(named) > 1:
        raise InputError(
            f"dataset {dataset.name!r} has labels of judges {', '.join(map(repr, named))}",
            advice=f"choose with {argument('judge')}",
        )
    return ["", *named]
