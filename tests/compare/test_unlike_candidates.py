"""Candidates that do not share all metrics, or not the newest labels, beside each other."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError

GROUPS, ITEMS = [f"q{number}" for number in range(6)], list("abcdef")


def run(seed: int, n_groups: int = 6) -> dict[str, list[object]]:
    """Return a run with random scores of the first groups."""
    rows = [(group, item) for group in GROUPS[:n_groups] for item in ITEMS]
    scores = np.random.default_rng(seed).normal(size=len(rows)).tolist()
    return {"group": [group for group, _ in rows], "item": [item for _, item in rows], "score": scores}


def labels(first: int) -> dict[str, dict[str, int]]:
    return {group: {item: (first + place) % 3 for place, item in enumerate(ITEMS[:4])} for group in GROUPS}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[nt.Tracker]:
    """A tracker with labels and a baseline under three metrics."""
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest(run(0), name="r0", labels=labels(0), metrics=["ndcg@3", "p@2", "rr"])
        yield tracker


def test_only_one_metric_is_drawn_of_every_run_against_every_other(store: nt.Tracker) -> None:
    store.ingest(run(1), name="r1", metrics=["ndcg@3"])
    store.ingest(run(2), name="r2", metrics=["p@2"])
    result = store.compare("r0", "r1", "r2")
    with pytest.raises(InputError, match="no test applies to ndcg@3 of all these runs"):
        result.plot("heatmap")
    assert {row["name"] for row in result.plot("forest").spec["data"]["values"]} == {"r1: ndcg@3", "r2: P@2"}
    report = store.report("r0", "r1", "r2")
    assert report.report.deltas == ()
    page = report.to_html()
    assert "r2: P@2" in page
    assert '<p class="muted">ndcg@3, P@2 on default</p>' in page


def test_a_table_for_a_paper_has_the_rows_that_there_are(store: nt.Tracker) -> None:
    store.ingest(run(1), name="r1", metrics=["ndcg@3", "p@2", "rr"])
    store.ingest(run(2), name="r2", metrics=["rr"])
    table = store.compare("r0", "r1", "r2").to_latex()
    body = table[table.index(r"\midrule") :]
    names = re.findall(r" & (\w+)\\textsuperscript\{1\} & ([\w@]+) & ", body)
    assert names == [("r1", "ndcg@3"), ("r1", "P@2"), ("r1", "RR"), ("r2", "RR")]


def test_fewer_queries_are_told_beside_their_rows(store: nt.Tracker) -> None:
    metrics = ["ndcg(missing=skip)@3", "p(missing=skip)@2"]
    store.rescore(["r0"], metrics=metrics)
    store.ingest(run(1), name="r1", metrics=metrics)
    store.ingest(run(3, 4), name="r3", metrics=metrics)
    table = store.compare("r0", "r1", "r3", metrics=metrics, missing="intersect").to_latex()
    assert "r0 on default (6 queries)" in table
    marked = re.findall(r"r3\\textsuperscript\{1,2", table)
    assert (len(marked), table.count("r1\\textsuperscript{1} & ")) == (2, 2)
    assert r"\textsuperscript{2} 2 queries with a result in the baseline only: left out" in table


def test_means_under_other_labels_are_told_and_not_set_beside_each_other(store: nt.Tracker) -> None:
    for number in (1, 2):
        store.ingest(run(number), name=f"r{number}", metrics=["ndcg@3"])
    store.add_labels(labels(1))
    store.rescore(["r0", "r1"])
    result = store.compare("r0", "r1", "r2", metrics="ndcg@3")
    first, second = (comparison.metrics[0] for comparison in result.comparisons)
    assert first.baseline != second.baseline
    told = f"under version 1 of the labels, not 2: the baseline has {second.baseline:.4f} in ndcg@3"
    assert told in str(result)
    with pytest.raises(InputError, match="no test applies to ndcg@3 of all these runs under one version of the labels"):
        result.plot("heatmap")
    assert store.report("r0", "r1", "r2", metrics="ndcg@3").report.deltas == ()
    said = (
        "these runs were compared under versions 1 and 2 of the labels; choose one with labels=, or evaluate all runs "
        "under one with: ndcg-track rescore --all --dataset default --labels 2"
    )
    with pytest.raises(InputError, match=re.escape(said)):
        result.to_latex()
    assert r"\begin{table}" in store.compare("r0", "r1", "r2", metrics="ndcg@3", labels=1).to_latex()
