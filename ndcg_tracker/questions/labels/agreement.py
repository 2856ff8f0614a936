"""Two judges of one dataset: how far they agree, and by how much one errs for each run.

If one of them answered designs that check the other one (``labels sample``), only these answers count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import without_checkpoints
from ndcg_tracker.compare.gather_drawn import answers_to
from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.compare.run_pair import label_set_ref
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.contributions import weights_of_rows
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.labels.decide import DrawnAnswers, JudgesAgreement, RunError, labels_diff
from ndcg_tracker.rankings import Mask
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import judged, matching_rows
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.runs.judges import judges_of, numbered_labels
from ndcg_tracker.statistics.similarity import signed_error, weighted_kappa
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import sample_command

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import DatasetRecord, DesignRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


def _designs(tx: ReadTransaction, dataset_id: int, two: Sequence[str]) -> tuple[str, list[DesignRecord]]:
    """Return which of two judges answered most designs that check the other one, and these designs."""
    stored = tx.designs.all(dataset_id)
    found = [
        (other, [of for of in stored if (of.judge, of.checked_by) == (judge, other)])
        for judge, other in (two, two[::-1])
    ]
    return max(found, key=lambda entry: len(entry[1]))


def judges_agreement(
    tx: ReadTransaction, dataset_name: str, judges: Sequence[str], metric: Metric, *, top: int = 10
) -> JudgesAgreement:
    """Return how far two judges agree, and by how much one errs among the first ranks of the runs.

    ``judges``: two judges. One judge is compared with the only other one, or with the unnamed judge; without any, the
    only two judges are compared. ``top``: how many labels with different grades to keep. Raises: InputError if it is
    not clear which two judges are meant, or if one has neither labels nor answers to a design that checks the other.
    """
    dataset = tx.datasets.known(dataset_name)
    two = _two(tx, dataset, judges)
    answering, designs = _designs(tx, dataset.id, two)
    every, notes = without_checkpoints(tx.runs.all(dataset.name))
    runs = [run for run in every if run.n_items and "items" in tx.runs.holds(run.id)]
    without = [run.name for run in every if run not in runs]
    notes += [Note("agreement_without_items", {"n": len(without), "first": without[0]})] if without else []
    in_doubt = two[1] if two[0] == "" or (designs and answering == two[0]) else two[0]
    answers, sides = None, []
    for judge in two:
        if designs and judge == answering:
            lists, _, n_open = answers_to(tx, designs)
            sides.append((LabelSetRef(0, "", judge), lists))
            numbers = tuple(design.number for design in designs)
            answers = DrawnAnswers(in_doubt, judge, numbers, lists.n_items, n_open)
            notes += [Note("agreement_open", {"n": n_open, "n_drawn": n_open + lists.n_items})] if n_open else []
            if any(design.kind == "items" for design in designs):
                notes.append(Note("agreement_of_items", {}))
            shown = {run.run_id for design in designs for run in design.runs}
            runs = [run for run in runs if run.id in shown]
            continue
        label_set = numbered_labels(tx, dataset.id, dataset.name, judge=judge)
        sides.append((label_set_ref(label_set), tx.labels.detailed(label_set)))
        if designs and label_set.id > min(design.answered_after_label_set_id or 0 for design in designs):
            notes.append(Note("newer_than_answers", {"version": label_set.version, "judge": judge}))
    (ref, first), (other_ref, second) = sides
    rows, other_rows = matching_rows(first, second)
    if not (rows.size or designs):
        notes.append(Note("no_common_pair", {}, sample_command(["A", "B"], in_doubt or "JUDGE", dataset.name)))
    groups, grades = group_codes(first.offsets)[rows], (first.grades[rows], second.grades[other_rows])
    one, other = grades if in_doubt == two[0] else grades[::-1]
    errors = []
    for run in runs if rows.size else ():
        at = _first_ranks(tx, run, metric, first)[rows]
        of_run = signed_error((one - other)[at], groups[at])
        errors.append(RunError(run.name, of_run.n, of_run.error, of_run.ci))
    pairs = list(zip(*(keys.to_list() for keys in first.keys_of(rows)), strict=True))
    both = (first, second) if in_doubt == two[0] else (second, first)
    are_told = any(detail.reason for side in both for detail in side.details.values())
    each = [[of.details[pair].reason if pair in of.details else "" for pair in pairs] for of in both if are_told]
    return JudgesAgreement(
        labels_diff(dataset.name, (ref, other_ref), first, second, top=top),
        weighted_kappa(*grades, groups),
        str(metric),
        tuple(notes),
        in_doubt,
        two[in_doubt == two[0]],
        answers,
        signed_error(one - other, groups),
        tuple(errors),
        tuple((*pair, *of_pair) for pair, *of_pair in zip(pairs, one.tolist(), other.tolist(), strict=True)),
        tuple(zip(*each, strict=True)),
    )


def _first_ranks(tx: ReadTransaction, run: RunRecord, metric: Metric, labels: LabelLists) -> Mask:
    """Return which labels a run has among the first ranks that a metric looks at."""
    is_first = np.zeros(labels.n_items, dtype=np.bool_)
    for ranking in tx.runs.ranking_blocks(run):
        side = judged(ranking, labels)
        ranks = weights_of_rows(side, metric)[0][side.rows]
        is_first[side.label_rows[ranks <= (metric.cutoff or ranks.max(initial=0))]] = True
    return is_first


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
        return [others[0] if len(others) == 1 else "", *judges]
    named = [judge for judge in every if judge]
    if not named:
        advice = "add some with ndcg-track labels add FILE --judge NAME"
        raise InputError(f"dataset {dataset.name!r} has no labels of a named judge", advice=advice)
    if len(every) > 2:
        what = f"dataset {dataset.name!r} has labels of judges {', '.join(map(repr, named))}"
        raise InputError(what, advice=f"choose with {argument('judge')}")
    return ["", *named][-2:]
