"""Files that other tools wrote (see the README beside them), and a benchmark's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ingest_outcomes import listed

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.reading import read_labels, read_run

HELD = Path(__file__).parent / "files_of_tools"
RELEVANT = {"q1": {"d1": 1}, "q2": {"d3": 1, "d4": 1}, "q3": {"d5": 1}}
PYTHON = os.environ.get("NDCG_TEST_TOOLS")


def ranked(name: str, **columns: str) -> list[tuple[str, str, float]]:
    """Return what a file ranks."""
    return listed(read_run(str(HELD / name), columns=Columns(**columns)).ranking) or []  # type: ignore[arg-type]


def test_predictions_of_sentence_transformers_and_mteb_are_the_same_run() -> None:
    found = ranked("sentence_transformers_predictions.jsonl")
    assert len(found) == 15
    assert found[:2] == [("q1", "d1", 0.3817845582962036), ("q1", "d2", 0.3251609206199646)]
    assert ranked("mteb_predictions.json") == found  # both of one model


def test_mteb_prints_the_means_that_we_compute() -> None:
    [printed] = json.loads((HELD / "mteb_results.json").read_text())["scores"]["test"]
    names = {"ndcg_at_3": "ndcg@3", "ndcg_at_10": "ndcg@10", "map_at_10": "map@10", "recall_at_1": "recall@1"}
    means = nt.evaluate(str(HELD / "mteb_predictions.json"), list(names.values()), labels=RELEVANT)
    for theirs, ours in names.items():
        assert round(means[ours] or 0, 5) == printed[theirs]


def test_results_of_mteb_are_no_run() -> None:
    with pytest.raises(InputError) as refused:
        ranked("mteb_results.json")
    assert str(refused.value).endswith(
        "mteb_results.json: these are MTEB's results of a task, which are means and not rankings; write the "
        "predictions with mteb.evaluate(..., prediction_folder=FOLDER)"
    )


@pytest.mark.parametrize(
    ("name", "columns", "first"),
    [
        ("haystack.jsonl", {"items": "documents", "item": "id"}, ("q1", "d1", 2.5169010089723582)),
        (
            "langchain.jsonl",
            {"items": "found", "item": "0.kwargs.id", "score": "1"},
            ("q1", "d3", -0.08163591603419973),
        ),
        ("llama_index.jsonl", {"items": "source_nodes", "item": "node.id_"}, ("q1", "d1", 1.0)),
    ],
)
def test_documents_that_retrievers_found(name: str, columns: dict[str, str], first: Any) -> None:
    found = ranked(name, **columns)
    assert found[0] == first
    assert [row[0] for row in found] == ["q1", "q1", "q2", "q2", "q3", "q3"]


def test_the_labels_of_beir_have_a_header(tmp_path: Path) -> None:
    """The layout of https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset."""
    qrels = tmp_path / "test.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\t31715818\t2\n")
    assert listed(read_labels(str(qrels))) == [("q1", "d1", 1.0), ("q1", "31715818", 2.0)]
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"q1": {"d1": 0.5, "31715818": 0.75}}))
    assert nt.evaluate(str(results), "P@1", labels=str(qrels))["P@1"] == 1.0


@pytest.mark.nightly
@pytest.mark.parametrize("script", sorted(path.name for path in HELD.glob("make_*.py")))
def test_the_tools_write_them_still(script: str, tmp_path: Path) -> None:
    if PYTHON is None:
        pytest.skip("NDCG_TEST_TOOLS names no Python that has these tools; .ci/nightly data makes one")
    subprocess.run([PYTHON, HELD / script, tmp_path], check=True, capture_output=True, cwd=HELD)
    written = sorted(tmp_path.iterdir())
    assert written
    for path in written:
        assert shape_of(path.read_text()) == shape_of((HELD / path.name).read_text())


def shape_of(text: str) -> str:
    """Return a text with all fractions alike, as versions round differently, and of results the keys alone."""
    if text.startswith("{\n"):
        return " ".join(sorted(json.loads(text)))
    return re.sub(r"-?[0-9]+\.[0-9e-]+", "0.5", text)
