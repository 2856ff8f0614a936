"""YAML documents are read as the same JSON documents would be, and nothing is guessed."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from refused import refusal_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.formats.json_documents import value_in
from ndcg_tracker.ingest.groups import read_groups
from ndcg_tracker.ingest.reading import read_labels, read_run
from ndcg_tracker.ingest.source import Source

texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), max_size=6)
scalars = (
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6).filter(lambda x: x != 0) | texts
)
documents = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


def value(text: str) -> Any:
    with Source("-", stdin=io.BytesIO(text.encode())) as source:
        return value_in(source, "yaml")[0]


@given(documents)
def test_a_document_has_the_value_that_it_has_as_json(document: Any) -> None:
    assert value(json.dumps(document, indent=1, ensure_ascii=False)) == document


@given(st.dictionaries(texts, st.dictionaries(texts, st.integers(0, 9), max_size=3), max_size=3))
def test_what_people_write_in_blocks_is_read(document: dict[str, dict[str, int]]) -> None:
    assert value(yaml.safe_dump(document, allow_unicode=True)) == document


def test_nothing_is_guessed(tmp_path: Path) -> None:
    read = value("[007, no, 1_000, 0x1f, 2026-01-01, 1e3, .5, +1, ~, null, 12:30, 0o7, .inf]")
    assert read == ["007", "no", "1_000", "0x1f", "2026-01-01", 1000.0, ".5", "+1", None, None, "12:30", "0o7", ".inf"]
    path = tmp_path / "labels.yaml"
    path.write_text("007:\n  no: 2\n  b: 0\n")
    labels = read_labels(str(path))
    assert (labels.group_keys.to_list(), labels.item_keys.to_list(), labels.grades.tolist()) == (
        ["007"], ["no", "b"], [2.0, 0.0],
    )  # fmt: skip


def test_runs_and_facts_are_read(tmp_path: Path) -> None:
    (tmp_path / "run.yml").write_text("- {qid: q, docno: a, score: 1}\n- {qid: q, docno: b, score: 2.5}\n")
    assert read_run(str(tmp_path / "run.yml")).ranking.item_keys.to_list() == ["b", "a"]
    (tmp_path / "groups.yaml").write_text("q1: {device: phone}\nq2: {device: tv}\n")
    assert read_groups(str(tmp_path / "groups.yaml")).attributes == {"device": ["phone", "tv"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {b: 1}\na: {c: 1}\n", "key 'a' is there twice, in line 2; keep one of the two"),
        ("a: &x {b: 1}\nc: *x\n", "2: not valid YAML (an alias (*)); correct the file"),
        ("a: [1\nb: 2\n", "2: not valid YAML ("),
        ("? [a]\n: 1\n", "1: not valid YAML (a key that is not text); correct the file"),
        ("a: !!python/object:os.system {b: 1}\n", "1: not valid YAML (could not determine a constructor"),
        ("a: {b: .nan}\n", "the score is text; write a number"),
        ("a: \x07\n", "not valid YAML (unacceptable character"),
        ("[" * 5000, "JSON nested too deeply; check that this is the right file"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    told = refusal_of(InputError, read_run, "-", reader="yaml", stdin=io.BytesIO(text.encode()))
    assert told.startswith("<stdin>:")
    assert message in told
