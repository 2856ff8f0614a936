"""Input that other readers take for something else: it is read as its tool means it, or it is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ndcg_tracker as nt

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str) -> str:
        (tmp_path / name).write_text(content)
        return str(tmp_path / name)

    return write


MASKED = {"group": ["q"] * 3, "item": ["a", "b", "c"], "score": [3.0, -np.inf, -np.inf]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("masked.run", "q Q0 a 1 3.0 t\nq Q0 b 2 -inf t\nq Q0 c 3 -Infinity t\n"),
        ("masked", "q Q0 b 2 -inf t\nq Q0 a 1 3.0 t\nq Q0 c 3 -inf t\n"),
        ("masked.csv", "group,item,score\nq,a,3\nq,b,-Inf\nq,c,-inf\n"),
        (
            "masked.jsonl",
            "".join(
                f'{{"group":"q","item":"{i}","score":{s}}}\n'
                for i, s in zip("abc", ("3", "-Infinity", "-Infinity"), strict=True)
            ),
        ),
        ("masked.json", '{"q": {"a": 3, "b": -Infinity, "c": -Infinity}}'),
    ],
)
def test_minus_infinity_in_a_file_means_not_retrieved(write: Write, name: str, content: str) -> None:
    with pytest.warns(nt.NdcgTrackerWarning, match="2 rows have no score, so their items count as not retrieved"):
        assert nt.evaluate(write(name, content), "R@3", labels={"q": {"a": 1, "b": 1}}).mean.to_list() == [0.5]


@pytest.mark.parametrize(
    "run",
    [MASKED, pd.DataFrame(MASKED), {"q": {"a": 3.0, "b": -np.inf, "c": -np.inf}}],
    ids=["dict", "frame", "nested"],
)
def test_minus_infinity_in_a_table_means_not_retrieved(run: object) -> None:
    with pytest.warns(nt.NdcgTrackerWarning, match="2 rows have no score, so their items count as not retrieved"):
        assert nt.evaluate(run, "R@3", labels={"q": {"a": 1, "b": 1}}).mean.to_list() == [0.5]


@pytest.mark.parametrize(("yes", "no"), [("TRUE", "FALSE"), ("true", "false"), ("t", "f"), ("Yes", "no"), ("y", "N")])
def test_labels_in_words(write: Write, yes: str, no: str) -> None:
    run = {"q": {"a": 1.0, "b": 2.0}}
    frame = pd.DataFrame({"group": ["q", "q"], "item": ["a", "b"], "label": [yes, no]})
    given = [
        write("labels.csv", frame.to_csv(index=False)),
        write("labels.tsv", frame.to_csv(index=False, sep="\t")),
        write("labels.jsonl", frame.to_json(orient="records", lines=True)),
        write("labels.qrels", f"q 0 a {yes}\nq 0 b {no}\n"),
        frame,
        {"q": {"a": yes, "b": no}},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [nt.evaluate(run, "RR", labels=labels).mean.to_list() for labels in given] == [[0.5]] * len(given)
