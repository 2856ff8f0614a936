"""Which slice carries a step: named first where a fault is planted, with the command that shows more."""

from __future__ import annotations

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.compare.where import where_of_step
from ndcg_tracker.questions.history.steps import sides_of_steps
from ndcg_tracker.statistics.steps import steps_with_scatter


def slices_of_steps(rng: np.random.Generator, fault: float) -> tuple[list[list[tuple[str, str | None]]], object]:
    """Return the slices that stand out at each step of twelve runs, and the slice that fails from the eighth on."""
    codes = rng.integers(0, 10, (5, 1000))
    attribute, value = int(rng.integers(5)), int(rng.integers(10))
    values = rng.normal(0.6, 0.2, 1000) + rng.normal(0.0, 0.1, (12, 1000))
    values[7:] -= fault * (codes[attribute] == value)
    slicings = [Slicing.of(f"a{place}", list(map(str, of))) for place, of in enumerate(codes.tolist())]
    sides = sides_of_steps(steps_with_scatter(values).steps)
    found = [where_of_step(values, of, "higher", None, slicings).found for of in sides.values()]
    return [[row.about.key for row in of_step] for of_step in found], (f"a{attribute}", str(value))


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("fault", [0.2, 0.4])
def test_a_step_names_the_slice_that_failed_first(fault: float) -> None:
    rng, n = np.random.default_rng(67), 100
    worlds = [slices_of_steps(rng, fault) for _ in range(n)]
    stepped = [(found, planted) for found, planted in worlds if found]
    assert len(stepped) >= 0.9 * n
    assert sum(found[0][:1] == [planted] for found, planted in stepped) >= 0.95 * len(stepped)


def test_the_sides_of_steps_leave_out_the_runs_between() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.5, 0.05, (9, 400))
    values[3:] -= 0.1
    values[6:] += 0.2
    sides = sides_of_steps(steps_with_scatter(values).steps)
    assert {place: [of.tolist() for of in side] for place, side in sides.items()} == {
        3: [[0, 1, 2], [3, 4, 5]],
        6: [[3, 4, 5], [6, 7, 8]],
    }


def test_a_history_names_the_slice_of_each_step_and_the_next_command(tracker: nt.Tracker) -> None:
    n = 200
    groups = [f"q{number:03}" for number in range(n) for _ in range(2)]
    rows = {"group": groups, "item": ["a", "b"] * n, "label": [1, 0] * n}
    for night in range(1, 7):
        score = [
            value
            for number in range(n)
            for value in ([1.0, 2.0] if (night > 3 and number % 5 == 0) or number % 40 == night else [2.0, 1.0])
        ]
        tracker.ingest({**rows, "score": score}, name=f"night-{night}", dataset="shop")
    frame = tracker.history(dataset="shop")
    assert frame.loc[frame["step"], "step_compare"].tolist() == [
        "ndcg-track compare night-3 night-4 --dataset shop --metric ndcg@10"
    ]
    assert frame["step_where"].isna().all()
    locale = ["ja" if number % 5 == 0 else "de" for number in range(n)]
    tracker.set_groups({"group": groups[::2], "locale": locale}, dataset="shop")
    (row,) = (row for row in tracker.history_report(dataset="shop").rows if row.get("step"))
    told = row["step_where"] or {}
    assert (told["attributes"], told["n_slices"], [of["value"] for of in told["found"]]) == (("locale",), 2, ["ja"])
    assert row["step_compare"] == "ndcg-track compare night-3 night-4 --dataset shop --metric ndcg@10 --by all"
