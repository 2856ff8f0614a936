"""Golden sets and results of retrievers, in their own shapes, at the doors of the command line and in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import CommandLine

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import ColumnWarning

QUESTIONS = ["what is gamma", "refund policy", "who owns auth"]
GOLDEN: list[dict[str, Any]] = [
    {"id": query, "question": text, "expected_doc_ids": items, "category": category}
    for query, text, items, category in zip(
        ["q1", "q2", "q3"], QUESTIONS, [["d1", "d5"], ["d2"], ["d3", "d4"]], "aab", strict=True
    )
]
RANKED = [["d5", "x1", "d1", "x2"], ["x3", "d2"], ["d4", "d3", "x9"]]
BY_ID: list[dict[str, Any]] = [
    {"query_id": query, "retrieved": items} for query, items in zip(["q1", "q2", "q3"], RANKED, strict=True)
]
BY_TEXT: list[dict[str, Any]] = [
    {"question": text, "results": [{"id": item, "score": 1 / rank} for rank, item in enumerate(items, 1)]}
    for text, items in zip(QUESTIONS, RANKED, strict=True)
]
NDCG = 0.8502


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, records in (("golden", GOLDEN), ("by_id", BY_ID), ("by_text", BY_TEXT)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    kept = [{"question": golden["question"], "kb_ids": golden["expected_doc_ids"]} for golden in GOLDEN]
    (tmp_path / "kb.json").write_text(json.dumps({"cases": kept}))
    return tmp_path


def test_a_golden_set_is_stored_with_the_texts_and_attributes_of_its_queries(
    command: CommandLine, folder: Path
) -> None:
    printed = command("labels", "add", "golden.jsonl", "--dataset", "kb")
    assert printed.err.splitlines() == [
        "note: golden.jsonl: read 3 queries from 'id', their text from 'question'; relevant ids from "
        "'expected_doc_ids'; attribute category",
        "stored as version 1 of dataset 'kb': 5 labels",
    ]
    (row,) = command.rows("ingest", "by_id.jsonl", "--dataset", "kb")
    assert (row["n_groups"], round(row["mean"], 4)) == (3, NDCG)
    stored = command.rows("sql", "select key, attributes from groups order by key")
    assert [json.loads(row["attributes"]) for row in stored] == [{"category": kind} for kind in "aab"]
    texts = command.rows("texts", "list", "--dataset", "kb")
    assert [(row["group"], row["text"]) for row in texts] == list(zip(["q1", "q2", "q3"], QUESTIONS, strict=True))


@pytest.mark.parametrize("results", ["by_id", "by_text"])
def test_the_golden_set_and_the_results_find_each_other(
    sqlite_command: CommandLine, folder: Path, results: str
) -> None:
    (row,) = sqlite_command.rows("evaluate", f"{results}.jsonl", "--labels", "golden.jsonl")
    assert round(row["mean"], 4) == NDCG


def test_ids_that_occur_in_the_results_decide_what_words_do_not(sqlite_command: CommandLine, folder: Path) -> None:
    assert sqlite_command.refused("labels", "add", "kb.json") == (
        "kb.json: it is not clear which key holds the ids of the relevant items: 'kb_ids' may; name the key with "
        "--relevant kb_ids"
    )
    (row,) = sqlite_command.rows("ingest", "by_text.jsonl", "--labels", "kb.json")
    assert round(row["mean"], 4) == NDCG
    (row,) = sqlite_command.rows("evaluate", "by_text.jsonl", "--labels", "kb.json", "--relevant", "kb_ids")
    assert round(row["mean"], 4) == NDCG


def test_what_a_reader_knows_is_read_as_before(sqlite_command: CommandLine, folder: Path) -> None:
    (folder / "known.csv").write_text("query_id,doc_id,relevance\nq1,d1,1\nq1,d5,x\n")
    assert sqlite_command.refused("labels", "add", "known.csv") == (
        "known.csv:3: label 'x' is not a number; write it like 0.5, -2 or 1e-3"
    )


def test_a_golden_set_in_yaml(sqlite_command: CommandLine, folder: Path) -> None:
    (folder / "golden.yaml").write_text(json.dumps({"cases": GOLDEN}))
    (row,) = sqlite_command.rows("evaluate", "by_id.jsonl", "--labels", "golden.yaml")
    assert round(row["mean"], 4) == NDCG


def test_one_file_with_both_roles(sqlite_command: CommandLine, folder: Path) -> None:
    both = [{**golden, "retrieved_ids": items} for golden, items in zip(GOLDEN, RANKED, strict=True)]
    (folder / "both.json").write_text(json.dumps(both))
    (row,) = sqlite_command.rows("evaluate", "both.json")
    assert round(row["mean"], 4) == NDCG


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [list, pd.DataFrame])
def test_lists_of_dicts_and_frames(kind: Any, tmp_path: Path) -> None:
    tracker = nt.Tracker(tmp_path / "runs.db")
    assert nt.evaluate(kind(BY_TEXT), "ndcg@10", labels=kind(GOLDEN)).mean.round(4).to_list() == [NDCG]
    tracker.add_labels(kind(GOLDEN), dataset="kb")
    assert round(tracker.ingest(kind(BY_ID), name="a", dataset="kb").metrics[0].mean, 4) == NDCG
    both = [{**golden, "retrieved_ids": items} for golden, items in zip(GOLDEN, RANKED, strict=True)]
    assert nt.evaluate(kind(both), "ndcg@10").mean.round(4).to_list() == [NDCG]


@pytest.mark.filterwarnings("ignore:the run")
def test_the_argument_is_named_in_python() -> None:
    kept = [{"question": golden["question"], "kb_ids": golden["expected_doc_ids"]} for golden in GOLDEN]
    with pytest.raises(InputError, match=r"^the table: .* name the key with relevant='other_ids'$"):
        nt.evaluate(BY_ID, "ndcg@10", labels=[{**record, "other_ids": record["kb_ids"][:1]} for record in kept])
    with pytest.warns(ColumnWarning, match="^the table: read 3 queries from 'question'"):
        assert nt.evaluate(BY_TEXT, "ndcg@10", labels=kept, relevant="kb_ids").mean.round(4).to_list() == [NDCG]


SILENT: list[dict[str, Any]] = [
    *({"query": golden["question"], "relevant_doc_ids": golden["expected_doc_ids"]} for golden in GOLDEN),
    *({"query": f"{of} tax", "relevant_doc_ids": [], "answerable": False} for of in ("moon", "sun", "star")),
    {"query": "nobody looked", "relevant_doc_ids": []},
]


def _asked(*answered: str, silent: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Results of the labelled queries, and of others with an item or with an empty list."""
    others = [*((query, ["d1"]) for query in answered), *((query, []) for query in silent)]
    lists = [*zip(QUESTIONS, RANKED, strict=True), *others]
    return [{"question": query, "retrieved": items} for query, items in lists]


TOLD = "no answer: 1 of 2 queries without an answer return nothing; 1 more is not in the run"


def test_queries_without_an_answer_are_counted_apart(command: CommandLine, folder: Path) -> None:
    (folder / "silent.jsonl").write_text("\n".join(map(json.dumps, SILENT)))
    for name, results in (
        ("a", _asked("sun tax", "nobody looked", silent=("moon tax",))),
        ("b", _asked(silent=("moon tax", "sun tax", "star tax"))),
    ):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, results)))
    evaluated = command("evaluate", "a.jsonl", "--labels", "silent.jsonl", "--format", "csv")
    assert f"note: a: {TOLD}" in evaluated.err.splitlines()
    assert evaluated.out.splitlines()[1].startswith(f"a,ndcg@10,{NDCG}")
    command("labels", "add", "silent.jsonl", "--dataset", "kb")
    stored = command("ingest", "a.jsonl", "b.jsonl", "--dataset", "kb")
    assert f"note: a: {TOLD}" in stored.err.splitlines()
    assert "note: b: no answer: 3 of 3 queries without an answer return nothing" in stored.err.splitlines()
    assert [row["tags"] for row in command.rows("runs", "list", "--dataset", "kb")] == [
        {"no_answer": "1 of 2"},
        {"no_answer": "3 of 3"},
    ]
    said = " ".join(command("compare", "a", "b", "--dataset", "kb").out.split())
    both = "of the queries without an answer, the baseline returns nothing for 1 of 2, the candidate for 3 of 3"
    assert f"note: no answer: {both}" in said


@pytest.mark.filterwarnings("ignore:the table")
def test_labels_that_come_with_a_run_say_which_queries_have_no_answer(tmp_path: Path) -> None:
    tracker = nt.Tracker(tmp_path / "runs.db")
    assert TOLD in tracker.ingest(_asked("sun tax", silent=("moon tax",)), name="a", labels=SILENT).notes
    assert TOLD in tracker.ingest(_asked("star tax", silent=("moon tax",)), name="b").notes
    tracker.add_labels([*SILENT, {"query": "sky tax", "relevant_doc_ids": [], "answerable": False}])
    third = tracker.ingest(_asked("star tax", "sky tax", silent=("moon tax",)), name="c")
    assert TOLD.replace("1 of 2", "1 of 3") in third.notes
    in_a_run = {query: dict.fromkeys(items, 1.0) for query, items in zip(QUESTIONS, RANKED, strict=True)}
    absent = "no answer: none of the 4 queries without an answer is in the run"
    assert absent in tracker.ingest(in_a_run, name="d").notes


@pytest.mark.filterwarnings("ignore:the")
def test_the_values_of_queries_without_an_answer() -> None:
    found = nt.evaluate(_asked("sun tax", silent=("moon tax",)), "ndcg@10", labels=SILENT)
    assert (found.no_answer, round(found["ndcg@10"] or 0, 4)) == ({"moon tax": 1.0, "sun tax": 0.0}, NDCG)
