"""Chunks of documents: by pattern, column, file or dict; what a document is worth, and what is refused."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import OR_ALLOW, refusal_of

import ndcg_tracker as nt
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.documents import Documents
from ndcg_tracker.ingest.frames import read_frame, read_label_frame
from ndcg_tracker.ingest.reading import documents_given, read_labels, read_run
from ndcg_tracker.rankings.keys import Keys

CHUNKS = pd.DataFrame(
    {
        "group": ["q", "q", "q", "r", "r"],
        "item": ["a#2", "a#1", "b#1", "a#1", "c#3"],
        "score": [2.0, 3.0, 2.5, 1.0, 5.0],
        "document": ["a", "a", "b", "a", "c"],
    }
)
LABELS = {"q": {"b": 2, "a": 1}, "r": {"c": 1}}
LABELS_OF_CHUNKS = {"q": {"b#1": 2, "a#1": 0, "a#2": 1}, "r": {"c#3": 1}}
DICT = {"a#1": "a", "a#2": "a", "b#1": "b", "c#3": "c"}


def files(folder: Path) -> dict[str, str]:
    CHUNKS.to_csv(folder / "chunks.csv", index=False)
    CHUNKS.to_parquet(folder / "chunks.parquet")
    CHUNKS.to_json(folder / "chunks.jsonl", orient="records", lines=True)
    lines = (f"{row.group} Q0 {row.item} 1 {row.score} t\n" for row in CHUNKS.itertuples())
    (folder / "chunks.run").write_text("".join(lines))
    pd.DataFrame(list(DICT.items()), columns=["item", "document"]).to_csv(folder / "map.csv", index=False)
    (folder / "map.jsonl").write_text("".join(f'{{"chunk": "{item}", "of": "{of}"}}\n' for item, of in DICT.items()))
    return {path.name: str(path) for path in folder.iterdir()}


@pytest.mark.parametrize("run", ["chunks.csv", "chunks.parquet", "chunks.jsonl", "chunks.run", "frame"])
@pytest.mark.parametrize("rule", ["#.*", "map.csv", "map.jsonl", "dict"])
def test_chunks_become_documents(run: str, rule: str, tmp_path: Path) -> None:
    at = files(tmp_path)
    documents = documents_given({"dict": DICT}.get(rule, at.get(rule, rule)))
    columns = Columns(documents=documents)
    table = read_frame(CHUNKS, columns) if run == "frame" else read_run(at[run], columns=columns)
    ranking = table.ranking
    assert ranking.item_keys.to_list() == ["a", "b", "c", "a"]
    assert ranking.scores.tolist() == [3.0, 2.5, 5.0, 1.0]
    assert table.chunks is not None
    assert (table.chunks.n_groups, table.chunks.n_documents) == (2, 4)


@pytest.mark.parametrize("run", ["chunks.csv", "chunks.parquet", "chunks.jsonl", "frame"])
def test_a_column_has_the_documents(run: str, tmp_path: Path) -> None:
    columns = Columns(documents=documents_given("document", "sum"))
    path = files(tmp_path).get(run)
    table = read_frame(CHUNKS, columns) if path is None else read_run(path, columns=columns)
    assert table.ranking.item_keys.to_list() == ["a", "b", "c", "a"]
    assert table.ranking.scores.tolist() == [5.0, 2.5, 5.0, 1.0]


@pytest.mark.parametrize(("collapse", "expected"), [("max", 3.0), ("first", 2.0), ("sum", 5.0), (None, 3.0)])
def test_the_score_of_a_document(collapse: str | None, expected: float) -> None:
    ranking = read_frame(CHUNKS, Columns(documents=documents_given("#.*", collapse))).ranking
    assert dict(zip(ranking.item_keys.to_list()[:2], ranking.scores.tolist(), strict=False))["a"] == expected


@pytest.mark.parametrize("labels", [LABELS, LABELS_OF_CHUNKS])
def test_labels_of_chunks_and_of_documents_are_alike(labels: dict[str, dict[str, int]], tmp_path: Path) -> None:
    means = nt.evaluate(CHUNKS, ["ndcg@10", "RR"], labels=labels, item_to_document="#.*").mean
    documents = {"q": {"a": 3.0, "b": 2.5}, "r": {"c": 5.0, "a": 1.0}}
    assert means.to_dict() == nt.evaluate(documents, ["ndcg@10", "RR"], labels=LABELS).mean.to_dict()
    frame = pd.DataFrame([(g, i, n) for g, of in labels.items() for i, n in of.items()])
    frame.columns = pd.Index(["group", "item", "label"])
    frame.to_csv(tmp_path / "labels.csv", index=False)
    columns = Columns(documents=documents_given("#.*"))
    for found in (read_label_frame(frame, columns), read_labels(str(tmp_path / "labels.csv"), columns=columns)):
        assert dict(zip(found.item_keys.to_list(), found.grades.tolist(), strict=True)) == {"b": 2, "a": 1, "c": 1}


def test_labels_in_the_table_of_the_run() -> None:
    joint = CHUNKS.assign(label=[1, 0, 2, 0, 1])
    assert nt.evaluate(joint, "ndcg@10", item_to_document="#.*")["ndcg@10"] == pytest.approx(0.9298, abs=1e-4)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"item_to_document": "x+"}, "item_to_document= matches no item of the run, so each item would be its own "
     "document; give a pattern that matches what follows the document's id, such as '#.*', or leave it out"),
    ({"item_to_document": ".*"}, "item_to_document='.*' cuts off all of item 'a#2'; match only what comes after the "
     "document's id"),
    ({"item_to_document": "#"}, "item_to_document='#' turns item 'a#2' into document 'a2'; match everything after the "
     "document's id, such as '#.*'"),
    ({"item_to_document": "mpa.csv"}, "there is no column 'mpa.csv' with the documents; the columns are 'group', "
    "'item', 'score', 'document', and there is no file 'mpa.csv': name another column or a file of items and "
    "documents, or, if it is a pattern, give item_to_document='(mpa.csv)'"),
    ({"item_to_document": "./map"}, "./map: no such file; check the path"),
    ({"item_to_document": "data/map.csv"}, "data/map.csv: no such file; check the path"),
    ({"item_to_document": Path("map")}, "map: no such file; check the path"),
    ({"item_to_document": "doc"}, "there is no column 'doc' with the documents; the columns are 'group', 'item', "
    "'score', 'document': name another column or a file of items and documents, or, if it is a pattern, give "
     "item_to_document='(doc)'"),
    *[({"item_to_document": pattern}, f"item_to_document={pattern!r} is not a valid pattern: {why}; write a regular "
       "expression for what to cut off, such as '#.*'; it cannot look around or refer back")
      for pattern, why in (("#(", "missing ): (#()"), ("(?<=#).*", "invalid perl operator: (?<="),
                           ("#(?!x)", "invalid perl operator: (?!"), (r"(#)\1", r"invalid escape sequence: \1"),
                           ("#++", "bad repetition operator: ++"), (r"#\Z", r"invalid escape sequence: \Z"),
                           ("#.{2000}", "invalid repetition size: {2000}"), ("\udc80", "surrogates not allowed"))],
    ({"item_to_document": 7}, "item_to_document= is 7; give a pattern such as '#.*', a column, a file of items and "
     "documents, or a dict"),
    ({"item_to_document": {"a#1": "a"}}, "item 'a#2' has no document in 'dict'; add it there"),
    ({"item_to_document": "#.*", "collapse": "mean"}, "collapse='mean' is not known; give one of max, first, sum"),
    ({"item_to_document": "#|[1-9]"}, "item_to_document='#|[1-9]' matches 2 times in item 'a#2': '#' and '2'; to "
     "match only the last, end it with $: item_to_document='(#|[1-9])$'"),
    ({"collapse": "sum"}, "collapse= needs item_to_document=: it says how to combine chunks, but not what the "
     "documents are; name the documents with item_to_document='#.*'"),
]  # fmt: skip


@pytest.mark.parametrize(("given_rule", "message"), WRONG)
def test_rules_that_cannot_be_taken(given_rule: dict[str, Any], message: str) -> None:
    of_labels = message.replace("a#2", "b#1").replace("and '2'", "and '1'").replace("a2", "b1")
    said = refusal_of(nt.InputError, nt.evaluate, CHUNKS, "ndcg@10", labels={"q": {"b#1": 1}}, **given_rule)
    assert said in (message, f"labels: {of_labels}")


def test_files_of_documents_that_cannot_be_taken(tmp_path: Path) -> None:
    for text, message in {
        "item,document\na#1,a\na#1,b\n": ":3: item 'a#1' already has another document above; keep one",
        "doc,chunk\na,a#1\na,a#2\n": ":3: item 'a' already has another document above; keep one; 'doc' is read as "
        "the items and 'chunk' as their documents: if it is the other way round, name the columns so",
        "item\na#1\n": ":1: there is only one column; give one of items and one of documents",
        "item,document\n,b\n": ":2: the item id is empty; every row needs one",
    }.items():
        (tmp_path / "map.csv").write_text(text)
        assert refusal_of(nt.InputError, documents_given, tmp_path / "map.csv").endswith(f"map.csv{message}")
    columns = Columns(documents=documents_given("document"))
    assert refusal_of(nt.InputError, read_run, files(tmp_path)["chunks.run"], columns=columns).endswith(
        "chunks.run: a format without columns has no column 'document'; give a pattern such as item_to_document='#.*', "
        "or a file of documents"
    )


def test_what_cannot_be_added_up() -> None:
    lists = {"r": ["b#1"], "q": ["a#1", "b#1", "a#2"]}
    said = (
        "group 'q' has no score above 0 (as with ranks or distances), so with collapse='sum' a document with "
        "more chunks would rank lower; give collapse='max', or scores where the highest is the best"
    )
    below = CHUNKS.assign(score=CHUNKS["score"] - 3)
    for run, options in ((lists, {}), (CHUNKS, {"score": "-score"}), (below, {})):
        given: dict[str, Any] = {"labels": LABELS, "item_to_document": "#.*", **options}
        assert refusal_of(nt.InputError, nt.evaluate, run, "RR", collapse="sum", **given) == said
    assert read_frame(lists, Columns(documents=documents_given("#.*"))).ranking.n_items == 3
    once = {group: held[:2] for group, held in lists.items()}
    assert read_frame(once, Columns(documents=documents_given("#.*", "sum"))).ranking.n_items == 3


def test_a_pattern_may_have_slashes_and_cut_the_beginning() -> None:
    for run, pattern in (({"q": {"x/a/2": 1.0, "x/a/1": 2.0}}, "/[0-9]+$"), ({"q": {"2:x/a": 1.0}}, "^[0-9]+:")):
        assert nt.evaluate(run, "RR", labels={"q": {"x/a": 1}}, item_to_document=pattern)["RR"] == 1.0


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a*)*b", "(a|aa)+$", "(a|a?)+$", "(.*a){20}$", "(?:(?:a+)+)+!b", "(x?){1000}b"]
)
def test_a_pattern_takes_linear_time(pattern: str) -> None:
    run = {"q": {"a" * 500 + "!": 2.0, "b#1": 1.0}}  # with Python's re, this test would not end
    assert "item_to_document" in refusal_of(
        nt.InputError, nt.evaluate, run, "RR", labels=LABELS, item_to_document=pattern
    )


@pytest.mark.parametrize(
    ("pattern", "document"),
    [("#.*", "é"), ("(#.*)?$", "é"), (r"\W\d+$", "é"), (r"#\d*", "é"), ("^é#", "17"), ("(?i)#.*", "é"), ("é|x", "#17")],
)
def test_what_a_pattern_cuts_off(pattern: str, document: str) -> None:
    run = {"q": {"é#17": 2.0}}
    assert nt.evaluate(run, "RR", labels={"q": {document: 1}}, item_to_document=pattern)["RR"] == 1.0


def test_the_same_chunk_twice_is_still_refused() -> None:
    twice = pd.concat([CHUNKS, CHUNKS.iloc[:1]])
    assert "item 'a#2' of group 'q' is in row 1 already" in refusal_of(
        nt.InputError, nt.evaluate, twice, "ndcg@10", labels=LABELS, item_to_document="#.*"
    )


def with_metadata(**metadata: str) -> SimpleNamespace:
    return SimpleNamespace(id=None, metadata=metadata, page_content="text")


HITS: dict[str, list[Any]] = {
    "pairs": [
        (with_metadata(source="a.md"), 0.9),
        (with_metadata(source="a.md"), 0.8),
        (with_metadata(source="b.md"), 0.7),
    ],
    "objects": [
        SimpleNamespace(id=1, score=0.9, meta={"source": "a.md"}),
        SimpleNamespace(id=2, score=0.8, meta={"source": "a.md"}),
        SimpleNamespace(id=3, score=0.7, meta={"source": "b.md"}),
    ],
    "dicts": [{"id": id, "metadata": {"source": name}} for id, name in ((1, "a.md"), (2, "a.md"), (3, "b.md"))],
}


@pytest.mark.parametrize("kind", HITS)
@pytest.mark.filterwarnings("ignore:.*order is the ranking")
def test_objects_are_chunks_of_documents(kind: str) -> None:
    run, of = {"q": HITS[kind]}, "meta.source" if kind == "objects" else "metadata.source"
    of_chunks = {"q": [HITS["dicts"][2]]} if kind == "dicts" else {"q": {"b.md"}}
    for labels in (of_chunks, pd.DataFrame({"group": ["q"], "item": ["b.md"], "label": [1]})):
        assert nt.evaluate(run, "RR", labels=labels, item_to_document=of)["RR"] == 0.5
    assert refusal_of(nt.InputError, nt.evaluate, run, "RR", labels={"q": {"b.md": 1}}, item=of) == (
        "group 'q', place 2: item 'a.md' of group 'q' is in place 1 already; keep one of the two, or, where these are "
        f"chunks of one document, give item_to_document='{of}' in place of item='{of}'{OR_ALLOW}"
    )
    told = refusal_of(nt.InputError, nt.evaluate, run, "RR", labels={"q": {"b.md": 1}}, item_to_document="doc")
    assert "has no doc; say where its id is, such as item_to_document='" in told


chunks = st.lists(st.tuples(st.integers(0, 5), st.integers(-8, 8)), max_size=8)


@given(st.lists(chunks, min_size=1, max_size=4), st.sampled_from(["max", "first", "sum"]))
def test_collapsing(groups: list[list[tuple[int, int]]], collapse: Any) -> None:
    offsets = np.cumsum([0, *map(len, groups)])
    ids = Keys.from_strings([f"d{document}#{at}" for of in groups for at, (document, _) in enumerate(of)])
    scores = np.array([float(score) for of in groups for _, score in of])
    rule = Documents("#.*", collapse)
    documents, n_changed = rule.of(ids, ValueError)
    assert n_changed == len(set(ids.to_list()))
    found_offsets, found, values = rule.collapsed(offsets, documents, scores, collapse)
    names = found.to_list()
    for number, of in enumerate(groups):
        scores_of: dict[str, list[float]] = {}
        for document, score in of:
            scores_of.setdefault(f"d{document}", []).append(float(score))
        low, high = found_offsets[number], found_offsets[number + 1]
        worth = {"max": max, "first": lambda several: several[0], "sum": sum}[collapse]
        expected = {name: worth(several) for name, several in scores_of.items()}
        assert list(zip(names[low:high], values[low:high].tolist(), strict=True)) == list(expected.items())
    in_ten = rule.chunks(offsets, documents, scores, n_changed)
    assert in_ten.n_documents == sum(len({document for document, _ in of}) for of in groups)
