"""The sentence about a step of a history; nothing in it is escaped yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.reporting.numbers import interval, p_text, points
from ndcg_tracker.reporting.terminal import shortened_inside

if TYPE_CHECKING:
    from ndcg_tracker.reporting.history_text import HistoryRow

MOST_PARAMETERS = 6
"""How many parameters that changed a sentence names."""
VALUE_WIDTH = 40
"""How wide a parameter's value may be in a sentence."""


def step_sentence(row: HistoryRow) -> str:
    """Return what is known of a step: which way, at which run, what changed there, how far, how sure, where else.

    >>> step_sentence({"run": "r17", "run_id": 17, "created_at_utc": "", "metric": "ndcg@10", "mean": 0.5, "ci": None,
    ...     "step_change": -0.0123, "step_ci": (-0.0156, -0.009), "p_adjusted": 1e-9, "git_commit": "abc1234def",
    ...     "step_before": "r16", "step_parameters": {"lr": ("0.1", "0.3")}})
    'stepped down at r17 (run 17, commit abc1234, lr 0.1 -> 0.3): -0.0123 [-0.0156, -0.0090], p <1e-4'
    """
    way = "down" if (row.get("step_change") or 0.0) < 0 else "up"
    commit = row.get("git_commit")
    known = [f"run {row['run_id']}", *([f"commit {commit[:7]}"] if commit else []), *_parameters(row)]
    ci = row.get("step_ci")
    change = points(row.get("step_change"), signed=True)
    if ci is not None:
        change += f" {interval((ci[0], ci[1]), signed=True)}"
    sentence = f"stepped {way} at {row['run']} ({', '.join(known)}): {change}"
    is_possible = bool(row.get("step_possible"))
    if not is_possible:  # of what is only possible, the p-value that counts is a large one and says nothing
        p = p_text(row.get("p_adjusted"))
        sentence += f", p {p if p.startswith('<') else f'= {p}'}"
    first, last = row.get("step_between") or (row["run"], row["run"])
    if first != last:
        sentence += f"; neighbours do not show it: it lies somewhere from {first} to {last}"
    return (
        f"perhaps {sentence}; there are too few groups, or too few that moved, to be sure" if is_possible else sentence
    )


def _parameters(row: HistoryRow) -> list[str]:
    """Return which parameters differ from those of the run before."""
    changed = row.get("step_parameters")
    if changed is None:
        return []
    if not changed:
        return [f"parameters as in {row.get('step_before')}"] if row.get("parameters") else []
    named = [f"{key} {_value(values[0])} -> {_value(values[1])}" for key, values in changed.items()]
    n_more = len(named) - MOST_PARAMETERS
    return named if n_more <= 0 else [*named[:MOST_PARAMETERS], f"{n_more} more parameters"]


def _value(value: object) -> str:
    return "none" if value is None else shortened_inside(str(value), VALUE_WIDTH)


def pairs_text(pairs: Mapping[str, object] | None) -> str:
    """Return pairs as one types them.

    >>> pairs_text({"k1": "0.9", "b": 0.4})
    'k1=0.9 b=0.4'
    """
    return " ".join(f"{key}={value}" for key, value in (pairs or {}).items())


def changes_text(changes: Mapping[str, Sequence[object]] | None) -> str:
    """Return which parameters changed, each with its value before and after; nothing stands where there was none.

    >>> changes_text({"k1": ("0.9", "1.2"), "b": (None, "0.4")})
    'k1=0.9->1.2 b=->0.4'
    """
    texts = {key: ["" if value is None else str(value) for value in pair] for key, pair in (changes or {}).items()}
    return " ".join(f"{key}={before}->{after}" for key, (before, after) in texts.items())
