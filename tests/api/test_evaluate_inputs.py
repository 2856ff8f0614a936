"""What ``nt.evaluate`` takes besides frames with our names: paths, other tools' objects; what it refuses or notes."""

import gzip
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import pytrec_eval
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS, Run, frame_of, joint_frame, labels_frame, write_csv, write_qrels, write_trec
from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning
from ndcg_tracker.ingest.frames import read_frame, read_label_frame
from ndcg_tracker.ingest.reading import read_labels, read_run

EXPECTED = nt.evaluate(frame_of(DENSE), "ndcg@10", labels=labels_frame()).mean["ndcg@10"]
QRELS = {group: {item: int(grade) for item, grade in items.items()} for group, items in LABELS.items()}
NOTHING_JUDGED = (
    "none of its items has a label, so every result is 0 or undefined: the run has 'a', but the labels have 'z'; do "
    "the "
    "ids match?"
)


def mean(run: object, labels: object = None, **options: Any) -> float:
    return float(nt.evaluate(run, "ndcg@10", labels=labels, **options).mean["ndcg@10"])


def refusal(run: object, labels: object = None, **options: Any) -> str:
    return refusal_of(nt.InputError, nt.evaluate, run, "ndcg@10", labels=labels, **options)


def renamed(run: Run, group: str, item: str, number: str) -> pd.DataFrame:
    rows = [(key, one, value) for key, items in run.items() for one, value in items.items()]
    return pd.DataFrame(rows, columns=[group, item, number])


def test_paths_of_runs_and_labels(tmp_path: Path) -> None:
    run, labels = write_trec(tmp_path / "dense.run", DENSE), write_qrels(tmp_path / "qrels.txt", LABELS)
    table, table_labels = (
        write_csv(tmp_path / "dense.csv", frame_of(DENSE)),
        write_csv(tmp_path / "labels.csv", labels_frame()),
    )
    packed = tmp_path / "dense.run.gz"
    packed.write_bytes(gzip.compress(Path(run).read_bytes()))
    for one in (run, Path(run), table, packed, frame_of(DENSE), DENSE):
        for other in (labels, Path(labels), table_labels, labels_frame(), QRELS):
            assert mean(one, other) == EXPECTED


def test_the_names_of_columns_hold_for_the_table_that_has_columns(tmp_path: Path) -> None:
    run = write_trec(tmp_path / "dense.run", DENSE)
    labels = renamed(LABELS, "a", "b", "c")
    assert mean(run, labels, group="a", item="b", label="c") == EXPECTED
    assert refusal(run, labels, group="a", item="b", label="c", score="d").startswith(f"{run}: a trec file has no ")


def test_a_path_to_label_qid_data_with_its_scores(tmp_path: Path) -> None:
    data, scores = tmp_path / "rank.test", tmp_path / "scores.txt"
    data.write_text("0 qid:1 1:1\n2 qid:1 1:2\n", encoding="utf-8")
    scores.write_text("0.5\n0.1\n", encoding="utf-8")
    assert mean(data, scores=scores, reader="svmlight") == pytest.approx(1 / math.log2(3))
    assert mean(data, str(data), scores=str(scores)) == pytest.approx(1 / math.log2(3))
    ids = {"1": {"doc": 1.0}}
    assert refusal(ids, data) == (
        "the labels come from a label/qid file, which identifies items by row numbers, but the run has item ids; give "
        "labels with item ids"
    )
    assert (
        refusal(ids, QRELS, scores=scores)
        == "scores= does not go with a table in memory: it is for files; leave one out"
    )
    assert (
        refusal(ids, QRELS, reader="csv")
        == "reader= does not go with a table in memory: it is for files; leave one out"
    )


def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    assert str(tmp_path / "no.run") in refusal(tmp_path / "no.run", QRELS)
    assert str(tmp_path / "no.txt") in refusal(DENSE, tmp_path / "no.txt")


def test_slices_without_a_database() -> None:
    run = {"q": {"a": 1.0}, "r": {"b": 1.0}, "s": {"a": 1.0}}
    found = nt.evaluate(run, "P@1", labels={key: {"a": 1} for key in run})
    expected = [["phone", 1, 0.0], ["tv", 1, 1.0], [None, 1, 1.0]]
    table = pd.DataFrame({"user_id": list(run), "device": ["tv", "phone", None]})
    for groups in (
        {"q": "tv", "r": "phone", "s": None},
        pd.Series(["tv", "phone", np.nan], index=list(run), dtype=object),
        table,
        {"group": list(run), "device": ["tv", "phone", None]},
    ):
        rows = found.by("device", groups)[["slice", "n_groups", "mean"]].astype(object)
        assert rows.where(rows.notna(), None).to_numpy().tolist() == expected
    assert nt.evaluate(run, "lightgbm:ndcg@1", labels={key: {"a": 1} for key in run}).by("device", table).shape == (
        3,
        6,
    )
    named = found.by("device", table.rename(columns={"user_id": "who"}), group="who")
    assert named["n_groups"].tolist() == [1, 1, 1]


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64")
def test_the_objects_of_ranx_and_what_it_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    # Compiling itself takes ranx half a minute in a new environment: the nightly run lets it.
    monkeypatch.setattr(numba.config, "DISABLE_JIT", not LONG)
    import ranx

    run, labels = ranx.Run(DENSE), ranx.Qrels(QRELS)
    assert read_frame(run).ranking.digest() == read_frame(DENSE).ranking.digest()
    assert read_label_frame(labels).digest() == read_label_frame(QRELS).digest()
    assert mean(run, labels) == EXPECTED
    frame = labels.to_dataframe()
    assert frame.columns.tolist() == ["q_id", "doc_id", "score"]
    assert mean(run.to_dataframe(), frame) == EXPECTED
    assert mean(run, labels) == pytest.approx(ranx.evaluate(labels, run, "ndcg@10", make_comparable=True))
    paths = [str(tmp_path / name) for name in ("run.json", "qrels.json")]
    for saved, path in zip((run, labels), paths, strict=True):
        text = json.dumps(saved.to_dict(), default=np.generic.item)
        if LONG:  # `save` refuses its own ids where it is not compiled
            saved.save(path)
            assert json.loads(Path(path).read_text(encoding="utf-8")) == json.loads(text)
        else:
            Path(path).write_text(text, encoding="utf-8")
    assert read_run(paths[0]).ranking.digest() == read_frame(DENSE).ranking.digest()
    assert read_labels(paths[1]).digest() == read_label_frame(QRELS).digest()
    assert mean(*paths) == EXPECTED


def test_the_objects_of_ir_measures() -> None:
    run = [ir_measures.ScoredDoc(group, item, score) for group, items in DENSE.items() for item, score in items.items()]
    labels = [ir_measures.Qrel(group, item, grade) for group, items in QRELS.items() for item, grade in items.items()]
    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], labels, run)[ir_measures.nDCG @ 10]
    assert mean(run, labels) == mean(iter(run), iter(labels)) == EXPECTED == pytest.approx(theirs)
    assert mean(pd.DataFrame(run), pd.DataFrame(labels)) == EXPECTED


def test_lists_of_each_query_and_sets_of_relevant_items() -> None:
    lists = {query: list(items) for query, items in DENSE.items()}
    relevant = {query: {item for item, grade in items.items() if grade} for query, items in LABELS.items()}
    binary = {query: dict.fromkeys(items, 1) for query, items in relevant.items()}
    told = "the run: its lists have no scores, so their order is the ranking, the best item first"
    with pytest.warns(NdcgTrackerWarning) as caught:
        assert mean(lists, relevant) == mean(DENSE, binary)
    assert [str(one.message) for one in caught] == [told]
    pairs = {query: list(items.items()) for query, items in DENSE.items()}
    assert mean(pairs, labels_frame()) == mean(pairs, LABELS) == EXPECTED


def test_the_dicts_of_pytrec_eval() -> None:
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg_cut_10"}).evaluate(DENSE)
    ours = nt.evaluate(DENSE, "ndcg@10", labels=QRELS).per_group["ndcg@10"]
    assert {group: ours[group] for group in theirs} == pytest.approx(
        {group: values["ndcg_cut_10"] for group, values in theirs.items()}
    )


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, lambda frame: frame.to_dict("list")])
@pytest.mark.parametrize(
    ("group", "item", "label"),
    [
        ("qid", "docno", "label"),
        ("qid", "docno", "rel"),
        ("query_id", "doc_id", "relevance"),
        ("query-id", "corpus-id", "score"),
        ("q_id", "doc_id", "score"),
        ("user_id", "item_id", "label"),
        ("query", "docid", "rating"),
    ],
)
def test_frames_of_conventional_names(kind: Any, group: str, item: str, label: str) -> None:
    if item == "docid":
        labels = kind(renamed(LABELS, group, item, label))
        assert mean(DENSE, labels) == EXPECTED
        return
    assert mean(kind(renamed(DENSE, group, item, "score")), kind(renamed(LABELS, group, item, label))) == EXPECTED


def test_ranks_of_rectools_and_ms_marco_stand_for_scores() -> None:
    ranks: Run = {group: {item: at for at, item in enumerate(items, start=1)} for group, items in DENSE.items()}
    for group, item in (("user_id", "item_id"), ("qid", "pid")):
        assert mean(renamed(ranks, group, item, "rank"), QRELS) == EXPECTED


RUN_WITHOUT_ITEMS = {"qid": ["q", "q", "q"], "score": [3.0, 2.0, 1.0]}
LABELS_WITHOUT_ITEMS = {"qid": ["q", "q", "q"], "label": [3, 1, 0]}
NO_ITEM = (
    "name the item column with item=; row numbers can identify items only if one table holds both scores and labels"
)


def test_a_table_of_ranks_without_header(tmp_path: Path) -> None:
    run, labels = tmp_path / "top.tsv", {"1048585": {"7187158": 1, "7187157": 0}}
    run.write_text("1048585\t7187157\t1\n1048585\t7187158\t2\n", encoding="utf-8")
    for columns in ("qid,pid,rank", ["qid", "pid", "rank"]):
        found = nt.evaluate(run, "RR", labels=labels, columns=columns)
        assert found.mean["RR"] == 0.5
    with pytest.raises(nt.InputError) as caught:
        nt.evaluate(run, "RR", labels=labels)
    assert "if this line is a row, name the columns with columns='NAME,NAME,...'" in str(caught.value)
    with pytest.raises(nt.InputError) as caught:
        nt.evaluate({"q": {"a": 1.0}}, "RR", labels={"q": {"a": 1}}, columns="qid,pid,rank")
    assert str(caught.value) == "columns= does not go with a table in memory: it is for files; leave one out"
    with pytest.raises(nt.InputError) as caught:
        nt.evaluate(run, "RR", labels=labels, columns=["qid", ""])
    assert str(caught.value) == "columns='qid,' has an empty name; write names like qid,pid,rank"


def test_two_tables_without_item_ids_are_refused(tmp_path: Path) -> None:
    said = f"no column 'item'; the columns are 'qid', 'score': {NO_ITEM}"
    labels = {**LABELS_WITHOUT_ITEMS, "docno": ["c", "b", "a"]}
    assert refusal(RUN_WITHOUT_ITEMS, labels) == said
    of_labels = f"labels: no column 'item'; the columns are 'qid', 'label': {NO_ITEM}"
    assert refusal(RUN_WITHOUT_ITEMS, LABELS_WITHOUT_ITEMS) == of_labels
    path = write_csv(tmp_path / "run.csv", RUN_WITHOUT_ITEMS)
    assert refusal(path, labels) == f"{path}:1: {said}"
    assert refusal(RUN_WITHOUT_ITEMS, labels, item=False) == (
        "labels= does not go with items that are row numbers: those of two tables differ; name the column with item="
    )
    one = {**RUN_WITHOUT_ITEMS, "label": [3, 1, 0]}
    assert mean(one) == 1.0


def test_label_qid_data_meets_no_labels_of_another_table(tmp_path: Path) -> None:
    data, scores = tmp_path / "rank.test", tmp_path / "scores.txt"
    data.write_text("3 qid:q 1:1\n0 qid:q 1:2\n", encoding="utf-8")
    scores.write_text("1\n2\n", encoding="utf-8")
    assert mean(data, scores=scores) == pytest.approx(0.6309297535714574)
    said = (
        "the run identifies items by row numbers, but row numbers can identify items only if one table holds both "
        "scores and labels; give a run with item ids, or leave out labels="
    )
    other = tmp_path / "rank.train"
    other.write_text("3 qid:q 1:1\n0 qid:q 1:2\n1 qid:q 1:2\n", encoding="utf-8")
    for labels in ({"q": {"1": 0, "2": 3}}, other):
        assert refusal(data, labels, scores=scores) == said
    with nt.Tracker(tmp_path / "runs.db") as tracker, pytest.raises(nt.InputError) as caught:
        tracker.ingest(data, scores=scores, labels={"q": {"1": 0, "2": 3}})
    assert str(caught.value) == said


def test_null_scores_is_one_of_two_words_and_for_frames(tmp_path: Path) -> None:
    frame = {"group": ["q"], "score": [1.0], "label": [1]}
    assert refusal(frame, null_scores="zero") == (
        "null_scores='zero' is unknown; give null_scores='error' or null_scores='not_retrieved'"
    )
    path = write_csv(tmp_path / "run.csv", frame)
    assert refusal(path, null_scores="not_retrieved") == (
        "null_scores='not_retrieved' needs a table in memory: in a file null means not retrieved, NaN is an error; "
        "give a table in memory, or leave out null_scores='not_retrieved'"
    )


RUN_FRAME = pd.DataFrame({"qid": [1, 1, 2], "docno": [11, 12, 11], "score": [0.9, 0.8, 0.6]})
LABEL_FRAME = pd.DataFrame({"qid": [1, 1, 2], "docno": [11, 12, 11], "label": [0, 1, 3]})


@pytest.mark.parametrize("orient", ["dict", "index"])
def test_a_frame_as_nested_dict_is_no_run(orient: Any, tmp_path: Path) -> None:
    said = "this is a table written as nested objects, by column or by row, not {group: {item: number}}; "
    advice = "give the frame itself, or its to_dict('list')"
    assert refusal(RUN_FRAME.to_dict(orient), LABEL_FRAME) == said + advice
    assert refusal(RUN_FRAME, LABEL_FRAME.to_dict(orient)) == f"labels: {said}{advice}"
    assert mean(RUN_FRAME.to_dict("list"), LABEL_FRAME.to_dict("list")) == mean(RUN_FRAME, LABEL_FRAME)
    path = tmp_path / "run.json"
    RUN_FRAME.to_json(path, orient="columns" if orient == "dict" else "index")
    assert refusal(path, LABEL_FRAME) == f"{path}: {said}write it with to_json(orient='records')"
    RUN_FRAME.to_json(path, orient="records")
    assert mean(path, LABEL_FRAME) == mean(RUN_FRAME, LABEL_FRAME)


def test_columns_without_an_order_of_their_own_are_refused() -> None:
    columns = {"qid": ["1"] * 3, "docno": {"a", "b", "c"}, "score": [1, 2, 3]}
    assert refusal(columns, QRELS) == "column 'docno' is a set, which has no order; give a list"
    by_score = RUN_FRAME["score"].sort_values()
    series = {"qid": RUN_FRAME["qid"], "docno": RUN_FRAME["docno"], "score": by_score}
    said = "the columns are pandas Series with different indexes; give a DataFrame, which aligns them"
    assert refusal(series, LABEL_FRAME) == said
    assert mean(dict(RUN_FRAME.items()), LABEL_FRAME) == mean(RUN_FRAME, LABEL_FRAME)


def test_run_and_labels_that_look_exchanged_are_noted() -> None:
    run, labels = {"q": {"a": 0.9, "b": 0.8}}, {"q": {"a": 0, "b": 1}}
    assert nt.evaluate(run, "ndcg@10", labels=labels).notes == ()
    said = "its scores are whole numbers and the labels are not: are the run and the labels swapped?"
    with pytest.warns(Warning, match=f"^the run: {re.escape(said)}$"):
        assert nt.evaluate(labels, "ndcg@10", labels=run).notes == (said,)
    ranked = {"qid": ["q", "q"], "pid": ["a", "b"], "rank": [1, 2]}  # whole numbers that nobody gave
    assert nt.evaluate(ranked, "ndcg@10", labels=run).notes == ()


def test_items_without_score_are_noted_where_the_labels_stand_apart(tmp_path: Path) -> None:
    frame = pa.table({"qid": ["1"] * 4, "docno": [*"abcd"], "score": [None, None, None, 1.0]})
    labels = {"1": {"a": 0, "b": 0, "c": 0, "d": 3}}
    said = "3 rows have no score, so their items count as not retrieved; if a model failed on them, fix the scores"
    path = tmp_path / "run.parquet"
    pq.write_table(frame, path)
    for run in (frame, path):
        with pytest.warns(Warning, match=f"^the run: {re.escape(said)}$"):
            assert nt.evaluate(run, "ndcg@10", labels=labels).notes == (said,)
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        assert tracker.ingest(path, labels=labels).notes == (said,)
    one = frame.append_column("label", [[0, 0, 0, 3]])  # judged and not retrieved: what such a table is for
    assert nt.evaluate(one, "ndcg@10").notes == ()


def test_an_item_id_that_only_a_convention_finds_is_told_once_and_can_be_left_out() -> None:
    frame = {"qid": ["q", "q"], "docno": ["b", "a"], "score": [2.0, 1.0], "rel": [0, 1]}
    said = (
        "column 'docno' is read as the items, by convention; to confirm this, give item='docno', or "
        "item=False to identify items by row"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        expected = mean(frame, group="qid", label="rel")
    assert [one.filename for one in caught] == [__file__]
    assert mean(frame) == mean(frame, group="qid", label="rel", item="docno") == expected
    assert mean(frame, group="qid", label="rel", item=False) == expected
    call = f"nt.evaluate({frame}, 'ndcg@10', group='qid', label='rel')"
    code = f"import ndcg_tracker as nt\nnt.evaluate({frame}, 'ndcg')\nfor _ in range(3):\n    {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("is read as the items, by convention") == 1


def test_no_group_in_common_is_an_error() -> None:
    wrong: Run = {group.upper(): items for group, items in LABELS.items()}
    assert refusal(DENSE, wrong) == (
        "no group of the run has labels: the run has 'q1', 'q2', 'q3' and others, the labels have 'Q1', 'Q2', 'Q3' and "
        "others; give labels of the same groups, with ids written the same way; if that is meant, give "
        "allow='no-overlap'"
    )
    apart = {"group": ["q", "r"], "item": ["a", "a"], "score": [1.0, None], "label": [None, 1]}
    assert refusal(apart).startswith("no group of the run has labels: the run has 'q', the labels have 'r'; give ")


def test_groups_in_common_and_no_labelled_item_is_noted() -> None:
    other = {"q1": {"z": 1}, "q2": {"y": 2}}
    with pytest.warns(UserWarning, match=f"^the run: {NOTHING_JUDGED[:40]}") as caught:
        found = nt.evaluate(DENSE, "ndcg@10", labels=other)
    assert [one.filename for one in caught] == [__file__]
    assert found.notes == (NOTHING_JUDGED,)
    assert found.mean["ndcg@10"] == 0.0
    assert nt.evaluate(joint_frame(BM25, LABELS), "ndcg@10").notes == ()


def test_names_of_columns_are_text() -> None:
    assert refusal(frame_of(BM25), labels_frame(), group=5) == (
        "group= is the name of a column, and 5 is not text; give its name"
    )


def test_group_sizes_are_refused() -> None:
    frame = {"group": np.array([2, 1]), "score": [1.0, 2.0, 3.0], "label": [1, 0, 1]}
    assert refusal(frame).startswith("column 'group' holds the sizes of 2 groups, which add up to the 3 rows; give ")


def test_our_own_name_settles_what_is_ambiguous_where_it_is_given() -> None:
    both = {"group": ["q", "q"], "qid": ["a", "b"], "item": [1, 2], "score": [1, 2], "label": [1, 0]}
    assert refusal(both) == ("the group column could be 'group' or 'qid'; choose with group='group' or group='qid'")
    assert (mean(both, group="group"), mean(both, group="qid")) == (pytest.approx(0.6309, abs=1e-4), 0.5)
    doubled = {"qid": ["q", "q"], "docno": [1, 2], "score": [1, 2], "label": [1, 0], "relevance": [0, 1]}
    assert (mean(doubled, label="label"), mean(doubled, label="relevance")) == (pytest.approx(0.6309, abs=1e-4), 1.0)


def test_every_item_may_count_as_retrieved() -> None:
    result = nt.evaluate({"q": {"a": 1.0, "b": 0.5}}, "NumRet(rel=any)", labels={"q": {"a": 0.5}})
    assert result.mean.to_list() == [2.0]
