"""The goals, each with its figure from one run: met or not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Results = Mapping[str, Any]


class NotMeasuredError(Exception):
    """A row that a goal needs is not in the run."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal: what it is about, its text, and what a run says: the figure and whether it is met (None: unknown)."""

    about: str
    text: str
    figure: str
    met: bool | None


def goals(results: Results) -> list[Goal]:
    """Return every goal with what the run found; a quick run says nothing about them."""
    found = []
    for about, text, figure in _GOALS:
        try:
            if results.get("quick"):
                raise NotMeasuredError("a quick run")
            words, met = figure(Run(results))
            found.append(Goal(about, text, words, met))
        except NotMeasuredError as reason:
            found.append(Goal(about, text, f"not measured: {reason}", None))
    return found


@dataclass(frozen=True, slots=True)
class Run:
    """The rows of a run by section, workload and name."""

    results: Results

    def value(self, section: str, workload: str, name: str, what: str = "seconds") -> float:
        """Return a figure. Raises: NotMeasuredError."""
        for phase in self.results["phases"]:
            if (phase["section"], phase["workload"]) == (section, workload):
                for row in phase["rows"]:
                    if row["name"] == name:
                        if what not in row:
                            raise NotMeasuredError(f"{name}: {row.get('left_out', 'without ' + what)}")
                        return float(row[what])
        raise NotMeasuredError(" ".join(part for part in (workload.upper(), name) if part))

    def check(self, section: str, workload: str, name: str) -> str:
        """Return whether the means agree."""
        for phase in self.results["phases"]:
            if (phase["section"], phase["workload"]) == (section, workload):
                for row in phase["rows"]:
                    if row["name"] == name:
                        return str(row.get("check", ""))
        raise NotMeasuredError(name)

    def ratio(self, section: str, workload: str, ours: str, peer: str) -> float:
        """Return how many times as long a peer takes."""
        return self.value(section, workload, peer) / self.value(section, workload, ours)


Figure = Callable[[Run], tuple[str, bool]]
_ANY_ORDER, _IN_ORDER, _BY_IDS = (f"ndcg_tracker, {how}" for how in ("any order", "in order", "any order, by ids"))
_TREC = "trec_eval"


def _times(section: str, workload: str, ours: str, peer: str, goal: float) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        ratio = run.ratio(section, workload, ours, peer)
        return (f"{short(ratio)}x ({duration(run.value(section, workload, ours))})", ratio >= goal)

    return figure


def _kernel(workload: str, goal: float) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        any_order, by_ids = (run.ratio("kernel", workload, ours, "pytrec_eval") for ours in (_ANY_ORDER, _BY_IDS))
        words = f"{short(any_order)}x ({duration(run.value('kernel', workload, _ANY_ORDER))}); "
        with contextlib.suppress(NotMeasuredError):
            words += f"rows in order {short(run.ratio('kernel', workload, _IN_ORDER, 'pytrec_eval, in order'))}x, "
        return words + f"joined by ids {short(by_ids)}x", any_order >= goal

    return figure


def _ranx(run: Run) -> tuple[str, bool]:
    ratios = [run.ratio("kernel", workload, _ANY_ORDER, "ranx") for workload in ("w1", "w2")]
    return f"W1 {short(ratios[0])}x, W2 {short(ratios[1])}x", min(ratios) >= 10


def _small(name: str, limit: float) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        more = run.value("files", "w3", name) - run.value("files", "w3", "interpreter")
        return f"{duration(more)} more", more < limit

    return figure


def _peak(workload: str, names: tuple[str, ...], limit_mb: float) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        peaks = {name: run.value("files", workload, name, "peak_mb") for name in names}
        return ", ".join(f"{name} {megabytes(peak)}" for name, peak in peaks.items()), max(peaks.values()) < limit_mb

    return figure


def _stream(engine: str) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        one, ten = (
            [run.value("growth", "w1", f"{times}x ingest, {engine}", what) for what in ("seconds", "peak_mb")]
            for times in (1, 10)
        )
        time, memory = ten[0] / one[0], ten[1] / one[1]
        return f"{time:.1f}x the time, {memory:.1f}x the memory ({megabytes(ten[1])})", time <= 10 and memory < 10

    return figure


def _streamed_rows(run: Run) -> tuple[str, bool]:
    peaks = [run.value("growth", "w1", f"3x ingest, {e}", "peak_mb") for e in ("SQLite", "Postgres")]
    return f"SQLite {megabytes(peaks[0])}, Postgres {megabytes(peaks[1])}", max(peaks) < 1024


def _below(name: str, limit: float) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        seconds = run.value("commands", "", name)
        return duration(seconds), seconds < limit

    return figure


def _of_fleet(name: str, limit: float, what: str = "seconds") -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        seconds = run.value("fleet", "", name, what)
        return duration(seconds), seconds < limit

    return figure


def _per_group(run: Run) -> tuple[str, bool]:
    ratio = run.ratio("files", "w4", "evaluate", "evaluate --per-group")
    return f"{short(ratio)}x ({duration(run.value('files', 'w4', 'evaluate --per-group'))})", ratio <= 1.5


def _within(name: str, limit: float) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        seconds, peak = (run.value("files", "w4", name, what) for what in ("seconds", "peak_mb"))
        return f"{duration(seconds)}, {megabytes(peak)}", seconds < limit and peak < 1500

    return figure


def _permutation(run: Run) -> tuple[str, bool]:
    ratio = run.ratio("commands", "", "permutation", "permutation: scipy")
    same = run.check("commands", "", "permutation") == "same"
    words = f"{short(ratio)}x ({duration(run.value('commands', '', 'permutation'))}), "
    return words + ("the same p" if same else "ANOTHER p"), ratio >= 20 and same


def _by_ids(workload: str, goal: float) -> Figure:
    return _times("kernel", workload, _BY_IDS, "pytrec_eval", goal)


def _frames(cases: Sequence[tuple[str, str, str]], peer: str, goal: float) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        ratios = {
            f"{form}, {order}": run.ratio("frames", f"{workload} {form} {order}", "ndcg_tracker", peer)
            for workload, form, order in cases
        }
        return "; ".join(f"{case} {short(ratio)}x" for case, ratio in ratios.items()), min(ratios.values()) >= goal

    return figure


def _beyond(workload: str, form: str) -> Figure:
    def figure(run: Run) -> tuple[str, bool]:
        sizes = [
            [
                run.value("frames", f"{workload} {form} {order}", "ndcg_tracker", what)
                for what in ("beyond_mb", "frame_mb")
            ]
            for order in ("ordered", "shuffled")
        ]
        words = ", ".join(megabytes(beyond) for beyond, _ in sizes)
        return f"{words} (the frame {megabytes(sizes[0][1])})", all(beyond <= frame for beyond, frame in sizes)

    return figure


def _both_orders(workload: str, *forms: str) -> list[tuple[str, str, str]]:
    return [(workload, form, order) for form in forms for order in ("ordered", "shuffled")]


_INGESTS = ("ingest, SQLite", "ingest, Postgres")
_GOALS: tuple[tuple[str, str, Figure], ...] = (
    ("kernel, W1", ">= 100x pytrec_eval", _kernel("w1", 100)),
    ("kernel, W2", ">= 12x pytrec_eval", _kernel("w2", 12)),
    ("kernel, W4", ">= 20x pytrec_eval", _kernel("w4", 20)),
    ("kernel, W1 and W2", ">= 10x ranx `evaluate`", _ranx),
    ("kernel joined by ids, W1", ">= 20x pytrec_eval", _by_ids("w1", 20)),
    ("kernel joined by ids, W2", ">= 8x pytrec_eval", _by_ids("w2", 8)),
    ("kernel joined by ids, W4", ">= 10x pytrec_eval", _by_ids("w4", 10)),
    ("frame, W2", ">= 2.5x polars", _frames(_both_orders("w2", "int64", "categories"), "polars", 2.5)),
    ("frame, W2", ">= 1.5x polars", _frames(_both_orders("w2", "Arrow strings", "object strings"), "polars", 1.5)),
    ("frame, W4", ">= 3x polars", _frames([("w4", "int64", "ordered")], "polars", 3)),
    ("frame, W4", ">= 2.5x polars", _frames([("w4", "int64", "shuffled")], "polars", 2.5)),
    ("frame, W4", "memory <= the frame's", _beyond("w4", "int64")),
    ("two frames, W2", ">= 2x polars", _frames(_both_orders("w2", "two frames"), "polars", 2)),
    ("nested dicts, W1", "> 1x pytrec_eval", _frames([("w1", "nested dicts", "shuffled")], "pytrec_eval", 1)),
    ("nested dicts, W2", "> 1x pytrec_eval", _frames([("w2", "nested dicts", "shuffled")], "pytrec_eval", 1)),
    ("`evaluate`, W1", ">= 5x trec_eval", _times("files", "w1", "evaluate --per-group", _TREC, 5)),
    ("`evaluate`, W2", ">= 5x trec_eval", _times("files", "w2", "evaluate --per-group", _TREC, 5)),
    ("`evaluate` of W1 against polars", ">= 1.3x polars", _times("files", "w1", "evaluate --per-group", "polars", 1.3)),
    ("`evaluate` of W2 against polars", ">= 1.3x polars", _times("files", "w2", "evaluate --per-group", "polars", 1.3)),
    ("`evaluate`, W4", ">= 3x pytrec_eval", _times("files", "w4", "evaluate", "pytrec_eval", 3)),
    ("`evaluate --per-group`, W4", "<= 1.5x without", _per_group),
    ("`ingest`, W1, SQLite", ">= 2.5x trec_eval", _times("files", "w1", "ingest, SQLite", _TREC, 2.5)),
    ("`ingest`, W1, Postgres", ">= 1.5x trec_eval", _times("files", "w1", "ingest, Postgres", _TREC, 1.5)),
    ("`ingest`, W4, SQLite", "< 8 s, < 1.5 GB", _within("ingest, SQLite", 8)),
    ("`ingest`, W4, Postgres", "< 12 s, < 1.5 GB", _within("ingest, Postgres", 12)),
    ("`ingest`, 100 files, SQLite", "< 0.15 s a file", _of_fleet("ingest, SQLite", 0.15, "seconds_a_file")),
    ("`ingest`, 100 files, Postgres", "< 0.25 s a file", _of_fleet("ingest, Postgres", 0.25, "seconds_a_file")),
    ("`rescore --all`, 400 runs", "< 20 s", _of_fleet("rescore 400 runs", 20)),
    ("`evaluate`, W3", "< 0.5 s more than the interpreter", _small("evaluate", 0.5)),
    ("`ingest`, W3, new SQLite file", "< 0.4 s more than the interpreter", _small("ingest, SQLite", 0.4)),
    ("`ingest`, W3, SQLite file that is there", "< 0.4 s more", _small("ingest, SQLite that is there", 0.4)),
    ("peak memory, W1", "ingest < 1 GB", _peak("w1", _INGESTS, 1000)),
    ("peak memory, W4", "< 3 GB", _peak("w4", ("evaluate", *_INGESTS), 3000)),
    ("`ingest`, 10x W1, SQLite", "<= 10x the time, < 10x the memory", _stream("SQLite")),
    ("`ingest`, 10x W1, Postgres", "<= 10x the time, < 10x the memory", _stream("Postgres")),
    ("`ingest`, 21M rows", "peak memory < 1 GiB", _streamed_rows),
    ("`compare`, 1,000,000 groups", "< 2 s", _below("compare, 1,000,000 groups", 2)),
    ("its statistics", "< 0.3 s", _below("compare, 1,000,000 groups: statistics", 0.3)),
    ("permutation test", ">= 20x scipy, same p", _permutation),
    ("`history`, 1,000 runs x 6,980 groups", "< 0.5 s", _below("history, 1,000 runs", 0.5)),
    ("`ndcg-track --help`", "< 0.3 s", _below("--help", 0.3)),
    ("`compare`, 6,980 groups", "< 0.4 s", _below("compare, 7,000 groups", 0.4)),
)


def duration(seconds: float) -> str:
    """Return a time in words: three digits, in ms below a tenth of a second.

    >>> duration(0.0321), duration(1.234), duration(123.4)
    ('32.1 ms', '1.23 s', '123 s')
    """
    return f"{short(seconds * 1000)} ms" if seconds < 0.1 else f"{short(seconds)} s"


def short(number: float) -> str:
    """Return a number with three digits, as many of them behind the point as it takes."""
    return f"{number:.2f}" if number < 9.995 else f"{number:.1f}" if number < 99.95 else f"{number:,.0f}"


def medians(rounds: int) -> str:
    """Return what a figure is the median of."""
    return "one round" if rounds == 1 else f"medians of {rounds} rounds"


def megabytes(number: float) -> str:
    """Return a size in words.

    >>> megabytes(512.3), megabytes(2345)
    ('512 MB', '2.3 GB')
    """
    return f"{number:.0f} MB" if number < 999.5 else f"{number / 1000:.1f} GB"
