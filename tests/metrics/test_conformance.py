"""Every dialect against its tool: ``conformance/`` holds what 14 implementations returned, see its README."""

import pytest
from agreement import CASES, DATA, HAND, PEERS, REFUSED, RESULTS, comparisons, our_mean
from conformance_report import counts, report
from deliberate import DELIBERATE

from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.text import parse_metric


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.nightly(but=3)
def test_every_value_agrees_or_differs_on_purpose(peer: str) -> None:
    found = comparisons(peer)
    assert found
    covered_by = {
        difference: [name for name, entry in DELIBERATE.items() if entry.covers(difference)]
        for difference in found
        if not difference.agrees
    }
    assert [difference for difference, names in covered_by.items() if len(names) != 1] == []


@pytest.mark.nightly(but=8)
@pytest.mark.parametrize("name", DELIBERATE)
def test_no_deliberate_difference_is_stale(name: str) -> None:
    entry = DELIBERATE[name]
    assert set(entry.cases) <= CASES.keys()
    assert entry.unused(found for peer in entry.peers for found in comparisons(peer)) == []


@pytest.mark.parametrize("number", range(len(HAND)), ids=[f"{row['case']}-{row['formula'][:24]}" for row in HAND])
def test_formulas_worked_out_by_hand(number: int) -> None:
    case, metric, value = (HAND[number][name] for name in ("case", "metric", "value"))
    assert str(parse_metric(metric)) == metric
    if case in (*DELIBERATE["infinite scores"].cases, *DELIBERATE["a NaN score"].cases):
        assert our_mean(case, metric) == REFUSED
    else:
        assert our_mean(case, metric) == pytest.approx(value, rel=0, abs=1e-12)


def test_every_tool_of_the_dialects_was_asked() -> None:
    asked = {result["metric"].partition(":")[0].partition("(")[0] for result in RESULTS}
    kept = {path.stem for path in (DATA.parent / "peers" / "values").glob("*.jsonl")}
    servers = {"elasticsearch", "opensearch"}  # see test_search_engines.py
    assert asked | kept | servers == DIALECTS.keys()
    assert {result["case"] for result in RESULTS} == CASES.keys()


@pytest.mark.nightly
def test_the_report_counts_every_value_once() -> None:
    found = counts()
    assert [*found] == [*PEERS, "total"]
    assert found["total"].total() == sum(len(comparisons(peer)) for peer in PEERS)
    assert all(of["unexplained"] == 0 for of in found.values())
    print(f"\n{report()}")


def test_the_data_names_its_tools() -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert [peer for peer in PEERS if f"| {peer} |" not in readme] == []
