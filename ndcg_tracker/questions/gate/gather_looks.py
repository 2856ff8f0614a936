"""Which look under a budget a decision is: the looks at its baseline's lists, whatever these are called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.arms import arms_of
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.gate.decide_bounds import look_level
from ndcg_tracker.questions.gate.result import Look

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.gate.question import GateQuestion
    from ndcg_tracker.storage.records import AliasRecord, DecisionRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

MOST_LISTS = 256
"""By how many of its lists a baseline is known in another dataset: those of the groups whose ids hash lowest."""


@dataclass(frozen=True, slots=True)
class ResetBudget:
    """A budget that began anew: of which baseline and dataset, and how many looks no longer count."""

    baseline: str
    dataset: str
    n_looks: int


def look_of(tx: ReadTransaction, question: GateQuestion, runs: RunPair, *, dry_run: bool) -> Look | None:
    """Return which look under a budget a decision is, None without one.

    The budget is the one that was asked for, or that an alias of these lists has. Raises: InputError for a dry run,
    for another budget than that of the alias, and where it is spent.
    """
    baselines = runs.arms[0].runs
    budget, looks = _budget(tx, question, baselines)
    if budget is None or question.scope == "set":
        return None
    if dry_run:
        raise InputError(
            f"{argument('dry_run')} does not go with a budget: nobody would count this look",
            advice=f"leave {argument('dry_run')} out, or look at the difference with: ndcg-track compare",
        )
    lists = known_lists(tx, baselines)
    before = counted_looks(tx, baselines[0].dataset_id, lists)
    number, name = len(before) + 1, question.baseline
    level = look_level(number, budget, looks)
    spent = sum(look_level(of.look or 1, of.budget, of.looks) for of in before if of.budget is not None)
    if spent + level > budget * (1 + 1e-9):
        raise InputError(
            f"the budget of {budget:g} is spent: {len(before)} looks at the lists of {name!r} took {spent:.3g} of it",
            advice=f"gate on other groups, or begin anew, on the record: ndcg-track gate reset --baseline {name} "
            "--reason REASON",
        )
    return Look(number, budget, looks, level, lists)


def _budget(
    tx: ReadTransaction, question: GateQuestion, baselines: Sequence[RunRecord]
) -> tuple[float | None, int | None]:
    """Return the budget and its number of looks: those asked for, else of an alias that stands for these lists."""
    digests = {_content(tx, run) for run in baselines}
    held = [
        alias
        for alias in tx.aliases.all(question.dataset)
        if alias.dataset_id == baselines[0].dataset_id
        and alias.budget is not None
        and _content(tx, tx.runs.with_id(alias.run_id)) in digests
    ]
    asked = question.budget, question.looks
    if not held or question.scope == "set":
        return asked
    alias = min(held, key=lambda alias: look_level(1, alias.budget or 0.0, alias.looks))
    if question.alpha_budget is not None or (question.budget is not None and asked != (alias.budget, alias.looks)):
        name = "budget" if question.alpha_budget is None else "alpha_budget"
        raise InputError(
            f"{argument(name)} does not go with @{alias.name}, whose budget is {budget_words(alias)}",
            advice=f"leave it out, or change it with: ndcg-track alias set {alias.name} {alias.run} --budget A",
        )
    return alias.budget, alias.looks


def budget_words(alias: AliasRecord) -> str:
    """Return the budget of an alias in words."""
    return f"{alias.budget:g}" + ("" if alias.looks is None else f" for {alias.looks} looks")


def known_lists(tx: ReadTransaction, runs: Sequence[RunRecord]) -> dict[str, Any]:
    """Return a JSON object that knows the lists of runs again: their digest, and hashes of few lists, by group."""
    first = min(runs, key=lambda run: run.digest)
    if "items" not in tx.runs.holds(first.id):
        return {"digest": _digest(tx, runs), "lists": {}}
    ids = tx.runs.group_ids(first.id)
    hashes = tx.groups.keys(first.dataset_id, ids).hashes()
    lowest = np.argsort(hashes, kind="stable")[:MOST_LISTS]
    ranking = tx.runs.ranking(first.id, np.sort(ids[lowest]))
    bounds = ranking.offsets.tolist()
    of_lists = {}
    for of_group, start, stop in zip(ranking.group_keys.hashes().tolist(), bounds, bounds[1:], strict=False):
        items = json.dumps(ranking.item_keys.slice(start, stop).to_list())
        of_lists[f"{of_group:016x}"] = hashlib.blake2b(items.encode(), digest_size=8).hexdigest()
    return {"digest": _digest(tx, runs), "lists": of_lists}


def _digest(tx: ReadTransaction, runs: Sequence[RunRecord]) -> str:
    return " ".join(sorted(_content(tx, run) for run in runs))


def _content(tx: ReadTransaction, run: RunRecord) -> str:
    """Return the digest of a run's content: of its lists, or of its first result where it came without items."""
    stored = sorted(tx.evaluations.of_run(run.id), key=lambda evaluation: evaluation.id)
    if run.n_items or not stored:
        return run.digest
    facts = json.dumps([stored[0].metric, stored[0].mean, stored[0].n_groups])
    return hashlib.blake2b(facts.encode(), digest_size=16).hexdigest()


def counted_looks(tx: ReadTransaction, dataset_id: int, lists: Mapping[str, Any]) -> list[DecisionRecord]:
    """Return the looks that count: at these lists since somebody began anew, oldest first."""

    def is_same(of_dataset: int, others: Mapping[str, Any] | None) -> bool:
        return others is not None and _are_same(lists, others, is_same_dataset=of_dataset == dataset_id)

    since = [of.after_decision_id for of in tx.decisions.resets() if is_same(of.dataset_id, of.baseline_lists)]
    looks = tx.decisions.under_budget(after=max(since, default=0))
    return [look for look in looks if is_same(look.dataset_id, look.baseline_lists)]


def _are_same(lists: Mapping[str, Any], others: Mapping[str, Any], *, is_same_dataset: bool) -> bool:
    """Return whether both are lists of one baseline: those of all shared groups in one dataset, of two datasets one.

    >>> one = {"digest": "a", "lists": {"q1": "x", "q2": "y"}}
    >>> part, other = {"digest": "b", "lists": {"q2": "y"}}, {"digest": "c", "lists": {"q1": "z", "q2": "y"}}
    >>> _are_same(one, part, is_same_dataset=True), _are_same(one, other, is_same_dataset=True)
    (True, False)
    >>> _are_same(one, other, is_same_dataset=False)
    True
    """
    if lists["digest"] == others["digest"]:
        return True
    equal = [lists["lists"][group] == found for group, found in others["lists"].items() if group in lists["lists"]]
    return any(equal) and (not is_same_dataset or all(equal))


def reset_budget(
    tx: WriteTransaction, baseline: str, dataset: str | None, reason: str, reset_by: str | None
) -> ResetBudget:
    """Begin the budget of a baseline anew, on the record (see ``Tracker.reset_gate``)."""
    reason = " ".join(reason.split())
    if not reason:
        raise InputError(f"{argument('reason')} is empty", advice="say why the looks so far no longer count")
    (arm,) = arms_of(tx, [baseline], dataset)
    run, lists = arm.runs[0], known_lists(tx, arm.runs)
    looks = counted_looks(tx, run.dataset_id, lists)
    if not looks:
        raise InputError(f"no look at the lists of {baseline!r} counts", advice="there is nothing to reset")
    by = " ".join((reset_by or "").split()) or "unknown"
    tx.write.decisions.reset(run.dataset_id, arm.name, lists, reason=reason, reset_by=by, after=looks[-1].id)
    return ResetBudget(arm.name, run.dataset, len(looks))
