"""Formats and measures of installed packages: found by name, by ending and by content, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from ndcg_tracker.conformance import check_measure, check_reader
from ndcg_tracker.extensions import OURS
from ndcg_tracker.ingest.formats.yaml_documents import Yaml

REPOSITORY = Path(__file__).parents[1]
PACKAGE = """
import pyarrow as pa
from ndcg_tracker.errors import InputError

class Bars:
    endings = (".bars",)
    def is_of(self, first_bytes):
        return first_bytes.partition(b"\\\\n")[0].count(b"|") == 2
    def read(self, file):
        for number, line in enumerate(file, 1):
            cells = line.decode().strip().split("|")
            if len(cells) != 3:
                raise InputError(f"{len(cells)} cells", where=number, advice="correct the line")
            yield number, dict(zip(("qid", "docno", "score"), [cells[0], cells[1], float(cells[2])]))

class Feather:
    endings = (".feather",)
    def is_of(self, first_bytes):
        return first_bytes.startswith(b"ARROW1")
    def read(self, file):
        return pa.ipc.open_file(file).read_all()

class Broken:
    def __init__(self):
        raise KeyError("nothing")

class FirstTwo:
    meaning = "the share of the first two items that are relevant"
    is_share = True
    def value(self, grades, labels, cutoff):
        return float((grades[:2] > 0).sum()) / 2
"""
ENTRY_POINTS = """[ndcg_tracker.readers]
bars = own_package:Bars
feather = own_package:Feather
broken_one = own_package:Broken
[ndcg_tracker.measures]
first_two = own_package:FirstTwo
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs Python or the command where a package is installed."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "own_package.py").write_text(PACKAGE.replace("\\\\n", "\\n"))
    facts = tmp_path / "site" / "own_package-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(ENTRY_POINTS)
    places = os.pathsep.join([str(REPOSITORY), str(tmp_path / "site")])

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = (
            ["-c", words[0]] if len(words) == 1 else ["-c", "from ndcg_tracker.cli.app import main; main()", *words]
        )
        return subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": places},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_ours_are_those_of_the_project() -> None:
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["entry-points"]
    assert {one.name: one.value for one in OURS} == declared["ndcg_tracker.readers"]


def test_files_are_read_by_ending_content_and_name(tmp_path: Path, run: Run) -> None:
    for name in ("a.bars", "a.unknown"):
        (tmp_path / name).write_text("q|a|1\nq|b|2\n")
    (tmp_path / "qrels").write_text("q 0 b 1\n")
    for name, reader in (("a.bars", ""), ("a.unknown", ""), ("a.unknown", "bars")):
        given = f"{name!r}, 'RR', labels='qrels', reader={reader!r} or None"
        found = run(f"import ndcg_tracker as nt; print(nt.evaluate({given}).mean['RR'])")
        assert found.stdout == "1.0\n", found.stderr


def test_a_wrong_line_is_named(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.bars").write_text("q|a|1\nq|b\n")
    (tmp_path / "b.bars").write_text("q|a|1\nq|b|x\n")
    (tmp_path / "c.bars").write_text("q|a|1\nq|a|2\n")
    for name, told in (
        ("a", "a.bars:2: 2 cells; correct the line"),
        ("b", "b.bars: cannot be read as bars (ValueError: could not convert string to float: 'x'); correct the file"),
        ("c", "c.bars:2: item 'a' of group 'q' is in line 1 already; keep one of the two"),
    ):
        found = run("evaluate", f"{name}.bars")
        assert found.returncode == 2
        assert told in found.stderr


def test_a_table_is_read(tmp_path: Path, run: Run) -> None:
    code = (
        "import pyarrow as pa, pyarrow.feather as f, ndcg_tracker as nt\n"
        "f.write_feather(pa.table({'group': ['q', 'q'], 'item': ['a', 'b'], 'score': [1.0, 2.0], 'label': [1, 0]}),"
        "'a.feather', compression='uncompressed')\n"
        "print(nt.evaluate('a.feather', 'RR').mean['RR'])"
    )
    found = run(code)
    assert found.stdout == "0.5\n", found.stderr


def test_a_measure_is_computed_stored_and_compared(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.run").write_text("".join(f"q{q} Q0 d{d} {d} {9 - d} t\n" for q in range(9) for d in range(1, 5)))
    (tmp_path / "b.run").write_text("".join(f"q{q} Q0 d{d} {d} {d} t\n" for q in range(9) for d in range(1, 5)))
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 d{d} {int(d < 3)}\n" for q in range(10) for d in range(1, 5)))
    found = run("evaluate", "a.run", "--labels", "qrels", "-m", "first_two", "-m", "first_two@1", "--format", "csv")
    assert [line.rpartition(",")[0] for line in found.stdout.splitlines()[1:]] or found.stderr == ""
    assert "first_two@1" in found.stdout
    stored = run("--db", "a.db", "ingest", "a.run", "b.run", "--labels", "qrels", "-m", "first_two@3")
    assert stored.returncode == 0, stored.stderr
    assert "0.9000" in stored.stdout
    assert "0.0000" in stored.stdout
    compared = run("--db", "a.db", "compare", "a", "b", "-m", "first_two@3")
    assert compared.returncode == 0, compared.stderr
    assert "first_two@3" in compared.stdout
    wrong = run("evaluate", "a.run", "--labels", "qrels", "-m", "first_two(rel=2)@3")
    assert wrong.returncode == 2
    assert "first_two has no parameter rel" in wrong.stderr


def test_what_cannot_be_loaded_is_told(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.x").write_text("1")
    found = run("evaluate", "a.x", "--reader", "broken_one")
    assert found.returncode == 2
    assert (
        "'broken_one', an entry point of ndcg_tracker.readers, cannot be loaded (KeyError: 'nothing'); correct "
        "own_package:Broken, or uninstall its package"
    ) in found.stderr
    found = run("evaluate", "a.x", "--reader", "none_such")
    assert (
        "no reader 'none_such'; choose one of trec csv tsv json jsonl yaml parquet svmlight trec_eval bars"
        in found.stderr
    )


def test_packages_are_looked_for_only_for_unknown_names(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.run").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    code = (
        "import ndcg_tracker as nt\nfrom ndcg_tracker import extensions\n"
        "nt.evaluate('a.run', 'ndcg@10, map', labels='qrels')\n"
        "print(extensions.installed.cache_info().currsize)"
    )
    assert run(code).stdout == "0\n"


class Reversed:
    meaning = "worse is better"
    is_share = True

    def value(self, grades: np.ndarray, labels: np.ndarray, cutoff: int | None) -> float:
        return 1.0 - float(np.nan_to_num(grades[:1]).sum()) / 3


class Pairs:
    endings = (".pairs",)

    def is_of(self, first_bytes: bytes) -> bool:
        return False

    def read(self, file: BinaryIO) -> Iterator[tuple[int, dict[str, object]]]:
        for number, line in enumerate(file):
            yield number, {"group": "q", "item": line.decode().strip(), "score": -number}


def test_the_checks_of_other_packages_pass_ours_and_find_faults() -> None:
    check_reader(Yaml(), b"q:\n  a: 2\n  b: 1\nr: {c: 0.5}\n", {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 0.5}})
    with pytest.raises(AssertionError, match="the first line has the number 1"):
        check_reader(Pairs(), b"a\nb\n", {"q": {"a": 0.0, "b": -1.0}})
    with pytest.raises(AssertionError, match="the file is read as"):
        check_reader(Yaml(), b"q: {a: 1, b: 2}\n", {"q": {"a": 2.0, "b": 1.0}})
    with pytest.raises(AssertionError, match="which has the better item first"):
        check_measure(Reversed())
