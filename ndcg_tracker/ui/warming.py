"""Prepare what the first visitor would wait for: imports, templates, and one comparison."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ndcg_tracker.ui import comparisons, pages, runs
from ndcg_tracker.ui.rendering import Question
from ndcg_tracker.words.texts import about

if TYPE_CHECKING:
    from ndcg_tracker.api.tracker import Tracker

MOST_GROUPS = 20_000
"""A dataset with more groups is not compared, because reading it would delay the first visitor."""


def warm(tracker: Tracker) -> None:
    """Render the pages of the latest runs once and discard them; errors show when somebody asks for a page."""
    with suppress(Exception), about(), tracker.store().read() as tx:
        counts = tx.datasets.counts()
        small = [one for one in tx.datasets.all() if 0 < counts[one.id].n_groups <= MOST_GROUPS]
        for dataset in sorted(small, key=lambda one: counts[one.id].n_runs, reverse=True)[:1]:
            ids = [run.id for run in tx.runs.all(dataset.name)][-2:]
            runs.runs(tx, Question([("dataset", dataset.name)]))
            if len(ids) > 1:
                asked = [("run", str(run_id)) for run_id in ids]
                comparisons.compare(tx, Question(asked))
                group = tx.groups.containing(dataset.id, "", 1)
                asked_of = [("dataset", dataset.name), ("group", group[0][1])]
                comparisons.group(tx, Question([*asked_of, *asked]))
            pages.groups(tx, Question([("dataset", dataset.name)]))
