"""Gold spans as labels, from which the labels of chunks of any size follow, against arithmetic by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings.ranking import span_of
from ndcg_tracker.runs.check import check_database

Lists = dict[str, dict[str, float]]
METRICS = ["ndcg@10", "R@2", "RR", "Success@1"]
GOLD = "group,document,start,end,label\nq,guide,0,100,1\nq,guide,300,340,2\nq,guide,350,390,1\nr,faq#2,10,20,1\n"


def run(**lists: str) -> Lists:
    return {group: {item: -float(rank) for rank, item in enumerate(items.split())} for group, items in lists.items()}


def values(tracker: nt.Tracker, name: str) -> dict[tuple[str, str], float]:
    found = tracker.sql(f"SELECT group_key, metric, value FROM group_history WHERE run = '{name}'")
    return {(group, metric): value for group, metric, value in found.itertuples(index=False)}


def dcg(*grades: float) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


@pytest.mark.both_engines
def test_a_span_counts_once_at_the_first_chunk_that_overlaps_it(
    tracker: nt.Tracker, tmp_path: Path, database_url: str
) -> None:
    path = tmp_path / "spans.csv"
    path.write_text(GOLD)
    added = tracker.add_labels(str(path))
    assert (added.version, added.is_new) == (1, True)
    assert not tracker.add_labels(str(path)).is_new
    # 30-130 has 70 of the 100 of the first span, 0-60 counts no more; 300-500 has two spans and counts as the better
    tracker.ingest(run(q="guide#30-130 guide#0-60 guide#300-500", r="faq#2#0-50"), name="a", metrics=METRICS)
    # the other span of 300-500 counts at the next chunk that has it; 340-360 has a quarter of it and half of itself
    tracker.ingest(
        run(q="guide#300-500 guide#340-360 guide#40-300", r="faq#0-50 faq#2#19-40"), name="b", metrics=METRICS
    )
    ideal = dcg(2, 1, 1)
    assert values(tracker, "a") == pytest.approx({
        ("q", "ndcg@10"): dcg(1, 0, 2) / ideal, ("q", "R@2"): 1 / 3, ("q", "RR"): 1.0, ("q", "Success@1"): 1.0,
        ("r", "ndcg@10"): 1.0, ("r", "R@2"): 1.0, ("r", "RR"): 1.0, ("r", "Success@1"): 1.0,
    }, abs=1e-12)  # fmt: skip
    assert values(tracker, "b") == pytest.approx({
        ("q", "ndcg@10"): dcg(2, 1, 1) / ideal, ("q", "R@2"): 2 / 3, ("q", "RR"): 1.0, ("q", "Success@1"): 1.0,
        ("r", "ndcg@10"): 0.0, ("r", "R@2"): 0.0, ("r", "RR"): 0.0, ("r", "Success@1"): 0.0,
    }, abs=1e-12)  # fmt: skip
    result = tracker.compare("a", "b")
    assert [metric.verdict for metric in result.comparisons[0].metrics] != ["not_comparable"] * 4
    told = "1 gold span of a is in chunks that count for another gold span of the query, so R and ndcg of a are too low"
    assert [note for note in result.notes if "gold span" in note] == [
        f"{told}: write spans that belong together as one"
    ]
    assert check_database(database_url).damage == []


def test_a_chunk_that_is_a_gold_span_counts_only_if_none_above_has_it(tracker: nt.Tracker) -> None:
    gold = {"group": ["q"], "document": ["d"], "start": [10], "end": [30]}
    tracker.add_labels(gold)
    tracker.ingest(run(q="x d#0-40 d#10-30"), name="a", metrics=["RR", "ndcg@10", "P@3"])
    assert values(tracker, "a") == pytest.approx(
        {("q", "RR"): 1 / 2, ("q", "ndcg@10"): 1 / math.log2(3), ("q", "P@3"): 1 / 3}
    )


def test_a_span_that_is_longer_than_all_chunks_is_found(tracker: nt.Tracker) -> None:
    tracker.add_labels({"qid": ["q"], "document": ["d"], "start": [100], "end": [1000], "label": [1]}, group="qid")
    tracker.ingest(run(q="d#0-190 d#190-290 d#290-390"), name="a", metrics=["RR"])
    tracker.ingest(run(q="d#0-149 d#0-2000"), name="b", metrics=["RR"])
    assert values(tracker, "a") == {("q", "RR"): 1 / 2}  # of 0-190 less than half is in the span
    assert values(tracker, "b") == {("q", "RR"): 1 / 2}


def columns_of(lists: Lists) -> dict[str, list[object]]:
    """Return a run with the columns ``document``, ``start`` and ``end`` in place of items."""
    rows = [(group, *(span_of(item) or ()), score) for group, of in lists.items() for item, score in of.items()]
    return dict(zip(("group", "document", "start", "end", "score"), map(list, zip(*rows, strict=True)), strict=True))


LISTS = run(q="guide#30-130 guide#0-60 faq#2#300-500", r="faq#2#0-50")
WRITTEN: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "run.csv": lambda frame, path: frame.to_csv(path, index=False),
    "run.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "run.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "run.parquet": lambda frame, path: frame.to_parquet(path, index=False),
}
HELD: dict[str, Callable[[pd.DataFrame], object]] = {
    "pandas": lambda frame: frame,
    "dict": lambda frame: frame.to_dict("list"),
    "Arrow": pa.table,
    "dicts": lambda frame: frame.to_dict("records"),
}


@pytest.mark.parametrize("kind", [*WRITTEN, *HELD])
def test_a_run_may_have_spans_as_columns(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame(columns_of(LISTS))
    gold = pd.DataFrame({"group": ["q", "q", "r"], "document": ["guide", "guide", "faq#2"], "start": [0, 300, 10]})
    gold = gold.assign(end=[100, 340, 20], label=[1, 2, 1])
    given: list[object] = []
    for table in (frame, gold):
        path = tmp_path / ("gold" if table is gold else "run") / kind
        path.parent.mkdir()
        given.append(str(path) if kind in WRITTEN else HELD[kind](table))
        if kind in WRITTEN:
            WRITTEN[kind](table, path)
    expected = nt.evaluate(LISTS, METRICS, labels=gold.to_dict("list")).per_group
    assert expected.loc["q", "R@2"] == 0.5
    labels = gold if kind == "dicts" else given[1]
    pd.testing.assert_frame_equal(nt.evaluate(given[0], METRICS, labels=labels).per_group, expected, rtol=0, atol=1e-12)


def test_a_run_with_spans_is_the_run_with_their_ids(tracker: nt.Tracker, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(f"{','.join(columns_of(LISTS))}\n" + "".join(
        ",".join(map(str, row)) + "\n" for row in zip(*columns_of(LISTS).values(), strict=True)
    ))  # fmt: skip
    tracker.ingest(LISTS, name="ids", labels={"q": {"guide#0-60": 1}}, metrics=["RR"])
    added = tracker.ingest(path, name="columns", metrics=["RR"])
    assert any("'ids'" in note for note in added.notes)
    shown = tracker.sql("SELECT item_key FROM items WHERE run = 'columns' ORDER BY group_key, rank")
    assert shown["item_key"].tolist() == [item for of in LISTS.values() for item in of]
    told = refusal_of(InputError, tracker.ingest, path, name="documents", item="document", metrics=["RR"])
    assert "item guide" in told.replace("'", ""), "a column that is named is the items"


def cut(item: str, size: int, step: int) -> list[tuple[str, int, int]]:
    return [(f"{item}#{start}-{start + size}", start, start + size) for start in range(0, 3000 - size + 1, step)]


@pytest.mark.parametrize("is_graded", [False, True])
@pytest.mark.nightly(but=2)
def test_two_chunk_sizes_each_have_their_own_numbers(tracker: nt.Tracker, is_graded: bool) -> None:
    """The spans are far apart, so that no chunk has two; each cut's own labels are those of its chunk with the span."""
    chance = random.Random(int(is_graded))
    gold, lists, own = [], dict[str, Lists](), dict[str, Lists]()
    for number in range(60):
        group, documents = f"q{number}", [f"d{number}-{place}" for place in range(4)]
        spans = [(of, start, start + 40, chance.randint(1, 3)) for of in documents[:3] for start in (205, 1010, 2815)]
        spans = [span for span in spans if chance.random() < 0.5] or spans[:1]
        gold += [(group, *span) for span in spans]
        for name, size in (("small", 200), ("large", 500)):
            chunks = [chunk for document in documents for chunk in cut(document, size, size)]
            first = chance.sample(chunks, 8)
            lists.setdefault(name, {})[group] = {item: -float(rank) for rank, (item, _, _) in enumerate(first)}
            own.setdefault(name, {})[group] = {
                max(
                    (item for item in chunks if item[0].startswith(f"{document}#")),
                    key=lambda chunk: min(chunk[2], end) - max(chunk[1], start),
                )[0]: grade
                for document, start, end, grade in spans
            }
            assert len(own[name][group]) == len(spans)
    names = ("group", "document", "start", "end", "label")
    table = dict(zip(names, map(list, zip(*gold, strict=True)), strict=True))
    if not is_graded:
        del table["label"]
        own = {name: {group: dict.fromkeys(of, 1.0) for group, of in labels.items()} for name, labels in own.items()}
    tracker.add_labels(table, dataset="spans")
    for name in lists:
        tracker.ingest(lists[name], name=name, labels=own[name], dataset=name, metrics=METRICS)
        tracker.ingest(columns_of(lists[name]), name=f"{name} by spans", dataset="spans", metrics=METRICS)
        assert values(tracker, f"{name} by spans") == pytest.approx(values(tracker, name), abs=1e-12)
    result = tracker.gate("large by spans", baseline="small by spans", dataset="spans", metric="R@2", margin=0.02)
    assert result.gated.decision.barred is None
    renamed = {
        group: {f"v2-{item}" if item.split("#")[0][-1] in "02" else item: score for item, score in of.items()}
        for group, of in lists["large"].items()
    }
    tracker.ingest(renamed, name="renamed", dataset="spans", metrics=METRICS)
    result = tracker.gate("renamed", baseline="large by spans", dataset="spans", metric="R@2", margin=0.02)
    assert result.decision == "inconclusive"
    assert any(note.endswith("labels carry --pattern '^v2-' --dataset spans") for note in result.notes)
    tracker.carry_labels(pattern="^v2-", dataset="spans", rescore=True)
    assert values(tracker, "renamed") == pytest.approx(values(tracker, "large"), abs=1e-12)


def test_spans_join_other_labels_and_follow_renamed_documents(tracker: nt.Tracker) -> None:
    tracker.ingest(run(q="a d#0-50"), name="a", labels={"q": {"a": 1}}, metrics=["R@2"])
    gold = {"group": ["q"], "document": ["d"], "start": [10], "end": [30]}
    assert tracker.add_labels(gold, extend=True, rescore=True).version == 2
    assert tracker.sql("SELECT mean FROM run_summary ORDER BY label_set_version")["mean"].tolist() == [1.0, 1.0]
    tracker.ingest(run(q="x v2-d#0-50"), name="b", metrics=["R@2"])
    tracker.carry_labels(pattern="^v2-", rescore=True)
    assert tracker.add_labels({"q": {"e#0-10": 1}}, extend=True, rescore=True).version == 4
    found = tracker.sql("SELECT run, mean FROM run_summary WHERE label_set_version = 4 ORDER BY run")
    assert found["mean"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert tracker.add_labels(gold, replace=True).version == 5
    tracker.rescore()
    found = tracker.sql("SELECT run, mean FROM run_summary WHERE label_set_version = 5 ORDER BY run")
    assert found["mean"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("q,d,30,10,1", "30-10 is not a span: two whole numbers, the second larger; give where it starts, and where "
                        "the text after it starts"),
        ("q,d,1.5,10,1", "1.5-10 is not a span: two whole numbers, the second larger; give where it starts, and where "
                         "the text after it starts"),
        ("q,,1,10,1", "the document id is empty; every row needs one"),
        ("q,d,1,10,much", "label 'much' is not a number; write it like 0.5, -2 or 1e-3, or say what words mean with "
                          "grades='WORD=NUMBER,...'"),
    ],
)  # fmt: skip
def test_a_row_that_is_no_span(tracker: nt.Tracker, tmp_path: Path, row: str, told: str) -> None:
    path = tmp_path / "spans.csv"
    path.write_text(f"group,document,start,end,label\nq,d,0,5,1\n{row}\n")
    assert refusal_of(InputError, tracker.add_labels, str(path)) == f"{path}:3: {told}"
    path.write_text(f"group,document,start,end,score\nq,d,0,5,1\n{row}\n")
    told = told.partition(", or say what words mean")[0].replace("label", "score")
    assert refusal_of(InputError, nt.evaluate, str(path), "RR", labels={"q": {"d#0-5": 1}}) == f"{path}:3: {told}"
