"""What a reader must keep in mind, as facts: what it is, its numbers, and the command that helps; no words yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    # compare and gate
    "weightless", "no_group", "one_group", "same_difference", "low_information", "tests_symmetry", "means_weigh_groups",
    "diagnostic", "no_mean_of_groups", "fewer_judged", "none_judged", "nothing_judged", "newer_labels", "ties",
    "no_alias", "same_run", "not_evaluated", "positives_only", "not_under_judge", "one_repeat", "retraining",
    "slices_regressed", "small_slices_regressed", "slices_too_small", "without_cluster", "equal_metrics",
    "missing_that_count", "after_that", "few_in_strata", "shorter_lists",
    "pruned", "without_items",
    # explain
    "group_not_in_run", "in_one_run_only", "unjudged_items", "no_item_judged", "no_split", "ranking_in_detail",
    "worst_group",
    # history
    "different_labels", "shown_only", "other_groups", "shared_groups", "few_runs", "run_scatter", "study",
    "summaries_only", "history_lacking",
    "sums_only",
    # leaderboard
    "runs_lacking", "runs_without_results", "runs_of_other_groups", "in_no_run", "groups_lacking",
    "small_slices",
    # ingest, evaluate and import
    "rank_conflict", "scores_like_ranks", "no_score", "no_label", "no_group_label",
    "some_groups_missing", "one_score", "all_one",
    "swapped", "same_content", "alias_moved", "new_labels", "labels_gone", "new_groups", "nothing_to_extend",
    "other_version", "not_verifiable", "alias_kept", "suite_kept",
    # MLflow
    "not_pushed", "other_parameter", "other_mean", "no_mean", "no_report", "missing_groups",
]  # fmt: skip
Fact = str | int | float | bool | None | Sequence["Fact"]
_FEWEST_GROUPS = 5


@dataclass(frozen=True, slots=True)
class Note:
    """Something to keep in mind: its ``kind``, the ``facts`` of it by name, and a ``command`` to type, word by word.

    As text it is these facts; ``ndcg_tracker.words.sentences`` makes a sentence of them.

    >>> print(Note("low_information", {"n": 396, "n_nonzero": 55}))
    low information: n=396, n_nonzero=55
    """

    kind: Kind
    facts: Mapping[str, Fact] = field(default_factory=dict)
    command: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = ", ".join(f"{name}={fact!r}" for name, fact in self.facts.items())
        return ": ".join(filter(None, (self.kind.replace("_", " "), told, " ".join(self.command))))


def all_one_notes(means: Iterable[tuple[str, float | None, int]]) -> list[Note]:
    """Return a note on the first metric by which every group scores 1, which no run can exceed.

    ``means``: per metric its name, its mean and of how many groups; of fewer than 5 nothing is said.

    >>> all_one_notes([("RR", 0.5, 7), ("ndcg@10", 1.0, 7)])
    [Note(kind='all_one', facts={'n': 7, 'metric': 'ndcg@10'}, command=())]
    """
    found = ((name, n) for name, mean, n in means if mean == 1.0 and n >= _FEWEST_GROUPS)
    return [Note("all_one", {"n": n, "metric": name}) for name, n in found][:1]
