"""The chart of docs/performance.md, drawn from a run: how long tools take from a file to the NDCG of every group.

python benchmarks/run.py --from run.json --chart
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from goals import medians, megabytes, short

WORKLOAD = "w1"
_WIDTH, _LEFT, _TOP, _ROW = 788, 224, 92, 30
_PANELS = ((_LEFT, 300), (_LEFT + 340, 200))  # where the bars of time and of memory begin, and how long they may be
_NAMES = {
    "evaluate --per-group": "ndcg-track evaluate",
    "ingest, SQLite": "ndcg-track ingest, SQLite",
    "ingest, Postgres": "ndcg-track ingest, Postgres",
    "ir_measures": "ir-measures",
}
_ABSENT = ("interpreter", "evaluate")
_STYLE = """
  text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px; fill: #3d434b }
  .card { fill: #ffffff; stroke: #e3e3e0 }
  .title { font-size: 15px; font-weight: 600; fill: #1b1e23 }
  .small { font-size: 11.5px; fill: #6b717a }
  .ours { font-weight: 600; fill: #1b1e23 }
  .bar { fill: #b4b9bf }
  .bar.ours { fill: #1f77b4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #c3c9d1 }
    .card { fill: #161a20; stroke: #30363d }
    .title, text.ours { fill: #f0f3f6 }
    .small { fill: #949ca6 }
    .bar { fill: #545c66 }
    .bar.ours { fill: #4a9fdc }
  }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One contender: how long it took and how much memory it needed at most."""

    name: str
    seconds: float
    peak_mb: float
    is_ours: bool


def bars(results: Mapping[str, Any], workload: str = WORKLOAD) -> list[Bar]:
    """Return the contenders of a workload, the fastest first."""
    for phase in results["phases"]:
        if (phase["section"], phase["workload"]) == ("files", workload):
            found = [
                Bar(
                    _NAMES.get(row["name"], row["name"]),
                    row["seconds"],
                    row["peak_mb"],
                    row["name"].startswith(("evaluate", "ingest")),
                )
                for row in phase["rows"]
                if "seconds" in row and row["name"] not in _ABSENT and "that is there" not in row["name"]
            ]
            return sorted(found, key=lambda bar: bar.seconds)
    raise SystemExit(f"the run has no files of {workload.upper()}: measure them before drawing")


def svg(results: Mapping[str, Any]) -> str:
    """Return the chart as SVG; it follows the reader's light or dark setting."""
    workload = "tiny" if results.get("quick") else WORKLOAD
    drawn = bars(results, workload)
    size = "40 groups x 30 items" if workload == "tiny" else "6,980 groups x 1,000 items"
    height = _TOP + _ROW * len(drawn) + 40
    machine = results["machine"]
    title = "From a TREC run to the NDCG of every group"
    below = f"{size}, NDCG@10, @100 and full; whole processes, {medians(results['rounds'])}"
    foot = f"{machine['processor']}, {machine['cores']} cores, {machine['date']}. Ingest also stores everything."
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'role="img" aria-labelledby="title description">',
        f'<title id="title">{title}</title>',
        f'<desc id="description">{escape(_told(drawn))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="10"/>',
        _text(24, 33, title, "title"),
        _text(24, 53, below, "small"),
        _text(_PANELS[0][0], _TOP - 12, "seconds", "small"),
        _text(_PANELS[1][0], _TOP - 12, "peak memory", "small"),
        *_rows(drawn),
        _text(24, height - 17, foot, "small"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _rows(drawn: Sequence[Bar]) -> list[str]:
    longest = (max(bar.seconds for bar in drawn), max(bar.peak_mb for bar in drawn))
    parts = []
    for number, bar in enumerate(drawn):
        y = _TOP + _ROW * number
        kind = " ours" if bar.is_ours else ""
        parts.append(_text(_LEFT - 10, y + 15, bar.name, f"name{kind}", "end"))
        numbers = ((bar.seconds, f"{short(bar.seconds)}"), (bar.peak_mb, megabytes(bar.peak_mb)))
        for (x, room), most, (value, words) in zip(_PANELS, longest, numbers, strict=True):
            width = max((room - 52) * value / most, 2)
            parts.append(f'<rect class="bar{kind}" x="{x}" y="{y + 2}" width="{width:.1f}" height="18" rx="3"/>')
            parts.append(_text(x + width + 7, y + 15, words, f"value{kind}"))
    return parts


def _text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _told(drawn: Sequence[Bar]) -> str:
    return "; ".join(f"{bar.name}: {short(bar.seconds)} s, {megabytes(bar.peak_mb)}" for bar in drawn)
