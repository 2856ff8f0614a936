"""The header of ir_metadata in a run file: what of it is kept, against PyYAML, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.ir_metadata import entries, header_lines, run_metadata, side_metadata
from ndcg_tracker.questions.show.say import metadata_lines

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


def read(text: str) -> dict[str, str]:
    return entries(text, ValueError)


def annotated(header: str) -> str:
    commented = "".join(f"# {line}\n" if line else "#\n" for line in header.splitlines())
    return f"# ir_metadata.start\n{commented}# ir_metadata.end\n{RUN}"


def test_every_entry_is_that_of_a_yaml_parser() -> None:
    found = read(HEADER)
    wanted = flat(yaml.load(HEADER, yaml.BaseLoader))
    assert wanted.pop("platform.hardware.ram") == "~"  # the base loader knows no null
    assert found == wanted
    assert read("a: 'over\n  two lines'\nb:\nc: null\nd: [1, x]") == {"a": "over two lines", "d.0": "1", "d.1": "x"}


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
            "a.run: the header has no last line '# ir_metadata.end'; add the line, or remove the header",
        ),
        (
            annotated("tag: a\nno entry"),
            "a.run:3: not valid YAML (could not find expected ':'); correct the file",
        ),
        (annotated("tag"), "a.run: not the keys of ir_metadata; correct or remove it"),
        (annotated("a: 1\na: 2"), "a.run: key 'a' is there twice, in line 3; keep one of the two"),
        (annotated(f"a: {'[' * 10_000}"), "a.run: YAML nested too deeply; correct or remove it"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text(text)
    with pytest.raises(InputError) as refused:
        run_metadata("a.run")
    assert str(refused.value) == said


TRACKED = """\
implementation:
  executable:
    cmd:
    - python
    - t.py
  source:
    is repo: 0
    lang: null
platform:
  hardware:
    gpu: null
    ram: 25276 MB
  software:
    tirex-tracker: 0.2.24
resources:
  cpu:
    energy used system: null J
    used process:
      avg: 18
      timeseries:
        timestamps:
        - 4ms
        - 107ms
        values:
        - 0
        - 98
  runtime:
    start time: 2026-11-23T16:46:10.367482017+0000
    user: 260 ms
    wallclock: 1450 ms
schema version: 0.2
"""
"""What tirex-tracker 0.2.24 wrote beside a run, shortened."""


def test_a_file_of_tirex_tracker_makes_measures(tmp_path: Path) -> None:
    path = tmp_path / "bm25.metadata.yml"
    path.write_text(TRACKED)
    found = side_metadata(str(path))
    assert found["resources.runtime.wallclock_ms"] == "1450"
    assert found["resources.cpu.used process.avg"] == "18"
    assert found["platform.hardware.ram"] == "25276 MB"  # no resource that was used
    assert found["implementation.executable.cmd.1"] == "t.py"
    assert not any("timeseries" in name or "energy" in name or name.endswith("lang") for name in found)
    run = tmp_path / "bm25.run"
    run.write_text(RUN)
    slower = tmp_path / "slower.yml"
    slower.write_text(TRACKED.replace("1450 ms", "2900 ms"))
    measure = "resources.runtime.wallclock_ms"
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        of_both = {"labels": {"q1": {"a": 1}}}
        tracker.ingest(str(run), metadata=path, **of_both)
        tracker.ingest(str(run), metadata=slower, name="slower", tags={"schema version": "mine"}, **of_both)
        assert tracker.show("slower").tags["schema version"] == "mine"
        gated = tracker.gate("slower", baseline="bm25", scope="set", limits=[f"{measure}=+10%"])
        assert gated.decision == "fail"
        assert f"{measure} went from 1450 to 2900 (+100%), and the limit is +10%" in gated.reason


def test_what_a_file_beside_a_run_may_be(tmp_path: Path) -> None:
    path = tmp_path / "a.yml"
    path.write_text("# ir_metadata.start\n# tag: a\n# ir_metadata.end\n")
    assert side_metadata(str(path)) == {"tag": "a"}
    path.write_text("tag: a\nno entry\n")
    with pytest.raises(InputError, match=r"a\.yml:3: not valid YAML"):
        side_metadata(str(path))
    with pytest.raises(InputError, match="no such file; check the path"):
        side_metadata(str(tmp_path / "none.yml"))


words = st.text("ab: #'\"-~%\n\u00e4[{&", min_size=1, max_size=12)
names = st.lists(st.sampled_from(["a", "b c", "key: x", "0", "1"]), min_size=1, max_size=3).map(".".join)


@settings(max_examples=200)
@example({"0": '": \n'})
@example({"a.b c": "k", "a": "bm25"})
@given(st.dictionaries(names, words, max_size=6))
def test_what_is_written_is_read_back(given_entries: dict[str, str]) -> None:
    """A name that begins another one is no tree to a YAML parser, and what YAML has as blank, it has not as text."""
    alone = {
        name: text
        for name, text in given_entries.items()
        if not any(other.startswith(f"{name}.") for other in given_entries)
    }
    lines = header_lines(alone)
    assert (lines[0], lines[-1]) == ("# ir_metadata.start", "# ir_metadata.end")
    text = "\n".join(line.removeprefix("# ") for line in lines[1:-1])
    assert flat(yaml.safe_load(text) or {}) == {name: value.removesuffix("\n") for name, value in alone.items()}
    assert read(text) == alone
    assert read("\n".join(line.removeprefix("#") for line in header_lines(given_entries)[1:-1])) == given_entries


def test_a_run_prints_its_header(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(annotated(HEADER))
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest(str(path), labels={"q1": {"a": 1}}, parameters={"k1": "0.9"}, git_commit="abc", dataset="robust")
        text = "\n".join(metadata_lines(tracker.show("bm25")))
    again = tmp_path / "again.run"
    again.write_text(f"{text}\n{RUN}")
    assert run_metadata(str(again)) == {
        **run_metadata(str(path)),
        "data.test collection.name": "robust",
        "implementation.source.commit": "abc",
        "method.parameters.k1": "0.9",
    }


@pytest.mark.parametrize("n_levels", [50, 400])
def test_a_name_of_many_levels_comes_back(n_levels: int) -> None:
    found = {".".join(["a"] * n_levels): "x", "b": "y"}
    assert read("\n".join(line.removeprefix("# ") for line in header_lines(found)[1:-1])) == found
