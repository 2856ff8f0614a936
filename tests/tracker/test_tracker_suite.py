"""Suites: which datasets, which runs belong together, every number, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError, NotComparableError, ReferenceNotFoundError

SIZES = {"beir-a": 40, "beir-b": 12, "beir-c": 25}


def frame_of(dataset: str, skill: float, n: int) -> pd.DataFrame:
    random = np.random.default_rng([len(dataset), ord(dataset[-1]), int(skill * 10)])
    grades = labels(dataset, n)["label"].to_numpy(dtype=float)
    scores = skill * grades + random.normal(size=grades.size)
    return labels(dataset, n)[["group", "item"]].assign(score=scores)


def labels(dataset: str, n: int) -> pd.DataFrame:
    random = np.random.default_rng(ord(dataset[-1]))
    rows = [(f"q{query}", f"d{item}", int(random.integers(0, 4))) for query in range(n) for item in range(12)]
    return pd.DataFrame(rows, columns=["group", "item", "label"])


@pytest.fixture
def beir(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> nt.Tracker:
    """Three datasets; bm25 and dense on all of them, splade on one."""

    def stored(url: str) -> None:
        with nt.Tracker(url) as tracker:
            for dataset, n in SIZES.items():
                of_dataset = {"dataset": dataset, "labels": labels(dataset, n)}
                for name, skill in (("bm25", 0.2), ("dense", 0.6)):
                    tags = {"system": name.upper()}
                    tracker.ingest(frame_of(dataset, skill, n), name=name, tags=tags, **of_dataset)
            tracker.ingest(frame_of("beir-b", 0.9, 12), name="splade", dataset="beir-b", labels=labels("beir-b", 12))
            tracker.create_suite("beir", ["beir-*"])

    fill_as(stored)
    return nt.Tracker(database_url)


def test_suites_are_made_listed_replaced_and_deleted(beir: nt.Tracker) -> None:
    assert [(one.name, one.datasets) for one in beir.suites()] == [("beir", ("beir-a", "beir-b", "beir-c"))]
    assert beir.create_suite("beir", ["beir-a", "beir-b", "beir-c"]) == beir.suites()[0]  # nothing changes
    with pytest.raises(ConflictError, match="suite 'beir' has other datasets: beir-a, beir-b, beir-c"):
        beir.create_suite("beir", ["beir-c"])
    assert beir.create_suite("beir", ["beir-c", "beir-a", "beir-c"], replace=True).datasets == ("beir-c", "beir-a")
    assert beir.suites()[0].datasets == ("beir-c", "beir-a")
    assert beir.delete_suite("beir").name == "beir"
    assert beir.suites() == []


def test_the_table_is_that_of_the_groups(beir: nt.Tracker) -> None:
    table = beir.suite("beir").table
    assert [row.system for row in table.rows] == ["dense", "bm25", "splade"]
    for row in table.rows[:2]:
        values = [beir.compare("bm25", row.system, dataset=dataset).comparisons for dataset in SIZES]
        means = [one[0].metrics[0].candidate for one in values]
        assert [cell and cell.mean for cell in row.cells] == pytest.approx(means)
        assert row.macro is not None
        assert row.micro is not None
        assert row.over_datasets is not None
        assert row.macro.mean == pytest.approx(np.mean(means))
        assert row.micro.mean == pytest.approx(np.average(means, weights=list(SIZES.values())))
        expected = scipy.stats.ttest_1samp(means, 0.0).confidence_interval()
        assert row.over_datasets.ci == pytest.approx((expected.low, expected.high))
    assert [cell is None for cell in table.rows[2].cells] == [True, False, True]
    assert table.rows[2].macro is None
    assert [row.system for row in beir.suite("beir", "b*").table.rows] == ["bm25"]
    frame = beir.suite("beir").to_frame()
    assert len(frame) == 9
    assert frame["mean"].isna().sum() == 2


def test_the_comparison_is_that_of_the_datasets(beir: nt.Tracker) -> None:
    found = beir.compare_suite("beir", "bm25", "dense").comparison
    each = [beir.compare("bm25", "dense", dataset=dataset).comparisons[0].metrics[0] for dataset in SIZES]
    assert [one.delta for one in found.deltas] == pytest.approx([one.delta for one in each])
    assert [one.p_value for one in found.deltas] == pytest.approx([one.p_value for one in each])
    errors = np.array([one.standard_error for one in each])
    assert found.macro.mean == pytest.approx(np.mean([one.delta for one in each]))
    assert found.macro.standard_error == pytest.approx(np.sqrt((errors**2).sum()) / 3)
    assert found.micro.mean == pytest.approx(np.average([one.delta for one in each], weights=list(SIZES.values())))
    assert found.over_datasets.p_value == pytest.approx(scipy.stats.ttest_1samp([one.delta for one in each], 0).pvalue)
    assert found.verdict == "improved"
    back = beir.compare_suite("beir", "dense", "bm25").comparison
    assert back.verdict == "regressed"
    assert back.macro.mean == pytest.approx(-found.macro.mean)
    same = beir.compare_suite("beir", "dense", "dense").comparison
    assert (same.verdict, same.macro.ci) == ("identical", None)
    of_one = beir.compare_suite("beir", "bm25", "splade").comparison
    assert (of_one.missing, len(of_one.deltas), of_one.over_datasets.ci) == (("beir-a", "beir-c"), 1, None)


def test_runs_belong_together_by_a_tag(beir: nt.Tracker) -> None:
    by_name = beir.compare_suite("beir", "bm25", "dense").comparison
    by_tag = beir.compare_suite("beir", "BM25", "DENSE", by_tag="system").comparison
    assert by_tag.macro == by_name.macro
    assert [row.system for row in beir.suite("beir", by_tag="system").table.rows] == ["DENSE", "BM25"]
    beir.tag_run("splade", {"system": "DENSE"}, dataset="beir-b")
    with pytest.raises(InputError, match="runs 'dense' and 'splade' of 'beir-b' both have the tag system=DENSE"):
        beir.suite("beir", by_tag="system")


def test_what_is_refused(beir: nt.Tracker) -> None:
    with pytest.raises(ReferenceNotFoundError, match="there is no suite 'x'; there is 'beir'"):
        beir.suite("x")
    with pytest.raises(ReferenceNotFoundError, match="'bm25' and 'x' are on no dataset of suite 'beir' together"):
        beir.compare_suite("beir", "bm25", "x")
    with pytest.raises(ReferenceNotFoundError, match="no run of suite 'beir' is meant"):
        beir.suite("beir", "x*")
    with pytest.raises(NotComparableError):
        beir.compare_suite("beir", "bm25", "dense", metric="AP")
    with pytest.raises(ReferenceNotFoundError, match="no dataset 'y'"):
        beir.create_suite("other", ["beir-a", "y"])
    with pytest.raises(InputError, match="weighs groups, and a suite counts them; take one without weights"):
        beir.suite("beir", metric="ndcg(weights=group)@10")
    with pytest.raises(InputError, match="a suite needs a dataset"):
        beir.create_suite("other", [])
    with pytest.raises(InputError, match="the name of a suite is empty"):
        beir.create_suite("", ["beir-a"])
    with pytest.raises(NotComparableError, match="or see all together: ndcg-track suite create NAME DATASET"):
        beir.leaderboard("d*")
