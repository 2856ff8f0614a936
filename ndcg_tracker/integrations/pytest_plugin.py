"""A gate as a test: the fixture ``ndcg_gate``, which pytest finds by itself where ndcg_tracker is installed.

    def test_the_new_ranker_may_ship(ndcg_gate):
        ndcg_gate.check("dense", baseline="@baseline", metric="ndcg@10", margin=0.01)

The database is where ``--ndcg-track-db`` or ``NDCG_TRACK_DB`` says. The test fails on FAIL and, unless told otherwise,
on INCONCLUSIVE, with the report of the gate; the decision goes into the JUnit report as properties of the test, and
the comparison into GitHub's step summary where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from ndcg_tracker.tracker.gate_result import GateResult

OnInconclusive = Literal["fail", "skip", "pass"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add where the database is."""
    group = parser.getgroup("ndcg_tracker")
    group.addoption("--ndcg-track-db", metavar="URL|PATH", help="the database of ndcg_gate; else NDCG_TRACK_DB")


class NdcgGate:
    """Asks the gate about stored runs from within a test.

    ``database``: a URL or path, None for ``NDCG_TRACK_DB``. ``record_property``: what takes name and value of a
    property of the test.
    """

    def __init__(self, database: str | None, record_property: Callable[[str, object], None]) -> None:
        self._database = database
        self._record_property = record_property

    def check(
        self,
        candidate: str,
        *,
        baseline: str = "@baseline",
        metric: str = "ndcg@10",
        margin: float | Literal["auto"] | None = None,
        on_inconclusive: OnInconclusive = "fail",
        **options: Any,
    ) -> GateResult:
        """Return the decision on a candidate where it may replace the baseline; else the test fails with the report.

        Parameters: see ``Tracker.gate``, whose further ones are taken too. ``on_inconclusive``: whether an open
        question fails the test, skips it, or passes. What ``Tracker.gate`` refuses fails the test with that line.
        Raises: ValueError for another word.
        """
        if on_inconclusive not in ("fail", "skip", "pass"):
            raise ValueError(f"on_inconclusive is {on_inconclusive!r}; choose fail, skip or pass")
        from ndcg_tracker.errors import NdcgTrackerError
        from ndcg_tracker.integrations.github_summary import appended_summary, summary_path
        from ndcg_tracker.reporting.gate_formats import gate_markdown
        from ndcg_tracker.tracker import Tracker

        summary = summary_path()
        try:
            with ExitStack() as files:
                append_summary = None if summary is None else files.enter_context(appended_summary(summary))
                with Tracker(self._database) as tracker:
                    found = tracker.gate(candidate, baseline=baseline, metric=metric, margin=margin, **options)
                if append_summary is not None:
                    append_summary(gate_markdown(found.gated) + "\n")
        except NdcgTrackerError as error:
            pytest.fail(str(error), pytrace=False)
        for name, value in _properties(found).items():
            self._record_property(f"ndcg_tracker.{name}", value)
        if not found.is_accepted:
            if found.decision == "fail" or on_inconclusive == "fail":
                pytest.fail(str(found), pytrace=False)
            if on_inconclusive == "skip":
                pytest.skip(found.gated.decision.reason)
        return found


def _properties(found: GateResult) -> dict[str, object]:
    gated = found.gated
    metric = gated.metric
    return {
        "baseline": gated.comparison.baseline.name,
        "candidate": gated.comparison.candidate.name,
        "dataset": gated.comparison.dataset,
        "metric": metric.metric,
        "delta": None if metric.delta is None else float(metric.delta),  # pytest-xdist takes no NumPy number
        "decision": found.decision,
        "reason": gated.decision.reason,
        "decision_id": gated.decision_id,
    }


@pytest.fixture
def ndcg_gate(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> NdcgGate:
    """The gate, on the database of ``--ndcg-track-db`` or ``NDCG_TRACK_DB`` (see ``NdcgGate.check``)."""
    return NdcgGate(request.config.getoption("--ndcg-track-db"), record_property)
