"""Results of groups that another engine computed, read from files and frames."""

import io
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.results import ResultColumns, ResultTable, read_results

SHARES = (0.0, 1.0)
EXPECTED = {"q1": 0.5, "q2": 1.0, "007": 0.0}
TREC = (
    "runid\tall\tbm25\nmap\tq1\t0.25\nndcg_cut_10\tq1\t0.5\nndcg_cut_10 q2 1.0000\nndcg_cut_10\t007\t0\nmap\tall\t0.4\n"
)


def known(table: ResultTable) -> dict[str, float]:
    return dict(zip(table.group_keys.to_list(), table.values.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "group,value\nq1,0.5\nq2,1\n007,0\n"),
        ("a.tsv", "qid\tvalue\tother\nq1\t.5\tx\nq2\t1e0\tx\n007\t0\tx\n"),
        (
            "a.jsonl",
            '{"query_id": "q1", "value": 0.5}\n{"query_id": "q2", "value": 1}\n{"query_id": "007", "value": 0}\n',
        ),
        ("perquery.csv", "name,qid,measure,value\nbm25,q1,nDCG,0.5\nbm25,q2,nDCG,1\nbm25,007,nDCG,0.0\n"),
        ("series of RecTools.csv", "user_id,0\nq1,0.5\nq2,1.0\n007,0.0\n"),
        ("series without a name.csv", ",0\nq1,0.5\nq2,1.0\n007,0.0\n"),
        ("named.tsv", "qid\tmeasure\tndcg\nq1\tn\t.5\nq2\tn\t1\n007\tn\t0\n"),
        ("series.json", '{"q1":0.5,"q2":1.0,"007":0.0}'),
        ("dumped.json", '{\n "q1": 0.5,\n "q2": 1,\n "007": 0\n}\n'),
        ("of one measure.json", '{"q1": {"ndcg": 0.5}, "q2": {"ndcg": 1}, "007": {"ndcg": 0}}'),
        (
            "records.json",
            '[{"user_id": "q1", "0": 0.5}, {"user_id": "q2", "0": 1}, {"user_id": "007", "0": 0}]',
        ),
        (
            "lines.json",
            '{"query_id": "q1", "value": 0.5}\n{"query_id": "q2", "value": 1}\n{"query_id": "007", "value": 0}\n',
        ),
    ],
)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert known(read_results(str(path), SHARES)) == EXPECTED


def test_measures_by_group_as_pytrec_eval_returns_them(tmp_path: Path) -> None:
    path = tmp_path / "evaluated.json"
    path.write_text('{"q1": {"map": 0.25, "ndcg": 0.5}, "q2": {"map": 0.5, "ndcg": null}}', encoding="utf-8")
    assert known(read_results(str(path), SHARES, columns=ResultColumns(measure="map"))) == {"q1": 0.25, "q2": 0.5}
    assert math.isnan(known(read_results(str(path), SHARES, columns=ResultColumns(measure="ndcg")))["q2"])
    with pytest.raises(
        InputError, match=r": no column 'value'; the columns are 'group', 'map', 'ndcg': name the value column"
    ):
        read_results(str(path), SHARES)


def test_one_row_is_no_object_of_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"qid": 7, "value": 0.5}\n', encoding="utf-8")
    assert known(read_results(str(path), SHARES)) == {"7": 0.5}
    path.write_text('{"qid": 7, "ndcg": 0.5}\n', encoding="utf-8")
    assert known(read_results(str(path), SHARES, columns=ResultColumns(value="ndcg"))) == {"7": 0.5}
    text = '{"q1": 0.5, "q2": 1}'
    (tmp_path / "no ending").write_text(text, encoding="utf-8")
    assert known(read_results(str(tmp_path / "no ending"), SHARES)) == {"q1": 0.5, "q2": 1.0}
    for reader in ("json", None):
        piped = read_results("-", SHARES, reader=reader, stdin=io.BytesIO(text.encode()))
        assert known(piped) == {"q1": 0.5, "q2": 1.0}


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        ([("q1", 0.5), ("q2", 0.25), ("all", 0.375)], ["q1", "q2"]),
        ([("q1", 0.3333), ("q2", 0.6667), ("q3", 0.6667), ("all", 0.5555)], ["q1", "q2", "q3"]),  # printed digits
        ([("q1", 0.5), ("q2", None), ("all", 0.5)], ["q1", "q2"]),
        ([("q1", 0.5), ("q2", 0.25), ("all", 0.5)], ["q1", "q2", "all"]),  # not their mean: a group of that name
        ([("all", 0.375), ("q1", 0.5), ("q2", 0.25)], ["all", "q1", "q2"]),
        ([("all", 0.5)], ["all"]),
    ],
)
def test_a_last_row_of_all_is_no_group_where_it_is_the_mean(
    tmp_path: Path, rows: list[tuple[str, float | None]], groups: list[str]
) -> None:
    path = tmp_path / "metrics.jsonl"  # as nuggetizer writes it
    lines = [{"qid": qid, "strict_vital_score": 0.0, "vital_score": value} for qid, value in rows]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert read_results(str(path), SHARES, columns=ResultColumns(value="vital_score")).group_keys.to_list() == groups


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", ": this JSON has no rows; write {key: value}, {key: {column: value}} or [{...}, ...]"),
        ("[0.5]", ": this JSON has no rows; write {key: value}"),
        ('{"q1": [0.5]}', ": row 1: the value is an array; write a number"),
        ('{"q1": 0.5, "q1": 1}', ": key 'q1' is there twice; keep one of the two"),
        ('{"q1": 0.5, "q2": NaN}', ": row 2: the value is NaN; use a finite number, or null for none"),
        (
            '{"q1": 0.5,',
            ":1: not valid JSON (Expecting property name enclosed in double quotes, column 12); correct the file",
        ),
        ('{"q1": 0.5, "q2": 1.5}', ": row 2: the value 1.5 is outside the range 0 to 1; give the range of all"),
        (
            '{"user_id": {"0": 1, "1": 2}, "value": {"0": 0.5, "1": 1}}',
            ": this is a table written by column; write it with to_json(orient='records')",
        ),
        ("[" * 100_000, ": JSON nested too deeply; check that this is the right file"),
        (
            '[{"user_id": "u1", "a": 1, "b": 0}]',
            ": no column 'value'; the columns are 'user_id', 'a', 'b': name the value column with value=",
        ),
    ],
)
def test_what_is_refused_of_json(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_results(str(path), SHARES, reader="json")
    assert str(caught.value).startswith(f"{path}{message}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a", b"", ": is empty; give a file that has rows"),
        ("a.json", b"", ": is empty; give a file that has rows"),
        ("a.jsonl", b'{"q1": "\xff"}', ":1: byte 0xff is not UTF-8"),
        ("a.jsonl", b'{"q1": 0.5', ":1: not valid JSON ("),
        ("a.jsonl", b'{"q1": 0.5, "q1": 1}', ":1: key 'q1' is there twice"),
    ],
)
def test_what_is_no_json_value_is_refused_by_its_own_reader(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_results(str(path), SHARES)
    assert str(caught.value).startswith(f"{path}{message}")


def test_parquet_and_frames(tmp_path: Path) -> None:
    table = pa.table({"qid": ["q1", "q2", "007"], "value": [0.5, 1.0, 0.0]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert known(read_results(str(tmp_path / "a.parquet"), SHARES)) == EXPECTED
    frame = table.to_pandas()
    assert known(read_results(frame, SHARES)) == known(read_results(table, SHARES)) == EXPECTED
    assert known(read_results(EXPECTED, SHARES)) == EXPECTED
    assert known(read_results({"qid": list(EXPECTED), "value": list(EXPECTED.values())}, SHARES)) == EXPECTED
    renamed = frame.rename(columns={"qid": "session", "value": "score"})
    assert known(read_results(renamed, SHARES, columns=ResultColumns("session", "score"))) == EXPECTED
    assert known(read_results({1: 0.5, 2: 1.0}, SHARES)) == {"1": 0.5, "2": 1.0}
    series = pd.Series(EXPECTED).rename_axis("user_id")
    series.to_frame().to_parquet(tmp_path / "series.parquet")
    assert known(read_results(series.reset_index(), SHARES)) == EXPECTED
    assert known(read_results(str(tmp_path / "series.parquet"), SHARES)) == EXPECTED


def test_groups_without_a_value(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("group_key,value\nq1,0.5\nq2,\n", encoding="utf-8")
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"group_key": "q1", "value": 0.5}\n{"group_key": "q2", "value": null}\n', encoding="utf-8")
    series = pd.Series([0.5, math.nan], index=["q1", "q2"])
    for table in (
        read_results(str(path), SHARES),
        read_results(str(lines), SHARES),
        read_results(series, SHARES),
        read_results({"q1": 0.5, "q2": None}, SHARES),
        read_results(pd.DataFrame({"q_id": ["q1", "q2"], "value": series.to_numpy()}), SHARES),
    ):
        assert table.group_keys.to_list() == ["q1", "q2"]
        np.testing.assert_array_equal(table.values, [0.5, np.nan])
    with pytest.raises(InputError, match=r"^cannot read a ChunkedArray as a table \(Cannot import schema"):
        read_results(pa.chunked_array([[0.5]]), SHARES)


def test_trec_eval(tmp_path: Path) -> None:
    path = tmp_path / "evaluated"
    path.write_text(TREC, encoding="utf-8")
    assert known(read_results(str(path), SHARES, columns=ResultColumns(measure="ndcg_cut_10"))) == EXPECTED
    assert known(read_results(str(path), SHARES, columns=ResultColumns(measure="map"))) == {"q1": 0.25}
    with pytest.raises(InputError) as caught:
        read_results(str(path), SHARES)
    assert str(caught.value) == f"{path}:3: there are measures 'map' and 'ndcg_cut_10'; choose one with measure="
    with pytest.raises(InputError, match=r"there is no measure 'P_5'; choose one of 'map', 'ndcg_cut_10'$"):
        read_results(str(path), SHARES, columns=ResultColumns(measure="P_5"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1,0.5\nq1,0.75\n", ":3: group 'q1' is in line 2 already; keep one of the two"),
        ("q1,nan\n", ":2: value 'nan' is not a number; write it like 0.5, -2 or 1e-3"),
        (",0.5\n", ":2: the group id is empty; every row needs one"),
        ("", ": there are no rows"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"group,value\n{text}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_results(str(path), SHARES)
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_value_outside_of_the_range(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("group,value\nq1,0.5\nq2,1.5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r":3: the value 1.5 is outside the range 0 to 1; give the range"):
        read_results(str(path), SHARES)
    assert known(read_results(str(path), (0.0, math.inf))) == {"q1": 0.5, "q2": 1.5}
    with pytest.raises(InputError, match=r"^row 1: the value is too large for a double; use a finite number"):
        read_results({"a": math.inf}, SHARES)
    with pytest.raises(InputError, match="no reader 'trec' for results"):
        read_results(str(path), SHARES, reader="trec")
