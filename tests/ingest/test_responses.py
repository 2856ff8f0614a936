"""Responses of search systems: a record per query, in it the list of what was found."""

from __future__ import annotations

import io
import json
import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import exact_outcome, exact_rows, listed
from refused import OR_ALLOW
from thorough import examples

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import RUN_TABLE, Columns, ColumnWarning
from ndcg_tracker.ingest.formats.response_rows import ResponseLines
from ndcg_tracker.ingest.formats.response_shapes import SHAPES
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run
from ndcg_tracker.ingest.table import joined_notes

HELD = Path(__file__).parent / "responses_of_servers"
Q1 = {"query_id": "q1", "results": [{"id": "a", "score": 2.5, "title": "A"}, {"id": "b", "score": 1}]}
Q2 = {"query_id": "q2", "results": [{"id": "b", "score": 0.5}]}
RANKED = [("q1", "a", 2.5), ("q1", "b", 1.0), ("q2", "b", 0.5)]
PATHS = {"items": "results", "item": "id"}
ORDER = "order of lists"
CONTRADICTED = "rank conflict: n=1, first='q', deciding='order'"


def lines(*records: object) -> str:
    """Return records as JSON lines."""
    return "\n".join(map(json.dumps, records)) + "\n"


def read(way: Any, given: object, reader: str | None = None, **columns: Any) -> Any:
    """Return what is read, and the notes of a run where it has some, or what is said against it."""
    text = given if isinstance(given, str) else json.dumps(given)
    try:
        found = way("-", stdin=io.BytesIO(text.encode()), reader=reader, columns=Columns(**columns))
    except InputError as error:
        said = str(error)
        assert said.startswith("<stdin>:")
        assert said.isprintable()
        return said.removeprefix("<stdin>:").removeprefix(" ")
    rows = listed(found.ranking if way is read_run else found)
    notes = list(map(str, getattr(found, "notes", ())))
    return (rows, *notes) if notes else rows


AGAIN = "run the search again, or leave out what failed with allow='failed'"


def run(given: object, **options: Any) -> Any:
    return read(read_run, given, **options)


def labels(given: object, **options: Any) -> Any:
    return read(read_labels, given, **options)


def test_a_line_per_response_an_array_of_responses_and_one_are_runs() -> None:
    assert run(lines(Q1, Q2), **PATHS) == RANKED
    assert run(lines(Q1, Q2).replace("\n", "\n\n"), **PATHS) == RANKED
    assert run([Q1, Q2], **PATHS) == run(json.dumps([Q1, Q2], indent=1), **PATHS) == RANKED
    assert run(Q1, **PATHS) == run(json.dumps(Q1, indent=1), **PATHS) == RANKED[:2]


def test_paths_are_dotted_and_a_key_may_have_dots() -> None:
    nested = {
        "request": {"query.id": 7, "user": {"weight": 2}},
        "response": {"docs": [{"document": {"id": "a"}, "scores": [0.1, 3.5], "grade": {"of": 2}}]},
    }
    given: dict[str, Any] = {"group": "request.query.id", "items": "response.docs", "item": "document.id"}
    given |= {"score": "scores.1", "label": "grade.of", "weight": "request.user.weight"}
    for text in (lines(nested), lines(nested, nested | {"request": {"query.id": 8, "user": {"weight": 2}}})):
        found = read_run("-", stdin=io.BytesIO(text.encode()), reader="jsonl", columns=Columns(**given))
        assert listed(found.ranking)[:1] == [("7", "a", 3.5)]  # type: ignore[index]
        assert listed(found.labels)[:1] == [("7", "a", 2.0)]  # type: ignore[index]
        assert found.weights is not None
        assert found.weights.values[0] == 2


def test_without_scores_the_order_is_the_ranking_which_is_said_once() -> None:
    bare = [
        {"query_id": group, "results": [{"id": item} for item in items]} for group, items in (("q", "cab"), ("r", "b"))
    ]
    ranked = [("q", "c", -1.0), ("q", "a", -2.0), ("q", "b", -3.0), ("r", "b", -1.0)]
    assert run(lines(*bare), **PATHS) == run(bare, **PATHS) == (ranked, ORDER)
    ids = [{"query_id": "q", "results": ["c", "a", "b"]}, {"query_id": "r", "results": ["b"]}]
    assert run(lines(*ids), items="results") == run(lines(*ids), item="results") == (ranked, ORDER)
    many = lines(*({"query_id": number, "results": ["c" * 50, "a"]} for number in range(30)))
    with stream_run("-", stdin=io.BytesIO(many.encode()), columns=Columns(item="results"), block_rows=20) as blocks:
        tables = list(blocks)
    assert len(tables) > 2
    assert list(map(str, joined_notes(note for table in tables for note in table.notes))) == [ORDER]


def test_lists_by_group_are_runs_and_labels() -> None:
    lists = {"q": ["c", "a"], "r": [], "s": [7]}
    assert run(lists) == ([("q", "c", -1.0), ("q", "a", -2.0), ("s", "7", -1.0)], ORDER)
    with pytest.warns(ColumnWarning, match="lists of items without labels are read as relevant items, of grade 1"):
        assert labels(lists) == [("q", "c", 1.0), ("q", "a", 1.0), ("s", "7", 1.0)]
    assert run({"q": [["b", 2], ["a", 0.5]]}) == [("q", "b", 2.0), ("q", "a", 0.5)]
    assert run({"q": [{"corpus_id": 3, "score": 0.5}]}) == [("q", "3", 0.5)]
    assert run({"q": [{"pid": 3, "score": 0.5}]}, item="pid") == [("q", "3", 0.5)]
    assert run({"q": [{"pid": 3, "score": 0.5}]}, reader="json") == [("q", "3", 0.5)]
    assert run({"q": [{"page": 3, "score": 0.5}]}, reader="json") == (
        "the items of its lists are objects without 'item'; their keys are 'page', 'score'; name the path of the "
        "item with item='PATH'"
    )
    assert run({"qid": ["q"], "docno": ["a"], "score": [1.0]}) == (
        "this is a table written as nested objects, by column or by row, not {group: {item: number}}; "
        "write it with to_json(orient='records')"
    )


def test_lists_of_relevant_items_are_labels() -> None:
    with pytest.warns(ColumnWarning, match="of grade 1"):
        assert labels(lines({"qid": "q", "relevant": ["a", "b"]}), item="relevant") == [
            ("q", "a", 1.0),
            ("q", "b", 1.0),
        ]
    with pytest.warns(ColumnWarning, match="of grade 1"):
        assert labels(lines({"qid": "q", "relevant": ["a"]}), items="relevant") == [("q", "a", 1.0)]
    graded = lines({"qid": "q", "judged": [{"id": "a", "grade": True}, {"id": "b", "grade": None}]})
    assert labels(graded, items="judged", item="id", label="grade") == [("q", "a", 1.0)]
    assert labels(graded, items="judged", item="id") == (
        "1: judged[0] has no 'label'; its keys are 'id' and 'grade'; name the path of its label with label='PATH'"
    )


BAD = {
    "no JSON": ('{"query_id": "q",\n', "1: not valid JSON (Expecting property name enclosed in double quotes, column "
    "18); write one response per line"),
    "no object": ("3\n", "1: the response is a number; write an object"),
    "no list": (lines(Q1, {"query_id": "q2", "hits": []}), "2: the response has no 'results'; its keys are 'query_id' "
                "and 'hits'; name its list with items='PATH'"),
    "an object for a list": (lines(Q1 | {"results": {}}), "1: results is an object; name a list with items='PATH'"),
    "no item": (lines(Q1, {"query_id": "q2", "results": [{"id": "a", "score": 1}, {"name": "b", "score": 1}]}),
                "2: results[1] has no 'id'; its keys are 'name' and 'score'; name the path of its item with "
                "item='PATH'"),
    "no group": (lines(Q1, {"results": []}, {"results": [{"id": "a", "score": 1}]}),
                 "3: the response has no 'query_id'; its keys are 'results'; name the path of the query's id with "
                 "group='PATH', or give a file of ids, one per line in the order of the responses, with group='@FILE'"),
    "no group at all": (
        lines({"results": ["a"]}),
        "1: the response does not say which query it belongs to; its keys are 'results'; name the path of the "
        "query's id with group='PATH', or give a file of ids, one per line in the order of the responses, with "
        "group='@FILE'",
    ),
    "an empty group": (lines(Q1 | {"query_id": ""}), "1: the group id is empty; every row needs one"),
    "a fraction as item": (lines(Q1 | {"results": [{"id": 1.5, "score": 1}]}),
                           "1: the item id is a fraction; ids are text or whole numbers"),
    "a text as score": (lines(Q1 | {"results": [{"id": "a", "score": "1"}]}),
                        "1: the score is text; write a number, or null for none"),
    "NaN": ('{"query_id": "q", "results": [{"id": "a", "score": NaN}]}\n',
            "1: the score is NaN; use a finite number, or null for none"),
    "a score that others lack": (
        lines(Q2, {"query_id": "q", "results": [{"id": "a"}]}),
        "2: results[0] has no 'score', but others have one; write one for every item, or for none",
    ),
    "a score that others have not": (
        lines({"query_id": "q", "results": [{"id": "a"}]}, Q2),
        "2: results[0] has a 'score', but the items before it have none; write one for every item, or for none",
    ),
    "an item twice": (lines(Q1, Q1), "2: item 'a' of group 'q1' is in line 1 already; keep one of the two" + OR_ALLOW),
    "a query twice": (
        lines({"query_id": "q", "results": [{"id": "a"}]}, {"query_id": "q", "results": [{"id": "b"}]}),
        "2: group 'q' has a response in line 1 already, and without scores the two have no joint order; "
        "keep one response per query",
    ),
    "a key twice": ('{"query_id": "q", "query_id": "r", "results": [{"id": "a"}]}\n',
                    "1: key 'query_id' is there twice; keep one of the two"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_said_with_its_line_and_path(kind: str) -> None:
    text, said = BAD[kind]
    assert run(text, reader="jsonl", **PATHS) == said


def test_what_is_not_asked_for_is_not_looked_at() -> None:
    odd = '{"query_id": "q", "x": NaN, "results": [{"id": "a", "score": 1, "tag": [2]}]}\n'
    assert run(odd, **PATHS) == [("q", "a", 1.0)]
    twice = odd.replace("[2]", '2, "tag": 1')
    assert run(twice, **PATHS) == "1: key 'tag' is there twice; keep one of the two"


def test_a_minus_is_for_what_is_lowest_for_the_best() -> None:
    far = [{"qid": "q", "hits": [{"id": "b", "of": {"position": 1}}, {"id": "a", "of": {"position": 2}}]}]
    paths = {"items": "hits", "item": "id"}
    ranked = [("q", "b", -1.0), ("q", "a", -2.0)]
    assert run(lines(*far), score="-of.position", **paths) == run(far, score="-of.position", **paths) == ranked
    said = "column 'of.position' is read as scores: the highest is the best; if the lowest is the best, give "
    with pytest.warns(ColumnWarning, match=re.escape(f"{said}score='-of.position'")):
        assert run(far, score="of.position", **paths) == ([("q", "a", 2.0), ("q", "b", 1.0)], CONTRADICTED)


def test_an_order_that_contradicts_the_scores_is_told_and_may_be_chosen() -> None:
    moved = {"query_id": "q", "results": [{"id": "a", "score": 1}, {"id": "b", "score": 2}]}
    assert run(lines(moved), **PATHS) == run(moved, **PATHS) == ([("q", "b", 2.0), ("q", "a", 1.0)], CONTRADICTED)
    assert run({"q": [["a", 1], ["b", 2]]}) == [("q", "b", 2.0), ("q", "a", 1.0)]  # pairs need have no order
    by_order = ([("q", "a", -1.0), ("q", "b", -2.0)], ORDER)
    assert run(lines(moved), score="", **PATHS) == run(moved, score="", **PATHS) == by_order


def test_chunks_become_documents() -> None:
    chunks = [{"id": f"{name}#{place}", "page": {"of": name}, "score": score} for name, place, score in
              (("a", 1, 3), ("b", 0, 2), ("a", 2, 1))]  # fmt: skip
    judged = {"q": {"b": 1}}
    for rule in ("#.*", "page.of"):
        found = nt.evaluate([{"qid": "q", "hits": chunks}], "RR", labels=judged, items="hits", item="id",
                            item_to_document=rule)  # fmt: skip
        assert found["RR"] == 0.5


def test_python_takes_responses_as_they_are() -> None:
    judged = {"q1": {"b": 1}, "q2": {"b": 1}}
    means = nt.evaluate([Q1, Q2], "RR", labels=judged, items="results", item="id")
    assert means["RR"] == 0.75
    found = {"query_id": "q1", **held("elasticsearch_search.json")}
    assert nt.evaluate(found, "RR", labels={"q1": {"lamp-8": 1}})["RR"] == 0.5
    with pytest.raises(InputError) as refused:
        nt.evaluate([Q1, Q1], "RR", labels=judged, items="results", item="id")
    assert (
        str(refused.value) == "record 2: item 'a' of group 'q1' is in record 1 already; keep one of the two" + OR_ALLOW
    )
    with pytest.raises(InputError) as refused:
        nt.evaluate([Q1], "RR", labels=judged, items="results", item="sku")
    assert str(refused.value) == (
        "record 1: results[0] has no 'sku'; its keys are 'id', 'score' and 'title'; name the path of its item with "
        "item='PATH'"
    )


def test_a_list_of_scores_beside_ids_is_not_left_out() -> None:
    beside = {"query_id": "q", "results": ["a", "b"], "score": [1, 2]}
    said = (
        "results holds only ids, and 'score' is another list; name both lists in every line, with item='results' "
        "and score="
    )
    assert run(lines(beside), items="results") == f"1: {said}"
    assert run(lines(beside), item="results") == [("q", "b", 2.0), ("q", "a", 1.0)]
    bare = {"query_id": "r", "results": ["a"]}
    assert run(lines(bare, beside), item="results") == f"2: {said}"
    assert exactly([bare, beside], Columns(items="results")) == f"<stdin>:2: {said}"
    assert run(lines(bare, {**bare, "query_id": "s", "score": 3}), item="results")[0][1] == ("s", "a", -1.0)
    called = {"query_id": "q", "results": ["a", "b"], "scores": [1, 2]}
    of_called = said.replace("'score'", "'scores'")
    assert run(lines(called), items="results") == f"1: {of_called}'scores'"
    assert run(lines(called), item="results", score="scores") == run(lines(beside), item="results")
    with_numbers = lines({"query_id": "q", "results": ["a"]})
    assert run(with_numbers, items="results", score="scores") == (
        "1: results holds only ids, which have no 'scores'; leave out score=; if that is a list next to the ids, "
        "give item='results' and score='scores'"
    )
    frame = {"qid": ["q"], "docno": [["a", "b"]], "scores": [[1, 2]], "prediction": [[1, 2]]}
    with pytest.raises(InputError, match=r"^no column 'score'; the columns are 'qid', 'docno', 'scores', 'prediction'"):
        nt.evaluate(frame, labels={"q": {"a": 1}})


def test_one_of_several_responses_in_a_record_is_named() -> None:
    both = {"qid": "q", "words": {"hits": {"hits": [{"_id": "a", "_score": 1}]}}}
    both["vectors"] = {"hits": {"hits": [{"_id": "b", "_score": 1}]}}
    assert run(lines(both)) == (
        "1: there are several lists: 'words.hits.hits' and 'vectors.hits.hits'; name one, such as "
        "items='words.hits.hits'"
    )
    assert run(lines(both), items="vectors.hits.hits") == [("q", "b", 1.0)]
    assert run({"q": both["words"], "r": both["vectors"]}) == [("q", "a", 1.0), ("r", "b", 1.0)]


def test_a_path_into_a_frame_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        nt.evaluate(pd.DataFrame({"qid": ["q"], "docno": [["a"]]}), labels={"q": {"a": 1}}, items="docno")
    assert str(refused.value) == "items= is for responses in JSON, but this is a DataFrame; leave it out"


def test_a_weight_that_a_response_lacks() -> None:
    assert run(lines(Q1), weight="user.weight", **PATHS) == (
        "1: the response has no 'user.weight'; its keys are 'query_id' and 'results'; name the path of its weight with "
        "weight='PATH'"
    )


FRACTIONS = (
    "the ids of the {}s came as fractions and are all whole numbers: 7.0 is read as 7; write them as whole numbers"
)


def test_whole_numbers_that_came_as_fractions_are_told() -> None:
    found = {"query_id": "q", "results": [{"id": 7.0, "score": 2}, {"id": 8, "score": 1}]}
    for text in (found, lines(found)):
        with pytest.warns(ColumnWarning, match=re.escape(FRACTIONS.format("item"))):
            assert run(text, **PATHS) == [("q", "7", 2.0), ("q", "8", 1.0)]
    rows = [{"group": group, "item": item, "score": 1} for group, item in ((1.0, 7.0), (1.0, 8.0), (2.0, 7.0))]
    with pytest.warns(ColumnWarning) as told:
        assert run(lines(*rows)) == [("1", "7", 1.0), ("1", "8", 1.0), ("2", "7", 1.0)]
    assert [str(warning.message)[:26] for warning in told] == [
        "the ids of the groups came",
        "the ids of the items came ",
    ]
    assert run(lines(rows[0], rows[1] | {"item": 8.5})) == (
        "2: the item id is a fraction; ids are text or whole numbers"
    )
    assert run(lines(rows[0] | {"item": 2.0**53})) == ("1: the item id is a fraction; ids are text or whole numbers")


def test_names_that_do_not_fit() -> None:
    assert run(lines(Q1), items="results") == (
        "1: results[0] has no 'item'; its keys are 'id', 'score' and 'title'; name the path of its item with item='id'"
    )
    assert run(lines({"query_id": "q", "results": ["a"]}), **PATHS) == (
        "1: results[0] is text, which has no 'id'; if the elements are ids, leave out item="
    )
    assert run(lines({"query_id": "q", "results": ["a", {"id": "b"}]}), items="results") == (
        "1: results[1] is an object, but the elements before it are ids; write only ids or only objects"
    )
    assert run(lines(Q1), score="rank", **PATHS) == (
        "1: results[0] has no 'rank'; its keys are 'id', 'score' and 'title'; name the path of its score with "
        "score='PATH'"
    )
    csv = read(read_run, "group,item,score\nq,a,1\n", reader="csv", items="results")
    assert csv == "items= is for responses in JSON, but this file is read as csv; leave it out"
    assert (
        run(Q1, reader="json:x", **PATHS)
        == "holds responses of a search, so there is nothing to choose from; leave out 'x'"
    )


# Known tools, as their documentation shows their responses


def held(name: str) -> Any:
    """Return a response that is kept (see the README beside it)."""
    return json.loads((HELD / name).read_text())


@pytest.mark.parametrize(
    ("name", "ranked"),
    [
        ("elasticsearch_search.json", [("q", "lamp-7", 1.5), ("q", "lamp-8", 0.25)]),
        ("opensearch_search.json", [("q", "1", 1.0), ("q", "2", 0.7)]),
        ("solr_select.json", [("q", "LAMP7", 2.5), ("q", "LAMP8", 1.25)]),
        ("vespa_search.json", [("q", "id:shop:product::7", 0.75), ("q", "id:shop:product::8", 0.5)]),
    ],
)
def test_responses_of_servers_are_runs_where_they_say_which_query(name: str, ranked: list[Any], tmp_path: Path) -> None:
    response, ids = held(name), tmp_path / "ids.tsv"
    ids.write_text("q\tthe words of the query\n")
    assert run(response, group=f"@{ids}") == ranked
    assert run(response | {"query_id": "q"}) == run(lines({"query_id": "q", "response": response})) == ranked
    two = lines(*({"search": {"for": group}, "response": response} for group in "qr"))
    assert run(two, group="search.for")[: len(ranked)] == ranked
    for shape in SHAPES:
        if run(two, group="search.for", items=f"response.{shape.items}")[: len(ranked)] == ranked:
            break
    else:
        raise AssertionError("no shape fits")


def test_an_response_that_does_not_say_to_which_query_is_refused() -> None:
    assert run(held("elasticsearch_search.json")) == (
        "the response does not say which query it belongs to; its keys are 'took', 'timed_out', '_shards', 'hits' and "
        "'aggregations'; name the path of the query's id with group='PATH', or give a file of ids, one per line in the "
        "order of the responses, with group='@FILE'; each file is one run, so join several into one, for "
        "example with jq -c . q*.json > all.jsonl"
    )


def test_solr_repeats_the_query_and_gives_scores_where_asked() -> None:
    scored, bare = held("solr_select.json"), held("solr_without_score.json")
    with pytest.warns(
        ColumnWarning,
        match="queries are identified by 'responseHeader.params.q', the text that was searched for; if the labels",
    ):
        assert run(scored) == [("title:lamp", "LAMP7", 2.5), ("title:lamp", "LAMP8", 1.25)]
    with pytest.warns(ColumnWarning, match="group='@FILE'"):
        assert run(lines(bare)) == ([("title:lamp", "LAMP8", -1.0), ("title:lamp", "LAMP7", -2.0)], ORDER)
    failed = {"responseHeader": {"status": 400}, "error": {"msg": "undefined field titled", "code": 400}}
    assert run(lines({"qid": "q", **scored}, {"qid": "r", **failed})) == (
        f"2: the response is an error ('undefined field titled'); {AGAIN}"
    )


def test_a_batch_of_searches_has_an_id_for_each(tmp_path: Path) -> None:
    response, ids = held("elasticsearch_search.json"), tmp_path / "ids.txt"
    batch = {"took": 3, "responses": [response, response | {"hits": {"hits": []}}, response]}
    ids.write_text("q1\nq2\nq3\n")
    ranked = [(group, *found) for group in ("q1", "q3") for found in (("lamp-7", 1.5), ("lamp-8", 0.25))]
    assert run(batch, group=f"@{ids}") == run(json.dumps(batch, indent=1), group=f"@{ids}") == ranked
    assert run(batch | {"responses": [response] * 2}, group=f"@{ids}") == (
        f"it has 2 responses, but {ids} has 3 ids; write one id per line, in the order of the responses"
    )
    assert run(batch | {"responses": [response] * 4}, group=f"@{ids}") == (
        f"there are more responses than the 3 ids in {ids}; write one id per line, in the order of the responses"
    )
    failed = {"error": {"type": "index_not_found_exception", "reason": "no such index [shop]"}, "status": 404}
    assert run(batch | {"responses": [response, failed]}, group=f"@{ids}") == (
        f"responses[1] is an error ('no such index [shop]'); {AGAIN}"
    )
    partial = response | {"_shards": {"total": 2, "successful": 1, "failed": 1}}
    assert run(batch | {"responses": [response, partial]}, group=f"@{ids}") == (
        f"responses[1] is incomplete: 1 of its shards failed; {AGAIN}"
    )
    late = response | {"timed_out": True}
    assert run(batch | {"responses": [response, late]}, group=f"@{ids}") == (
        f"responses[1] is incomplete: it timed out; {AGAIN}"
    )
    assert run(lines(batch, batch), group=f"@{ids}") == (
        "1: this line holds the responses to several searches; read the file with reader='json'"
    )
    assert run({"q": ["a"]}, group=f"@{ids}") == (
        "its lists have the ids of their groups as keys; leave out the file of group="
    )
    unknown = batch | {"responses": [failed, response]}
    assert run(unknown, group=f"@{ids}") == f"responses[0] is an error ('no such index [shop]'); {AGAIN}"
    ids.write_text("q1\nq2\n")
    nothing = response | {"hits": {"hits": []}}
    assert run("\n" + lines(response, nothing), reader="jsonl", group=f"@{ids}") == (
        "2: line 1 is blank, so from there on the ids would belong to other lines; remove the blank line"
    )
    assert run(lines(response, response), group=f"@{ids}") == [
        (group, *ranked[at][1:]) for group in ("q1", "q2") for at in (0, 1)
    ]
    assert run(lines(response), reader="jsonl", group=f"@{ids}") == (
        f"it has 1 response, but {ids} has 2 ids; write one id per line, in the order of the responses; each file "
        "is one run, so join several into one, for example with jq -c . q*.json > all.jsonl"
    )


def test_failed_responses_are_left_out_and_counted_where_they_may_pass(tmp_path: Path) -> None:
    good, ids = held("elasticsearch_search.json"), tmp_path / "ids.txt"
    shards, late = {"_shards": {"total": 2, "successful": 1, "failed": 1}}, {"timed_out": True}
    failures = [{"error": {"reason": "all shards failed"}, "status": 503}, good | shards, good | late]
    ids.write_text("q1\nq2\nq3\nq4\n")
    given = {"group": f"@{ids}", "allow": frozenset({"failed"})}
    for some in ([good, *failures], [*failures, good]):
        ranked = [(f"q{some.index(good) + 1}", "lamp-7", 1.5), (f"q{some.index(good) + 1}", "lamp-8", 0.25)]
        for document in (
            {"responses": some},
            some,
            lines(*some),
            dict(zip(("q1", "q2", "q3", "q4"), some, strict=True)),
        ):
            by_id = given if not isinstance(document, dict) or "responses" in document else {"allow": given["allow"]}
            assert run(document, **by_id) == (ranked, "failed responses: n=3")
    for document in ({"responses": [failures[0]] * 4}, lines(*[failures[0]] * 4)):
        assert run(document, **given) == "every response failed; run the search again"
    records = lines(*failures, good, failures[0]).encode()
    with stream_run("-", stdin=io.BytesIO(records), reader="jsonl", columns=Columns(**given), block_rows=1) as blocks:
        assert sum(note.facts["n"] for block in blocks for note in block.notes if note.kind == "failed_responses") == 4


def test_the_name_of_a_query_comes_back_with_its_hits() -> None:
    hits = [{"_id": item, "_score": score, "matched_queries": ["q7"]} for item, score in (("a", 2), ("b", 1))]
    records = [{"hits": {"hits": hits}}, {"hits": {"hits": []}}]
    name = "hits.hits.0.matched_queries.0"
    assert run(lines(*records), group=name) == run(records, group=name) == [("q7", "a", 2.0), ("q7", "b", 1.0)]
    exact = exactly([Q1, {"results": []}, Q2], Columns(**PATHS))  # type: ignore[arg-type]
    assert exact[0] == RANKED


def test_what_is_said_has_no_control_characters() -> None:
    odd = {"qid": "q", "a\nb": {"hits": {"hits": [{"_score": 1}]}}}
    assert run(lines(odd), reader="jsonl") == (
        "1: a\\nb.hits.hits[0] has no 'item'; its keys are '_score'; name the path of its item with item='PATH'"
    )
    failed = {"qid": "r", "hits": {}, "error": "no\nindex"}
    good = {"qid": "q", "hits": {"hits": []}}
    assert run(lines(good, {"qid": "r", "error": "no\nindex"})) == (
        f"2: the response is an error ('no\\nindex'); {AGAIN}"
    )
    assert run(lines(good, failed)).startswith("2: the response is an error (")


def test_hits_sorted_by_a_field_have_their_order() -> None:
    hits = [{"_index": "shop", "_id": item, "_score": None, "sort": [3]} for item in "ba"]
    assert run({"qid": "q", "hits": {"hits": hits}}) == ([("q", "b", -1.0), ("q", "a", -2.0)], ORDER)


def test_vespa_finds_nothing_has_errors_and_groups() -> None:
    nothing = {"qid": "r", "root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}}
    response = {"qid": "q", **held("vespa_search.json")}
    ranked = [("q", "id:shop:product::7", 0.75), ("q", "id:shop:product::8", 0.5)]
    assert run(lines(nothing, response)) == run(lines(response, nothing)) == ranked
    errors = [{"code": 12, "summary": "Timed out", "message": "no response within 0.5 s"}]
    late = {"qid": "r", "root": {**nothing["root"], "errors": errors}}  # type: ignore[dict-item]
    assert run(lines(response, late)) == f"2: the response has errors ('Timed out'); {AGAIN}"
    response["root"]["children"].append({"id": "group:root:0", "relevance": 1.0, "children": []})
    assert run(lines(response)) == (
        "1: root.children[2] is a group of documents, not a document; search without grouping"
    )


def test_what_a_search_has_found_is_no_label() -> None:
    response = {"qid": "q", **held("vespa_search.json")}
    assert labels(lines(response)) == (
        "1: root.children[0] has no 'label'; its keys are 'id', 'relevance', 'source' and 'fields'; "
        "name the path of its label with label='PATH'"
    )
    assert labels(lines(response), label="relevance") == [
        ("q", "id:shop:product::7", 0.75), ("q", "id:shop:product::8", 0.5)
    ]  # fmt: skip


# Drawn responses


def exactly(records: list[Any], columns: Columns) -> Any:
    """Return what the reader makes of lines."""
    table = partial(ResponseLines, columns, RUN_TABLE)
    return exact_outcome(lines(*records).encode(), lambda source: exact_rows(source, table()))


IDS = st.sampled_from(["a", "b", "ö", "", 3, -0, 10**30, None, 1.5])
SCORES = st.sampled_from([1, 2.5, -0.0, None, "1", True, 10**400])
RANKS = st.sampled_from([1, 2, 3, 2.0, 1.5, "1", None, True, 2**31, 10**400])
ELEMENTS = st.one_of(
    st.fixed_dictionaries({"id": IDS}, optional={"score": SCORES, "rank": RANKS, "more": SCORES}),
    st.fixed_dictionaries({"id": st.sampled_from("abcdef"), "score": st.floats(-9, 9)}, optional={"rank": RANKS}),
    IDS,
)
RECORDS = st.fixed_dictionaries(
    {"query_id": st.sampled_from(["q", "r", "s", 7])},
    optional={"results": st.lists(ELEMENTS, max_size=3), "score": st.just([1]), "other": st.lists(SCORES, max_size=2)},
)


def test_a_run_is_no_list_of_relevant_items() -> None:
    run_by_mistake = lines({"group": "q", "item": ["a"], "score": [1.5]})
    assert labels(run_by_mistake) == "no column 'label'; the columns are 'group', 'item', 'score': " + (
        "name the label column with label=; scores without labels are a run: are the run and the labels swapped?"
    )
    found = lines({"query_id": "q", "results": [{"id": "a", "score": 2}]})
    assert labels(found).endswith("; the results of a search are a run: are the run and the labels swapped?")


KEYS = st.sampled_from(
    [
        *("hits", "_id", "_score", "_source", "_shards", "response", "docs", "id", "root", "children", "fields"),
        *("relevance", "errors", "error", "responses", "results", "corpus_id", "qid", "a.b"),
    ]
)
LEAVES = st.sampled_from([None, True, 0, 7, 1.5, 2.0, "q", "", [], {}])
HELD_IN = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
PATHS_OF_ANY = st.none() | st.sampled_from(["hits", "hits.hits", "response.docs", "results.0", "id", "_id", "a.b"])


@pytest.mark.filterwarnings("ignore::ndcg_tracker.ingest.columns.ColumnWarning")
@settings(max_examples=examples(3000), deadline=None)
@given(st.lists(HELD_IN, min_size=1, max_size=3), PATHS_OF_ANY, PATHS_OF_ANY, PATHS_OF_ANY, st.booleans())
def test_any_json_gives_rows_or_one_line(
    records: list[Any], items: str | None, item: str | None, group: str | None, of_labels: bool
) -> None:
    way = labels if of_labels else run
    for given_as, reader in ((lines(*records), "jsonl"), (records, "json"), (records[0], "json")):
        outcome = way(given_as, reader=reader, items=items, item=item, group=group)
        assert outcome or (outcome == [] and not of_labels)  # a run may have empty lists alone


@pytest.mark.filterwarnings("ignore:.*again in a list")
@settings(max_examples=examples(300), deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=5), st.booleans(), st.integers(1, 40))
def test_a_stream_is_the_whole(records: list[Any], named: bool, n_rows: int) -> None:
    columns = Columns(items="results", item="id" if named else None)
    for place, record in enumerate(records):
        record["query_id"] = f"q{place}"
    text = lines(*records)
    try:
        with stream_run("-", stdin=io.BytesIO(text.encode()), reader="jsonl", columns=columns, block_rows=n_rows) as of:
            streamed: Any = [row for table in of for row in listed(table.ranking) or ()]
    except InputError as error:
        streamed = str(error).removeprefix("<stdin>:").removeprefix(" ")
    whole = run(text, reader="jsonl", items="results", **({"item": "id"} if named else {}))
    assert streamed == (whole[0] if isinstance(whole, tuple) else whole)


POINTS = [["d5", "x1", "d1"], ["x3", "d2"]]
SCORED = [[{"id": one, "score": 1 - place / 9} for place, one in enumerate(of)] for of in POINTS]
WITHOUT_QUERIES = {
    "chroma.json": {"ids": POINTS, "distances": [[0.1, 0.2, 0.3], [0.1, 0.2]], "documents": None},
    "qdrant.json": {"result": [{"points": of} for of in SCORED], "status": "ok", "time": 0.1},
    "qdrant-search.json": {"result": SCORED, "status": "ok", "time": 0.1},
    "qdrant.jsonl": [{"result": {"points": of}, "status": "ok"} for of in SCORED],
    "pinecone.json": [{"matches": of, "namespace": ""} for of in SCORED],
    "weaviate.jsonl": [{"objects": [{"uuid": one, "properties": {"title": "x"}} for one in of]} for of in POINTS],
    "weaviate.json": [{"data": {"Get": {"Page": [{"_additional": {"id": one}} for one in of]}}} for of in POINTS],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WITHOUT_QUERIES)
def test_responses_of_vector_stores_whose_queries_are_in_a_file(tmp_path: Path, name: str) -> None:
    held = WITHOUT_QUERIES[name]
    text = "\n".join(map(json.dumps, held)) if name.endswith("l") else json.dumps(held)
    (tmp_path / name).write_text(text)
    (tmp_path / "ids.txt").write_text("q1\nq2\n")
    labels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    asked = {"labels": labels, "group": f"@{tmp_path / 'ids.txt'}"}
    assert nt.evaluate(str(tmp_path / name), "RR", **asked).per_group["RR"].to_list() == [1 / 3, 1 / 2]
    (tmp_path / "ids.txt").write_text("q1\nq2\nq3\n")
    with pytest.raises(InputError, match=r"ids?|response"):
        nt.evaluate(str(tmp_path / name), "RR", **asked)


REPEATED = ["a", "b", "a", "c"]


@pytest.mark.parametrize("run", [{"q": REPEATED}, [{"query_id": "q", "doc_ids": REPEATED}]])
def test_an_item_again_in_a_list_counts_at_its_first_place(run: object, tmp_path: Path) -> None:
    if isinstance(run, dict):
        (tmp_path / "a.json").write_text(json.dumps(run))
    for given_as in (run, *([str(tmp_path / "a.json")] if isinstance(run, dict) else [])):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = nt.evaluate(given_as, "RR", labels={"q": {"c": 1}})
        assert found.mean.to_list() == [0.25]
        assert any("again in a list" in str(warning.message) for warning in told)


def test_numbers_that_rise_in_every_list_may_be_distances(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"q": [["a", 0.1], ["b", 0.2], ["c", 0.4]]}))
    labels = {"q": {"a": 1}}
    with pytest.raises(InputError, match="so they may be distances; if the lowest is the best, give score=-1"):
        nt.evaluate(str(tmp_path / "a.json"), "RR", labels=labels)
    asked = {"metrics": "RR", "labels": labels}
    assert nt.evaluate(str(tmp_path / "a.json"), score="-1", **asked).mean.to_list() == [1.0]
    assert nt.evaluate(str(tmp_path / "a.json"), score="1", **asked).mean.to_list() == [1 / 3]
