"""``nt.paired``: two arrays of results compared as the tracker compares stored ones."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ndcg_tracker as nt

rng = np.random.default_rng(7)
ONE = rng.random(60)
OTHER = np.clip(ONE + rng.normal(0.02, 0.1, 60), 0, 1)
GROUPS = [f"q{number:02}" for number in range(60)]


def test_it_is_what_the_tracker_says(tmp_path: Path) -> None:
    both = [dict(zip(GROUPS, values.tolist(), strict=True)) for values in (ONE, OTHER)]
    with nt.Tracker(tmp_path / "a.db") as tracker:
        for name, values in zip(("one", "other"), both, strict=True):
            tracker.log_results(values, name=name, metric="share", direction="lower", range=(0, 1))
        stored = tracker.compare("one", "other").to_dict()
    found = nt.paired(*both, metric="share", direction="lower", range=(0, 1), names=("one", "other")).to_dict()
    assert {**found["metrics"][0], "requested_as": ""} == {**stored["metrics"][0], "requested_as": ""}
    assert (found["worst"], found["best"]) == (stored["worst"], stored["best"])
    assert found["baseline"] == {"name": "one", "run_id": None}


def test_arrays_dicts_and_series_are_paired() -> None:
    expected = stats.ttest_rel(OTHER, ONE)
    series = [pd.Series(values, index=GROUPS) for values in (ONE, OTHER)]
    shuffled = series[1].sample(frac=1, random_state=1)
    for given in (
        (ONE, OTHER),
        (ONE.tolist(), OTHER.tolist()),
        series,
        (series[0], shuffled),
        (series[0], dict(shuffled)),
    ):
        metric = nt.paired(*given).comparisons[0].metrics[0]
        assert metric.p_value == pytest.approx(expected.pvalue)
        assert metric.delta == pytest.approx(OTHER.mean() - ONE.mean())
        assert metric.wins == int((OTHER > ONE).sum())
    test = nt.paired(ONE, OTHER, test="wilcoxon", ci="bootstrap").comparisons[0].metrics[0]
    assert test.p_value == pytest.approx(stats.wilcoxon(OTHER - ONE).pvalue, rel=0.05)
    worst = nt.paired(ONE, OTHER, top=1).to_dict()["worst"][0]
    assert worst["group"] == str(int(np.argmin(OTHER - ONE)))


def test_arrays_of_one_column_are_arrays() -> None:
    assert nt.paired(ONE[:, None], OTHER[:, None]).to_dict() == nt.paired(ONE, OTHER).to_dict()


def test_undefined_and_missing_values() -> None:
    holes = ONE.copy()
    holes[3] = np.nan
    with pytest.raises(nt.InputError, match=r"1 group has a result in one run only"):
        nt.paired(holes, OTHER)
    assert nt.paired(holes, OTHER, missing="intersect").comparisons[0].metrics[0].n == 59
    both_undefined = nt.paired(holes, np.where(np.isnan(holes), np.nan, OTHER)).comparisons[0]
    assert (both_undefined.metrics[0].n, both_undefined.groups.undefined) == (59, 1)
    zero = nt.paired({"a": 0.5}, {"a": 0.5, "b": 0.25}, missing="zero").comparisons[0].metrics[0]
    assert (zero.n, zero.candidate) == (2, 0.375)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((ONE, OTHER[1:]), "the arrays have 60 and 59 values; give one value per group in each"),
        (
            (ONE, dict(zip(GROUPS, OTHER, strict=True))),
            "one side has groups but the other has none; give two arrays, or two dicts",
        ),
        ((["a"], ["b"]), "a list is not an array of numbers; give one number per group"),
        (([[1.0, 3.0]], [[2.0, 3.0]]), "the values have 2 dimensions; give one number per group"),
        (({1: 0.5, "1": 0.25}, {"1": 1}), "a group is given twice; give one value per group"),
        (([0.5], [1.5]), "a value is outside the range 0 to 1"),
    ],
)
def test_what_is_refused(given: tuple[object, object], message: str) -> None:
    with pytest.raises(nt.InputError) as caught:
        nt.paired(*given, range=(0, 1))
    assert str(caught.value) == message
