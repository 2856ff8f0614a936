"""Whose labels count, and how much of a run they reach."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from ndcg_tracker.asked import EVERY_JUDGE
from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Fact, Note, carry_command
from ndcg_tracker.words.texts import judge_words

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


JudgeNames = str | Sequence[str] | None
"""One judge or several; none: the one that counts."""

FAR_BELOW = 0.6
"""A run whose judged share is at most this part of that of other runs may have other ids than the labels."""
_FEWEST_RUNS = 3
_FEW_MET = 0.1


def numbered_labels(
    tx: ReadTransaction, dataset_id: int, dataset: str, version: int | None = None, judge: str | None = None
) -> LabelSetRecord:
    """Return a version of a dataset's labels, by default the latest of the judge that counts (``counting_judge``).

    Raises: InputError for a dataset or judge without labels; ReferenceNotFoundError for an unknown version, or one that
    is not of this judge.
    """
    every = [label_set for label_set in tx.labels.sets(dataset_id, None) if label_set.judge not in NO_LABELS_HERE]
    if not every:
        raise InputError(f"dataset {dataset!r} has no labels", advice="add them with ndcg-track labels add FILE")
    if version is None:
        counting = counting_judge(tx, dataset_id, dataset, judge)
        of_judge = [label_set for label_set in every if label_set.judge == counting]
        if not of_judge:
            judges = judges_of(tx, dataset_id)
            raise InputError(
                f"dataset {dataset!r} has no labels of {judge_words(counting)}, only those of "
                f"{', '.join(map(judge_words, judges))}",
                advice=f"choose with {argument('judge')}" if any(judges) else f"leave out {argument('judge')}",
            )
        return of_judge[-1]
    label_set = next((label_set for label_set in every if label_set.version == version), None)
    what = f"version {version} of the labels of dataset {dataset!r}"
    if label_set is None:
        what = f"no {what} ({'it only has version 1' if len(every) == 1 else f'it has 1 to {every[-1].version}'})"
    elif judge is None or label_set.judge == judge:
        return label_set
    else:
        what += f" is of {judge_words(label_set.judge)}, not of {judge_words(judge)}"
    see = shlex.join(["ndcg-track", "labels", "list", "--dataset", dataset])
    raise ReferenceNotFoundError(what, advice=f"see: {see}")


def judges_of(tx: ReadTransaction, dataset_id: int) -> list[str]:
    """Return the judges whose labels a dataset has, in the order of their first labels; "" is the unnamed judge."""
    every = dict.fromkeys(label_set.judge for label_set in tx.labels.sets(dataset_id, None))
    return [judge for judge in every if judge not in NO_LABELS_HERE]


def counting_judge(tx: ReadTransaction, dataset_id: int, dataset: str, judge: str | None = None) -> str:
    """Return the judge whose labels count: ``judge``, by default the unnamed judge, or else the only one.

    Raises: InputError if there are several and none is named.
    """
    judges = judges_of(tx, dataset_id)
    if judge == EVERY_JUDGE:
        raise InputError(
            f"{argument('judge', EVERY_JUDGE)} means every judge, but here only one can count",
            advice="name one; only compare, ingest and rescore accept all",
        )
    if judge is not None or "" in judges or not judges:
        return judge or ""
    if len(judges) > 1:
        named = ", ".join(map(repr, judges[:-1]))
        raise InputError(
            f"dataset {dataset!r} has labels of judges {named} and {judges[-1]!r}, but none without a judge",
            advice=f"choose with {argument('judge', judges[0])}",
        )
    return judges[0]


def chosen_judges(tx: ReadTransaction, dataset_id: int, dataset: str, judges: JudgeNames) -> list[str]:
    """Return the judges that are named, each once, all of a dataset for ``EVERY_JUDGE``, else the one that counts."""
    names = [judges] if isinstance(judges, str) else list(judges or ())
    if EVERY_JUDGE in names:
        return judges_of(tx, dataset_id)
    return list(dict.fromkeys(names)) or [counting_judge(tx, dataset_id, dataset)]


def judge_option(judge: str) -> tuple[str, ...]:
    """Return how a command names a judge, if there is one to name.

    >>> judge_option(""), judge_option("gpt")
    ((), ('--judge', 'gpt'))
    """
    return ("--judge", judge) if judge and judge not in NO_LABELS_HERE else ()


def judged_share_notes(
    tx: ReadTransaction, run: RunRecord, label_set: LabelSetRecord, beside: RunRecord | None = None
) -> list[Note]:
    """Return a note if far less of a run's first ranks is judged than of three other runs under these labels.

    ``beside``: a run that suffices alone, unless all labels are of relevant items, which a better run has more of.
    """
    shares: dict[int | None, dict[int, float]] = defaultdict(dict)
    for coverage in tx.evaluations.coverages_under(label_set.id):
        shares[coverage.cutoff][coverage.run_id] = coverage.judged_share
    has_other = beside is not None and tx.labels.has_judged_zero(label_set.id)
    for cutoff, of_runs in sorted(shares.items(), key=lambda of: of[0] or 0):
        share = of_runs.pop(run.id, 0.0)
        facts: dict[str, Fact] = {"run": run.name, "cutoff": cutoff, "share": share}
        if len(of_runs) >= _FEWEST_RUNS and 0 < share <= FAR_BELOW * (usual := median(of_runs.values())):
            return [Note("far_fewer_judged", facts | {"usual": usual}, carry_command(run.dataset))]
        other = of_runs.get(beside.id, 0.0) if beside is not None and has_other else 0.0
        if beside is not None and 0 < share <= FAR_BELOW * other:
            facts |= {"usual": other, "other": beside.name}
            return [Note("far_fewer_judged", facts, carry_command(run.dataset))]
    return []


def met_labels_notes(n_met: int, n_labels: float, shares: Mapping[int | None, float], dataset: str) -> list[Note]:
    """Return a note if a run lists few of the labelled items, and few of its first items are judged.

    Parameters: ``n_met``: how many labels are of items that it lists, of ``n_labels``. ``shares``: its judged shares.
    """
    if not n_met or n_met > _FEW_MET * n_labels or min(shares.values(), default=1.0) >= 0.5:
        return []
    return [Note("few_labels_met", {"n": n_met, "n_labels": round(n_labels)}, carry_command(dataset))]
