"""What ``import ndcg_tracker`` offers, and what it does not import for that."""

import subprocess
import sys

import pytest

import ndcg_tracker as nt

NAMES = [
    "ConflictError",
    "DatabaseError",
    "Evaluation",
    "InputError",
    "Metric",
    "MetricError",
    "NdcgTrackerError",
    "NotComparableError",
    "ReferenceNotFoundError",
    "Tracker",
    "check",
    "compare",
    "evaluate",
    "parse_metric",
    "plan",
]


def test_the_public_names_are_these_and_sorted() -> None:
    assert nt.__all__ == NAMES
    assert sorted(nt.__all__) == nt.__all__
    assert set(NAMES) <= set(dir(nt))


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(nt, name)
    assert value.__name__ == name
    assert value.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    name = "Trackr"
    with pytest.raises(AttributeError, match=r"^module 'ndcg_tracker' has no attribute 'Trackr'$"):
        getattr(nt, name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "experiment",
            "ndcg_tracker.experiment is gone: store rankings with Tracker.ingest, or compare them unstored with "
            "compare(a, b, labels=...)",
        ),
        (
            "paired",
            "ndcg_tracker.paired is gone: compare rankings with compare(a, b, labels=...); store values per group with "
            "Tracker.log_results",
        ),
    ],
)
def test_a_name_that_is_gone_names_the_new_way(name: str, said: str) -> None:
    with pytest.raises(AttributeError) as refused:
        getattr(nt, name)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("use", "unwanted"),
    [
        ("", {"numpy", "pandas", "pyarrow", "sqlalchemy", "scipy", "typer", "ndcg_tracker.api"}),
        ("nt.InputError", {"numpy", "pandas", "pyarrow", "sqlalchemy", "scipy", "typer", "ndcg_tracker.api"}),
        ("nt.parse_metric('ndcg@10')", {"pandas", "pyarrow", "sqlalchemy", "scipy", "typer", "ndcg_tracker.api"}),
        ("nt.Tracker('x.db')", {"pandas", "pyarrow", "sqlalchemy", "scipy", "typer"}),
        (
            "nt.evaluate({'group': ['q'], 'item': ['a'], 'score': [1.0], 'label': [1]}, 'ndcg')",
            {"sqlalchemy", "scipy", "typer"},
        ),
    ],
)
def test_a_name_imports_only_what_it_needs(use: str, unwanted: set[str]) -> None:
    program = f"import sys, ndcg_tracker as nt\n{use}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert unwanted.isdisjoint(done.stdout.split())


def test_a_name_is_looked_up_once() -> None:
    assert nt.Tracker is nt.Tracker
    assert vars(nt)["Tracker"] is nt.Tracker
