"""Queries without an answer: a run does well on one if it returns nothing, which counts in no metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from ndcg_tracker.words.notes import Note

NO_ANSWER = "no_answer"
"""The tag of a run that says for how many queries without an answer it returns nothing."""


def no_answer_values(without_answer: Iterable[str], results: Mapping[str, Collection[str]]) -> dict[str, float]:
    """Return the value of queries without an answer: 1 if nothing is returned for one, 0 if something is.

    A query that is not among the results has no value: an absent list is not an empty one.

    >>> no_answer_values(["moon tax", "sun tax", "star tax"], {"moon tax": [], "sun tax": ["d4"]})
    {'moon tax': 1.0, 'sun tax': 0.0}
    """
    return {query: float(not results[query]) for query in without_answer if query in results}


def no_answer(
    without_answer: Iterable[str], returned: Iterable[str], empty_lists: Callable[[], Mapping[str, Collection[str]]]
) -> tuple[dict[str, float], list[Note]]:
    """Return the values of a run for queries without an answer, and a note on them if there are any.

    ``returned``: the queries for which the run has items. ``empty_lists``: returns those for which its file says that
    it has none.
    """
    queries = dict.fromkeys(without_answer)
    if not queries:
        return {}, []
    values = no_answer_values(queries, {**empty_lists(), **dict.fromkeys(returned, ("",))})
    facts = {"n_empty": int(sum(values.values())), "n": len(values), "n_absent": len(queries) - len(values)}
    return values, [Note("no_answer", facts)]
