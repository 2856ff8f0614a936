"""Numbers of whole runs: stored with ``ingest --measure``, limited with ``gate --limit``."""

from __future__ import annotations

import json

from command_line import CommandLine

GATE = ("gate", "dense", "--baseline", "bm25", "--scope", "set", "--margin", "0.99", "--dataset", "shop")


def test_a_gate_with_limits(command: CommandLine, files: None) -> None:
    for name, latency in (("bm25.csv", "20"), ("dense.run", "23")):
        command.done(
            "ingest", name, "--labels", "labels.csv", "--dataset", "shop", "--tag", "a=b",
            "--measure", f"latency_ms={latency}", "--measure", "size=1e3",
        )  # fmt: skip
    shown = json.loads(command.done("runs", "show", "dense", "--format", "json"))
    assert shown["tags"] == {"a": "b", "latency_ms": "23", "size": "1e3"}
    printed = command(*GATE, "--limit", "latency_ms=+10%", "--limit", "size=+0", "--format", "json")
    found = json.loads(printed.out)
    assert (printed.code, printed.err, found["decision"]) == (3, "", "fail")
    assert found["limits"] == [
        {"name": "latency_ms", "limit": "+10%", "baseline": 20.0, "candidate": 23.0, "worst": 22.0, "is_met": False},
        {"name": "size", "limit": "+0", "baseline": 1000.0, "candidate": 1000.0, "worst": 1000.0, "is_met": True},
    ]
    assert found["reason"].endswith("; latency_ms went from 20 to 23 (+15%), and the limit is +10%")
    (recorded,) = command.rows("sql", "SELECT decision, reason FROM gate_decisions")
    assert recorded == {"decision": "fail", "reason": found["reason"]}
    text = command.done(*GATE, "--limit", "latency_ms=+15%", "-v")
    assert "latency_ms  baseline 20, candidate 23 (+15%); limit +15%" in text
    assert text.startswith("PASS: ")


def test_what_is_refused(shop: CommandLine) -> None:
    assert shop.refused("ingest", "bm25.csv", "--measure", "latency_ms=fast") == (
        "--measure latency_ms=fast is not a number; write --measure latency_ms=12.5"
    )
    assert shop.refused("ingest", "bm25.csv", "--measure", "x=1", "--tag", "x=2") == (
        "--tag and --measure both give 'x'; leave one out"
    )
    assert shop.refused("ingest", "bm25.csv", "--measure", "x") == (
        "--measure needs --results: it describes values from another engine; give --results, or leave out --measure"
    )
    assert shop.refused(*GATE, "--limit", "latency_ms=10%") == (
        "--limit latency_ms=10% is not a limit; write NAME=+10% or NAME=+5 for the most it may rise, NAME=-10% for the "
        "most it may fall"
    )
    assert shop.refused(*GATE, "--limit", "latency_ms=+10%") == (
        "the baseline has no tag 'latency_ms'; set it with: ndcg-track runs tag RUN latency_ms=NUMBER"
    )
