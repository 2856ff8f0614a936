"""A history in a notebook: a table that people read, and a frame all the same."""

import re

import pandas as pd
import pytest
from small_shop import BM25, DENSE, LABELS

import ndcg_tracker as nt


@pytest.mark.usefixtures("postgres_schema")
def test_a_notebook_shows_a_tidy_table(database_url: str) -> None:
    with nt.Tracker(database_url) as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(run, name=name, labels=LABELS, dataset="shop")
        history = tracker.history("ndcg@10", dataset="shop")
    assert isinstance(history, pd.DataFrame)
    assert len(history.columns) > 30
    shown = history._repr_html_()
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", shown)
    assert heads == ["run", "created (UTC)", "mean", "ci_low", "ci_high", "delta", "step", "labels", "commit"]
    assert shown.count("<tr>") == 3
    best = history[history["mean"] == history["mean"].max()][["run", "mean"]]._repr_html_()
    assert best.count("<th ") == 2
    assert best.count("<tr>") == 2
    assert "<th>mean</th>" in history[["mean"]]._repr_html_()  # without runs, as pandas shows it
