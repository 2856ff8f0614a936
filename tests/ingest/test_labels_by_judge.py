"""Files of labels that name several judges: the rows of each, as a file of its own would hold them."""

import gzip
import io
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns, ColumnWarning
from ndcg_tracker.ingest.reading import read_labels_by_judge
from ndcg_tracker.rankings.ranking import LabelLists

CSV = """group,item,label,judge,day
q1,a,1,gpt,1
q1,a,0,human,1
"q,
2",b,2,gpt,2

q1,c,3,,2
"""
JSONL = """{"group": "q1", "item": "a", "label": 1, "judge": "gpt"}
{"group": "q1", "item": "a", "label": 0, "judge": "human"}

{"group": "q2", "item": "b", "label": 2, "judge": "gpt"}
{"group": "q1", "item": "c", "label": 3}
"""


def rows_of(lists: LabelLists) -> dict[str, dict[str, float]]:
    items, grades, offsets = lists.item_keys.to_list(), lists.grades.tolist(), lists.offsets.tolist()
    return {
        group: dict(zip(items[first:last], grades[first:last], strict=True))
        for group, first, last in zip(lists.group_keys.to_list(), offsets, offsets[1:], strict=False)
    }


def read(path: Path, **options: object) -> dict[str, dict[str, dict[str, float]]]:
    found: Mapping[str, LabelLists] = read_labels_by_judge(str(path), **options)  # type: ignore[arg-type]
    return {judge: rows_of(lists) for judge, lists in found.items()}


def test_each_judge_has_the_rows_that_name_it(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(CSV)
    expected = {"gpt": {"q1": {"a": 1.0}, "q,\n2": {"b": 2.0}}, "human": {"q1": {"a": 0.0}}, "": {"q1": {"c": 3.0}}}
    assert read(tmp_path / "labels.csv") == expected
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    assert read(tmp_path / "packed.csv.gz") == expected
    (tmp_path / "windows.tsv").write_bytes(CSV.replace(",", "\t").replace('"q\t', '"q,').replace("\n", "\r\n").encode())
    assert list(read(tmp_path / "windows.tsv")) == ["gpt", "human", ""]
    found = read_labels_by_judge("-", stdin=io.BytesIO(CSV.encode()))
    assert {judge: rows_of(lists) for judge, lists in found.items()} == expected
    (tmp_path / "labels.jsonl").write_text(JSONL)
    of_jsonl = {"gpt": {"q1": {"a": 1.0}, "q2": {"b": 2.0}}, "human": {"q1": {"a": 0.0}}, "": {"q1": {"c": 3.0}}}
    assert read(tmp_path / "labels.jsonl") == of_jsonl
    columns = {"group": ["q1", "q1", "q2", "q1"], "item": ["a", "a", "b", "c"], "label": [1, 0, 2, 3]}
    table = pa.table(columns | {"judge": ["gpt", "human", "gpt", None]})
    pq.write_table(table, tmp_path / "labels.parquet")
    assert read(tmp_path / "labels.parquet") == of_jsonl


def test_rows_are_chosen_by_any_column(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(CSV)
    assert read(path, where={"judge": "human"}) == {"human": {"q1": {"a": 0.0}}}
    assert read(path, where={"day": "2"}) == {"gpt": {"q,\n2": {"b": 2.0}}, "": {"q1": {"c": 3.0}}}
    assert read(path, where={"day": "2", "judge": "gpt"}) == {"gpt": {"q,\n2": {"b": 2.0}}}
    (tmp_path / "one.csv").write_text("group,item,label,day\nq,a,1,1\nq,a,0,2\n")
    assert read(tmp_path / "one.csv", where={"day": "1"}) == {"": {"q": {"a": 1.0}}}
    header = Columns(header=("group", "item", "label", "judge"))
    (tmp_path / "bare.csv").write_text("q,a,1,gpt\nq,a,0,human\n")
    assert read(tmp_path / "bare.csv", columns=header) == {"gpt": {"q": {"a": 1.0}}, "human": {"q": {"a": 0.0}}}


def test_a_file_that_names_nobody_is_read_as_ever(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 judge 0\n")
    assert read(tmp_path / "qrels.txt") == {"": {"q1": {"a": 1.0, "judge": 0.0}}}
    (tmp_path / "labels.csv").write_text("group,item,label\nq1,judge,1\n")
    assert read(tmp_path / "labels.csv") == {"": {"q1": {"judge": 1.0}}}
    pq.write_table(pa.table({"group": ["q"], "item": ["a"], "label": [1]}), tmp_path / "labels.parquet")
    assert read(tmp_path / "labels.parquet") == {"": {"q": {"a": 1.0}}}


def refused(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    return str(caught.value).removeprefix(f"{path.parent}/")


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(CSV + "q1,d,x,human,3\n")
    assert refused(path).startswith("labels.csv:8: ")
    path.write_text(CSV + "q1,a,2,human,3\n")
    twice = refused(path)
    assert "line 3" in twice
    assert "labels.csv:8" in twice
    path.write_text(CSV)
    assert refused(path, where={"year": "1"}) == (
        "labels.csv: there is no column 'year'; choose one of 'group', 'item', 'label', 'judge', 'day'"
    )
    assert refused(path, where={"day": "7"}) == "labels.csv: no row has day=7; check the values"
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    assert refused(tmp_path / "qrels.txt", where={"judge": "gpt"}) == (
        "qrels.txt: a trec file has no column 'judge' to choose rows by; leave out where="
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'unsure,label,group,item\nx,Unsure,q,a\nx,"UNSURE",q,b\nx, unsure ,q,c\nx,1,q,unsure d\n'),
        ("a.csv", "label,group,item\nunsure,q,a\n1,q,unsure d\n"),
        ("a.csv", "group,item,label,text\nq,a,unsure,unsure\nq,unsure d,1,so unsure\n"),
        ("a.tsv", "group\titem\tlabel\nq\ta\tunsure\r\nq\tunsure d\t1\n"),
        ("a.csv", "query,docid,rating\nq,a,unsure\nq,unsure d,1"),
        ("a.csv", "group,item,label\nq,unsure d,1\nq,a,unsure"),
        ("a.jsonl", '{"group": "q", "item": "a", "label": "unsure"}\n{"group": "q", "item": "unsure d", "label": 1}\n'),
        (
            "a.json",
            '{"requests": [{"id": "q", "ratings": '
            '[{"_id": "a", "rating": "Unsure"}, {"_id": "unsure d", "rating": 1}]}]}',
        ),
    ],
)
def test_unsure_is_no_label_where_that_is_asked_for(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name, unsure=True) == {"": {"q": {"unsure d": 1.0}}}
    with pytest.raises(InputError, match=r"(?i)unsure"):
        read(tmp_path / name)


def test_unsure_is_no_label_of_a_file_without_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("q,a,unsure\nq,b,2\n")
    named = Columns(group="group", item="item", label="label", header=("group", "item", "label"))
    assert read(tmp_path / "a.csv", columns=named, unsure=True) == {"": {"q": {"b": 2.0}}}


def test_unsure_leaves_other_files_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q 0 a 1\n")
    assert read(tmp_path / "a.qrels", unsure=True) == {"": {"q": {"a": 1.0}}}
    pq.write_table(pa.table({"group": ["q"], "item": ["a"], "label": [1]}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet", unsure=True) == {"": {"q": {"a": 1.0}}}


def test_bad_grades_count_for_the_judge_who_gave_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "group,item,label,judge,day\nq,a,1,gpt,1\nq,b,so so,gpt,1\nq,a,0,human,1\nq,c,,ann,2\n"
    )
    columns = Columns(allow=frozenset({"bad-grades"}))
    with pytest.warns(ColumnWarning, match=r"^1 label of 3 is not a number and is left out, first 'so so' in line 3$"):
        assert len(read(tmp_path / "a.csv", columns=columns, where={"day": "1"})) == 2
    assert columns.origins == {"gpt": {"left_out": ["1 bad grade"]}, "human": {}}
