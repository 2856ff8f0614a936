"""JSON documents, in the shapes that their tools' own documentation and source have."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import listed, run_parts
from refused import OR_ALLOW
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.detection import detect_reader
from ndcg_tracker.ingest.frames import read_frame
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run

RUN = {"q1": {"a": 1, "b": 2.5}, "q2": {}, "q3": {"c": -1e-3}}
RANKED = [("q1", "b", 2.5), ("q1", "a", 1.0), ("q3", "c", -1e-3)]
REQUEST = {
    "requests": [
        {
            "id": "lamp",
            "request": {"query": {"match": {"title": "lamp"}}},
            "ratings": [{"_index": "shop", "_id": "7", "rating": 3}, {"_index": "shop", "_id": "9", "rating": 0}],
        },
        {"id": "tent", "template_id": "t", "params": {}, "ratings": []},
    ],
    "templates": [],
    "metric": {"dcg": {"k": 20}},
}
RESPONSE = {
    "metric_score": 0.4,
    "details": {
        "lamp": {
            "metric_score": 0.6,
            "unrated_docs": [{"_index": "shop", "_id": "8"}],
            "hits": [
                {"hit": {"_index": "shop", "_type": "_doc", "_id": "7", "_score": 7.05}, "rating": 3},
                {"hit": {"_index": "shop", "_type": "_doc", "_id": "8", "_score": 8.5}, "rating": None},
            ],
            "metric_details": {"precision": {"relevant_docs_retrieved": 1, "docs_retrieved": 2}},
        }
    },
    "failures": {},
}
JUDGMENTS = {
    "name": "Imported Judgments",
    "description": "made elsewhere",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "red dress", "ratings": [{"docId": "B0", "rating": "3.000"}, {"docId": "B1", "rating": "0.5"}]},
        {"query": "jeans", "ratings": [{"docId": "B0", "rating": 1}]},
    ],
}
MTEB = {
    "mteb_model_meta": {"model_name": "org/model", "revision": "1"},
    "en": {"dev": {"q": {"d": 1.0}}, "test": {"q": {"d": 2.0}}},
}
BOOK = {
    "name": "Book of Ratings",
    "scale": [0, 1],
    "query_doc_pairs": [
        {"query_text": "lamp", "doc_id": "7", "position": 1, "judgements": [{"rating": 1.0, "user_email": "a@b.c"}]},
        {"query_text": "lamp", "doc_id": "8", "judgements": [{"rating": 0.0, "unrateable": True}]},
        {"query_text": "lamp", "doc_id": "9", "judgements": []},
    ],
}

pytestmark = pytest.mark.filterwarnings("ignore:the ids of the|lists of items without labels")


def run(document: object, **options: Any) -> Any:
    """Return the run that a document holds, or what is said against it."""
    return read(read_run, document, **options)


def labels(document: object, **options: Any) -> Any:
    return read(read_labels, document, **options)


def read(way: Any, document: object, **options: Any) -> Any:
    text = document if isinstance(document, (str, bytes)) else json.dumps(document)
    stdin = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    try:
        found = way("-", stdin=stdin, **options)
    except InputError as error:
        said = str(error)
    else:
        return listed(found.ranking if way is read_run else found)
    assert said.startswith("<stdin>:")
    assert said.isprintable()
    return said.removeprefix("<stdin>:").removeprefix(" ")


def test_a_dict_of_dicts_is_a_run_or_labels() -> None:
    for text in (json.dumps(RUN), json.dumps(RUN, indent=2), "\ufeff" + json.dumps(RUN)):
        assert run(text) == RANKED
        assert labels(text) == sorted(RANKED, key=lambda row: (row[0], row[1]))


def test_null_is_no_score_and_no_label_and_labels_may_be_true() -> None:
    assert run({"q": {"a": None, "b": 1}}) == [("q", "b", 1.0)]
    assert labels({"q": {"a": None, "b": True}}) == [("q", "b", 1.0)]


def test_a_list_with_a_value_that_is_no_id_is_refused_before_anything_is_told() -> None:
    assert run({"q": [False, None, None]}) == "record 1: the item id is true or false; ids are text or whole numbers"
    assert run({"q": ["a", None, None]}) == "record 1: the item id is empty; every row needs one"


def test_rank_eval_requests_are_labels() -> None:
    assert labels(REQUEST) == [("lamp", "7", 3.0), ("lamp", "9", 0.0)]
    assert run(REQUEST) == "holds labels but no scores; give it with labels='FILE'"


def test_rank_eval_responses_are_runs_without_labels() -> None:
    assert run(RESPONSE) == run({"rank_eval": RESPONSE}) == [("lamp", "8", 8.5), ("lamp", "7", 7.05)]
    assert read_run("-", stdin=io.BytesIO(json.dumps(RESPONSE).encode())).labels is None
    assert labels(RESPONSE) == (
        "a _rank_eval response only has ratings of documents that were found, so the ideal DCG would be too low; "
        "give the request, which has all ratings"
    )


def changed_response(**changes: object) -> dict[str, Any]:
    """Return a response whose second hit is changed."""
    response: dict[str, Any] = json.loads(json.dumps(RESPONSE))
    response["details"]["lamp"]["hits"][1]["hit"] |= changes
    return response


def test_a_response_that_is_no_whole_run_is_refused() -> None:
    assert run(RESPONSE | {"failures": {"tent": {"error": {}}, "sofa": {}}}) == (
        "2 of its searches failed, the first one being 'tent'; run these searches again"
    )
    assert run(changed_response(_score=None)) == (
        "details.'lamp'.hits[1] has no _score, as happens when hits are sorted by a field; search with "
        '"track_scores": true'
    )
    twice = "group 'lamp', item '7': item '7' of group 'lamp' is in entry 1 already; keep one of the two" + OR_ALLOW
    assert run(changed_response(_id="7", _index="other")) == twice


def test_opensearch_judgments_are_labels() -> None:
    expected = [("red dress", "B0", 3.0), ("red dress", "B1", 0.5), ("jeans", "B0", 1.0)]
    assert labels(JUDGMENTS) == expected
    found = {"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "x", "_source": JUDGMENTS}]}}
    assert labels(found) == expected
    assert run(JUDGMENTS) == run(found) == "holds labels but no scores; give it with labels='FILE'"
    found["hits"]["hits"].append({"_id": "y", "_source": JUDGMENTS | {"name": "Clicks"}})  # type: ignore[index]
    assert labels(found) == (
        "holds judgment lists under 'Imported Judgments', 'Clicks'; choose with reader='json:Imported Judgments', "
        "or write the one you mean to its own file"
    )
    assert labels(found, reader="json:Clicks") == expected
    found["hits"]["hits"][1]["_source"] = JUDGMENTS  # type: ignore[index]
    assert "under 'Imported Judgments', 'Imported Judgments (y)'; choose with" in labels(found)


@pytest.mark.parametrize(
    "document",
    [
        {"queries": [{"query": "lamp", "ratings": {"7": 1, "8": 0.5}}]},
        {"case_name": "Shop", "queries": [{"query_text": "lamp", "options": {}, "ratings": [
            {"doc_id": "7", "rating": 1.0, "user_email": "a@b.c"}, {"doc_id": "8", "rating": 0.5}]}]},
        {"id_field": "id", "index": "shop", "template": "template.json", "queries": [
            {"placeholders": {"$query": "lamp"}, "relevant_documents": {"7": {"gain": 1}, "8": {"gain": 0.5}}}]},
    ],
)  # fmt: skip
def test_quepid_exports_are_labels(document: object) -> None:
    assert labels(document) == [("lamp", "7", 1.0), ("lamp", "8", 0.5)]
    assert run(document) == "holds labels but no scores; give it with labels='FILE'"


def test_a_quepid_book_is_labels_where_each_pair_has_one_judgement() -> None:
    assert labels(BOOK) == [("lamp", "7", 1.0)]
    assert run(BOOK) == "holds labels but no scores; give it with labels='FILE'"
    book = json.loads(json.dumps(BOOK))
    book["query_doc_pairs"][0]["judgements"].append({"rating": 0.0})
    assert labels(book) == (
        "query_doc_pairs[0] has 2 judgements, but needs one label; export the book as CSV and name a judge with label="
    )


def test_mteb_predictions_are_read_where_it_is_clear_which() -> None:
    one = MTEB | {"en": {"test": {"q": {"d": 2.0}}}}
    assert run(one) == run(MTEB, reader="json:en/test") == [("q", "d", 2.0)]
    assert run(MTEB) == (
        "holds runs under 'en/dev', 'en/test'; choose with reader='json:en/dev', or write the one you mean to its "
        "own file"
    )
    assert run(MTEB, reader="json:fr/test") == "holds no 'fr/test'; there are 'en/dev', 'en/test'"
    assert run(MTEB | {"en": {"test": [1, 0]}}) == (
        "these are MTEB's predictions for a task without rankings; give those of a retrieval task, "
        "{subset: {split: {query: {document: score}}}}"
    )


def test_other_dicts_of_runs_are_read_only_where_one_is_chosen() -> None:
    held = {"test": RUN}
    assert run(held) == (
        "holds runs under 'test'; choose with reader='json:test', or write the one you mean to its own file"
    )
    assert run(held, reader="json:test") == RANKED
    assert labels({"test": RUN, "dev": RUN}, reader="json:dev")[0] == ("q1", "a", 1.0)
    assert run({"a/b": {"c": RUN}, "a": {"b/c": RUN}}) == (
        "holds the same name twice; write the one you mean to its own file"
    )
    many = {f"split{number}": RUN for number in range(12)}
    assert run(many).startswith("holds runs under 'split0', 'split1',")
    assert "'split9' and 2 more; choose with reader='json:split0'" in run(many)


@pytest.mark.parametrize("document", [RUN, JUDGMENTS, RESPONSE, BOOK])
def test_where_there_is_one_only_nothing_can_be_chosen(document: object) -> None:
    read_it = run if document in (RUN, RESPONSE) else labels
    assert (
        read_it(document, reader="json:x") == "holds only one thing, so there is nothing to choose from; leave out 'x'"
    )


def test_an_array_of_records_is_a_table() -> None:
    records = [
        {"topic": "q", "item": "a", "score": 1, "label": 0},
        {"topic": "q", "item": ["b", "c"], "score": [3, 2], "label": [1, None]},
        {"topic": "r", "item": 7, "score": 1.5},
    ]
    columns = Columns(group="topic")
    expected = [("q", "b", 3.0), ("q", "c", 2.0), ("q", "a", 1.0), ("r", "7", 1.5)]
    assert run(records, columns=columns) == expected
    assert labels(records, columns=columns) == [("q", "a", 0.0), ("q", "b", 1.0)]
    assert run(records) == (
        "no column 'group'; the columns are 'topic', 'item', 'score', 'label': name the group column with group='topic'"
    )
    assert run([]) == "there are no rows; give at least one"
    assert run(records[:1] * 2, columns=columns) == (
        "record 2: item 'a' of group 'q' is in record 1 already; keep one of the two" + OR_ALLOW
    )
    assert run([{"group": "q", "score": "1"}]) == ("record 1: the score is text; write a number, or null for none")
    assert run([{"group": "q", "item": ["a"], "score": [1, 2]}]) == (
        "record 1: the lists of group 'q' differ in length ('item' 1, 'score' 2); give one value per item in each list"
    )
    assert run([1]) == "record 1: this is a number; write one object per row"
    assert run(records, reader="json:x").startswith("is an array of records, so there is nothing to choose from")


def test_other_shapes_have_no_named_columns() -> None:
    assert run(RUN, columns=Columns(score="bm25")) == "this JSON has no named columns; drop score="
    assert labels(RUN, columns=Columns(group="qid"))[0] == ("q1", "a", 1.0)  # the name is for the run


NUMBER = "write a number, or null for none"
TOO_LARGE = "group 'q', item 'b': the score is too large for a double; use a finite number"
TOO_LONG = "a whole number of 500 digits is too large; use a smaller one, or text for an id"
HALF = "has an incomplete character; write ids as UTF-8"
PROPERTY = "Expecting property name enclosed in double quotes"
NO_RATING = " has no 'rating'; write it again with one"
NO_ARRAY = " is a number; write an array of objects"
NO_JUDGMENTS = " holds no judgmentRatings; give a response that does"
CHOOSE = "choose with reader='json:NAME', or write the one you mean to its own file"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"q": {"a": 1, "b": 2, "a": 3}}', "in 'q': key 'a' is there twice; keep one of the two"),
        ('{"q": {"a": 1}, "q": {"b": 2}}', "key 'q' is there twice; keep one of the two"),
        ('{"s": {"t": {"q": {"a": 1, "a": 1}}}}', "in 's', 't', 'q': key 'a' is there twice; keep one of the two"),
        ('{"q": {"a": 1, "b": NaN}}', "group 'q', item 'b': the score is NaN; use a finite number, or null for none"),
        ('{"q": {"b": Infinity}}', TOO_LARGE),
        ('{"q": {"b": 1e999}}', TOO_LARGE),
        (f'{{"q": {{"b": 1{"0" * 320}}}}}', TOO_LARGE),
        (f'{{"q": {{"b": {"7" * 500}}}}}', TOO_LONG),
        ('{"q": {"b": true}}', f"group 'q', item 'b': the score is true or false; {NUMBER}"),
        ('{"q": {"a": 1, "b": "2"}}', f"group 'q', item 'b': the score is text; {NUMBER}"),
        ('{"q": {"a": 1}, "r": {"b": [2]}}', f"group 'r', item 'b': the score is an array; {NUMBER}"),
        ('{"q": {"a": 1}, "r": 2}', "group 'r' is a number; write an object, {item: number}"),
        ('{"q": {"a": 1}, "r": ["b"]}', "group 'r' is an array; write an object, {item: number}"),
        ('{"q": 1, "mean": 2}', "JSON of an unknown shape, an object with the keys 'q', 'mean'; write {group: "
        "{item: number}}"),
        ('{"q": {"": 1}}', "group 'q', item '': the item id is empty; every row needs one"),
        ('{"": {"a": 1}}', "group '', item 'a': the group id is empty; every row needs one"),
        ('{"q": {"\\ud800": 1}}', "group 'q', item '\\ud800': the item id '\\ud800' " + HALF),
        ('{"\\ud800": {"a": 1}}', "the group id '\\ud800' " + HALF),
        ('{"q": {"a": null}}', "no row has a score; name the score column, or read the file as labels"),
        ("{}", "there are no rows; give at least one"),
        ('{"q": {}}', "there are no rows; give at least one"),
        ('{"q":\n{"a": 1,\n}}', f"3: not valid JSON ({PROPERTY}, column 1); correct the file"),
        ('{"q": {"a": 1}} []', "1: there is more text after the first JSON value; are these JSON lines? Then use "
        "reader='jsonl'"),
        ('{"q": {"a": 1}', "1: not valid JSON (Expecting ',' delimiter, column 15); correct the file"),
        (b'{"q":\n {"\xff": 1}}', "2: byte 0xff is not UTF-8; save the file as UTF-8"),
        ("[" * 5000, "JSON nested too deeply; check that this is the right file"),
        ('{"a":' * 5000, "JSON nested too deeply; check that this is the right file"),
        ("5", "this is a number; runs and labels are objects or arrays of objects"),
        ('{"requests": [{"ratings": []}]}', "requests[0] has no 'id'; write it again with one"),
        ('{"requests": [{"id": "q", "ratings": [{"_id": "d"}]}]}', f"requests[0].ratings[0]{NO_RATING}"),
        ('{"requests": [{"id": "q", "ratings": [7]}]}', "requests[0].ratings[0] is a number; write an object"),
        ('{"requests": [{"id": "q", "ratings": 7}]}', f"requests[0].ratings{NO_ARRAY}"),
        ('{"hits": {"hits": [{"_source": {"title": "x"}}]}}', f"hits.hits[0]{NO_JUDGMENTS}"),
        ('{"hits": {"hits": []}}', f"holds judgment lists under no name; {CHOOSE}"),
    ],
)  # fmt: skip
def test_every_refusal_says_where(text: str | bytes, said: str) -> None:
    read_it = labels if "requests" in str(text) or "hits" in str(text) else run
    assert read_it(text, reader="json") == said


def test_ratings_that_are_no_numbers_are_refused() -> None:
    assert labels({"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "good"}]}]}) == (
        "group 'q', item 'd': label 'good' is not a number; write it like 0.5, -2 or 1e-3, or say what words mean with "
        "grades='WORD=NUMBER,...'"
    )
    assert labels({"requests": [{"id": "q", "ratings": [{"_id": 7, "rating": None}, {"_id": 8, "rating": 1}]}]}) == [
        ("q", "8", 1.0)
    ]


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        (json.dumps(RUN), "json"),
        (json.dumps(RUN, indent=1), "json"),
        (json.dumps(REQUEST), "json"),
        (json.dumps(RESPONSE), "json"),
        (json.dumps(JUDGMENTS), "json"),
        (json.dumps(BOOK), "json"),
        (json.dumps(MTEB), "json"),
        ('[{"group": "q", "score": 1}]', "json"),
        ('\n{"group": "q", "score": 1}', "jsonl"),
        ('{"group": "q", "score": 1, "more": {"a": [{}]}}', "jsonl"),
        ('{"group": "q", "item": ["a"], "score": [1]}', "jsonl"),
        ('{"group": "q", "score": 1}\n{"group": "q", "score": 1}', "jsonl"),
        ('{"group": "q", "score":\n1}', "json"),
    ],
)
def test_documents_are_told_from_json_lines(text: str, reader: str) -> None:
    for name in ("a.json", "a.json.gz", "-", "a"):
        assert detect_reader(name, text.encode()) == reader
    assert detect_reader("a.jsonl", text.encode()) == "jsonl"


def test_a_document_is_streamed_in_one_block(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(RUN))
    with stream_run(str(path), block_rows=1) as stream:
        assert [listed(block.ranking) for block in stream] == [RANKED]
    path.write_text(json.dumps(MTEB))
    with stream_run(str(path), reader="json:en/dev") as stream:
        assert [listed(block.ranking) for block in stream] == [[("q", "d", 1.0)]]


ids = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)


@settings(deadline=None)
@given(
    st.dictionaries(ids, st.dictionaries(ids, numbers, max_size=4), min_size=1, max_size=5).filter(
        lambda run: any(run.values())
    ),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_dicts_come_back_the_same(run: dict[str, dict[str, float]], ascii_only: bool, indent: int | None) -> None:
    content = json.dumps(run, ensure_ascii=ascii_only, indent=indent).encode()
    rows = [(group, item, value) for group, items in run.items() for item, value in items.items()]
    table = dict(zip(("group", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))
    table["score"] = [float(value) for value in table["score"]]
    assert run_parts(read_run("-", reader="json", stdin=io.BytesIO(content))) == run_parts(read_frame(table))
    expected = [(group, item, float(value)) for group, item, value in rows]
    assert listed(read_labels("-", reader="json", stdin=io.BytesIO(content))) == expected


PIECES = [
    *(
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"q"',
        '"d"',
        '""',
        "1",
        "null",
        "true",
        "NaN",
        "1e400",
        '"1"',
        " ",
        "\n",
        "\ufeff",
    ),
    *('"requests"', '"id"', '"ratings"', '"_id"', '"rating"', '"details"', '"hits"', '"hit"', '"_score"', '"_source"'),
    *('"judgmentRatings"', '"query"', '"docId"', '"queries"', '"mteb_model_meta"', '{"q": {"d": 1}}', '"\\ud800"'),
]


@settings(deadline=None, max_examples=examples(400))
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from([None, "json", "json:q", "json:"]))
def test_any_text_gives_a_table_or_one_line_that_says_why_not(text: str, reader: str | None) -> None:
    for read_it in (run, labels):
        found = read_it(text, reader=reader)
        assert found


KEYS = (
    "requests id ratings _id rating details hits hit _score rank_eval _source judgmentRatings query docId queries "
    "query_doc_pairs judgements placeholders relevant_documents gain failures mteb_model_meta query_text doc_id $query"
)
keys = ids | st.sampled_from(KEYS.split())
values = st.recursive(
    st.none() | st.booleans() | numbers | ids,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, max_examples=examples(400))
@given(values, st.sampled_from(["json", "json:q"]))
def test_any_document_gives_a_table_or_one_line_that_says_why_not(document: object, reader: str) -> None:
    for read_it in (run, labels):
        assert read_it(document, reader=reader)
