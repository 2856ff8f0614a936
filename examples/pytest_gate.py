"""Test whether a new ranker may replace the baseline. Run it with: pytest -rP pytest_gate.py"""

import numpy as np
import pytest

import ndcg_tracker as nt


def ranked(noise, seed):
    """Return a run of 300 queries with ten products each; its scores are the grades plus noise."""
    random = np.random.default_rng(seed)
    grades = np.random.default_rng(1).integers(0, 4, size=3000)
    queries = np.repeat([f"query {number}" for number in range(300)], 10)
    products = np.tile([f"product {number}" for number in range(10)], 300)
    return {"group": queries, "item": products, "score": grades + random.normal(0, noise, 3000), "label": grades}


@pytest.fixture(scope="module", autouse=True)
def database(tmp_path_factory):
    """Fill the database that NDCG_TRACK_DB names. In a project, the build stores the runs there before the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NDCG_TRACK_DB", str(tmp_path_factory.mktemp("gate") / "ndcg-track.db"))
        with nt.Tracker() as tracker:
            for name, noise, seed in (("old", 1.0, 2), ("new", 0.9, 3), ("broken", 2.0, 4)):
                tracker.ingest(ranked(noise, seed), name=name, dataset="shop")
            tracker.set_alias("baseline", "old", "shop")
        yield


def test_the_new_ranker_may_ship(ndcg_gate):
    print(ndcg_gate.check("new", baseline="@baseline", metric="ndcg@10", margin=0.01))


def test_the_broken_ranker_may_not(ndcg_gate):
    with pytest.raises(pytest.fail.Exception, match="FAIL"):
        ndcg_gate.check("broken", baseline="@baseline", metric="ndcg@10", margin=0.01)
