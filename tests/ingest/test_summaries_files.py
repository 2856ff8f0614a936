"""Files of sums: read back as they were written, and refused with their line where they cannot be true."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.results import read_summaries, write_summaries
from ndcg_tracker.statistics.summary import PairedSums, SliceSummary, Summary

DELTA = np.array([0.1 + 0.2, -1 / 3, 0.0, 1e-300])
TOTALS = {1: Summary.of(DELTA[:2]), 2: Summary.of(DELTA[2:].sum(keepdims=True))}
PAIRED = PairedSums(Summary.of(DELTA), 0.5, 1, 2, 3, TOTALS)
WHOLE = SliceSummary("ndcg@10", Summary.of(DELTA + 0.5), 2, "0" * 31 + "f", None, None, PAIRED, "user")
SLICE = SliceSummary("ndcg@10", WHOLE.values, 2, WHOLE.labels, "länd", None, PAIRED, "user")


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "sums.jsonl"
    assert write_summaries([WHOLE, SLICE], path) == path.stat().st_size < 3_000
    assert read_summaries(str(path)) == [WHOLE, SLICE]


CHANGES: dict[str, tuple[Callable[[list[dict[str, Any]]], object], str]] = {
    "m2 below 0": (
        lambda lines: lines[0]["values"].update(m2=-1),
        "1: this line does not hold sums (a number is not finite, or",
    ),
    "counts": (
        lambda lines: lines[1]["paired"]["differences"].update(wins=9),
        "2: this line does not hold sums (the counts contra",
    ),
    "a count below 0": (
        lambda lines: lines[0].update(n_undefined=-1),
        "1: this line does not hold sums (a count is below 0",
    ),
    "digest": (
        lambda lines: lines[0].update(labels="v1"),
        "1: this line does not hold sums (labels 'v1' is not a digest)",
    ),
    "clusters": (
        lambda lines: lines[0]["paired"]["clusters"].pop(),
        "1: this line does not hold sums (the clusters are not those",
    ),
    "no attribute": (
        lambda lines: lines[0].update(cluster=None),
        "1: this line does not hold sums (clusters have no attribute",
    ),
    "a name lacks": (lambda lines: lines[1].pop("values"), "2: this line does not hold sums (KeyError('values'))"),
    "no text": (lambda lines: lines[0].update(metric=7), "1: this line does not hold sums (TypeError("),
    "no object": (lambda lines: lines.append([]), "3: this line does not hold sums (TypeError("),  # type: ignore[arg-type]
    "twice": (lambda lines: lines.append(lines[0]), " the same metric and slice is there twice"),
    "no whole": (lambda lines: lines.pop(0), " ndcg@10 has slices, but no sums of all groups"),
    "half the slices": (
        lambda lines: lines[1]["values"].update(n=3, wins=0),
        " the slices of ndcg@10 do not cover all of its groups",
    ),
    "labels differ": (lambda lines: lines[1].update(labels=None), " labels, baseline, slices or clusters differ"),
    "nothing": (lambda lines: lines.clear(), " is empty"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_cannot_be_true_is_refused_with_its_line(what: str, tmp_path: Path) -> None:
    change, wanted = CHANGES[what]
    path = tmp_path / "sums.jsonl"
    write_summaries([WHOLE, SLICE], path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_summaries(str(path))
    assert str(refused.value).startswith(f"{path}:{wanted}")


def test_an_infinity_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sums.jsonl"
    write_summaries([WHOLE], path)
    path.write_text(path.read_text().replace('"n_undefined": 2', '"n_undefined": NaN'), encoding="utf-8")
    with pytest.raises(InputError, match="1: this line does not hold sums"):
        read_summaries(str(path))


def test_a_line_nested_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sums.jsonl"
    path.write_text("[" * 100_000)
    with pytest.raises(InputError) as refused:
        read_summaries(str(path))
    assert str(refused.value) == (
        f"{path}:1: this line does not hold sums (JSON nested too deeply); write the file with write_summaries"
    )
