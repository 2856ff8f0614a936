"""Row 11 by coverage, for a night: ``python -m tests.torture.atheris_readers CORPUS [options of libFuzzer]``.

Needs atheris (``pip install atheris``), which no test needs. The first byte of an input chooses the reader, the second
the sizes of blocks; a NUL-free split at the first ``0x1e`` byte gives label/qid files their scores. ``CORPUS`` is a
folder; an empty one is filled with well-formed files first. Ends with libFuzzer's report, and with a crash file at the
first difference between a reader and the grammar of its format.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["ndcg_tracker.ingest"], enable_loader_override=False):
    from .fuzzing import READERS, SEED, Sample, defects

_BESIDE = b"\x1e"
_N_SEEDS = 20


def as_sample(data: bytes) -> tuple[int, int, Sample]:
    """Return the number of the reader, the seed of the sizes, and the files that an input encodes."""
    content, _, beside = data[2:].partition(_BESIDE)
    return data[0] % len(READERS), data[1], Sample(content, beside, None)


def as_input(number: int, sample: Sample) -> bytes:
    """Return the input that encodes a reader and its files."""
    return bytes([number, 0]) + sample.content + (_BESIDE + sample.scores if sample.scores else b"")


def check(data: bytes) -> None:
    """Raise AssertionError for an input that a reader takes otherwise than the grammar of its format."""
    if len(data) < 3:
        return
    number, seed, sample = as_sample(data)
    for defect in defects(READERS[number], sample, Random(seed), _folder):
        raise AssertionError(defect)


def fill(corpus: Path) -> None:
    """Write well-formed files of every reader into an empty corpus."""
    for number, reader in enumerate(READERS):
        random = Random(f"{SEED} {reader.name}")
        for place in range(_N_SEEDS):
            (corpus / f"{number}-{place}").write_bytes(as_input(number, reader.made(random)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as _name:
        _folder = Path(_name)
        _corpus = Path(sys.argv[1])
        _corpus.mkdir(exist_ok=True)
        if not any(_corpus.iterdir()):
            fill(_corpus)
        atheris.Setup(sys.argv, check)
        atheris.Fuzz()
