"""``ndcg-track plan`` and ``nt.plan``: screens, refusals, and how often a planned number of queries PASSes."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine
from golden_files import golden, results, write_results
from golden_worlds import populations, tilted
from populations import Floats, Record, repeats
from rates import passes
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NdcgTrackerWarning
from ndcg_tracker.questions.plan.decide import planned
from ndcg_tracker.statistics.planned import Pilot
from ndcg_tracker.statistics.small_sets import typical

SAMPLES = repeats(400)
KINDS = ("hit@5 f .10", "hit@5 f .05", "RR@10", "R@10", "ndcg@10 small change", "ndcg@10 other model")
MOVED = {"rotate signing key": 9, "webhook retries": 10, "rate limits": 10, "usage alerts": 1}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a golden set and three files of results, two of them equal."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.json").write_text(json.dumps(golden()))
    for name, ranks in (("base", {}), ("two", MOVED), ("same", {})):
        write_results(tmp_path / f"{name}.jsonl", results(ranks))
    return tmp_path


def test_before_anything(sqlite_command: CommandLine) -> None:
    printed = sqlite_command("plan", "--metric", "hit@5", "--queries", "40")
    assert (printed.code, printed.err) == (0, "note: hit@5 is read as Success@5\n")
    assert printed.out == (
        "about 230 queries to promise that hit@5 falls by less than 0.05, after a usual change\n"
        "40 queries, hit@5                                small change  usual  another model\n"
        "check stops an equally good candidate                      5%    14%            25%\n"
        "check stops 4 in 5 candidates that are worse by         0.073  0.076          0.088\n"
        "a gate can promise (95%) no drop above                   0.12   0.15           0.20\n"
        "queries to promise 0.05                                   150    230            450\n"
        "cheaper: RR@10 (about 120 queries); or decide about these queries alone: ndcg-track check\n"
    )
    rows = sqlite_command.rows("plan", "--margin", ".02")["changes"]
    assert [row["needed"] for row in rows] == [247, 391, 620]


def test_from_two_files(sqlite_command: CommandLine, folder: Path) -> None:
    both = ("plan", "base.jsonl", "two.jsonl", "--labels", "golden.json")
    assert sqlite_command(*both, "--metric", "ndcg@10").out == (
        "about 130 queries like these to promise that ndcg@10 falls by less than 0.05 (54 to 280, as 4 of 40 differ)\n"
        "83 more queries with about 10 labels each: about 830 labels\n"
        "with these 40 a gate can promise (95%) no drop above 0.11, with 100 no drop above 0.058\n"
        "check stops drops of 0.043 4 times in 5, and 19% of equally good candidates\n"
        "cheaper: a margin of 0.1 (about 48 queries); or decide about these queries alone: ndcg-track check\n"
    )
    assert sqlite_command(*both, "-m", "hit@5", "--margin", ".02", "--queries", "500").out == (
        "about 1,720 queries like these to promise that hit@5 falls by less than 0.02 (900 to 3,300, as 3 of 40 "
        "differ)\n"
        "1,680 more queries with about 5 labels each: about 8,510 labels\n"
        "with these 40 a gate can promise (95%) no drop above 0.19, with 500 no drop above 0.04\n"
        "check stops drops of 0.08 4 times in 5, and 19% of equally good candidates\n"
        "cheaper: ndcg@10 (about 560 queries), or a margin of 0.05 (about 340 queries), or a margin of 0.05 by "
        "ndcg@10 (about 130 queries); or decide about these queries alone: ndcg-track check\n"
    )
    assert sqlite_command(*both, "--margin", ".3").out.startswith(
        "these 40 queries are enough to promise that ndcg@10 falls by less than 0.3 (about "
    )
    with pytest.warns(NdcgTrackerWarning):
        python = nt.plan("base.jsonl", "two.jsonl", labels="golden.json")
    assert python.to_dict() == sqlite_command.rows(*both)
    assert not list(folder.glob("*.db"))


def test_where_nothing_differs_it_goes_by_what_is_typical(sqlite_command: CommandLine, folder: Path) -> None:
    printed = sqlite_command("plan", "base.jsonl", "same.jsonl", "--labels", "golden.json", "-m", "RR@10")
    assert printed.out.startswith(
        "none of these 40 queries differs, so they do not say how many: about 120 queries to promise that RR@10 falls "
        "by less than 0.05, after a usual change\n40 queries, RR@10 "
    )


def test_stored_runs(tracker: nt.Tracker) -> None:
    for name, lists in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(lists), name=name, labels=labels_frame(), metrics="ndcg@10")
    found = tracker.plan("bm25", "dense", margin=0.2).plan
    comparison = tracker.compare("bm25", "dense").comparisons[0]
    assert (found.n, found.dataset) == (comparison.metrics[0].t.n, "default")
    assert tracker.plan("bm25", "dense", margin=0.2).to_frame()["needed"].tolist() == [found.changes[0].needed]
    for name, lists in (("again", BM25), ("twice", DENSE)):
        tracker.ingest(frame_of(lists), name=name, labels=labels_frame(), metrics="ndcg@10", tags={"a": "b"})
    with pytest.raises(InputError, match=r"^a plan goes by two single runs, and without drawn answers; name two runs$"):
        tracker.plan("bm25", "tag:a=b")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["-m", "AP"], "AP: typical differences are known for hit@K, RR@K, recall@K and ndcg@K; name two runs, or "
                       "--metric RR@10"),
        (["-m", "external:latency"], "external:latency: a plan is about metrics from 0 to 1, the higher the better"),
        (["bm25"], "a plan goes by how two runs differ, and 'bm25' is one; name two"),
        (["--labels", "1"], "--labels needs CANDIDATE: without runs it goes by what is typical; give CANDIDATE, or "
                            "leave out --labels"),
        (["--margin", "0"], "the margin must be a number above 0, not 0.0; give it in absolute points, such as 0.01"),
    ],
)  # fmt: skip
def test_what_it_does_not_plan(sqlite_command: CommandLine, arguments: list[str], error: str) -> None:
    assert sqlite_command.refused("plan", *arguments) == error


def test_a_number_of_queries_below_1_in_python() -> None:
    with pytest.raises(InputError, match=r"^a plan is for 1 query or more, not 0; give for example 40$"):
        nt.plan(queries=0)


def equal(name: str) -> Floats:
    """Return 20,000 differences of a kind that golden sets have, if nothing differs on average."""
    values, shares = tilted(populations()[name], 0.0)
    return np.repeat(values, np.round(shares * 20_000).astype(int))


@pytest.mark.nightly
@pytest.mark.parametrize("margin", [0.02, 0.05, 0.10])
@pytest.mark.parametrize("name", KINDS)
def test_a_planned_number_of_queries_passes_an_equal_candidate(
    name: str, margin: float, record_property: Record
) -> None:
    """In .75 to .90 of samples, as section 9 of the design of small sets asks."""
    differences = equal(name)
    n = Pilot.of(differences).groups_for(margin)
    assert n is not None
    rows = np.random.default_rng(1).choice(differences, (SAMPLES, n))
    share = float(passes(rows, margin).mean())
    record_property("queries", n)
    record_property("PASS", share)
    chance = 3.3 * math.sqrt(0.8 * 0.2 / SAMPLES)
    assert 0.75 - chance <= share <= 0.90 + chance


@pytest.mark.nightly
@pytest.mark.parametrize("margin", [0.02, 0.05])
@pytest.mark.parametrize("name", KINDS)
def test_the_range_of_a_pilot_of_40_has_the_number_that_is_right(
    name: str, margin: float, record_property: Record
) -> None:
    differences, rng = equal(name), np.random.default_rng(2)
    right = Pilot.of(differences).groups_for(margin)
    pilots = [Pilot.of(row) for row in rng.choice(differences, (200, 40)) if row.any()]
    found = [(pilot.groups_for(margin), pilot.off_by) for pilot in pilots]
    share = np.mean([n is not None and n / off <= right <= n * off for n, off in found])
    record_property("holds the right number", float(share))
    assert share >= 0.80 - 3.3 * math.sqrt(0.8 * 0.2 / len(pilots))


def test_typical_pilots_are_those_of_the_table() -> None:
    for spread in typical("ndcg").values():
        assert Pilot.typical(spread).sd == pytest.approx(spread.sd, rel=0.01)
    assert planned(nt.parse_metric("hit@5"), 0.05, 100, None).n == 100
