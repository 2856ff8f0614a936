"""Use a gate as a test: the fixture ``ndcg_gate``, which pytest finds by itself if ndcg_tracker is installed.

    def test_the_new_ranker_may_ship(ndcg_gate):
        ndcg_gate.check("dense", baseline="@prod")

The alias has a policy (``Tracker.set_policy``); without one, give the rules: ``metric="ndcg@10", margin=0.01``.

``--ndcg-track-db`` or ``NDCG_TRACK_DB`` gives the database. The test fails on FAIL and, by default, on INCONCLUSIVE,
with the report of the gate. The decision goes into the JUnit report as properties of the test, and the comparison into
GitHub's step summary if there is one. A test that fails also writes the report page of its comparison next to the
JUnit report.

A decision is recorded in CI (if the variable ``CI`` is set) and on request: ``check(..., record=True)``,
``--ndcg-track-record always``, or ``ndcg_track_record = always`` in pytest's configuration. By default a test
on a developer's machine changes neither the drift nor the budget of a gate.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.questions.gate.gather import GateResult

OnInconclusive = Literal["fail", "skip", "pass"]
Properties = list[tuple[str, object]]

RECORD = ("auto", "always", "never")
_RECORDED = "ndcg_tracker.recorded"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the database and for recording decisions."""
    group = parser.getgroup("ndcg_tracker")
    group.addoption("--ndcg-track-db", metavar="URL|PATH", help="the database of ndcg_gate; by default NDCG_TRACK_DB")
    group.addoption(
        "--ndcg-track-record", choices=RECORD, help="record the decisions of ndcg_gate; auto: in CI only (CI is set)"
    )
    parser.addini(
        "ndcg_track_record", "record the decisions of ndcg_gate: auto (in CI only), always or never", default=""
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Report how many decisions were recorded and how many were not."""
    reports = [report for of_outcome in terminalreporter.stats.values() for report in of_outcome]
    properties = [
        value
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in getattr(report, "user_properties", ())
        if name == _RECORDED
    ]
    if not properties:
        return
    n_recorded = sum(value == str(True) for value in properties)
    n_others = len(properties) - n_recorded
    terminalreporter.section("ndcg_gate")
    if n_recorded:
        terminalreporter.write_line(f"{_decisions(n_recorded)} recorded")
    if n_others:
        terminalreporter.write_line(
            f"{_decisions(n_others)} not recorded; they are recorded in CI and with --ndcg-track-record always"
        )


@dataclass
class NdcgGate:
    """Runs the gate on stored runs from within a test.

    ``database``: a URL or path, None for ``NDCG_TRACK_DB``. ``properties``: receives the name and value of each
    property of the test. ``record``: the default for recording decisions. ``page``: the path of the report page of a
    check that fails, None to write none.
    """

    database: str | None
    properties: Properties
    record: bool = False
    page: Path | None = None

    def check(
        self,
        candidate: str,
        *,
        baseline: str = "@baseline",
        metric: str | None = None,
        margin: float | Literal["auto"] | None = None,
        on_inconclusive: OnInconclusive = "fail",
        record: bool | None = None,
        **options: Any,
    ) -> GateResult:
        """Return the decision on a candidate if it may replace the baseline; otherwise fail the test with the report.

        Parameters: those of ``Tracker.gate``; ``metric``: None for its default, or the policy's.
        ``on_inconclusive``: whether INCONCLUSIVE fails the test, skips it, or passes. ``record``: whether the
        decision is recorded; by default as ``--ndcg-track-record`` or the setting ``ndcg_track_record`` says,
        else in CI only. An error of ``Tracker.gate`` fails the test with its message. Raises: ValueError for
        another value of ``on_inconclusive``.
        """
        if on_inconclusive not in ("fail", "skip", "pass"):
            raise ValueError(f"on_inconclusive is {on_inconclusive!r}; choose fail, skip or pass")
        from ndcg_tracker.api.tracker import Tracker
        from ndcg_tracker.errors import NdcgTrackerError
        from ndcg_tracker.questions.gate.say import gate_said
        from ndcg_tracker.render.whole_file import appended_summary, summary_path

        asked = {"candidate": candidate, "baseline": baseline, "margin": margin, **options}
        asked |= {} if metric is None else {"metric": metric}
        recorded = (self.record if record is None else record) and not options.get("dry_run", False)
        summary, refused = summary_path(), ""
        try:
            with ExitStack() as files:
                append_summary = None if summary is None else files.enter_context(appended_summary(summary))
                with Tracker(self.database) as tracker:
                    result = tracker.gate(**asked) if recorded else _unrecorded(tracker, asked)
                    page = None if result.is_accepted else self.page
                    if page is not None:
                        page.parent.mkdir(parents=True, exist_ok=True)  # pytest creates it only at the end
                        tracker.gate_report(result, output=str(page)).save(page)
                if append_summary is not None:
                    append_summary(gate_said(result.gated).in_format("markdown") + "\n")
        except NdcgTrackerError as error:
            refused = str(error)
        if refused:
            pytest.fail(refused, pytrace=False)
        shown = {} if page is None else {"report": str(page)}
        for name, value in {**_properties(result), "recorded": str(recorded), **shown}.items():
            self.properties.append((f"ndcg_tracker.{name}", value))
        if not result.is_accepted:
            if result.decision == "fail" or on_inconclusive == "fail":
                pytest.fail(str(result), pytrace=False)
            if on_inconclusive == "skip":
                pytest.skip(result.reason)
        return result


def _unrecorded(tracker: Tracker, asked: dict[str, Any]) -> GateResult:
    """Return the decision of the gate without recording it; an override passes the test as if it were recorded."""
    from ndcg_tracker.questions.gate.gather import GateResult
    from ndcg_tracker.questions.gate.question import acknowledged

    others = ("acknowledge", "acknowledged_by", "dry_run")
    override = acknowledged(asked.get("acknowledge"), asked.get("acknowledged_by"))
    result = tracker.gate(**{name: value for name, value in asked.items() if name not in others}, dry_run=True)
    if override is None or result.decision == "pass":
        return result
    return GateResult(replace(result.gated, acknowledgement=override))


def _properties(result: GateResult) -> dict[str, object]:
    gated = result.gated
    metric = gated.metric
    return {
        "baseline": gated.comparison.baseline.name,
        "candidate": gated.comparison.candidate.name,
        "dataset": gated.comparison.dataset,
        "metric": metric.metric,
        "delta": None if metric.delta is None else float(metric.delta),  # pytest-xdist does not accept NumPy numbers
        "decision": result.decision,
        "reason": result.reason,
        "decision_id": gated.decision_id,
    }


def _decisions(n: int) -> str:
    return f"{n} decision{'' if n == 1 else 's'} of a gate"


def _is_recorded(config: pytest.Config) -> bool:
    """Return whether decisions are recorded by default."""
    asked = config.getoption("--ndcg-track-record") or str(config.getini("ndcg_track_record")).strip() or "auto"
    if asked not in RECORD:
        raise pytest.UsageError(f"ndcg_track_record is {asked!r}; choose {', '.join(RECORD[:-1])} or {RECORD[-1]}")
    return asked == "always" or (asked == "auto" and os.environ.get("CI", "").lower() not in ("", "0", "false"))


@pytest.fixture
def ndcg_gate(request: pytest.FixtureRequest) -> NdcgGate:
    """The gate, on the database of ``--ndcg-track-db`` or ``NDCG_TRACK_DB`` (see ``NdcgGate.check``)."""
    # record_property would warn under junit_family=xunit2, the default, although that writes them
    properties: Properties = request.node.user_properties
    database = request.config.getoption("--ndcg-track-db")
    junit = request.config.getoption("xmlpath", None)
    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid)  # tests of two files may have the same name
    page = None if not junit else Path(junit).with_name(f"{Path(junit).stem}-{name}.html")
    return NdcgGate(database, properties, record=_is_recorded(request.config), page=page)
