"""What is said of responses that lack their list, and of paths that lead nowhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_responses import labels, lines, run

import ndcg_tracker as nt

SOLR = {"query_id": "q1", "response": {"numFound": 1, "docs": [{"id": "a", "score": 1}]}}
LOG = {"ts": 1, "request": {"qid": "q"}, "response": {"docs": [{"product": {"name": "A", "id": "a"}, "score": 1}]}}


@pytest.mark.parametrize(
    ("shape", "lacking"),
    [
        (SOLR, {"response": {"results": []}}),
        ({"query_id": "q1", "hits": {"hits": [{"_id": "a", "_score": 1}]}}, {"hits": {"total": {"value": 3}}}),
        ({"query_id": "q1", "root": {"relevance": 1, "children": [{"id": "a", "relevance": 1}]}}, {"root": {}}),
        ({"query_id": "q1", "results": [{"corpus_id": "a", "score": 1}]}, {"found": []}),
    ],
    ids=["solr", "elasticsearch", "vespa", "sentence-transformers"],
)  # fmt: skip
@pytest.mark.parametrize("named", [True, False])
def test_a_response_without_its_list_is_no_empty_one(
    shape: dict[str, Any], lacking: dict[str, Any], named: bool
) -> None:
    path = {"response": "response.docs", "hits": "hits.hits", "root": "root.children"}.get([*shape][1], "results")
    said = run(lines(shape, {"query_id": "q2", **lacking}), **({"items": path} if named else {}))
    assert said.startswith(f"2: the response has no '{path}'; ")


@pytest.mark.parametrize(
    "nothing",
    [
        {"response": {"numFound": 0}},
        {"hits": {"total": {"value": 0, "relation": "eq"}}},
        {"hits": {"total": 0}},
        {"root": {"relevance": 1.0, "fields": {"totalCount": 0}}},
    ],
)
def test_a_response_that_says_that_nothing_was_found_is_empty(nothing: dict[str, Any]) -> None:
    first = {
        "response": SOLR,
        "hits": {"query_id": "q1", "hits": {"hits": [{"_id": "a", "_score": 1}]}},
        "root": {"query_id": "q1", "root": {"relevance": 1, "fields": {}, "children": [{"id": "a", "relevance": 1}]}},
    }[next(iter(nothing))]
    assert run(lines(first, {"query_id": "q2", **nothing})) == [("q1", "a", 1.0)]


def test_an_error_is_called_so_wherever_it_stands() -> None:
    elastic = {"error": {"root_cause": [], "reason": "no such index"}, "status": 404}
    solr = {"responseHeader": {"status": 400}, "error": {"msg": "undefined field", "code": 400}}
    for record, reason in ((elastic, "no such index"), ({"query_id": "q", "response": solr}, "undefined field")):
        told = f"1: the response is an error ('{reason}'); run the search again"
        assert labels(lines(record), reader="jsonl") == told
        assert run(lines(record)) == f"{told}, or leave out what failed with allow='failed'"
        assert run([record]).startswith(f"record {told}")
        assert run(lines(SOLR, record)).startswith(f"2{told[1:]}")
    assert run({"error": {"a": 1}, "status": {"b": 2}}) == [("error", "a", 1.0), ("status", "b", 2.0)]


def test_a_list_that_no_path_leads_to_is_named() -> None:
    for columns in ({}, {"item": "id"}, {"item": "id", "group": "query_id"}):
        assert run(lines({"query_id": "q1", "data": [{"id": "a"}]}), reader="jsonl", **columns) == (
            f"no column '{columns.get('item', 'item')}', but a list under 'data'; if these are the results, name "
            "them with items='data'"
        )
    assert "under 'answer.found' and 'tags'; " in run(
        lines({"query_id": "q1", "tags": ["x"], "answer": {"found": [{"id": "a"}]}}), reader="jsonl"
    )
    rows = {"group": "q", "item": "a", "score": 1, "tags": ["x"]}
    assert run(lines(rows, rows | {"item": "b"})) == [("q", "a", 1.0), ("q", "b", 1.0)]


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"group": "request.id"}, "the response has no 'request.id'; the keys of 'request' are 'qid'; "),
        ({"group": "requests.id"}, "the response has no 'requests.id'; its keys are 'ts', 'request' and 'response'; "),
        ({"items": "response.hits"}, "the response has no 'response.hits'; the keys of 'response' are 'docs'; "),
        ({"item": "product.uid"}, "response.docs[0] has no 'product.uid'; the keys of 'product' are 'name' and 'id'; "),
        ({"score": "product.of"}, "response.docs[0] has no 'product.of'; the keys of 'product' are 'name' and 'id'; "),
        ({"group": "ts.id"}, "the response has no 'ts.id'; 'ts' is a number; "),
        (
            {"item": "product"},
            "the item id in response.docs[0] is an object; name the id in it, such as item='product.id'; choose "
            "one of 'product.id' and 'product.name'",
        ),
        (
            {"group": "request"},
            "the group id of the response is an object; name the id in it, such as group='request.qid'",
        ),
    ],
)
def test_a_wrong_path_is_told_as_far_as_it_goes(columns: dict[str, str], told: str) -> None:
    paths = {"group": "request.qid", "items": "response.docs", "item": "product.id", **columns}
    assert run(lines(LOG), reader="jsonl", **paths).startswith(f"1: {told}")


def test_a_file_of_ids_without_its_mark_is_known(tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("q1\nq2\n")
    assert f"to give a file with one id per line, in the order of the responses, write group='@{ids}'" in run(
        lines(SOLR, SOLR), group=str(ids)
    )
    assert run(lines(SOLR), reader="jsonl", group=f"@{ids},query_id", is_shared=True).startswith(
        f"it has 1 response, but {ids} has 2 ids; "
    )
    assert "with group='query', or give" in run(lines({"query": "q", "hits": {"hits": [{"_id": "a"}]}}))
    assert "the response has no 'xxx" in run(lines(SOLR), reader="jsonl", group="x" * 5000)


def test_the_results_of_mteb_are_no_ranking() -> None:
    held = {"dataset_revision": "x", "task_name": "SciFact", "scores": {"test": [{"ndcg_at_10": 0.5}]}, "kg": None}
    assert run(held) == (
        "these are MTEB's results of a task, which are means and not rankings; write the predictions with "
        "mteb.evaluate(..., prediction_folder=FOLDER)"
    )


def found(*ids: str) -> dict[str, Any]:
    """Return a response of Elasticsearch."""
    return {"took": 1, "hits": {"hits": [{"_id": id_, "_score": -float(place)} for place, id_ in enumerate(ids)]}}


def test_responses_by_query_are_read() -> None:
    by_query = {"q1": found("a", "b"), "q2": found("c"), "q3": found()}
    ranked = [("q1", "a", 0.0), ("q1", "b", -1.0), ("q2", "c", 0.0)]
    assert run(by_query, reader="json") == run(by_query) == ranked
    clients = {
        "Elasticsearch": {group: SimpleNamespace(body=one) for group, one in by_query.items()},
        "many": {f"q{n}": found("a") for n in range(1, 99)},
        "one": {"q1": found("a", "b")},
        "a batch": {"responses": [SimpleNamespace(body=one) for one in by_query.values()]},
        "a list": [{"query_id": "q1", **found("a")}],
        "paths": {"q1": {"documents": [{"id": "a", "score": 1}]}, "q2": {"documents": []}},
    }
    more: dict[str, Any] = {"a batch": {"group": "_id"}, "paths": {"items": "documents", "item": "id"}}
    for name, given in clients.items():
        if name == "a batch":
            with pytest.raises(nt.errors.InputError, match=r"^responses\[0\] has no '_id'; its keys are 'took'"):
                nt.evaluate(given, "RR", labels={"q1": {"a": 1}}, **more[name])
        else:
            assert nt.evaluate(given, "RR", labels={"q1": {"a": 1}}, **more.get(name, {})).mean["RR"] == 1.0


@pytest.mark.filterwarnings("ignore:the run. its lists have no scores")
@pytest.mark.parametrize(
    ("given", "columns", "told"),
    [
        ({"q1": found("a"), "q2": None}, {}, "group 'q2' is null; write an object"),
        (
            {"q1": {"error": {"reason": "too long"}, "status": 400}, "q2": found("a")},
            {},
            "group 'q1' is an error ('too long'); run the search again, or leave out what failed with allow='failed'",
        ),
        (
            [{"query_id": "q1", "data": [{"id": "a"}]}],
            {"item": "id"},
            "no column 'id', but a list under 'data'; if these are the results, name them with items='data'",
        ),
        ({"q1": ["a"], "q2": None}, {}, "group 'q2': None instead of a list of results; give an empty list, or "
        "omit it"),
        ({"q1": None, "q2": {"a": 1.0}}, {}, "group 'q1': None instead of a list of results; give an empty list, or"),
        (
            {"q1": {"documents": [SimpleNamespace(content="a")]}},
            {},
            "group 'q1': 'documents' is a list, not a number; if these are the results, name them with items='docu",
        ),
        ({"q1": {"documents": ["a"]}}, {}, "group 'q1': 'documents' is a list, not a number; if these are the "
        "results,"),
        ({"q1": {"a": {"score": 1}}}, {}, "group 'q1': 'a' is a dict, not a number; give {group: {item: number}}"),
        (
            {"q1": [{"product": {"name": "A", "id": 3}}]},
            {"item": "product"},
            "group 'q1', place 1: the value at product is a dict, not an id; say where its id is, such as item=",
        ),
        (
            {"responses": [found("a")]},
            {"group": ["q1"]},
            "group= is the name of a column, and ['q1'] is not text; if these are the ids of lists or responses, "
            "give a dict: dict(zip(ids, responses))",
        ),
        (
            [[{"id": "a"}], [{"id": "b"}]],
            {},
            "no group of the run has labels: the run has '0', '1', the labels have 'q1'; give labels of the same "
            "groups, with ids written the same way; lists without ids are numbered from 0: give a dict, {id: list}",
        ),
    ],
)  # fmt: skip
def test_what_python_holds_and_is_wrong_is_told_with_its_group(given: Any, columns: Any, told: str) -> None:
    with pytest.raises(nt.errors.InputError) as caught:
        nt.evaluate(given, "RR", labels={"q1": {"a": 1}}, **columns)
    assert str(caught.value).startswith(told)
