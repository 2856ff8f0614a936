"""What one door reads, the next one reads: formats, tables in memory, a judge's column, lists in a cell."""

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.api.reading import Ingest, Reading
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.groups import TextColumns, TextTable, read_groups, read_texts
from ndcg_tracker.ingest.reading import read_labels_by_judge
from ndcg_tracker.ingest.results import ResultColumns, read_results

ROWS = [{"group": "q1", "device": "phone"}, {"group": "q2", "device": "tv"}]
COLUMNS = {"group": ["q1", "q2"], "device": ["phone", "tv"]}
BY_KEY = {"q1": {"device": "phone"}, "q2": {"device": "tv"}}


class Fact(NamedTuple):
    group: str
    device: str


def files(folder: Path) -> list[str]:
    """Return the facts in every format with columns."""
    texts = {
        "a.csv": "group,device\nq1,phone\nq2,tv\n",
        "a.tsv": "group\tdevice\nq1\tphone\nq2\ttv\n",
        "a.jsonl": "".join(f"{json.dumps(row)}\n" for row in ROWS),
        "rows.json": json.dumps(ROWS),
        "keys.json": json.dumps(BY_KEY),
        "rows.yaml": "- {group: q1, device: phone}\n- {group: q2, device: tv}\n",
        "keys.yml": "q1: {device: phone}\nq2: {device: tv}\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    pq.write_table(pa.table(COLUMNS), folder / "a.parquet")
    return [str(folder / name) for name in (*texts, "a.parquet")]


def test_facts_come_in_every_format_and_every_table(tmp_path: Path) -> None:
    tables = [COLUMNS, BY_KEY, ROWS, [Fact("q1", "phone"), Fact("q2", "tv")]]
    tables += [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS)]
    for given in (*files(tmp_path), tmp_path / "a.csv", *tables):
        table = read_groups(given)
        assert (table.group_keys.to_list(), table.attributes) == (["q1", "q2"], {"device": ["phone", "tv"]})
    assert read_groups({"q1": "phone", "q2": "tv"}, value="device").attributes == {"device": ["phone", "tv"]}


def test_texts_and_results_are_read_alike(tmp_path: Path) -> None:
    expected = TextTable([None, None], ["a", "b"], {"text": ["A tent", "1984"]})
    assert read_texts({"a": "A tent", "b": "1984"}, columns=TextColumns(item="id")) == TextTable(
        [None, None], ["a", "b"], {"text": ["A tent", "1984"]}
    )
    (tmp_path / "t.yaml").write_text("- {item: a, text: A tent}\n- {item: b, text: '1984'}\n")
    assert read_texts(str(tmp_path / "t.yaml")) == expected
    (tmp_path / "r.yaml").write_text("q1: {ndcg: 0.5, map: 1}\nq2: {ndcg: 0.25}\n")
    of_groups = {"q1": {"ndcg": 0.5, "map": 1}, "q2": {"ndcg": 0.25}}
    for given in (str(tmp_path / "r.yaml"), of_groups, pl.DataFrame({"qid": ["q1", "q2"], "ndcg": [0.5, 0.25]})):
        found = read_results(given, (0.0, 1.0), columns=ResultColumns(measure="ndcg"))
        assert (found.group_keys.to_list(), found.values.tolist()) == (["q1", "q2"], [0.5, 0.25])


JUDGED: dict[str, list[Any]] = {
    "group": ["q", "q", "q"], "item": ["a", "a", "b"], "label": [1, 0, 2], "judge": ["gpt", "ann", "gpt"],
}  # fmt: skip
JUDGED_ROWS = [dict(zip(JUDGED, row, strict=True)) for row in zip(*JUDGED.values(), strict=True)]


def test_a_judge_is_read_in_tables_and_documents(tmp_path: Path) -> None:
    for name, text in (
        ("a.json", json.dumps(JUDGED_ROWS)),
        ("a.yaml", "".join(f"- {json.dumps(row)}\n" for row in JUDGED_ROWS)),
        ("a.jsonl", '{"group": "q", "item": ["a", "b"], "label": [1, 2], "judge": "gpt"}\n'
                    '{"group": "q", "item": ["a"], "label": [0], "judge": "ann"}\n'),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    tables = [JUDGED, JUDGED_ROWS, pd.DataFrame(JUDGED), pl.DataFrame(JUDGED), pa.table(JUDGED)]
    for given in (*(str(path) for path in sorted(tmp_path.iterdir())), *tables):
        found = read_labels_by_judge(given)
        assert {judge: of.item_keys.to_list() for judge, of in found.items()} == {"gpt": ["a", "b"], "ann": ["a"]}
        assert list(read_labels_by_judge(given, judge="ann")["ann"].grades) == [0.0]
        assert list(read_labels_by_judge(given, where={"judge": "ann"})) == ["ann"]
        assert refusal_of(InputError, read_labels_by_judge, given, judge="bob").endswith(
            "the column 'judge' names 'gpt', 'ann', not 'bob'; name one of these with judge=, or leave it out"
        )
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert nt.evaluate(run, "P@1", labels=pd.DataFrame(JUDGED), judge="gpt")["P@1"] == 1.0
    assert "choose one with judge=" in refusal_of(InputError, nt.evaluate, run, "P@1", labels=pd.DataFrame(JUDGED))


def test_paths_are_taken_in_python(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("group,device\nq,tv\n")
    (tmp_path / "t.csv").write_text("q,A tent\n")
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest({"q": {"a": 1.0}}, name="r", labels={"q": {"a": 1}})
        assert tracker.set_groups(tmp_path / "g.csv").n_groups == 1
        assert tracker.add_texts(str(tmp_path / "t.csv"), columns="group,text").n_groups == 1
        assert refusal_of(InputError, tracker.set_groups) == (
            "groups set needs frame= or default_weight=: there is nothing to set; give one"
        )


def test_every_argument_about_reading_has_its_field() -> None:
    names = dict.fromkeys(inspect.signature(Ingest).parameters)
    of_evaluate = {*inspect.signature(nt.evaluate).parameters} - {"frame", "metrics", "labels", "judge"}
    assert of_evaluate <= {*inspect.signature(Reading).parameters}
    assert {*inspect.signature(nt.Tracker.ingest).parameters} - {"self", "frame", "labels"} <= {*names}


SMALL = """
import sys
import ndcg_tracker as nt
found = nt.evaluate(sys.argv[1], "ndcg@10", labels=sys.argv[2])
print(round(found["ndcg@10"], 4), sorted({"pyarrow", "pandas", "sqlalchemy"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("name", ["a.run", "a.csv", "a.jsonl", "a.json", "a.yaml"])
def test_a_small_file_needs_neither_arrow_nor_pandas_nor_sqlalchemy(tmp_path: Path, name: str) -> None:
    rows = [(f"q{group}", f"d{item}", 20.0 - item) for group in range(100) for item in range(20)]
    records = [{"group": group, "item": item, "score": score} for group, item, score in rows]
    texts = {
        "a.run": "".join(f"{group} Q0 {item} 1 {score} t\n" for group, item, score in rows),
        "a.csv": "group,item,score\n" + "".join(f"{group},{item},{score}\n" for group, item, score in rows),
        "a.jsonl": "".join(f"{json.dumps(record)}\n" for record in records),
        "a.json": json.dumps(records),
        "a.yaml": "".join(f"- {json.dumps(record)}\n" for record in records),
    }
    path, labels = tmp_path / name, tmp_path / "qrels.txt"
    path.write_text(texts[name])
    labels.write_text("".join(f"q{group} 0 d1 1\n" for group in range(100)))
    words = [sys.executable, "-c", SMALL, str(path), str(labels)]
    assert subprocess.run(words, check=True, capture_output=True, text=True).stdout == "0.6309 []\n"
