"""Column names by convention: known or refused with the candidates, never guessed, alike in frames and files."""

from __future__ import annotations

import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_outcomes import listed, run_parts
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import CONVENTIONS, LABEL_TABLE, RUN_APART, RUN_TABLE, Columns, ColumnWarning, Wanted
from ndcg_tracker.ingest.frames import read_frame, read_label_frame
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run

PLAIN = Columns()


def names(header: list[str], wanted: Wanted = RUN_TABLE, columns: Columns = PLAIN) -> dict[str, str]:
    return columns.names(header, wanted, InputError)


def refusal(header: list[str], wanted: Wanted = RUN_TABLE, columns: Columns = PLAIN) -> str:
    return refusal_of(InputError, names, header, wanted, columns)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("group item score label weight", {"group": "group", "item": "item", "label": "label", "weight": "weight"}),
        ("qid query docid docno rank score", {"group": "qid", "item": "docno", "rank": "rank"}),
        ("qid docno score label", {"group": "qid", "item": "docno", "label": "label"}),
        ("qid docno score rel", {"group": "qid", "item": "docno", "label": "rel"}),
        ("query_id doc_id score relevance iteration", {"group": "query_id", "item": "doc_id", "label": "relevance"}),
        ("q_id doc_id score", {"group": "q_id", "item": "doc_id"}),
        ("query-id corpus-id score", {"group": "query-id", "item": "corpus-id"}),
        ("user_id item_id score rank", {"group": "user_id", "item": "item_id", "rank": "rank"}),
        ("query docid rating score", {"group": "query", "item": "docid", "label": "rating"}),
    ],
)
def test_the_runs_of_other_tools(header: str, expected: dict[str, str]) -> None:
    assert names(header.split()) == {**expected, "score": "score"}


def test_columns_that_are_called_as_ours_in_capitals_are_suggested() -> None:
    assert refusal(["Group", "Item", "Score"], RUN_APART).endswith(
        "name the group column with group='Group', the item column with item='Item' and the score column with "
        "score='Score'"
    )
    of_recbole = ["user_id:token", "item_id:token", "score:float"]
    assert refusal(of_recbole, RUN_APART).endswith("name the score column with score='score:float'")


@pytest.mark.parametrize("header", ["user_id item_id rank", "qid pid rank"])
def test_ranks_stand_for_scores_only_where_a_convention_has_them_so(header: str) -> None:
    found = names(header.split())
    assert found["score"] == "rank"
    assert PLAIN.are_ranks(found)
    assert not PLAIN.are_ranks(names([*header.split(), "score"]))


@pytest.mark.parametrize("header", ["group item rank", "qid docno rank", "query_id doc_id rank", "user_id doc_id rank"])
def test_ranks_elsewhere_are_no_scores(header: str) -> None:
    assert refusal(header.split()).startswith("no column 'score'; the columns are ")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("group item label", ("group", "item", "label")),
        ("qid docno label iteration", ("qid", "docno", "label")),
        ("qid docno rel", ("qid", "docno", "rel")),
        ("query_id doc_id relevance iteration", ("query_id", "doc_id", "relevance")),
        ("q_id doc_id score", ("q_id", "doc_id", "score")),
        ("query-id corpus-id score", ("query-id", "corpus-id", "score")),
        ("query docid rating", ("query", "docid", "rating")),
        (
            "user_id:token item_id:token rating:float timestamp:float",
            ("user_id:token", "item_id:token", "rating:float"),
        ),
        ("user_id:token item_id:token label:float", ("user_id:token", "item_id:token", "label:float")),
    ],
)
def test_the_labels_of_other_tools(header: str, expected: tuple[str, str, str]) -> None:
    assert names(header.split(), LABEL_TABLE) == dict(zip(("group", "item", "label"), expected, strict=True))


INTERACTIONS = "every row is read as a relevant item, with label 1, as RecTools reads interactions"
NO_LABEL = f"{INTERACTIONS}; column 'weight' is not read as the label; to read it as the labels, give label='weight'"


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("user_id item_id weight datetime", NO_LABEL),
        ("user_id item_id weight price", NO_LABEL),
        ("user_id item_id datetime", f"{INTERACTIONS}; if labels differ, add a column 'label'"),
        ("user_id item_id", f"{INTERACTIONS}; if labels differ, add a column 'label'"),
    ],
)
def test_every_interaction_is_a_relevant_item(header: str, told: str) -> None:
    with pytest.warns(ColumnWarning, match=f"^{re.escape(told)}$"):
        assert names(header.split(), LABEL_TABLE) == {"group": "user_id", "item": "item_id"}


@pytest.mark.parametrize(
    "header",
    [
        "user_id item_id price",
        "user_id item_id weight rating",
        "qid docno weight",
        "group item weight",
    ],
)
def test_no_other_table_is_read_as_interactions(header: str) -> None:
    assert refusal(header.split(), LABEL_TABLE).startswith("no column ")


def test_interactions_are_read_alike_from_every_format(tmp_path: Path) -> None:
    table = {"user_id": ["u", "u", "v"], "item_id": ["a", "b", "a"], "weight": [3.0, 0.0, 0.5]}
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "labels.csv", index=False)
    frame.to_csv(tmp_path / "labels.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "labels.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "labels.parquet")
    lists = []
    for held in (frame, table, *(tmp_path / f"labels.{name}" for name in ("csv", "tsv", "jsonl", "parquet"))):
        with pytest.warns(ColumnWarning, match=f"^{re.escape(NO_LABEL)}") as told:
            lists.append(read_labels(str(held)) if isinstance(held, Path) else read_label_frame(held))
        assert len(told) == 1
    for labels in lists:
        assert labels.group_keys.to_list() == ["u", "v"]
        assert labels.item_keys.to_list() == ["a", "b", "a"]
        assert labels.grades.tolist() == [1.0, 1.0, 1.0]
    named = read_labels(str(tmp_path / "labels.jsonl"), columns=Columns(label="weight"))
    assert named.grades.tolist() == [3.0, 0.0, 0.5]


def test_the_weight_of_an_interaction_may_be_named_as_its_label() -> None:
    header = ["user_id", "item_id", "weight"]
    assert names(header, LABEL_TABLE, Columns(label="weight"))["label"] == "weight"
    assert names([*header, "label"], LABEL_TABLE)["label"] == "label"


def test_a_score_is_no_label_where_no_convention_says_so() -> None:
    found = refusal(["qid", "docno", "score"], LABEL_TABLE)
    assert found.startswith("no column 'label'; the columns are ")
    assert found.endswith("with label=; scores without labels are a run: are the run and the labels swapped?")
    for header in (["qid", "docno", "position"], ["qid", "docno", "prediction"]):  # the label column was named
        found = refusal(header, LABEL_TABLE, Columns(label="grade"))
        assert found.endswith("with label=; scores without labels are a run: are the run and the labels swapped?")
    found = refusal(["qid", "docno", "score", "relevance"], LABEL_TABLE, Columns(label="grade"))
    assert found.endswith(": name the label column with label='relevance'")
    assert refusal(["qid", "docno"], LABEL_TABLE).endswith("; if each row is a relevant item, give label='=1'")
    for header in (["qid", "docno", "label"], ["group", "item", "relevance"], ["query", "docid", "rating"]):
        told = "; labels without scores are not a run: are the run and the labels swapped?"
        assert refusal(header, RUN_APART).endswith(told)
    assert "label" not in names(["query-id", "corpus-id", "score"])


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("qid user_id item_id score", "the group column could be 'qid' or 'user_id'; choose with group='qid' or "),
        ("qid docno pid score", "the item column could be 'docno' or 'pid'; choose with item='docno' or item='pid'"),
        (
            "qid docno score rel relevance",
            "the label column could be 'rel' or 'relevance'; choose with label='rel' or label='relevance'",
        ),
        (
            "user_id item_id score weight",
            "column 'weight' could hold labels or weights; choose with label='weight' or weight='weight'",
        ),
    ],
)
def test_ambiguous_tables_are_refused_with_the_candidates(header: str, message: str) -> None:
    assert refusal(header.split()).startswith(message)


def test_what_was_ambiguous_can_be_said() -> None:
    header = ["user_id", "item_id", "score", "weight"]
    assert names(header, columns=Columns(weight="weight"))["weight"] == "weight"
    found = names(header, columns=Columns(label="weight"))
    assert (found["label"], "weight" in found) == ("weight", False)
    assert names(header, RUN_APART)["weight"] == "weight"
    assert names(["qid", "docno", "pid", "score"], columns=Columns(item="pid"))["item"] == "pid"


@pytest.mark.parametrize(
    ("role", "own", "other"),
    [
        ("group", "group", "qid"),
        ("group", "group", "user_id"),
        ("item", "item", "docno"),
        ("label", "label", "relevance"),
        ("label", "label", "rel"),
    ],
)
@pytest.mark.parametrize("wanted", [RUN_TABLE, LABEL_TABLE])
def test_our_own_name_beside_a_convention_s_is_ambiguous_until_one_is_named(
    role: str, own: str, other: str, wanted: Wanted
) -> None:
    header = sorted({"group", "item", "score", "label", other})
    assert refusal(header, wanted) == (
        f"the {role} column could be {own!r} or {other!r}; choose with {role}={own!r} or {role}={other!r}"
    )
    for name in (own, other):
        assert names(header, wanted, Columns(**{role: name}))[role] == name


def test_what_is_not_wanted_or_has_another_role_makes_nothing_ambiguous() -> None:
    header = ["group", "item", "score", "label", "relevance"]
    assert names(header, RUN_APART) == {role: role for role in ("group", "item", "score")}
    assert names(["group", "qid", "score", "label"], columns=Columns(item="qid"))["group"] == "group"
    assert names(["group", "item", "score", "rank", "query"])["score"] == "score"
    assert names(["query-id", "corpus-id", "score", "label"], LABEL_TABLE)["label"] == "label"


TWO_GROUPS = {"group": [1, 1], "qid": [1, 2], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
TWO_GROUPS_IN_LISTS = {
    "group": [1, 2],
    "qid": [3, 4],
    "item": [["a", "b"], ["a"]],
    "score": [[2.0, 1.0], [1.0]],
    "label": [[0, 1], [1]],
}


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("table", [TWO_GROUPS, TWO_GROUPS_IN_LISTS], ids=["rows", "lists"])
def test_ambiguous_columns_are_refused_in_files_frames_and_lists(
    kind: str, table: dict[str, Any], tmp_path: Path
) -> None:
    message = "the group column could be 'group' or 'qid'; choose with group='group' or group='qid'"
    path = tmp_path / f"run.{kind}"
    path.write_bytes(written(kind, table) if kind in ("jsonl", "parquet") or table is TWO_GROUPS else b"")
    reads = [lambda: read_frame(table), lambda: read_frame(pd.DataFrame(table)), lambda: read_label_frame(table)]
    if path.stat().st_size:
        reads += [lambda: read_run(str(path)), lambda: read_labels(str(path))]
        for one, n_groups in (("group", len(set(table["group"]))), ("qid", 2)):
            assert read_run(str(path), columns=Columns(group=one)).ranking.n_groups == n_groups
    for read in reads:
        with pytest.raises(InputError) as caught:
            read()
        assert message in str(caught.value)


def test_a_name_that_was_given_stands_for_nothing_else() -> None:
    header = ["query_id", "doc_id", "score", "label"]
    assert names(header, columns=Columns(group="doc_id")) == {"group": "doc_id", "score": "score", "label": "label"}
    header = ["qid", "s", "label", "rel"]
    assert names(header, columns=Columns(group="qid", score="s", label="rel"))["label"] == "rel"


def warned(header: str, columns: Columns, wanted: Wanted = RUN_TABLE) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names(header.split(), wanted, columns)
    assert all(one.category is ColumnWarning for one in caught)
    assert all(one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def test_a_column_that_only_a_convention_reads_is_told_where_the_table_could_be_read_without() -> None:
    given = Columns(group="qid")
    as_before = "item=False to identify items by row numbers as before"
    assert warned("qid docno score label", given) == [
        f"column 'docno' is read as the items, by convention; to confirm this, give item='docno', or {as_before}"
    ]
    assert warned("group doc_id score", PLAIN) == [
        "column 'doc_id' is read as the items, by convention; to confirm this, give item='doc_id'"
    ]
    assert warned("group item score rel", PLAIN) == [
        "column 'rel' is read as the labels, by convention; to confirm this, give label='rel', or remove the column"
    ]
    assert warned("qid docno label", given, LABEL_TABLE) == [
        "column 'docno' is read as the items, by convention; to confirm this, give item='docno'"
    ]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("qid docno score label", PLAIN),
        ("qid docno score label", Columns(group="qid", item="docno")),
        ("qid docno score label", Columns(group="qid", item=False)),
        ("qid docno score label", Columns(group="qid", item="")),
        ("user_id item_id rank", PLAIN),
        ("group item score label", PLAIN),
    ],
)
def test_nothing_is_told_where_nothing_is_read_anew(header: str, columns: Columns) -> None:
    assert warned(header, columns) == []


def test_ranks_that_are_given_as_scores_are_told() -> None:
    assert warned("qid docno rank", Columns(score="rank")) == [
        "column 'rank' is read as scores: the highest is the best; if the lowest is the best, give score='-rank'"
    ]
    assert warned("qid docno position", Columns(score="-position")) == []


def test_a_minus_before_a_score_column_makes_the_lowest_the_best() -> None:
    asked, header = Columns(score="-position"), ["group", "item", "position"]
    assert names(header, columns=asked)["score"] == "position"
    assert not asked.are_ranks(names([*header, "-position"], columns=asked)), "a column that is called so"
    assert refusal(header).endswith(
        "name the score column with score=; if the lowest 'position' is the best, give score='-position'"
    )
    assert refusal(header, columns=Columns(score="-rank")).startswith("no column 'rank'; the columns are ")


@given(
    st.lists(
        st.sampled_from(
            sorted({"group", "item", "score", "label", "weight", "rank", "x"})
            + sorted({name for one in CONVENTIONS for name in (one.group, one.item, *one.label)})
        ),
        unique=True,
    ),
    st.sampled_from([RUN_TABLE, RUN_APART, LABEL_TABLE]),
)
@pytest.mark.filterwarnings("ignore::ndcg_tracker.ingest.columns.ColumnWarning")
def test_whatever_is_found_is_there_and_serves_one_role(header: list[str], wanted: Wanted) -> None:
    try:
        found = names(header, wanted)
    except InputError:
        return
    assert set(found) <= {*wanted.roles, "rank"}
    assert set(wanted.required) <= set(found)
    assert set(found.values()) <= set(header)
    assert len(set(found.values())) == len(found)
    assert found == names(header[::-1], wanted)


RUN = {"user_id": [1, 1, 2, 2], "item_id": [11, 12, 11, 13], "rank": [2, 1, None, 5], "relevance": [0, 1, 1, None]}
EXPECTED = (
    [("1", "12", -1.0), ("1", "11", -2.0), ("2", "13", -5.0)],
    [("1", "11", 0.0), ("1", "12", 1.0), ("2", "11", 1.0)],
    None,
)
LABELS = {"query-id": ["q1", "q1", "q2"], "corpus-id": ["a", "b", "a"], "score": [1, 0, 2]}
EXPECTED_LABELS = [("q1", "a", 1.0), ("q1", "b", 0.0), ("q2", "a", 2.0)]


def written(kind: str, table: dict[str, Any], repeat: int = 1) -> bytes:
    """Return a table as the content of a file, its rows repeated for further groups."""
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    group = next(iter(table))
    rows = [{**row, group: f"{row[group]}{'' if not at else f'-{at}'}"} for at in range(repeat) for row in rows]
    if kind == "parquet":
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer)
        return buffer.getvalue()
    if kind == "jsonl":
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    delimiter = "," if kind == "csv" else "\t"
    lines = [delimiter.join(table)] + [
        delimiter.join("" if v is None else str(v) for v in row.values()) for row in rows
    ]
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_conventions_hold_in_files_as_in_frames(kind: str, tmp_path: Path) -> None:
    assert run_parts(read_frame(RUN)) == EXPECTED
    assert run_parts(read_frame(pd.DataFrame(RUN).convert_dtypes())) == EXPECTED
    assert listed(read_label_frame(LABELS)) == EXPECTED_LABELS
    run, labels = tmp_path / f"run.{kind}", tmp_path / f"labels.{kind}"
    run.write_bytes(written(kind, RUN))
    labels.write_bytes(written(kind, LABELS))
    assert run_parts(read_run(str(run))) == EXPECTED
    assert listed(read_labels(str(labels))) == EXPECTED_LABELS
    with stream_run(str(run), block_rows=1) as blocks:
        parts = [run_parts(block) for block in blocks]
    assert [row for ranking, _, _ in parts for row in ranking] == EXPECTED[0]


@pytest.mark.parametrize(("kind", "repeat"), [("csv", 40_000), ("jsonl", 10_000)])
def test_conventions_hold_in_files_that_are_read_fast(kind: str, repeat: int, tmp_path: Path) -> None:
    path = tmp_path / f"run.{kind}"
    path.write_bytes(written(kind, RUN, repeat))
    assert path.stat().st_size > 1 << 21
    table = read_run(str(path))
    assert (listed(table.ranking) or [])[:3] == EXPECTED[0]
    assert table.ranking.n_items == 3 * repeat
    with stream_run(str(path), block_rows=10_000) as blocks:
        assert sum(float(block.ranking.scores.sum()) for block in blocks) == float(table.ranking.scores.sum())


def test_json_lines_tell_the_names_in_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"qid":1,"docno":"a","score":1}\n{"qid":1,"docno":"b","score":2,"rel":1}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_run(str(path))
    assert str(caught.value) == (
        f"{path}: the first row lacks column 'rel', which has the labels by convention; write it in every row, with "
        "null where there is none"
    )
    path.write_text('{"qid":1,"docno":"a","pid":1,"score":1}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_run(str(path))
    assert str(caught.value).startswith(f"{path}:1: the item column could be 'docno' or 'pid'; choose with ")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_row_numbers_may_be_asked_for_in_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{kind}"
    path.write_bytes(written(kind, {"qid": ["q", "q"], "docno": ["b", "a"], "score": [2.0, 1.0], "label": [0, 1]}))
    assert listed(read_run(str(path), columns=Columns(item=False)).ranking) == [("q", "1", 2.0), ("q", "2", 1.0)]
    assert listed(read_run(str(path)).ranking) == [("q", "b", 2.0), ("q", "a", 1.0)]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_whose_labels_stand_apart_needs_item_ids(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{kind}"
    path.write_bytes(written(kind, {"group": ["q", "q"], "score": [2.0, 1.0], "label": [0, 1]}))
    assert read_run(str(path)).by_row_number
    for read in (lambda: read_run(str(path), labels_apart=True), lambda: read_labels(str(path))):
        with pytest.raises(InputError) as caught:
            read()
        assert str(caught.value).endswith(
            "no column 'item'; the columns are 'group', 'score', 'label': name the item column with item=; row numbers "
            "can identify items only if one table holds both scores and labels"
        )


@pytest.mark.parametrize(
    ("given", "header", "found"),
    [
        ("@ids.txt", ["query", "item", "label"], "query"),
        ("@ids.txt", ["group", "item", "label"], "group"),
        ("@ids.txt", ["query_id", "item", "label"], "query_id"),
        ("@ids.txt", ["group", "query", "item", "label"], "group"),
        ("uid", ["group", "item", "label"], "group"),
        ("uid", ["qid", "item", "label"], "qid"),
    ],
)
def test_labels_by_their_own_name_where_the_runs_is_not_there(given: str, header: list[str], found: str) -> None:
    assert names(header, LABEL_TABLE, Columns(group=given, is_shared=True))["group"] == found


def test_labels_whose_own_name_is_not_clear() -> None:
    asked = Columns(group="@ids.txt", is_shared=True)
    assert refusal(["query", "user", "item", "label"], LABEL_TABLE, asked) == (
        "no column 'group'; the columns are 'query', 'user', 'item', 'label': name the group column with group="
    )


def test_run_and_labels_may_call_their_ids_differently(tmp_path: Path) -> None:
    columns = Columns(group="uid,user", item="pid, product", is_shared=True)
    assert names(["uid", "pid", "score"], RUN_APART, columns) == {"group": "uid", "item": "pid", "score": "score"}
    assert names(["user", "product", "label"], LABEL_TABLE, columns) == {
        "group": "user", "item": "product", "label": "label"
    }  # fmt: skip
    assert names(["uid,user", "product", "label"], LABEL_TABLE, columns)["group"] == "uid,user"
    assert refusal(["user", "product", "label"], LABEL_TABLE, Columns(group="uid", is_shared=True)) == (
        "no column 'uid'; the columns are 'user', 'product', 'label': name the group column with group='user'; if the "
        "run has 'uid', name both: group='uid,user'"
    )
    assert refusal(["x", "pid", "score"], RUN_APART, Columns(group="user", is_shared=True)).endswith(
        ": name the group column with group=; if run and labels call it differently, name both: group='RUN,user'"
    )
    assert refusal(["group", "product", "label"], LABEL_TABLE, Columns(is_shared=True)).endswith(
        ": name the item column with item='product'; if the run calls it differently, name both, as item='RUN,product'"
    )
    alone = Columns(group="uid,user", item="pid,product")  # as where the labels are stored already
    assert names(["uid", "pid", "score"], RUN_TABLE, alone) == {"group": "uid", "item": "pid", "score": "score"}
    assert names(["user", "product", "label"], LABEL_TABLE, alone)["group"] == "user"
    run = pd.DataFrame({"uid": ["u", "u"], "pid": ["a", "b"], "score": [1.0, 2.0]})
    labels = pd.DataFrame({"user": ["u", "u"], "product": ["a", "b"], "label": [1, 0]})
    asked: dict[str, Any] = {"group": "uid,user", "item": "pid,product"}
    by_frames = nt.evaluate(run, "ndcg@10", labels=labels, **asked)["ndcg@10"]
    run.to_csv(tmp_path / "run.csv", index=False)
    labels.to_json(tmp_path / "labels.jsonl", orient="records", lines=True)
    by_files = nt.evaluate(tmp_path / "run.csv", "ndcg@10", labels=tmp_path / "labels.jsonl", **asked)["ndcg@10"]
    assert by_frames == by_files == pytest.approx(0.63093, abs=1e-5)
