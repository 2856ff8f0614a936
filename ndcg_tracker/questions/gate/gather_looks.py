"""Which look under a budget a decision is, counted by the lists of its baseline, under any run name."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.arms import arms_of
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.gate.decide_bounds import look_level
from ndcg_tracker.questions.gate.result import Look
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.gate.question import GateQuestion
    from ndcg_tracker.storage.records import DecisionRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

MOST_LISTS = 256
"""How many lists identify a baseline: those of the groups whose ids hash lowest."""
FIRST_ITEMS = 10
"""How many items identify a list; items further down move few metrics."""
LEAST_EQUAL = 0.98
"""Two baselines of a dataset are the same from this share of equal lists; in another dataset a single list suffices."""


@dataclass(frozen=True, slots=True)
class ResetBudget:
    """A budget that was restarted: its baseline and dataset, and how many looks no longer count."""

    baseline: str
    dataset: str
    n_looks: int


def look_of(
    tx: ReadTransaction, question: GateQuestion, runs: RunPair, decisions: Sequence[DecisionRecord], *, dry_run: bool
) -> Look | None:
    """Return which look under a budget a decision is, None without one.

    The budget is the given one, or that of an alias of these lists, or the one that the looks at them share.
    Parameters: ``decisions``: all decisions on the dataset. Raises: InputError for options that do not go with a
    budget, for a budget that differs from that of the alias or of earlier looks, and for a spent budget.
    """
    baselines, name = runs.arms[0].runs, question.baseline
    budget, looks = _budget(tx, question, baselines)
    if budget is None and all(decision.look is None for decision in decisions):
        return None
    lists = known_lists(tx, baselines)
    before = counted_looks(tx, baselines[0].dataset_id, lists)
    anew = f"restart it, on the record: {_reset_command(name, baselines[0].dataset)}"
    if before:
        shared = before[-1].budget, before[-1].looks
        if budget is not None and (budget, looks) != shared:
            raise InputError(
                f"looks at the lists of {name!r} already share a budget of {budget_words(*shared)}",
                advice=f"leave {argument('budget')} out, or {anew}",
            )
        budget, looks = shared
    if budget is None:
        return None
    refused = {"dry_run": dry_run, "scope": question.scope == "set", "alpha_budget": question.alpha_budget is not None}
    for option, is_given in refused.items():
        if is_given:
            raise InputError(
                f"{argument(option)} does not go with the budget of {budget_words(budget, looks)} at the lists of "
                f"{name!r}: each decision is a look that counts",
                advice="leave it out, or see the difference with: ndcg-track compare",
            )
    number = len(before) + 1
    if looks is not None and number > looks:
        raise InputError(
            f"the budget of {budget_words(budget, looks)} at the lists of {name!r} is spent",
            advice=f"gate on other groups, or {anew}",
        )
    return Look(number, budget, looks, look_level(number, budget, looks), lists)


def look_again(tx: ReadTransaction, record: DecisionRecord) -> Look | None:
    """Return the look that a recorded decision was, None if its budget was restarted since."""
    lists = record.baseline_lists or {}
    if record.look is None or record.budget is None or record not in counted_looks(tx, record.dataset_id, lists):
        return None
    return Look(record.look, record.budget, record.looks, look_level(record.look, record.budget, record.looks), lists)


def _reset_command(baseline: str, dataset: str) -> str:
    words = ["ndcg-track", "gate", "reset", "--baseline", baseline, "--dataset", dataset, "--reason", "REASON"]
    return shlex.join(words)


def _budget(
    tx: ReadTransaction, question: GateQuestion, baselines: Sequence[RunRecord]
) -> tuple[float | None, int | None]:
    """Return the budget and its number of looks: the given ones, else those of an alias for these lists."""
    digests = {_content(tx, run) for run in baselines}
    held = [
        alias
        for alias in tx.aliases.all(question.dataset)
        if alias.dataset_id == baselines[0].dataset_id
        and alias.budget is not None
        and _content(tx, tx.runs.with_id(alias.run_id)) in digests
    ]
    asked = question.budget, question.looks
    if not held:
        return asked
    alias = min(held, key=lambda alias: look_level(1, alias.budget or 0.0, alias.looks))
    if question.budget is not None and asked != (alias.budget, alias.looks):
        words = ["ndcg-track", "alias", "set", alias.name, alias.run, "--budget", "A"]
        words += [] if alias.looks is None else ["--looks", str(alias.looks)]
        raise InputError(
            f"{argument('budget')} does not go with @{alias.name}, whose budget is "
            f"{budget_words(alias.budget, alias.looks)}",
            advice=f"leave it out, or change it with: {shlex.join(words)}",
        )
    return alias.budget, alias.looks


def budget_words(budget: float | None, looks: int | None) -> str:
    """Return a budget in words.

    >>> budget_words(0.05, 40), budget_words(0.05, 1), budget_words(0.05, None)
    ('0.05 for 40 looks', '0.05 for 1 look', '0.05')
    """
    return f"{budget:g}" + ("" if looks is None else f" for {counted(looks, 'look')}")


def known_lists(tx: ReadTransaction, runs: Sequence[RunRecord]) -> dict[str, Any]:
    """Return a JSON object that identifies the lists of runs: their digest, and hashes of a few lists, by group."""
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
        items = json.dumps(ranking.item_keys.slice(start, min(stop, start + FIRST_ITEMS)).to_list())
        of_lists[f"{of_group:016x}"] = hashlib.blake2b(items.encode(), digest_size=8).hexdigest()
    return {"digest": _digest(tx, runs), "lists": of_lists}


def _digest(tx: ReadTransaction, runs: Sequence[RunRecord]) -> str:
    return " ".join(sorted(_content(tx, run) for run in runs))


def _content(tx: ReadTransaction, run: RunRecord) -> str:
    """Return the digest of a run's content: of its lists, or of its first result if it came without items."""
    stored = sorted(tx.evaluations.of_run(run.id), key=lambda evaluation: evaluation.id)
    if run.n_items or not stored:
        return run.digest
    facts = json.dumps([stored[0].metric, stored[0].mean, stored[0].n_groups])
    return hashlib.blake2b(facts.encode(), digest_size=16).hexdigest()


def counted_looks(tx: ReadTransaction, dataset_id: int, lists: Mapping[str, Any]) -> list[DecisionRecord]:
    """Return the looks that count, oldest first: those at these lists since the last restart."""

    def is_same(look: DecisionRecord) -> bool:
        share = _share_equal(lists, look.baseline_lists) if look.baseline_lists else 0.0
        return share >= LEAST_EQUAL if look.dataset_id == dataset_id else share > 0

    resets = tx.decisions.resets()
    since = [of.after_decision_id for of in resets if _share_equal(lists, of.baseline_lists) == 1]
    looks = tx.decisions.under_budget(after=max(since, default=0))
    return [look for look in looks if is_same(look)]


def _share_equal(lists: Mapping[str, Any], others: Mapping[str, Any]) -> float:
    """Return the share of equal lists among the groups that both have; 1 if all content is the same.

    >>> one = {"digest": "a", "lists": {"q1": "x", "q2": "y"}}
    >>> part, other = {"digest": "b", "lists": {"q2": "y"}}, {"digest": "c", "lists": {"q1": "z", "q2": "y"}}
    >>> _share_equal(one, part), _share_equal(one, other), _share_equal(one, {"digest": "d", "lists": {}})
    (1.0, 0.5, 0.0)
    """
    if lists["digest"] == others["digest"]:
        return 1.0
    equal = [lists["lists"][group] == found for group, found in others["lists"].items() if group in lists["lists"]]
    return sum(equal) / len(equal) if equal else 0.0


def reset_budget(
    tx: WriteTransaction, baseline: str, dataset: str | None, reason: str, reset_by: str | None
) -> ResetBudget:
    """Restart the budget of a baseline and record it (see ``Tracker.reset_gate``)."""
    reason = " ".join(reason.split())
    if not reason:
        raise InputError(f"{argument('reason')} is empty", advice="say why earlier looks no longer count")
    (arm,) = arms_of(tx, [baseline], dataset)
    run, lists = arm.runs[0], known_lists(tx, arm.runs)
    looks = counted_looks(tx, run.dataset_id, lists)
    if not looks:
        raise InputError(f"no look at the lists of {baseline!r} counts", advice="there is nothing to reset")
    by = " ".join((reset_by or "").split()) or "unknown"
    tx.write.decisions.reset(run.dataset_id, arm.name, lists, reason=reason, reset_by=by, after=looks[-1].id)
    return ResetBudget(arm.name, run.dataset, len(looks))
