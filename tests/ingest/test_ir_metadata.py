"""The header of ir_metadata in a run file: what of it is kept, against PyYAML, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.ir_metadata import entries, run_metadata

HEADER = """\
tag: bm25   # as in the run
actor:
  name: 'Jimmy O''Neil'
  team: "a \\"b\\": c"
  fields:
  - 'NLP'
  - information retrieval: no key
  - IR
platform:
  hardware:
    cpu:
      model: Intel Xeon Gold 6144 CPU @ 3.50GHz
      number of cores: 16
    ram: ~
  software:
    libraries:
      python:
        - 'scikit-learn==0.20.1'
        - numpy==1.15.4
        -
          name: pyserini
          url: https://github.com/castorini/pyserini
research goal:
  abstract: a line
    and another one
  hypothesis: |
    first
    second
  venue: >-
    folded
    text

  # a comment
method:
  - name: bm25
    b: 0.4
    'k: 1': 0.9
  - name: 'rm3'
"""
RUN = "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n"


def flat(value: Any, name: str = "") -> dict[str, str]:
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: text for one, inner in pairs for key, text in flat(inner, f"{name}{one}.").items()}
    return {} if value is None else {name[:-1]: value.removesuffix("\n")}


def annotated(header: str) -> str:
    commented = "".join(f"# {line}\n" if line else "#\n" for line in header.splitlines())
    return f"# ir_metadata.start\n{commented}# ir_metadata.end\n{RUN}"


def test_every_entry_is_that_of_a_yaml_parser() -> None:
    found = entries(HEADER.splitlines())
    wanted = flat(yaml.load(HEADER, yaml.BaseLoader))
    assert wanted.pop("platform.hardware.ram") == "~"  # the base loader knows no null
    assert found == wanted
    assert entries(["a: 'over", "  two lines'", "b:", "c: null", "d: [1, 2]"]) == {"a": "over two lines", "d": "[1, 2]"}


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_header_becomes_tags_that_options_come_before(tmp_path: Path, is_packed: bool) -> None:
    path = tmp_path / ("bm25.run.gz" if is_packed else "bm25.run")
    text = annotated(HEADER).encode()
    path.write_bytes(gzip.compress(text) if is_packed else text)
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest(str(path), labels={"q1": {"a": 1}}, tags={"tag": "mine", "aa": "x"})
        tags = tracker.show("bm25").tags
    assert (tags["tag"], tags["aa"], tags["method.1.name"]) == ("mine", "x", "rm3")
    assert tags["platform.software.libraries.python.2.url"] == "https://github.com/castorini/pyserini"


def test_the_marks_may_have_other_blanks(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"\xef\xbb\xbf#ir_metadata.start \r\n#tag: b\xc3\xa4\r\n#ir_metadata.end\r\n")
    assert run_metadata(str(path)) == {"tag": "b\xe4"}


@pytest.mark.parametrize("text", [RUN, f"# a comment\n{RUN}", f"# a comment\n{annotated(HEADER)}", ""])
def test_a_file_without_a_header_says_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.run"
    path.write_text(text)
    assert run_metadata(str(path)) == {}
    assert run_metadata("-") == run_metadata(str(tmp_path)) == run_metadata(str(tmp_path / "none")) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"# ir_metadata.start\n# tag: a\n{RUN}",
            "a.run: no line # ir_metadata.end ends the header; add it, or take the header away",
        ),
        (
            annotated("tag: a\nno entry"),
            "a.run: line 3 belongs to no entry of ir_metadata; correct it, or take it away",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text(text)
    with pytest.raises(InputError) as refused:
        run_metadata("a.run")
    assert str(refused.value) == said
