"""``ingest --summaries``: a file of sums is stored, compared and gated by the program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine

from ndcg_tracker.ingest.results import write_summaries
from ndcg_tracker.statistics.summary import PairedSums, SliceSummary, Summary

BEFORE = np.tile([0.5, 0.25, 0.75, 0.0], 100)
DELTA = np.tile([0.0, 0.02, -0.01, 0.005, 0.01], 80)


@pytest.fixture
def files(command: CommandLine, folder: Path) -> CommandLine:
    """Sums of two nights, and of the run before, in the folder of the commands."""
    for night in (1, 2):
        own = slice(200 * (night - 1), 200 * night)
        paired = PairedSums(Summary.of(DELTA[own]), float(BEFORE[own].mean()), 0, 0, 0, None)
        one = SliceSummary("ndcg@10", Summary.of(BEFORE[own] + DELTA[own]), 0, f"{night:032x}", paired=paired)
        write_summaries([one], folder / f"after-{night}.jsonl")
        write_summaries([replace(one, values=Summary.of(BEFORE[own]), paired=None)], folder / f"before-{night}.jsonl")
    return command


def both(name: str) -> list[str]:
    return ["--summaries", f"{name}-1.jsonl", "--summaries", f"{name}-2.jsonl", "--name", name]


def test_nights_are_stored_together_compared_and_gated(files: CommandLine) -> None:
    (stored,) = files.rows("ingest", *both("before"))
    assert (stored["outcome"], stored["n_groups"], stored["n_items"]) == ("stored", 400, 0)
    files.done("ingest", *both("after"), "--baseline", "before")
    found = files.rows("compare", "before", "after")
    assert found["metrics"][0]["delta"] == pytest.approx(DELTA.mean())
    assert found["metrics"][0]["wins"] == int((DELTA > 0).sum())
    gated = files.rows("gate", "after", "--baseline", "before", "--metric", "ndcg@10", "--margin", "0.01")
    assert gated["decision"] == "pass"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            [*both("after"), "--metric", "P@5"],
            "--metric does not go with --summaries FILE; leave it out",
        ),
        (["run.csv", "--baseline", "x"], "--baseline belongs to --summaries FILE; leave it out"),
        (["run.csv", "--disjoint-clusters"], "--disjoint-clusters belongs to --summaries FILE; leave it out"),
        (["--summaries", "none.jsonl"], "none.jsonl: no such file; check the path"),
        (
            both("after"),
            "the sums hold differences to a baseline, but no baseline is named; name the run they were paired with: "
            "--baseline RUN",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(files: CommandLine, words: list[str], error: str) -> None:
    assert files.refused("ingest", *words) == error
