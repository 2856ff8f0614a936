"""Notes for readers to keep in mind: code passes them on as facts, and turns them into sentences to print them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from ndcg_tracker.words.sentences import T_INTERVAL, WORDS
from ndcg_tracker.words.texts import about

Kind = Literal[
    # compare and gate
    "weightless", "no_group", "one_group", "same_difference", "low_information", "tests_symmetry", "means_weigh_groups",
    "groups_of_judge", "few_drawn", "few_drawn_of_pair", "checked_ranks", "old_designs", "ungraded", "diagnostic",
    "no_mean_of_groups", "nothing_judged", "newer_labels", "ties", "tie_orders",
    "no_alias", "same_run", "not_evaluated", "agreement_without_items", "arm_means", "one_repeat", "retraining",
    "labels_changed", "no_common_pair", "agreement_of_items", "agreement_open", "newer_than_answers", "all_answered",
    "checkpoints", "equal_repeats",
    "slices_regressed", "small_slices_regressed", "without_cluster", "equal_metrics",
    "other_hands", "never_shown", "other_ids", "carry_labels", "ids_are_stable", "part_missing",
    "spans_beside",
    "unjudged_open", "unjudged_zero", "after_that", "few_in_strata", "equal_values",
    "budget_spent", "looks_spent", "judge_unchecked",
    "shorter_lists",
    "pruned", "without_items",
    # explain
    "group_not_in_run", "in_one_run_only", "unjudged_items", "no_item_judged", "no_split", "ranking_in_detail",
    "worst_group",
    # history
    "goes_with_judged",
    "different_labels", "shown_only", "other_groups", "shared_groups", "few_runs", "run_scatter", "wandering", "study",
    "summaries_only", "history_lacking",
    # leaderboard
    "order_open", "runs_not_judged",
    "runs_lacking", "systems_lacking", "runs_without_results", "runs_of_other_groups", "in_no_run", "groups_lacking",
    "small_slices",
    # ingest, evaluate and import
    "failed_responses", "duplicates",
    "rank_conflict", "rank_gaps", "scores_like_ranks", "order_of_lists", "ties_by_input", "no_score", "no_label",
    "no_group_label", "labels_elsewhere", "nothing_found", "no_answer", "no_answer_of_both",
    "changed_texts",
    "far_fewer_judged", "few_labels_met", "spelled_otherwise",
    "sampled", "groups_share", "smaller_share", "runs_of_other_shares", "history_of_shares",
    "documents_in_ten", "runs_of_other_samples", "history_of_samples",
    "some_groups_missing", "one_score", "all_one", "below_rel", "above_highest", "unstable_sort",
    "swapped", "same_content", "alias_moved", "new_labels", "labels_gone", "new_groups", "other_model",
    "nothing_to_extend",
    "other_version", "left_out",
    # MLflow
    "not_pushed", "other_parameter", "other_mean", "no_mean", "no_report", "missing_groups",
]  # fmt: skip
Fact = str | int | float | bool | None | Sequence["Fact"]
_FEWEST_GROUPS = 5


@dataclass(frozen=True, slots=True)
class Note:
    """Something to keep in mind: its ``kind``, its ``facts`` by name, and a ``command`` to type, word by word.

    ``dataset``: the one of a suite that it is about, "" for all that is asked about. ``str()`` of a note lists its
    facts; ``sentence`` returns them as a sentence.

    >>> print(Note("low_information", {"n": 396, "n_nonzero": 55}))
    low information: n=396, n_nonzero=55
    """

    kind: Kind
    facts: Mapping[str, Fact] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    dataset: str = field(default="", repr=False)

    def __str__(self) -> str:
        told = ", ".join(f"{name}={fact!r}" for name, fact in self.facts.items())
        return ": ".join(filter(None, (self.kind.replace("_", " "), told, " ".join(self.command))))


def all_one_notes(means: Iterable[tuple[str, float | None, int]]) -> list[Note]:
    """Return a note on the first metric under which every group scores 1, so that no run can do better.

    ``means``: the name, mean and number of groups of each metric; a mean of fewer than 5 groups is ignored.

    >>> all_one_notes([("RR", 0.5, 7), ("ndcg@10", 1.0, 7)])
    [Note(kind='all_one', facts={'n': 7, 'metric': 'ndcg@10'}, command=())]
    """
    perfect = ((name, n) for name, mean, n in means if mean == 1.0 and n >= _FEWEST_GROUPS)
    return [Note("all_one", {"n": n, "metric": name}) for name, n in perfect][:1]


@dataclass(frozen=True, slots=True)
class Told:
    """A note or a warning in words, and the command that it ends with, "" if there is none."""

    kind: Literal["note", "warning", "?"]
    sentence: str
    command: str = ""

    def __str__(self) -> str:
        return f"{self.kind}{':' if self.kind != '?' else ''} {self.words}"

    @property
    def words(self) -> str:
        """The sentence and the command, without the kind."""
        return f"{self.sentence}: {self.command}" if self.command else self.sentence


def sentence(note: Note) -> str:
    """Return what a note says, without the command.

    >>> sentence(Note("weightless", {"n": 2}))
    '2 groups with weight 0 left out'
    """
    words = WORDS[note.kind]
    said = words if isinstance(words, str) else words(**note.facts)
    return f"{note.dataset}: {said}" if note.dataset else said


MINOR: frozenset[Kind] = frozenset(
    ("equal_metrics", "groups_of_judge", "no_alias", "pruned", "tie_orders", "weightless", "without_items")
)
"""Notes that change nothing about what to do."""


def told(note: Note) -> Told:
    """Return a note in words; one on labels that could change a verdict is a question."""
    return Told(
        "?" if note.kind in ("unjudged_open", "judge_unchecked") else "note", sentence(note), command_line(note.command)
    )


def major(notes: Iterable[Note]) -> list[Note]:
    """Return the notes that may change what to do."""
    return [note for note in notes if note.kind not in MINOR]


def first_of_kinds(notes: Iterable[Note]) -> list[Told]:
    """Return in words the first of each kind of the notes that may change what to do, and how many more there are."""
    of_kind: dict[str, list[Note]] = {}
    for note in major(notes):
        of_kind.setdefault(note.kind, []).append(note)
    each = [(told(of[0]), len(set(map(str, of))) - 1) for of in of_kind.values()]
    return [replace(note, sentence=f"{note.sentence}{f' (and {n} more)' if n else ''}") for note, n in each]


def renamed(note: Note, names: Mapping[str, str]) -> Note:
    """Return a note with other names for its metrics.

    >>> renamed(Note("nothing_judged", {"metrics": ["AP", "P@5"]}), {"AP": "map"}).facts
    {'metrics': ['map', 'P@5']}
    """
    metrics = cast("Sequence[str]", note.facts.get("metrics", ()))
    return (
        replace(note, facts={**note.facts, "metrics": [names.get(name, name) for name in metrics]}) if metrics else note
    )


def typed(note: Note, names: Mapping[str, str]) -> Note:
    """Return a note with other names for the metrics in its command.

    >>> typed(Note("ties", command=("ndcg-track", "compare", "--metric", "AP")), {"AP": "map"}).command[2:]
    ('--metric', 'map')
    """
    return replace(note, command=tuple(names.get(word, word) for word in note.command))


def in_words(notes: Iterable[Note], dataset: str | None = None) -> tuple[str, ...]:
    """Return notes as Python users read them, each on one line; ``dataset``: whose word for a group they say."""
    with nullcontext() if dataset is None else about(dataset):
        return tuple(map(note_text, notes))


def note_text(note: Note) -> str:
    """Return a note on one line, as in JSON.

    >>> note_text(Note("newer_labels", {"newest": 2, "version": 1}, ("ndcg-track", "rescore", "bm25")))
    'labels version 2 is newer than version 1, which the runs share; to use it: ndcg-track rescore bm25'
    """
    return told(note).words


RETYPED = ContextVar[Callable[[Sequence[str]], Sequence[str]]](
    "what is typed for a command", default=lambda words: words
)
"""How commands are typed by somebody whose runs have other names than in the store that is asked."""


def command_line(command: Sequence[str]) -> str:
    """Return a command as you type it, with SQL in double quotes where that needs no escapes.

    >>> print(command_line(["ndcg-track", "sql", "SELECT 'a b'"]))
    ndcg-track sql "SELECT 'a b'"
    """
    return " ".join(
        f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)
        for word in RETYPED.get()(command)
    )


def few_differences(warned: Note, interval: str = T_INTERVAL) -> str:
    """Return a warning of low information that several rows of a table can share."""
    enough = warned.facts.get("enough")
    few = "very skewed differences" if enough is None else f"under {enough} nonzero differences"
    warning = f"low information ({few})"
    return f"{warning}: {interval} may be too narrow" if interval else warning


def carry_command(dataset: str, *how: str) -> tuple[str, ...]:
    """Return the command that carries the labels of a dataset to new ids, by default by a file of these.

    >>> " ".join(carry_command("shop"))
    'ndcg-track labels carry MAPPING.csv --dataset shop'
    """
    return ("ndcg-track", "labels", "carry", *(how or ("MAPPING.csv",)), "--dataset", dataset)
