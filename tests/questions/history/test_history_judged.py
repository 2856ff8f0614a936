"""Steps and drifts that go with the judged share: a corpus grows, and its labels do not."""

from collections.abc import Callable

import numpy as np
import pytest
from pooled_worlds import weekly

import ndcg_tracker as nt
from ndcg_tracker.questions.history.gather import mark_judged
from ndcg_tracker.questions.history.say import HistoryRow

WEEKS = 16


def fill(url: str) -> None:
    worlds = [
        weekly(np.random.default_rng(3), 300, skill, week=week)
        for week, skill in enumerate(np.linspace(1.20, 1.32, WEEKS))
    ]
    with nt.Tracker(url) as tracker:
        for week, world in enumerate(worlds):
            labels = worlds[0].labels if week == 0 else None
            tracker.ingest(world.newcomer, name=f"week-{week:02}", labels=labels, dataset="weekly")
        tracker.create_suite("all", ["weekly"])


@pytest.fixture
def growing(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Sixteen runs that get better while ever more of what they find is unjudged."""
    fill_as(fill)
    return tracker


def test_what_goes_with_the_judged_share_is_no_fall_of_the_system(growing: nt.Tracker) -> None:
    result = growing.history_report("ndcg@10", dataset="weekly")
    shares = [row["judged"] or 0.0 for row in result.rows]
    assert shares[0] > 0.99
    assert shares[-1] < 0.9
    changed = [row for row in result.rows if row.get("step_change") or row.get("drift_change")]
    assert changed
    for row in changed:
        assert row["goes_with_judged"] is not None, row
    assert any(
        note.startswith("a change that follows the judged share says nothing about the systems")
        for note in result.notes
    )
    of_suite = growing.history_report(suite="all")
    assert [row["judged"] for row in of_suite.rows] == pytest.approx(shares)
    assert growing.history("ndcg@10", dataset="weekly")["judged"].tolist() == shares


def row(name: str, mean: float, judged: float | None, **facts: object) -> HistoryRow:
    shared = {"run_id": 1, "created_at_utc": "", "metric": "ndcg@10", "ci": None, "cutoff": 10}
    return {"run": name, "mean": mean, "judged": judged, **shared, **facts}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("judged", "change", "marked"),
    [
        ((1.0, 0.8), -0.1, True),  # a loss in proportion would be .12
        ((1.0, 0.8), -0.2, False),  # most of it is not the labels
        ((0.8, 1.0), -0.1, False),  # the mean falls though more is judged
        ((1.0, 0.995), -0.001, False),  # less than a point
        ((None, 0.8), -0.1, False),
        ((0.8, 1.0), 0.1, True),  # what rises with the labels is no gain either
    ],
)
def test_a_step_is_marked_where_the_loss_of_labels_explains_it(
    judged: tuple[float | None, float], change: float, marked: bool
) -> None:
    rows = [
        row("a", 0.6, judged[0]),
        row("b", 0.6 + change, judged[1], step=True, step_change=change, step_between=("b", "b")),
    ]
    assert mark_judged(rows) == (("a", "b") if marked else None)
    assert (rows[1].get("goes_with_judged") == judged) == marked


def test_a_run_under_other_labels_between_two_runs_marks_no_step(tracker: nt.Tracker) -> None:
    """Steps are those between runs under the same labels, and so are the judged shares beside them."""
    groups = [f"q{number}" for number in range(40)]
    labels = {group: {"a": 1, "b": 0} for group in groups}
    better = {group: {"a": 2.0, "b": 1.0} for group in groups}
    worse = {group: {"b": 2.0, "a": 1.0 + place % 3 / 8} for place, group in enumerate(groups)}
    tracker.ingest(worse, name="one", labels=labels)
    tracker.ingest({group: {"x": 2.0, "a": 1.0} for group in groups}, name="between")
    tracker.ingest(better, name="two")
    tracker.add_labels({group: {"a": 1, "b": 0, "c": 0} for group in groups})
    tracker.rescore(["between"], labels=2)
    rows = {row["run"]: row for row in tracker.history_report("ndcg@10").rows}
    assert {name: row["label_set_version"] for name, row in rows.items()} == {"one": 1, "between": 2, "two": 1}
    assert (rows["between"]["judged"], rows["two"]["judged"]) == (0.5, 1.0)
    assert (rows["two"]["step"], rows["two"]["goes_with_judged"]) == (True, None)
