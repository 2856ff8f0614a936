"""The sentence about a step of a history; nothing in it is escaped yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndcg_tracker.reporting.numbers import interval, p_text, points

if TYPE_CHECKING:
    from ndcg_tracker.reporting.history_text import HistoryRow


def step_sentence(row: HistoryRow) -> str:
    """Return what is known of a step, after the word: at which run, how far, how sure, and what made that run.

    >>> step_sentence({"run": "dense", "run_id": 17, "created_at_utc": "", "metric": "ndcg@10", "mean": 0.5, "ci": None,
    ...     "step_change": 0.0123, "step_ci": (0.009, 0.0156), "p_adjusted": 1e-9, "git_commit": "abc1234def",
    ...     "parameters": {"k1": "0.9"}})
    'at dense (run 17): +0.0123 [+0.0090, +0.0156], p <1e-4, commit abc1234, parameters k1=0.9'
    """
    ci = row.get("step_ci")
    change = points(row.get("step_change"), signed=True)
    if ci is not None:
        change += f" {interval((ci[0], ci[1]), signed=True)}"
    p = p_text(row.get("p_adjusted"))
    known = [change, f"p {p}" if p.startswith("<") else f"p = {p}"]
    first, last = row.get("step_between") or (row["run"], row["run"])
    if first != last:
        known.append(f"somewhere from {first} to {last}")
    commit, parameters = row.get("git_commit"), pairs_text(row.get("parameters"))
    known += [f"commit {commit[:7]}"] if commit else []
    known += [f"parameters {parameters}"] if parameters else []
    return f"at {row['run']} (run {row['run_id']}): {', '.join(known)}"


def pairs_text(pairs: Mapping[str, object] | None) -> str:
    """Return pairs as one types them.

    >>> pairs_text({"k1": "0.9", "b": 0.4})
    'k1=0.9 b=0.4'
    """
    return " ".join(f"{key}={value}" for key, value in (pairs or {}).items())
