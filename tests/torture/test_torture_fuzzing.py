"""Row 11, quickly: readers and grammars on files that hypothesis makes and damages."""

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from ndcg_tracker.ingest.detection import READERS as FORMATS

from .fuzzing import READERS, UNFUZZED, Reader, Sample, defects, sample
from .grammar import LABELS, RUN, RefusedError, trec_run
from .grammar.text import decimal_number


@pytest.mark.parametrize("reader", READERS, ids=[reader.name for reader in READERS])
@settings(max_examples=examples(100))
@given(st.integers(0, 2**64))
def test_a_reader_and_the_grammar_of_its_format_agree(reader: Reader, seed: int) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        assert list(defects(reader, sample(random, reader), random, Path(folder))) == []


def test_every_format_is_fuzzed_for_runs_and_labels() -> None:
    fuzzed = {(reader.reader, reader.role) for reader in READERS}
    assert fuzzed == {(name, role) for name in FORMATS if name not in UNFUZZED for role in (RUN, LABELS)}


@given(st.from_regex(r"\A[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?\Z"))
def test_the_grammar_rounds_as_python_does(text: str) -> None:
    found = decimal_number(text.encode())
    assert repr(found) == repr(float(text)) if found is not None else abs(float(text)) == float("inf")


@pytest.mark.parametrize("text", ["nan", "inf", "1_0", "٣", "1e400", "", ".", "1e", "0x1", " 1", "1\n", "+-1"])
def test_what_is_no_number(text: str) -> None:
    assert decimal_number(text.encode()) is None


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"q 0 d 1 x t\n", {1, None}),
        (b"q 0 d 1 1 t\n\nq 0 d 2 1 t\n", {3}),
        (b"q 0 d 1 1\nq 0 e 1 1 t\nq\0 0 e 1 1 t\n", {1, 3}),
        (b"", {None}),
    ],
)
def test_the_grammar_tells_every_faulty_line(content: bytes, lines: set[int | None]) -> None:
    with pytest.raises(RefusedError) as caught:
        trec_run(content)
    assert caught.value.lines == lines


@pytest.mark.parametrize(
    ("meant", "read"),
    [
        (b"q Q0 d 1 1 t\n", b"q Q0 d 1 1.0000000000000002 t\n"),
        (b"q Q0 d 1 0 t\n", b"q Q0 d 1 -0 t\n"),
        (b"q Q0 d 1 1 t\n", b"q Q0 d 1 x t\n"),
        (b"q Q0 d 1 nan t\n", b"q Q0 d 1 1 t\n"),
        (b"q Q0 d 1 1 t\nq Q0 d 1 1\n", b"q Q0 d 1 1\n"),
    ],
)
def test_a_difference_is_told(tmp_path: Path, meant: bytes, read: bytes) -> None:
    reader = Reader("planted", "trec", RUN, lambda _: Sample(b""), lambda _: trec_run(meant))
    assert list(defects(reader, Sample(read), Random(1), tmp_path))
