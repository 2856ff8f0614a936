"""The shapes of golden sets and of results that teams commit, by rule: read rightly, or refused in words."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.shapes import Known, Recognised, UnclearError, recognised
from tests.refused import refusal_of

QUERIES = [
    ("q1", "what is gamma", ["d1", "d5"]),
    ("q2", "refund policy", ["d2"]),
    ("q3", "who owns auth", ["d3", "d4"]),
]
BY_ID = {query: set(items) for query, _, items in QUERIES}
BY_TEXT = {text: set(items) for _, text, items in QUERIES}
FIRST = {text: set(items[:1]) for _, text, items in QUERIES}
GRADED = {query: {item: 3.0 - place for place, item in enumerate(items)} for query, _, items in QUERIES}
RANKED = {"q1": ["d5", "x1", "d1", "x2"], "q2": ["x3", "d2"], "q3": ["d4", "d3", "x9"]}
RANKED_BY_TEXT = {text: RANKED[query] for query, text, _ in QUERIES}
OCCUR = {"item_ids": {"d1", "d2", "d3", "d4", "d5", "x1", "s8"}}


def graded(items: list[str]) -> dict[str, int]:
    return {item: 3 - place for place, item in enumerate(items)}


def rows(record: Callable[[str, str, list[str]], dict[str, Any]]) -> str:
    """Return JSON lines of a record for each query: its id, its text and its relevant items."""
    return "\n".join(json.dumps(record(*query)) for query in QUERIES)


def listed(record: Callable[[str, str, list[str]], dict[str, Any]], **beside: Any) -> str:
    """Return a JSON object with a list of records, and with other keys."""
    return json.dumps({**beside, "cases": [record(*query) for query in QUERIES]})


def ranked(record: Callable[[str, str, list[str]], dict[str, Any]]) -> str:
    """Return JSON lines of a record for each query: its id, its text and its results."""
    return rows(lambda query, text, _: record(query, text, RANKED[query]))


def read(name: str, text: str, **known: Any) -> Recognised:
    return recognised(text.encode(), name, "labels", Known(**known))


def labels_of(found: Recognised, like: dict[str, Any]) -> dict[str, Any]:
    """Return the labels, as sets of items where these are expected."""
    return {query: set(held) if isinstance(like.get(query), set) else held for query, held in found.labels.items()}


GOLDEN: list[tuple[str, str, str, dict[str, Any], dict[str, str]]] = [
    ("ids and ids", "a.jsonl", rows(lambda q, t, d: {"query_id": q, "relevant_ids": d}), BY_ID, {}),
    (
        "beside an answer",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "text": t, "relevant_doc_ids": d, "reference_answer": "x"}),
        BY_ID,
        {},
    ),
    ("the text is the id", "a.jsonl", rows(lambda q, t, d: {"query": t, "relevant_doc_ids": d}), BY_TEXT, {}),
    ("an array", "a.json", json.dumps([{"question": t, "relevant_doc_ids": d} for _, t, d in QUERIES]), BY_TEXT, {}),
    (
        "grades in a second key",
        "a.json",
        listed(
            lambda q, t, d: {
                "query_id": q,
                "query": t,
                "ground_truth_answer": "a",
                "relevant_doc_ids": d,
                "relevance_scores": graded(d),
            },
            name="my",
        ),
        GRADED,
        {},
    ),
    (
        "a mode beside",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "id": q,
                "question": t,
                "expected_doc_ids": d,
                "expected_mode": "fts",
                "area": None,
                "notes": "n",
            }
        ),
        BY_ID,
        {},
    ),
    (
        "text that is contained",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected_doc_ids": d, "expected_answer_contains": ["a"], "mode": "I"}),
        BY_TEXT,
        {},
    ),
    (
        "by query",
        "a.json",
        json.dumps({q: {"relevant_docs": d, "relevance_scores": graded(d), "notes": "n"} for q, _, d in QUERIES}),
        GRADED,
        {},
    ),
    (
        "objects with gains",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "query_id": q,
                "collection": "kb",
                "relevance": [{"doc_id": i, "gain": g} for i, g in graded(d).items()],
            }
        ),
        GRADED,
        {},
    ),
    ("sources", "a.jsonl", rows(lambda q, t, d: {"question": t, "expected_sources": d}), BY_TEXT, {}),
    ("one item", "a.jsonl", rows(lambda q, t, d: {"question": t, "golden_chunk_id": d[0]}), FIRST, {}),
    (
        "a key that is empty",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "question_id": q,
                "question": t,
                "ground_truth_answer": "a",
                "expected_doc_ids": d,
                "expected_chunk_ids": [],
                "metadata": {"type": "f"},
            }
        ),
        BY_ID,
        {},
    ),
    (
        "LlamaIndex",
        "a.json",
        json.dumps(
            {
                "queries": {q: t for q, t, _ in QUERIES},
                "corpus": {i: "t" for _, _, d in QUERIES for i in d},
                "relevant_docs": {q: d for q, _, d in QUERIES},
                "mode": "text",
            }
        ),
        BY_ID,
        {},
    ),
    ("only lists", "a.json", json.dumps({q: d for q, _, d in QUERIES}), BY_ID, {}),
    (
        "cells with semicolons",
        "a.csv",
        'query_id,query,expected_uids,added_at\nq1,"what is gamma","d1; d5",2026-01-15\n'
        'q2,r p,d2,2026-01-15\nq3,w,"d3; d4",2026-01-15\n',
        BY_ID,
        {},
    ),
    (
        "cells with bars",
        "a.csv",
        "query,relevant_ids,category\nwhat is gamma,d1|d5,f\nrefund policy,d2,h\nwho owns auth,d3|d4,f\n",
        BY_TEXT,
        {},
    ),
    (
        "cells with commas",
        "a.tsv",
        "query\trelevant_ids\nwhat is gamma\td1,d5\nrefund policy\td2\nwho owns auth\td3,d4\n",
        BY_TEXT,
        {},
    ),
    ("cells with lines", "a.csv", 'query_id,relevant_ids\nq1,"d1\nd5"\nq2,d2\nq3,"d3\nd4"\n', BY_ID, {}),
    (
        "cells as Python writes lists",
        "a.csv",
        "query_id,relevant_docs\nq1,\"['d1', 'd5']\"\nq2,['d2']\nq3,\"['d3', 'd4']\"\n",
        BY_ID,
        {},
    ),
    (
        "symbols beside paths",
        "a.json",
        listed(
            lambda q, t, d: {"id": q, "query": t, "expected_paths": d, "expected_symbols": ["f"], "intent": t[0]},
            schema_version=1,
        ),
        BY_ID,
        {},
    ),
    (
        "an object of grades",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "query": t, "relevant_docs": graded(d), "reference_answer": None}),
        GRADED,
        {},
    ),
    (
        "defaults beside",
        "a.json",
        listed(
            lambda q, t, d: {"id": q, "query": t, "expected_chunk_ids": d, "expected_text_contains": ["x"], "top_k": 5},
            default_filters={"document_id": "doc"},
        ),
        BY_ID,
        {},
    ),
    (
        "YAML, nested",
        "a.yaml",
        "v: '1'\nqueries:\n  - {id: q1, query: a, expected: {paths: [d1, d5]}, tags: [a]}\n"
        "  - {id: q2, query: b, expected: {paths: [d2]}}\n"
        "  - {id: q3, query: c, expected: {paths: [d3, d4]}}\n",
        BY_ID,
        {},
    ),
    (
        "TOML",
        "a.toml",
        "[[q]]\nid = 'q1'\nrelevant_ids = ['d1', 'd5']\n[[q]]\nid = 'q2'\nrelevant_ids = ['d2']\n[[q]]\n"
        "id = 'q3'\nrelevant_ids = ['d3', 'd4']\n",
        BY_ID,
        {},
    ),
    (
        "Braintrust",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "input": {"query": t},
                "expected": {"relevant_ids": d},
                "metadata": {"category": "f"},
                "id": q,
            }
        ),
        BY_ID,
        {},
    ),
    (
        "promptfoo",
        "a.yaml",
        "tests:\n"
        "  - {vars: {query: what is gamma, expected_ids: [d1, d5]}, assert: [{type: x, value: x}]}\n"
        "  - {vars: {query: refund policy, expected_ids: [d2]}}\n"
        "  - {vars: {query: who owns auth, expected_ids: [d3, d4]}}\n",
        BY_TEXT,
        {},
    ),
    (
        "AutoRAG, named",
        "a.jsonl",
        rows(lambda q, t, d: {"qid": q, "query": t, "retrieval_gt": [d], "generation_gt": ["a"]}),
        BY_ID,
        {"relevant": "retrieval_gt"},
    ),
    (
        "cited ids are the same",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "id": q,
                "relevant_document_ids": d,
                "retrieved_document_ids": ["x", *d],
                "cited_document_ids": d,
            }
        ),
        BY_ID,
        {},
    ),
    (
        "Markdown",
        "a.md",
        "# Golden\n\n| Query ID | Query Text | Expected documents |\n|---|:-:|--:|\n"
        '| q1 | "what is gamma" | `d1`, `d5` |\n| q2 | "b" | `d2` |\n| q3 | "c" | `d3`, `d4` |\n',
        BY_ID,
        {},
    ),
    (
        "documents beside",
        "a.json",
        json.dumps(
            {
                "id": "my",
                "documents": [{"sourceId": "d1", "content": "t"}],
                "queries": [{"id": q, "query": t, "relevant": {"sourceIds": d}} for q, t, d in QUERIES],
            }
        ),
        BY_ID,
        {},
    ),
    (
        "an entry beside files",
        "a.jsonl",
        rows(lambda q, t, d: {"id": q, "query": t, "expected_files": d, "expected_entry": d[0], "tags": ["a"]}),
        BY_ID,
        {},
    ),
    (
        "negative targets, named",
        "a.jsonl",
        rows(lambda q, t, d: {"query": t, "expected_targets": d, "negative_targets": ["d9"]}),
        BY_TEXT,
        {"relevant": "expected_targets"},
    ),
    ("gold ids", "a.jsonl", rows(lambda q, t, d: {"query": t, "gold_ids": d, "answer": "a"}), BY_TEXT, {}),
    (
        "a context's id, named",
        "a.json",
        listed(lambda q, t, d: {"question_id": q, "context_id": d[0], "context": "a text of a passage", "question": t}),
        {q: {d[0]} for q, _, d in QUERIES},
        {"relevant": "context_id"},
    ),
    ("camel case", "a.json", listed(lambda q, t, d: {"queryId": q, "queryText": t, "expectedDocIds": d}), BY_ID, {}),
    ("capitals", "a.jsonl", rows(lambda q, t, d: {"queryID": q, "relevantDocumentIDs": d}), BY_ID, {}),
    ("hyphens", "a.jsonl", rows(lambda q, t, d: {"query-id": q, "relevant-doc-ids": d}), BY_ID, {}),
    (
        "a header in words",
        "a.csv",
        "Question,Relevant Docs\nwhat is gamma,d1;d5\nrefund policy,d2\nwho owns auth,d3;d4\n",
        BY_TEXT,
        {},
    ),
    ("correct ids", "a.jsonl", rows(lambda q, t, d: {"qid": q, "prompt": t, "correct_doc_ids": d}), BY_ID, {}),
    (
        "tables by query",
        "a.json",
        json.dumps({"queries": {q: t for q, t, _ in QUERIES}, "qrels": {q: graded(d) for q, _, d in QUERIES}}),
        GRADED,
        {},
    ),
    (
        "a list of labels",
        "a.json",
        json.dumps(
            {
                "queries": [{"_id": q, "text": t} for q, t, _ in QUERIES],
                "qrels": [
                    {"query_id": q, "doc_id": i, "relevance": g} for q, _, d in QUERIES for i, g in graded(d).items()
                ],
            }
        ),
        GRADED,
        {},
    ),
    (
        "a list of labels with scores",
        "a.json",
        json.dumps(
            {
                "qrels": [
                    {"query_id": q, "corpus_id": i, "score": g} for q, _, d in QUERIES for i, g in graded(d).items()
                ]
            }
        ),
        GRADED,
        {"relevant": "corpus_id"},
    ),
    (
        "deep",
        "a.json",
        json.dumps(
            {
                "data": {
                    "eval": {
                        "items": [
                            {"id": q, "input": {"question": t}, "expected_output": {"doc_ids": d}}
                            for q, t, d in QUERIES
                        ]
                    }
                }
            }
        ),
        BY_ID,
        {},
    ),
    (
        "LangSmith",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "id": q,
                "inputs": {"question": t},
                "outputs": {"answer": "some text", "relevant_doc_ids": d},
            }
        ),
        BY_ID,
        {},
    ),
    (
        "objects with titles",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "gold": [{"docId": i, "title": f"The {i}"} for i in d]}),
        BY_TEXT,
        {},
    ),
    (
        "by the query's text",
        "a.json",
        json.dumps({t: {"expected_docs": d, "category": "a"} for _, t, d in QUERIES}),
        BY_TEXT,
        {},
    ),
    (
        "lists of objects by query",
        "a.json",
        json.dumps({q: [{"doc_id": i, "relevance": g} for i, g in graded(d).items()] for q, _, d in QUERIES}),
        GRADED,
        {},
    ),
    ("lists under one key", "a.json", json.dumps({"relevance": {q: d for q, _, d in QUERIES}}), BY_ID, {}),
    (
        "one row for each label",
        "a.csv",
        "question,expected_doc_id\nwhat is gamma,d1\nwhat is gamma,d5\nrefund policy,d2\n"
        "who owns auth,d3\nwho owns auth,d4\n",
        BY_TEXT,
        {},
    ),
    (
        "one row for each grade",
        "a.csv",
        "query_id,query,document_id,grade\nq1,a,d1,3\nq1,a,d5,2\nq2,b,d2,3\nq3,c,d3,3\nq3,c,d4,2\n",
        GRADED,
        {},
    ),
    (
        "columns of pandas",
        "a.json",
        json.dumps(
            {
                "query": {str(n): q[1] for n, q in enumerate(QUERIES)},
                "relevant_ids": {str(n): q[2] for n, q in enumerate(QUERIES)},
            }
        ),
        BY_TEXT,
        {},
    ),
    (
        "columns",
        "a.json",
        json.dumps({"question": [t for _, t, _ in QUERIES], "expected_ids": [d for _, _, d in QUERIES]}),
        BY_TEXT,
        {},
    ),
    (
        "negatives beside",
        "a.jsonl",
        rows(
            lambda q, t, d: {"query": t, "positive_ids": d, "hard_negative_ids": ["n1"], "irrelevant_ids": ["n2", "n3"]}
        ),
        BY_TEXT,
        {},
    ),
    (
        "DPR",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "question": t,
                "positive_ctxs": [{"title": "T", "text": "x y z", "passage_id": i} for i in d],
                "negative_ctxs": [{"title": "T", "passage_id": "n"}],
            }
        ),
        BY_TEXT,
        {},
    ),
    (
        "whole numbers",
        "a.jsonl",
        '{"query": "a", "relevant_ids": [1, 5]}\n{"query": "b", "relevant_ids": [2]}',
        {"a": {"1", "5"}, "b": {"2"}},
        {},
    ),
    (
        "names of files",
        "a.jsonl",
        '{"query": "a", "expected_files": ["My Doc.pdf", "b.pdf"]}\n'
        '{"query": "b", "expected_files": ["Other Doc.pdf"]}',
        {"a": {"My Doc.pdf", "b.pdf"}, "b": {"Other Doc.pdf"}},
        {},
    ),
    (
        "true and false",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "judgments": [{"doc_id": i, "relevant": i != "d4"} for i in d]}),
        {"q1": {"d1": 1, "d5": 1}, "q2": {"d2": 1}, "q3": {"d3": 1, "d4": 0}},
        {},
    ),
    (
        "whole scores",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "relevant_docs": [{"id": i, "score": g} for i, g in graded(d).items()]}),
        GRADED,
        {},
    ),
    (
        "grades beside the list",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "relevant_ids": d, "grades": list(graded(d).values())}),
        GRADED,
        {},
    ),
    (
        "zeros in the grades",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "relevant_ids": d, "relevance_scores": {**graded(d), "z": 0}}),
        {q: {**held, "z": 0} for q, held in GRADED.items()},
        {},
    ),
    ("lists of one", "a.jsonl", rows(lambda q, t, d: {"query_id": q, "relevant_ids": [[i] for i in d]}), BY_ID, {}),
    (
        "a template beside the question",
        "a.jsonl",
        rows(
            lambda q, t, d: {"prompt": f"Answer: {t}", "rewritten_query": f"re {t}", "question": t, "relevant_ids": d}
        ),
        BY_TEXT,
        {},
    ),
    (
        "ids of other things",
        "a.jsonl",
        rows(lambda q, t, d: {"session_id": "s", "user_id": "u", "query": t, "relevant_ids": d}),
        BY_TEXT,
        {},
    ),
    (
        "answers of sessions, named",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "question_id": q,
                "question": t,
                "haystack_session_ids": [*d, "s8"],
                "answer_session_ids": d,
            }
        ),
        BY_ID,
        {"relevant": "answer_session_ids"},
    ),
    (
        "two keys, one named",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected_doc_ids": [f"{i}.md" for i in d], "expected_chunk_ids": d}),
        BY_TEXT,
        {"relevant": "expected_chunk_ids"},
    ),
    (
        "two keys, one in the results",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected_doc_ids": d, "expected_chunk_ids": [f"{i}#1" for i in d]}),
        BY_TEXT,
        OCCUR,
    ),
    (
        "paragraphs, documents in the results",
        "a.csv",
        'query_id,gold_doc_ids,gold_paragraph_ids\nq1,"d1,d5","d1_p1,d5_p1"\nq2,d2,d2_p1\nq3,"d3,d4","d3_p1,d4_p1"\n',
        BY_ID,
        OCCUR,
    ),
    (
        "sources in the results",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "id": q,
                "question": t,
                "source_docs": d,
                "relevant_chunks": [f"When {t}, it is said so here."],
                "difficulty": 1,
            }
        ),
        BY_ID,
        OCCUR,
    ),
    (
        "a context's id in the results",
        "a.json",
        listed(lambda q, t, d: {"question_id": q, "context_id": d[0], "question": t}),
        {q: {d[0]} for q, _, d in QUERIES},
        OCCUR,
    ),
    (
        "a key without a word, in the results",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "kb_ids": d}),
        BY_TEXT,
        OCCUR,
    ),
    (
        "AutoRAG, in the results",
        "a.jsonl",
        rows(lambda q, t, d: {"qid": q, "query": t, "retrieval_gt": [d], "generation_gt": ["a"]}),
        BY_ID,
        OCCUR,
    ),
    (
        "lists, grades and texts side by side, in the results",
        "a.json",
        json.dumps(
            {q: {"relevant_docs": d, "relevance_scores": dict.fromkeys(d, 1.0), "notes": "n"} for q, _, d in QUERIES}
        ),
        {q: dict.fromkeys(d, 1.0) for q, _, d in QUERIES},
        OCCUR,
    ),
    (
        "a corpus beside the queries, in the results",
        "a.json",
        listed(
            lambda q, t, d: {"id": q, "query": t, "relevant": {"sourceIds": d}},
            id="my",
            documents=[{"sourceId": "d1", "content": "t"}],
        ),
        BY_ID,
        OCCUR,
    ),
]


@pytest.mark.parametrize(("name", "text", "right", "known"), [pytest.param(*case[1:], id=case[0]) for case in GOLDEN])
def test_golden_sets_are_read(name: str, text: str, right: dict[str, Any], known: dict[str, Any]) -> None:
    assert labels_of(read(name, text, **known), right) == right


DOUBTFUL: list[tuple[str, str, str, dict[str, Any], list[str]]] = [
    (
        "a pattern of a path",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "query": t,
                "relevance": [{"doc_id": d[0], "gain": 1.0}, {"path_contains": "guide/", "gain": 0.5}],
            }
        ),
        {},
        ["'relevance.doc_id'"],
    ),
    (
        "paragraphs",
        "a.csv",
        'query_id,gold_doc_ids,gold_paragraph_ids\nq1,"d1,d5","d1_p1,d5_p1"\nq2,d2,d2_p1\n',
        {},
        ["'gold_doc_ids'", "'gold_paragraph_ids'"],
    ),
    (
        "terms",
        "a.yaml",
        "queries:\n  - {query: a, expected_in_top_k: [x, y]}\n  - {query: b, expected_in_top_k: [x, y]}\n",
        {},
        ["'expected_in_top_k'"],
    ),
    (
        "passages of ragas",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "user_input": t,
                "reference": "a",
                "reference_contexts": [f"The long passage that answers {t} in full."],
            }
        ),
        {},
        ["'reference_contexts' holds texts"],
    ),
    (
        "DeepEval",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "input": t,
                "expected_output": "an answer",
                "context": [f"a passage of text about {t}"],
                "source_file": "a.md",
            }
        ),
        {},
        ["'source_file'"],
    ),
    (
        "pages",
        "a.jsonl",
        rows(lambda q, t, d: {"id": q, "query": t, "gold_pages": [3, 4], "gold_sources": d}),
        {},
        ["'gold_pages' makes the labels in 'gold_sources' finer than an item"],
    ),
    (
        "pages and one source",
        "a.jsonl",
        rows(lambda q, t, d: {"id": q, "query": t, "gold_pages": [3, 4], "gold_sources": ["a.pdf"]}),
        {},
        ["'gold_pages'", "'gold_sources'"],
    ),
    (
        "pages in objects",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "gold": [{"doc": i, "page": 3} for i in d]}),
        {},
        ["'gold.page'"],
    ),
    (
        "sections",
        "a.jsonl",
        rows(lambda q, t, d: {"query": t, "expected_sources": d, "expected_sections": [f"s{i}" for i in d]}),
        {},
        ["'expected_sections'"],
    ),
    (
        "passages and sources",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "id": q,
                "question": t,
                "source_docs": d,
                "relevant_chunks": [f"When {t}, it is said so here."],
            }
        ),
        {},
        ["'source_docs'", "'relevant_chunks' holds texts"],
    ),
    (
        "short passages",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "relevant_passages": [f"Refunds take {i}" for i in d]}),
        {},
        ["'relevant_passages' holds texts"],
    ),
    (
        "ids of a source",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "answer": "a b", "source_chunk_id": d[0]}),
        {},
        ["'source_chunk_id'"],
    ),
    (
        "AutoRAG",
        "a.jsonl",
        rows(lambda q, t, d: {"qid": q, "query": t, "retrieval_gt": [d], "generation_gt": ["a"]}),
        {},
        ["'retrieval_gt'"],
    ),
    ("targets", "a.jsonl", rows(lambda q, t, d: {"query": t, "expected_targets": d}), {}, ["'expected_targets'"]),
    (
        "a context's id",
        "a.jsonl",
        rows(lambda q, t, d: {"question_id": q, "context_id": d[0], "question": t}),
        {},
        ["'context_id'"],
    ),
    (
        "outputs of LangSmith",
        "a.jsonl",
        rows(lambda q, t, d: {"id": q, "inputs": {"question": t}, "outputs": {"answer": "text", "source_ids": d}}),
        {},
        ["'outputs.source_ids'"],
    ),
    (
        "two ids in objects",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "gold": [{"docId": i, "chunkId": f"{i}#1"} for i in d]}),
        {},
        ["'gold.docId'", "'gold.chunkId'"],
    ),
    (
        "two keys",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected_doc_ids": d, "expected_chunk_ids": [f"{i}#1" for i in d]}),
        {},
        ["'expected_doc_ids'", "'expected_chunk_ids'"],
    ),
    (
        "must and should",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected": {"must": d[:1], "should": d[1:]}}),
        {},
        ["'expected.must'", "'expected.should'"],
    ),
    (
        "gold and acceptable",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "gold_doc_id": d[0], "acceptable_doc_ids": d[1:]}),
        OCCUR,
        ["'gold_doc_id'", "'acceptable_doc_ids'"],
    ),
    (
        "relevant and highly relevant",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "relevant_docs": d[1:], "highly_relevant_docs": d[:1]}),
        {},
        ["'relevant_docs'", "'highly_relevant_docs'"],
    ),
    (
        "numbered columns",
        "a.csv",
        "query,relevant_doc,relevant_doc_2\na,d1,d5\nb,d2,\n",
        {},
        ["'relevant_doc'", "'relevant_doc_2'"],
    ),
    (
        "a haystack",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "question_id": q,
                "question": t,
                "haystack_session_ids": [*d, "s8"],
                "answer_session_ids": d,
            }
        ),
        OCCUR,
        ["'answer_session_ids'"],
    ),
    (
        "candidates",
        "a.jsonl",
        rows(lambda q, t, d: {"query": t, "candidate_ids": [*d, "d7"], "answer": "a"}),
        OCCUR,
        ["'candidate_ids'"],
    ),
    (
        "numbers that occur by chance",
        "a.jsonl",
        rows(lambda q, t, d: {"query": t, "difficulty": int(q[1]), "expected_terms": [f"z{q}", "y"]}),
        {"item_ids": {"1", "2", "3"}},
        ["'expected_terms'"],
    ),
    ("not relevant", "a.jsonl", rows(lambda q, t, d: {"query": t, "non_relevant_doc_ids": d}), {}, ["no key holds"]),
    ("answers of a word", "a.csv", "question,reference\na b,Paris\nc d,Rome\ne f,Madrid\n", {}, ["'reference'"]),
    (
        "lists of answers",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected": [f"Paris{q}"]}),
        {},
        ["'expected'"],
    ),
    (
        "questions and answers",
        "a.json",
        json.dumps({t: "thirty days" for _, t, _ in QUERIES}),
        {},
        ["no key holds the query"],
    ),
    (
        "types",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected_doc_type": f"pdf{q}", "expected_source_type": q}),
        {},
        ["'expected_doc_type'"],
    ),
    (
        "ids of categories and users",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected_category_id": d[0], "target_user_id": q}),
        {},
        ["'expected_category_id'"],
    ),
    (
        "who wrote it",
        "a.jsonl",
        "\n".join(
            json.dumps({"question": f"w {n}", "ground_truth_source": "human" if n % 2 else "model"}) for n in range(10)
        ),
        {},
        ["'ground_truth_source'"],
    ),
    (
        "positions",
        "a.jsonl",
        rows(
            lambda q, t, d: {
                "question": t,
                "contexts": ["a text", "b"],
                "relevant_context_indices": [int(i[1:]) for i in d],
            }
        ),
        {},
        ["no key holds"],
    ),
    (
        "flags",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "documents": [f"{q}a", f"{q}b"], "relevance": [1, 0]}),
        {},
        ["'documents'"],
    ),
    (
        "ratings of answers",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "source_doc": d[0], "rating": 4}),
        {},
        ["'source_doc'"],
    ),
    (
        "similarities",
        "a.jsonl",
        rows(lambda q, t, d: {"query": t, "relevant_docs": [{"id": i, "score": 0.9} for i in d]}),
        {},
        ["'relevant_docs.score'"],
    ),
    (
        "grades in words",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "judgments": [{"doc_id": i, "relevance": "high"} for i in d]}),
        {},
        ["'judgments.relevance'"],
    ),
    (
        "a bar in one id",
        "a.jsonl",
        '{"query": "a", "golden_chunk_id": "guide.md|12"}\n{"query": "b", "golden_chunk_id": "guide.md|13"}',
        {},
        ["'golden_chunk_id' may hold one id or several"],
    ),
    (
        "two separators",
        "a.csv",
        'query,relevant_ids\na,"d1;d5,x"\nb,d2\n',
        {},
        ["'relevant_ids' may hold one id or several"],
    ),
    (
        "blanks in a cell",
        "a.csv",
        "query,relevant_ids\na,d1 d5\nb,d2\n",
        {},
        ["'relevant_ids' may hold one id or several"],
    ),
    (
        "lists of lists",
        "a.jsonl",
        rows(lambda q, t, d: {"query_id": q, "relevant_ids": [d, ["d9"]]}),
        {},
        ["'relevant_ids' holds lists of lists"],
    ),
    (
        "an id for each row",
        "a.jsonl",
        "\n".join(json.dumps({"id": n, "query": "a", "expected_doc_id": f"d{n}"}) for n in range(3)),
        {},
        ["'query' comes again under another 'id'"],
    ),
    (
        "a query twice",
        "a.jsonl",
        '{"query": "a", "relevant_ids": ["d1"]}\n{"query": "a", "relevant_ids": ["d2"]}',
        {},
        ["query 'a' comes twice"],
    ),
    ("two grades", "a.csv", "query_id,document_id,grade\nq1,d1,3\nq1,d1,2\n", {}, ["item 'd1' with two grades"]),
    (
        "no answer, but items",
        "a.jsonl",
        '{"query": "a", "relevant_ids": ["d1"], "answerable": false}\n'
        '{"query": "b", "relevant_ids": ["d2"], "answerable": true}',
        {},
        ["query 'a' has relevant items, and no answer"],
    ),
    (
        "parts",
        "a.json",
        json.dumps(
            {"train": [{"query": "a", "relevant_ids": ["d1"]}], "test": [{"query": "b", "relevant_ids": ["d2"]}]}
        ),
        {},
        ["there are queries under 'train' and 'test'"],
    ),
    (
        "patterns",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "expected_files": [f"src/*{i}" for i in d]}),
        {},
        ["'expected_files' holds patterns"],
    ),
    (
        "places in documents",
        "a.jsonl",
        rows(lambda q, t, d: {"question": t, "relevant": [{"doc_id": i, "chunk_index": 3} for i in d]}),
        {},
        ["'relevant.chunk_index' makes the labels in 'relevant.doc_id' finer"],
    ),
    (
        "two grades of each, named",
        "a.csv",
        "query_id,doc,relevance,gain\nq1,d1,1,2\nq1,d2,0,1\n",
        {"relevant": "doc"},
        ["'doc' has no number in each, but several: 'relevance' and 'gain'"],
    ),
    (
        "yes and no, named",
        "a.csv",
        "question_id,chunk_id,relevant\nq1,d1,yes\nq1,d5,no\n",
        {"relevant": "chunk_id"},
        ["'chunk_id' has no number in each 'relevant'"],
    ),
    (
        "one id or two, named",
        "a.jsonl",
        '{"query": "a", "golden_chunk_id": "guide.md|12"}\n{"query": "b", "golden_chunk_id": "guide.md|13"}',
        {"relevant": "golden_chunk_id"},
        ["'golden_chunk_id' may hold one id or several"],
    ),
    (
        "no such key",
        "a.jsonl",
        rows(lambda q, t, d: {"query": t, "relevant_ids": d}),
        {"relevant": "docs"},
        ["'docs' is not the key", "'relevant_ids'"],
    ),
    ("a wrong row", "a.csv", "query,relevant_ids\na,d1,x\n", {}, ["row 1 has 3 cells"]),
    ("a key twice", "a.json", '{"q1": ["d1"], "q1": ["d2"]}', {}, ["the key 'q1' twice"]),
    ("nothing", "a.json", "[]", {}, ["there is no list of queries"]),
    ("too deep", "a.json", '{"a":' * 100_000, {}, ["a.json: "]),
]


@pytest.mark.parametrize(("name", "text", "known", "said"), [pytest.param(*case[1:], id=case[0]) for case in DOUBTFUL])
def test_doubtful_golden_sets_are_refused_in_words(
    name: str, text: str, known: dict[str, Any], said: list[str]
) -> None:
    refusal = refusal_of(InputError, read, name, text, **known)
    assert [part for part in said if part not in refusal] == []


def payload(item: str, n: int) -> dict[str, Any]:
    return {"id": f"u{item}", "score": 1 / n, "payload": {"doc_id": item}}


RESULTS: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = [
    ("ids", "r.jsonl", ranked(lambda q, t, r: {"query_id": q, "retrieved_ids": r}), RANKED, {}),
    ("lists by query", "r.json", json.dumps(RANKED), RANKED, {}),
    (
        "rows with a rank",
        "r.csv",
        "question,rank,doc_id\nb,1,x\na,0,d\nb,0,y\nc,,\n",
        {"a": ["d"], "b": ["y", "x"], "c": []},
        {},
    ),
    ("rows with a score", "r.csv", "question,doc_id,score\nb,x,.1\na,d,3\nb,y,.9\n", {"a": ["d"], "b": ["y", "x"]}, {}),
    (
        "an id that is always the same",
        "r.jsonl",
        ranked(lambda q, t, r: {"promptId": "p", "vars": {"question": t}, "response": {"output": r}}),
        RANKED_BY_TEXT,
        {},
    ),
    ("rows with a position", "r.csv", "Question,Position,Document\nb,2,x\nb,1,y\n", {"b": ["y", "x"]}, {}),
    ("rows in order", "r.csv", "question,doc_id\nb,y\na,d\nb,x\n", {"a": ["d"], "b": ["y", "x"]}, {"items": "doc_id"}),
    (
        "objects with scores",
        "r.jsonl",
        ranked(lambda q, t, r: {"query": t, "results": [{"id": i, "score": 1 / (n + 1)} for n, i in enumerate(r)]}),
        RANKED_BY_TEXT,
        {},
    ),
    (
        "under a key",
        "r.json",
        json.dumps({"results": [{"query_id": q, "retrieved": r} for q, r in RANKED.items()]}),
        RANKED,
        {},
    ),
    (
        "beside metrics",
        "r.json",
        json.dumps(
            {
                "config": {"k": 5},
                "metrics": {"hit@5": 0.9},
                "per_query": [
                    {"query": q, "retrieved": [{"chunk_id": i, "score": 0.5, "text": "t"} for i in r], "hit": True}
                    for q, r in RANKED.items()
                ],
            }
        ),
        RANKED,
        {},
    ),
    (
        "LangChain",
        "r.jsonl",
        ranked(
            lambda q, t, r: {"question": t, "contexts": [{"metadata": {"source": i}, "page_content": "t"} for i in r]}
        ),
        RANKED_BY_TEXT,
        {},
    ),
    (
        "Braintrust",
        "r.jsonl",
        ranked(lambda q, t, r: {"input": {"query": t}, "output": {"ids": r}, "scores": {"hit": 1}}),
        RANKED_BY_TEXT,
        {},
    ),
    (
        "ragas",
        "r.jsonl",
        ranked(
            lambda q, t, r: {
                "user_input": t,
                "retrieved_context_ids": r,
                "retrieved_contexts": [f"long text with words {i}" for i in r],
                "reference_context_ids": ["d1"],
            }
        ),
        RANKED_BY_TEXT,
        {},
    ),
    (
        "Chroma",
        "r.jsonl",
        ranked(
            lambda q, t, r: {
                "query": t,
                "ids": [r],
                "distances": [[0.1 * n for n in range(len(r))]],
                "documents": [[f"a b c d e {i}" for i in r]],
            }
        ),
        RANKED_BY_TEXT,
        {},
    ),
    (
        "Qdrant",
        "r.jsonl",
        ranked(
            lambda q, t, r: {
                "query": t,
                "result": {
                    "points": [
                        {"id": i, "version": 1, "score": 1 / (n + 1), "payload": {"text": "t u"}}
                        for n, i in enumerate(r)
                    ]
                },
            }
        ),
        RANKED_BY_TEXT,
        {},
    ),
    (
        "Qdrant, ids of the labels",
        "r.jsonl",
        ranked(lambda q, t, r: {"query": t, "result": {"points": [payload(i, n + 1) for n, i in enumerate(r)]}}),
        RANKED_BY_TEXT,
        OCCUR,
    ),
    (
        "Weaviate",
        "r.jsonl",
        ranked(
            lambda q, t, r: {
                "query": t,
                "data": {
                    "Get": {
                        "Doc": [{"title": "t", "_additional": {"id": i, "distance": 0.1 * n}} for n, i in enumerate(r)]
                    }
                },
            }
        ),
        RANKED_BY_TEXT,
        {},
    ),
    (
        "Pinecone",
        "r.jsonl",
        ranked(
            lambda q, t, r: {
                "query_id": q,
                "matches": [{"id": i, "score": 1 / (n + 1), "values": [], "metadata": {}} for n, i in enumerate(r)],
                "namespace": "",
            }
        ),
        RANKED,
        {},
    ),
    (
        "promptfoo",
        "r.json",
        json.dumps(
            {
                "results": {
                    "version": 3,
                    "results": [
                        {"vars": {"query": q}, "response": {"output": r}, "success": True} for q, r in RANKED.items()
                    ],
                    "stats": {"successes": 3},
                }
            }
        ),
        RANKED,
        {},
    ),
    (
        "LlamaIndex",
        "r.jsonl",
        ranked(
            lambda q, t, r: {
                "query": t,
                "source_nodes": [{"node": {"id_": i, "text": "t"}, "score": 1 / (n + 1)} for n, i in enumerate(r)],
            }
        ),
        RANKED_BY_TEXT,
        {},
    ),
    ("cells", "r.csv", "question,retrieved_ids\na,d1|d2\nb,d3\n", {"a": ["d1", "d2"], "b": ["d3"]}, {}),
    ("top ids", "r.jsonl", ranked(lambda q, t, r: {"query": t, "top_k": 5, "top_ids": r}), RANKED_BY_TEXT, {}),
    (
        "a column per place",
        "r.csv",
        "query,Result 2,Result 1,Result 3\na,d2,d1,\nb,d1,d3,d2\nc,,,\n",
        {"a": ["d1", "d2"], "b": ["d3", "d1", "d2"], "c": []},
        {},
    ),
    (
        "numbered keys next to a list",
        "r.jsonl",
        '{"query": "a", "docs": ["d1", "d2"], "output_1": "d5", "doc_1": "", "doc_2": "d9"}',
        {"a": ["d1", "d2"]},
        {},
    ),
    ("keys by place", "r.jsonl", '{"query": "a", "doc_0": "d1", "doc_1": "d2"}', {"a": ["d1", "d2"]}, {}),
    (
        "empty is not absent",
        "r.jsonl",
        '{"query": "a", "hits": [{"id": "d1"}]}\n{"query": "b", "hits": []}\n{"query": "c", "error": "timeout"}',
        {"a": ["d1"], "b": []},
        {},
    ),
    (
        "an item again",
        "r.jsonl",
        '{"query": "a", "retrieved_ids": ["d1", "d2", "d1", "d3"]}',
        {"a": ["d1", "d2", "(again, rank 3)", "d3"]},
        {},
    ),
    (
        "named",
        "r.jsonl",
        ranked(lambda q, t, r: {"query": t, "retrieved_ids": r[::-1], "reranked_ids": r}),
        RANKED_BY_TEXT,
        {"items": "reranked_ids"},
    ),
]


@pytest.mark.parametrize(("name", "text", "right", "known"), [pytest.param(*case[1:], id=case[0]) for case in RESULTS])
def test_results_are_read(name: str, text: str, right: dict[str, Any], known: dict[str, Any]) -> None:
    assert recognised(text.encode(), name, "results", Known(**known)).results == right


NO_RESULTS: list[tuple[str, str, list[str]]] = [
    (
        "two ids",
        ranked(lambda q, t, r: {"query": t, "result": {"points": [payload(i, n + 1) for n, i in enumerate(r)]}}),
        ["'result.points.id'", "'result.points.payload.doc_id'"],
    ),
    (
        "passages",
        ranked(lambda q, t, r: {"input": t, "retrieval_context": [f"long text with many words {i}" for i in r]}),
        ["'retrieval_context' holds texts"],
    ),
    ("flags", ranked(lambda q, t, r: {"query": t, "hits": [1, 0, int(q[1])]}), ["'hits'"]),
    ("outcomes", ranked(lambda q, t, r: {"query": t, "results": ["pass", "fail", "pass"]}), ["'results'"]),
    (
        "scores in another order",
        ranked(lambda q, t, r: {"query": t, "results": [{"id": i, "score": n} for n, i in enumerate(r)]}),
        ["'results.id' are not in the order of 'results.score'"],
    ),
    (
        "before and after",
        ranked(lambda q, t, r: {"query": t, "retrieved_ids": r, "reranked_ids": r[::-1]}),
        ["'retrieved_ids'", "'reranked_ids'"],
    ),
    (
        "an object in another order",
        ranked(lambda q, t, r: {"query": t, "results": {i: n for n, i in enumerate(r)}}),
        ["'results' are not in the order of 'results'"],
    ),
    (
        "a list of scores in another order",
        ranked(lambda q, t, r: {"query": t, "retrieved_ids": r, "scores": list(range(len(r)))}),
        ["'retrieved_ids' are not in the order of 'scores'"],
    ),
    (
        "a golden set",
        rows(lambda q, t, d: {"query": t, "expected_sources": d, "answer": "x"}),
        ["no key holds the ranked ids"],
    ),
    (
        "labels of a search",
        '{"requests": [{"id": "lamp", "ratings": [{"_id": "7", "rating": 3}]}, {"id": "b", "ratings": []}]}',
        ["no key holds the ranked ids"],
    ),
    ("lists of objects", '{"train": [{"id": "a"}, {"id": "b"}], "test": [{"id": "c"}, {"id": "d"}]}', ["r.jsonl: "]),
    ("metrics", ranked(lambda q, t, r: {"query": t, "recall": 0.5, "rank": 2}), ["no key holds the ranked ids"]),
    (
        "a query twice",
        '{"query": "a", "retrieved_ids": ["d1"]}\n{"query": "a", "retrieved_ids": ["d2"]}',
        ["query 'a' comes twice"],
    ),
]


@pytest.mark.parametrize(("text", "said"), [pytest.param(*case[1:], id=case[0]) for case in NO_RESULTS])
def test_doubtful_results_are_refused_in_words(text: str, said: list[str]) -> None:
    refusal = refusal_of(InputError, recognised, text.encode(), "r.jsonl", "results")
    assert [part for part in said if part not in refusal] == []


def test_a_place_without_an_item_before_one_with_an_item_is_refused() -> None:
    text = b"query,Result 1,Result 2,Result 3\na,x,y,z\nb,x,,z\n"
    assert refusal_of(UnclearError, recognised, text, "r.csv", "results") == (
        "r.csv: record 2 has nothing in 'Result 2', but an item after it; move the items after it up, or fill it in"
    )


def test_ranks_and_scores_of_rows_agree() -> None:
    text = b"question,rank,doc_id,score\nb,1,x,.1\na,1,d,3\nb,2,y,.9\n"
    assert refusal_of(InputError, recognised, text, "r.csv", "results") == (
        "r.csv: 'score' gives the items of a query another order than 'rank'; give one of both"
    )


def test_scores_of_rows_are_kept_so_that_a_metric_says_what_ties_are_worth() -> None:
    found = recognised(b"question,doc_id,score\na,d,1\na,x,1\na,y,2\nb,z,0.5\n", "r.csv", "results")
    assert found.row_scores == {"a": {"y": 2.0, "d": 1.0, "x": 1.0}, "b": {"z": 0.5}}
    assert str(found).endswith("ranked ids from 'doc_id', by 'score'")
    again = recognised(b"question,doc_id,score\na,d,1\na,d,1\nb,z,0.5\n", "r.csv", "results")
    assert (again.row_scores, next(iter(again.results["a"]))) == ({}, "d")


def test_what_was_taken_is_said() -> None:
    records = [
        {"question": f"w {n}", "expected_chunk_ids": [f"c{n}", f"c{n}"], "category": "ab"[n % 2]} for n in range(4)
    ]
    records[3] |= {"expected_chunk_ids": [], "answerable": False}
    records.append({"question": "?", "expected_chunk_ids": []})
    found = recognised(records, "golden.jsonl", "labels")
    assert str(found) == (
        "golden.jsonl: read 5 queries from 'question' (its text is the id); relevant ids from 'expected_chunk_ids'; "
        "3 times an id again in a list; attribute category; 1 without an answer; 1 not labelled, left out"
    )
    assert (found.without_answer, found.not_labelled) == (["w 3"], ["?"])
    assert found.attributes["w 1"] == {"category": "b"}
    assert found.texts["w 1"] == "w 1"


@pytest.mark.parametrize(
    ("says", "is_told"),
    [
        ({"answerable": False}, True),
        ({"is_answerable": "no"}, True),
        ({"unanswerable": True}, True),
        ({"is_impossible": 1}, True),
        ({"negative": "true"}, True),
        ({"question_type": "negative"}, True),
        ({"category": "no-answer"}, True),
        ({"answerable": True}, False),
        ({"sentiment": "negative"}, False),
        ({"unanswerable": False}, False),
        ({}, False),
    ],
)
def test_a_query_has_no_answer_only_if_its_record_says_so(says: dict[str, Any], is_told: bool) -> None:
    records = [{"query": "a", "relevant_ids": ["d1"]}, {"query": "b", "relevant_ids": ["d2"]}]
    found = recognised([*records, {"query": "c", "relevant_ids": [], **says}], "a", "labels")
    assert (found.without_answer, found.not_labelled) == ((["c"], []) if is_told else ([], ["c"]))


def test_one_record_gives_both_roles() -> None:
    text = ranked(
        lambda q, t, r: {"query_id": q, "reference_context_ids": sorted(BY_ID[q]), "retrieved_context_ids": r}
    )
    found = read("a.jsonl", text)
    assert (labels_of(found, BY_ID), found.results) == (BY_ID, RANKED)


def test_the_queries_of_the_results_decide_between_id_and_text() -> None:
    text = rows(lambda q, t, d: {"id": q, "question": t, "relevant_ids": d})
    assert labels_of(read("a.jsonl", text, queries=set(BY_TEXT)), BY_TEXT) == BY_TEXT
    assert labels_of(read("a.jsonl", text, group="question"), BY_TEXT) == BY_TEXT


def test_importing_the_recogniser_imports_no_large_package() -> None:
    large = "{'numpy', 'pandas', 'pyarrow', 'sqlalchemy', 'yaml'}"
    program = f"import sys, ndcg_tracker.ingest.shapes; print({large} & {{*sys.modules}})"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "set()\n"
    )
