"""The owner's rules for the gates against an alias, how a question obeys them, and the looks of their budget."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ndcg_tracker.asked import checked_margin, parts
from ndcg_tracker.compare.options import DataView
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.gate.decide_bounds import look_level
from ndcg_tracker.questions.gate.question import GateQuestion
from ndcg_tracker.questions.gate.result import Look
from ndcg_tracker.rules import refuse
from ndcg_tracker.words.texts import short_name

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.storage.marks import BudgetResetRecord, DecisionRecord, PolicyRecord
    from ndcg_tracker.storage.records import AliasRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

_KEPT: Mapping[str, Callable[[Any, Any], Any]] = {
    "margin": lambda own, given: given if not isinstance(given, str) and given <= own else None,
    "slice_margin": lambda own, given: given if own is None or given <= own else None,
    "max_harm": lambda own, given: (
        given if own is None or (given.loss <= own.loss and given.share <= own.share) else None
    ),
    "by": lambda own, given: given if own is None else None,
    "fresh": lambda _, given: given,
    "limits": lambda own, given: tuple(dict.fromkeys((*own, *given))),
    "unjudged": lambda own, given: given if (own, given) == ("zero", "range") else None,
}
"""What holds of a rule of the policy and of another one that is given: the stricter one, None if that is not known.

Any other rule is as the policy says.
"""

_DEFAULTS = {of.name: of.default for of in fields(GateQuestion) if of.default is not MISSING}
_NO_RULES = ("dataset", "top", "named", "suite", "by_tag")
_OF_BUDGET = ("budget", "looks")


@dataclass(frozen=True, slots=True)
class PolicyAct:
    """A change of a policy or of its budget: when, by whom, of which rule, from what and to what ("" for none)."""

    at_utc: str
    by: str
    rule: str
    before: str
    after: str


def policy_set(
    tx: WriteTransaction, alias: str, dataset: str | None, given: Mapping[str, Any], by: str | None
) -> PolicyRecord:
    """Store the rules of the gates against an alias, and return them (see ``Tracker.set_policy``)."""
    pinned = tx.aliases.known(alias.removeprefix("@"), dataset)
    checked_margin(given["margin"], "the margin")
    rules = {
        name: value
        for name, value in given.items()
        if name in ("metric", "margin") or (value is not None and value not in ([], {}, _DEFAULTS.get(name)))
    }
    refuse("policy set", rules)
    if "budget" in rules:
        look_level(1, rules["budget"], rules.get("looks"))
    if isinstance(limits := rules.get("limits"), Mapping):
        rules["limits"] = [f"{name}={change}" for name, change in limits.items()]
    _with_rules(GateQuestion(candidate="", baseline=f"@{pinned.name}"), rules).refuse_incomplete()
    tx.write.aliases.set_policy(pinned.dataset_id, pinned.name, rules, _person(by))
    policy = tx.aliases.policy(pinned.dataset_id, pinned.name)
    assert policy is not None
    return policy


def policy_history(tx: ReadTransaction, alias: str, dataset: str | None) -> list[PolicyAct]:
    """Return every change of the policy of an alias and every restart of its budget, oldest first."""
    name = alias.removeprefix("@")
    every = [of for of in tx.aliases.policies(dataset) if of.alias == name]
    if not every:
        raise no_policy(name, dataset)
    acts = []
    for place, (before, after) in enumerate(pairwise([{}, *(of.rules for of in every)])):
        at, by = every[place].set_at_utc, every[place].set_by
        changed = [rule for rule in ordered({**before, **after}) if before.get(rule) != after.get(rule)]
        acts += [PolicyAct(at, by, rule, rule_text(before.get(rule)), rule_text(after.get(rule))) for rule in changed]
    acts += [
        PolicyAct(of.created_at_utc, of.reset_by, "restart", "", of.reason)
        for dataset_id in sorted({of.dataset_id for of in every})
        for of in restarts(tx, dataset_id, name)
    ]
    return sorted(acts, key=lambda act: act.at_utc)


def no_policy(alias: str, dataset: str | None) -> InputError:
    """Return the error for an alias without a policy, with what its owner types."""
    return InputError(f"@{alias} has no policy", advice=f"its owner sets one with: {_command(alias, dataset)}")


def _command(alias: str, dataset: str | None) -> str:
    words = ["ndcg-track", "policy", "set", alias, "--metric", "METRIC", "--margin", "X"]
    return shlex.join([*words, *([] if dataset is None else ["--dataset", dataset])])


def rule_text(value: Any) -> str:
    """Return a rule as people write it.

    >>> rule_text(0.05), rule_text(["latency_ms=+10%"]), rule_text(None), rule_text(True)
    ('0.05', 'latency_ms=+10%', '', 'yes')
    """
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def rules_words(rules: Mapping[str, Any]) -> str:
    """Return rules in words.

    >>> rules_words({"budget": 0.05, "margin": 0.01, "max_harm": ".3:2%"})
    'margin 0.01, max harm .3:2%, budget 0.05'
    """
    return ", ".join(f"{name.replace('_', ' ')} {rule_text(rules[name])}" for name in ordered(rules))


def ordered(rules: Iterable[str]) -> list[str]:
    """Return the names of rules in the order of a question."""
    view = [of.name for of in fields(DataView)]
    order = ["metric", "margin", *(name for name in _DEFAULTS if name not in view), *view, *_OF_BUDGET]
    return sorted(rules, key=lambda name: order.index(name) if name in order else len(order))


def _person(name: str | None) -> str:
    return " ".join((name or "").split()) or "unknown"


def _with_rules(question: GateQuestion, rules: Mapping[str, Any]) -> GateQuestion:
    of_question = {name: rules[name] for name in rules if name not in _OF_BUDGET}
    unknown = of_question.keys() - _DEFAULTS.keys()
    if unknown:
        raise InputError(f"the policy of {question.baseline} has a rule {min(unknown)!r}, which this version lacks")
    if "budget" in rules:
        of_question["fresh"] = True  # answers by which a run may have been chosen are left out
    return replace(question, **parts(GateQuestion, of_question))


def under_policy(tx: ReadTransaction, question: GateQuestion) -> tuple[GateQuestion, PolicyRecord | None]:
    """Return a question that obeys the policy of its alias, and the policy; the question unchanged if there is none.

    Raises: InputError for a rule that differs from the policy's and is not stricter (``_KEPT``).
    """
    aliases = [] if question.alias is None else tx.aliases.all(question.dataset)
    pinned = [of for of in aliases if of.name == question.alias]
    policy = tx.aliases.policy(pinned[0].dataset_id, pinned[0].name) if len(pinned) == 1 else None
    if policy is None:
        return question, None
    if "margin" not in policy.rules:  # a budget of an older version, which had no rules
        return _with_rules(question, policy.rules), policy
    own = _with_rules(GateQuestion(candidate=question.candidate, baseline=question.baseline), policy.rules)
    kept = {name: getattr(question, name) for name in _NO_RULES}
    for name in _DEFAULTS.keys() - kept:
        rule, given = getattr(own, name), getattr(question, name)
        if given != rule and (given != _DEFAULTS[name] or name in question.named):
            kept[name] = _KEPT[name](rule, given) if name in _KEPT else None
            if kept[name] is None:
                stated = rule_text(policy.rules.get(name)) or f"{rule_text(_DEFAULTS[name]) or 'none'}, the default"
                text = given if isinstance(given, bool) else rule_text(getattr(given, "requested_as", given))
                said = argument(name, text)
                raise InputError(
                    f"{said} is not the policy of @{policy.alias}, which says: {stated}",
                    advice=f"leave it out; only the policy's owner (set by {short_name(policy.set_by)}) changes it, "
                    f"with: {_command(policy.alias, policy.dataset)}",
                )
    return replace(own, **kept), policy


def outside_policy(tx: ReadTransaction, pairs: Iterable[RunPair]) -> str:
    """Return the alias whose policy a gate does not obey, although a baseline is the run of that alias; "" for none.

    Called for a gate without a policy.
    """
    ids = {run.id for both in pairs for run in both.arms[0].runs}
    owned = {(of.dataset_id, of.alias) for of in tx.aliases.policies()}
    return next((of.name for of in tx.aliases.all() if of.run_id in ids and (of.dataset_id, of.name) in owned), "")


def refuse_policy(tx: ReadTransaction, question: GateQuestion, datasets: Iterable[str]) -> None:
    """Refuse a suite whose baseline is an alias with a policy, which is for one dataset (InputError)."""
    for dataset, alias in ((of.dataset, of.alias) for of in tx.aliases.policies()):
        if dataset in datasets and question.baseline == f"@{alias}":
            words = ["ndcg-track", "gate", question.candidate, "--baseline", f"@{alias}", "--dataset", dataset]
            raise InputError(
                f"the policy of @{alias} on {dataset!r} is for that dataset alone, not for suite {question.suite!r}",
                advice=f"gate each dataset, with: {shlex.join(words)}",
            )


def look_of(
    tx: ReadTransaction,
    question: GateQuestion,
    policy: PolicyRecord | None,
    *,
    dry_run: bool = False,
    until: int | None = None,
) -> Look | None:
    """Return which look under the budget of a policy a decision is, by default the next; None without a budget.

    Raises: InputError for options that do not go with a budget.
    """
    if policy is None or "budget" not in policy.rules:
        return None
    refuse("gate", {"dry_run": dry_run, "scope": question.scope, "budget_of_policy": True})
    earlier = counted_looks(tx, policy.dataset_id, policy.alias)
    return look_after(
        [of for of in earlier if until is None or of.id < until], policy.rules["budget"], policy.rules.get("looks")
    )


def look_after(earlier: Sequence[DecisionRecord], budget: float, looks: int | None, *, is_sealed: bool = False) -> Look:
    """Return the look that follows others; its level is 0 after the last."""
    number, n_passed = len(earlier) + 1, sum(of.decision == "pass" for of in earlier)
    is_spent = looks is not None and number > looks
    level = 0.0 if is_spent else look_level(number, budget, looks, n_passed if is_sealed else None)
    return Look(number, budget, looks, level)


def counted_looks(tx: ReadTransaction, dataset_id: int, alias: str) -> Sequence[DecisionRecord]:
    """Return the looks at an alias that count, oldest first: those since it was moved or its budget reset."""
    since = max((of.after_decision_id for of in restarts(tx, dataset_id, alias)), default=0)
    looks = [of for of in tx.decisions.all(dataset_id) if of.look is not None and of.baseline_alias == alias]
    return [of for of in looks if of.id > since]


def restarts(tx: ReadTransaction, dataset_id: int, alias: str) -> list[BudgetResetRecord]:
    """Return the moves of an alias with a policy and the resets of its budget, oldest first."""
    return [of for of in tx.decisions.resets() if (of.dataset_id, of.alias) == (dataset_id, alias)]


def restarted(tx: ReadTransaction, policy: PolicyRecord | None) -> BudgetResetRecord | None:
    """Return the last restart of the budget of a policy, None for none."""
    return None if policy is None else next(reversed(restarts(tx, policy.dataset_id, policy.alias)), None)


def reset_budget(
    tx: WriteTransaction, alias: str, dataset: str | None, reason: str, by: str | None
) -> tuple[AliasRecord, int]:
    """Restart the budget of an alias and record it (see ``Tracker.reset_gate``)."""
    reason = " ".join(reason.split())
    if not reason:
        raise InputError(f"{argument('reason')} is empty", advice="say why earlier looks no longer count")
    pinned = tx.aliases.known(alias.removeprefix("@"), dataset)
    looks = counted_looks(tx, pinned.dataset_id, pinned.name)
    if not looks:
        raise InputError(f"no look at @{pinned.name} counts", advice="there is nothing to reset")
    tx.write.aliases.restart(pinned.dataset_id, pinned.name, pinned.run, reason, _person(by))
    return pinned, len(looks)


def reset_command(policy: PolicyRecord) -> str:
    """Return what the owner types to restart the budget of a policy."""
    return shlex.join(
        ["ndcg-track", "policy", "reset", policy.alias, "--dataset", policy.dataset, "--reason", "REASON"]
    )
