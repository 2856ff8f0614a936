"""Labels as models give them: words, cells that hold none, several of one item, and their model and prompt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from command_line import CommandLine
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NdcgTrackerWarning

GRADES = {"irrelevant": 0, "partial": 1, "relevant": 2}
RUN = {"q1": {"a": 1.0, "b": 2.0}}
ROWS = [("q1", "a", "relevant"), ("q1", "b", "Irrelevant"), ("q2", "c", "partial")]
BAD = [*ROWS, ("q2", "d", "I cannot say")]
REPEATED = [*ROWS, ("q1", "a", "partial")]


def written(name: str, rows: list[tuple[str, str, str]], folder: Path) -> str:
    of_names = [dict(zip(("group", "item", "label"), row, strict=True)) for row in rows]
    text = {
        "csv": pd.DataFrame(of_names).to_csv(index=False),
        "jsonl": "\n".join(map(json.dumps, of_names)),
        "json": json.dumps(of_names),
        "qrels": "".join(f"{group} 0 {item} {label}\n" for group, item, label in rows),
    }[name]
    (folder / f"labels.{name}").write_text(text)
    return str(folder / f"labels.{name}")


KINDS: dict[str, Callable[[list[tuple[str, str, str]], Path], object]] = {
    "frame": lambda rows, _: pd.DataFrame(rows, columns=["group", "item", "label"]),
    "dict": lambda rows, _: {group: {item: label for of, item, label in rows if of == group} for group, *_ in rows},
    **{name: lambda rows, folder, name=name: written(name, rows, folder) for name in ("csv", "jsonl", "json", "qrels")},
}


@pytest.mark.parametrize("kind", KINDS)
def test_words_mean_grades(kind: str, tmp_path: Path) -> None:
    labels = KINDS[kind](ROWS, tmp_path)
    for grades in (GRADES, "irrelevant=0, partial=1, RELEVANT=2"):
        found = nt.evaluate({"q1": {"a": 1.0}, "q2": {"c": 1.0}}, "dcg@1", labels=labels, grades=grades)
        assert found.per_group["dcg@1"].to_list() == [2.0, 1.0]


def test_words_mean_grades_where_columns_are_recognised(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("query,doc,label\nq1,a,relevant\nq1,b,Irrelevant\nq2,c,partial\n")
    with pytest.warns(NdcgTrackerWarning, match="relevant ids from 'doc', grades from 'label'"):
        found = nt.evaluate(RUN | {"q2": {"c": 1.0}}, "dcg@1", labels=str(tmp_path / "labels.csv"), grades=GRADES)
    assert found.per_group["dcg@1"].to_list() == [0.0, 1.0]


def test_words_without_a_meaning_are_refused_with_the_option(tmp_path: Path) -> None:
    path = written("csv", ROWS, tmp_path)
    assert refusal_of(InputError, lambda: nt.evaluate(RUN, labels=path)).endswith(
        "label 'relevant' is not a number; write it like 0.5, -2 or 1e-3, or say what words mean with "
        "grades='WORD=NUMBER,...'"
    )
    said = refusal_of(InputError, lambda: nt.evaluate(RUN, labels=path, grades="relevant=2,irrelevant=0"))
    assert said.endswith("label 'partial' is not among the words of grades=; add it there")
    for wrong in ("relevant", "relevant=", "=1", "relevant=inf", {"relevant": "x"}):
        assert "is not WORD=NUMBER,..." in refusal_of(
            InputError, lambda wrong=wrong: nt.evaluate(RUN, labels=path, grades=wrong)
        )


@pytest.mark.parametrize("kind", ["csv", "jsonl", "qrels", "frame"])
def test_labels_that_are_no_numbers_may_be_left_out(kind: str, tmp_path: Path) -> None:
    rows = [(group, item, label.replace(" ", "_")) for group, item, label in BAD]
    labels = KINDS[kind](rows, tmp_path)
    assert "is not a number" in refusal_of(InputError, lambda: nt.evaluate(RUN, labels=labels, grades=GRADES))
    with pytest.warns(
        NdcgTrackerWarning, match="1 label of 4 is not a number and is left out, first 'I_cannot_say' in"
    ):
        found = nt.evaluate({"q2": {"c": 1.0, "d": 2.0}}, "P@2", labels=labels, grades=GRADES, allow="bad-grades")
    assert found.per_group["P@2"]["q2"] == 0.5


@pytest.mark.parametrize("kind", ["csv", "jsonl", "qrels", "frame"])
def test_the_mean_of_several_labels_counts_and_their_spread_is_told(kind: str, tmp_path: Path) -> None:
    labels = KINDS[kind](REPEATED, tmp_path)
    run = {"q1": {"a": 1.5}, "q2": {"c": 1.0}}
    assert "allow='duplicates:mean'" in refusal_of(InputError, lambda: nt.evaluate(run, labels=labels, grades=GRADES))
    told = (
        "several labels of one item, and their mean counts: 1 of 3 items, 1 with different labels, standard deviation"
    )
    with pytest.warns(NdcgTrackerWarning, match=f"{told} 0.7071"):
        found = nt.evaluate(run, "dcg@1", labels=labels, grades=GRADES, allow="duplicates:mean")
    assert found.per_group["dcg@1"].to_list() == [1.5, 1.0]
    twice = {"group": ["q1", "q1"], "item": ["a", "a"], "score": [1.0, 2.0]}
    allowed = {"q1": {"a": 1}}
    said = refusal_of(InputError, lambda: nt.evaluate(twice, labels=allowed, allow="duplicates:mean"))
    assert "item 'a' of group 'q1' is in row 1 already" in said  # scores have no mean


def test_what_a_file_says_of_its_labels_is_kept_and_shown(command: CommandLine, tmp_path: Path) -> None:
    rows = [
        {"group": group, "item": item, "label": label, "judge": "gpt", "model": "gpt-5", "prompt": "v1"}
        for group, item, label in [*REPEATED, *BAD[3:]]
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    add = ["labels", "add", str(tmp_path / "labels.jsonl"), "--grades", "irrelevant=0,partial=1,relevant=2"]
    add += ["--allow", "bad-grades", "--allow", "duplicates:mean"]
    assert "judge 'gpt' gave several labels of one item" in command(*add).err
    (version,) = command.rows("labels", "list")
    names = ("judge", "model", "prompt", "repeats", "left_out", "n_labels")
    assert [version[name] for name in names] == [
        "gpt",
        "gpt-5",
        "v1",
        "1 of 3 items, 1 with different labels, standard deviation 0.7071",
        "1 bad grade",
        3,
    ]
    rows[0]["prompt"] = "v2"
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert (
        command(*add)
        .err.splitlines()[-1]
        .endswith(
            "the labels of judge 'gpt' have the prompts 'v2' and 'v1'; give each its own judge, such as "
            "--where prompt=v2 with --judge NAME"
        )
    )
