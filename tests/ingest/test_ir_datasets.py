"""Labels by their name in ir_datasets, through the package itself with a data set registered from a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ir_datasets
import pytest
from ingest_outcomes import listed
from ir_datasets.formats import TrecQrels, TsvQueries
from ir_datasets.util.download import LocalDownload
from refused import OR_ALLOW_LABELS, refusal_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.reading import read_labels

NAME = "ndcg-tracker-test"
QRELS = "q1 0 d1 2\nq2 0 d1 1\nq1 0 d2 0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Give the folder of a registered data set: one without labels that has one with labels."""
    queries = TsvQueries(LocalDownload(tmp_path / "queries.tsv"))
    qrels = TrecQrels(LocalDownload(tmp_path / "qrels.txt"), {0: "no", 1: "partly", 2: "yes"})
    ir_datasets.registry.register(NAME, ir_datasets.Dataset(queries))
    ir_datasets.registry.register(f"{NAME}/test", ir_datasets.Dataset(queries, qrels))
    yield tmp_path
    for name in (NAME, f"{NAME}/test"):
        del ir_datasets.registry._registered[name]


def refusal(name: str) -> str:
    said = refusal_of(InputError, read_labels, f"ir_datasets:{name}")
    assert said.isprintable()
    return said


def test_the_labels_of_a_dataset_are_read(folder: Path) -> None:
    (folder / "qrels.txt").write_text(QRELS)
    expected = [("q1", "d1", 2.0), ("q1", "d2", 0.0), ("q2", "d1", 1.0)]
    assert listed(read_labels(f"ir_datasets:{NAME}/test")) == expected


def test_what_cannot_be_had_is_refused(folder: Path) -> None:
    name = f"ir_datasets:{NAME}"
    assert refusal("nonesuch") == (
        "ir_datasets:nonesuch: there is no dataset with this name; see https://ir-datasets.com for the names"
    )
    assert refusal(NAME) == f"{name}: this dataset has no labels; choose one with labels: {NAME}/test"
    assert refusal(f"{NAME}/test").startswith(f"{name}/test: its labels cannot be fetched (")
    (folder / "qrels.txt").write_text(QRELS + "q1 0 d1 1\n")
    assert refusal(f"{NAME}/test") == (
        f"{name}/test: row 4: item 'd1' of group 'q1' is in row 1 already; keep one of the two" + OR_ALLOW_LABELS
    )
    (folder / "qrels.txt").write_text("q1 d1 1\n")
    assert refusal(f"{NAME}/test") == (
        f"{name}/test: its labels cannot be fetched (expected 4 columns, got 3); follow ir_datasets' instructions"
    )
    (folder / "qrels.txt").write_text("")
    assert refusal(f"{NAME}/test") == f"{name}/test: there are no rows; give at least one"


def test_without_the_package_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['ir_datasets'] = None\n"
        "from ndcg_tracker.ingest.reading import read_labels\n"
        "try: read_labels('ir_datasets:vaswani')\n"
        "except Exception as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ir_datasets:vaswani needs a package; install it: pip install ir_datasets\n"
