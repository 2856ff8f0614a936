"""The tables of a run, as Markdown, and the pages that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goals import duration, goals, medians, megabytes, short

Phase = Mapping[str, Any]
_BEGIN, _END = "<!-- benchmark: {} -->", "<!-- /benchmark -->"
PEERS = ("trec_eval", "pytrec_eval", "pytrec_eval, in order")
_EVALUATE, _IN_MEMORY, _SAME = "evaluate --per-group", "ndcg_tracker, any order", "the same"
_SUMMARY = (
    # what; data; section, workload, row; other tools
    ("`evaluate --per-group`: from a TREC file to every group's numbers", "W1", "files", "w1", _EVALUATE, "polars"),
    (_SAME, "W2", "files", "w2", _EVALUATE, "polars"),
    (_SAME, "W3", "files", "w3", _EVALUATE),
    (_SAME, "W4", "files", "w4", _EVALUATE),
    ("`ingest`: the same, and everything stored in SQLite", "W1", "files", "w1", "ingest, SQLite"),
    ("`ingest` into Postgres", "W1", "files", "w1", "ingest, Postgres"),
    ("`ingest` of 70 million items, SQLite", "10x W1", "growth", "w1", "10x ingest, SQLite"),
    ("`ingest` of 100 files, SQLite", "100 x 100,000 items", "fleet", "", "ingest, SQLite"),
    (
        *("`nt.evaluate` of a pandas frame in the order of its groups, NDCG@10", "W2", "frames", "w2 int64 ordered"),
        *("ndcg_tracker", "polars", "duckdb", "pandas"),
    ),
    ("the metrics alone, in memory, labels joined beforehand", "W1", "kernel", "w1", _IN_MEMORY, "ranx"),
    (_SAME, "W2", "kernel", "w2", _IN_MEMORY, "ranx"),
    (_SAME, "W4", "kernel", "w4", _IN_MEMORY),
    ("`compare`", "7,000 groups", "commands", "", "compare, 7,000 groups"),
    ("`compare`", "1,000,000 groups", "commands", "", "compare, 1,000,000 groups"),
    ("permutation test, 10,000 sign flips", "6,980 groups", "commands", "", "permutation", "permutation: scipy"),
    ("`history`", "1,000 runs", "commands", "", "history, 1,000 runs"),
    ("`rescore --all` under a new metric", "400 runs", "fleet", "", "rescore 400 runs"),
)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; a heading that ends with a blank has its column to the right."""
    rule = ["--:" if heading.endswith(" ") else "---" for heading in headings]
    lines = [[heading.strip() for heading in headings], rule, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def peer_table(phase: Phase) -> str:
    """Return the contenders of a workload, the fastest first, with the times that the peers take as ratios."""
    measured = [row for row in phase["rows"] if "seconds" in row]
    peers = [row for name in PEERS for row in measured if row["name"] == name]
    in_files = phase["section"] == "files"
    headings = ["contender", "time ", *[f"{peer['name']} takes " for peer in peers]]
    headings += ["CPU ", "peak memory "] if in_files else []
    headings += ["ndcg@10 ", "means", "what"]
    lines = []
    for row in sorted(measured, key=lambda row: float(row["seconds"])):
        means = row["means"]
        line = [str(row["name"]), duration(row["seconds"])]
        line += [f"{short(peer['seconds'] / row['seconds'])}x" if means else "" for peer in peers]
        line += [duration(row["cpu_seconds"]), megabytes(row["peak_mb"])] if in_files else []
        line += [f"{means['ndcg@10']:.4f}" if means else "", row["check"], row["what"]]
        lines.append(line)
    return table(headings, lines) + _left_out(phase)


def summary_table(results: Mapping[str, Any]) -> str:
    """Return the main jobs, each with its time, how many times as long other tools take, and its peak memory."""
    phases = {(phase["section"], phase["workload"]): phase for phase in results["phases"]}
    lines = []
    for what, data, section, workload, ours, *others in _SUMMARY:
        rows = {row["name"]: row for row in phases.get((section, workload), {"rows": ()})["rows"] if "seconds" in row}
        if ours in rows:
            row, peers = rows[ours], [name for name in (*PEERS[:2], *others) if name in rows]
            takes = [f"{name.rpartition(' ')[2]} {short(rows[name]['seconds'] / row['seconds'])}x" for name in peers]
            peak = megabytes(row["peak_mb"]) if "peak_mb" in row and section not in ("frames", "kernel") else ""
            lines.append([what, data, duration(row["seconds"]), ", ".join(takes), peak])
    return table(["what", "data", "time ", "others take", "peak memory "], lines)


def plain_table(phase: Phase) -> str:
    """Return the times and peaks of a phase, in its own order."""
    measured = [row for row in phase["rows"] if "seconds" in row]
    with_size = any("database_mb" in row for row in measured)
    headings = ["", "time ", "CPU ", "peak memory ", *(["database "] if with_size else []), "what"]
    lines = []
    for row in measured:
        line = [str(row["name"]), duration(row["seconds"])]
        line.append(duration(row["cpu_seconds"]) if "cpu_seconds" in row else "")
        line.append(megabytes(row["peak_mb"]) if "peak_mb" in row else "")
        line += [megabytes(row["database_mb"])] if with_size else []
        lines.append([*line, row["what"]])
    return table(headings, lines) + _left_out(phase)


def trick_table(phase: Phase) -> str:
    """Return what each trick saves: seconds with and without it; of whole commands, processor time and peak memory."""
    rows = {row["name"]: row for row in phase["rows"] if "seconds" in row}
    lines = []
    for name, row in rows.items():
        without = rows.get(f"{name}: without")
        if without is None:
            continue
        is_whole = "cpu_seconds" in row
        measure = "cpu_seconds" if is_whole else "seconds"
        ratio = short(without[measure] / row[measure])
        peaks = f"{megabytes(row['peak_mb'])}, {megabytes(without['peak_mb'])}" if is_whole else ""
        lines.append([name, duration(row[measure]), duration(without[measure]), f"{ratio}x", peaks, row["what"]])
    return table(["trick", "with ", "without ", "ratio ", "peaks ", "what"], lines) + _left_out(phase)


def frames_table(phases: Sequence[Phase]) -> str:
    """Return one row per form of a frame: our time, how many times as long the others take, and the memory."""
    names = list(dict.fromkeys(row["name"] for phase in phases for row in phase["rows"]))
    ours, *others = names
    lines = []
    for phase in phases:
        rows = {row["name"]: row for row in phase["rows"] if "seconds" in row}
        if ours not in rows:
            continue
        first = rows[ours]
        line = [str(phase["title"]), duration(first["seconds"])]
        line += [f"{short(rows[name]['seconds'] / first['seconds'])}x" if name in rows else "" for name in others]
        sizes = ("beyond_mb", "frame_mb")
        line.append(", ".join(megabytes(first[name]) for name in sizes) if sizes[0] in first else "")
        lines.append(
            [*line, "; ".join(f"{name} {row['check']}" for name, row in rows.items() if row["check"] != "same")]
        )
    headings = [
        "frame",
        "time ",
        *[f"{name} takes " for name in others],
        "memory beyond the frame, the frame ",
        "means",
    ]
    return table(headings, lines)


def _left_out(phase: Phase) -> str:
    absent = [f"{row['name']} ({row['left_out']})" for row in phase["rows"] if "seconds" not in row]
    return f"\n\nLeft out: {'; '.join(absent)}." if absent else ""


def goal_table(results: Mapping[str, Any]) -> str:
    """Return the goals with their figures."""
    words = {True: "met", False: "**not met**", None: "-"}
    return table(
        ["what", "goal", "figure", ""], [[one.about, one.text, one.figure, words[one.met]] for one in goals(results)]
    )


def growth_table(phase: Phase) -> str:
    """Return time and memory by size, one row per way to ingest."""
    cells: dict[str, dict[str, str]] = {}
    for row in phase["rows"]:
        times, _, way = str(row["name"]).partition(" ")
        if "seconds" in row:
            words = f"{duration(row['seconds'])}, {megabytes(row['peak_mb'])}, {megabytes(row['database_mb'])}"
        else:
            words = "-"
        cells.setdefault(way, {})[times] = words
    sizes = list(next(iter(cells.values()), {}))
    headings = ["time, peak memory, database", *[f"{size} " for size in sizes]]
    rows = [[f"`{way.rpartition(', ')[0]}`, {way.rpartition(', ')[2]}", *of.values()] for way, of in cells.items()]
    return table(headings, rows) + _left_out(phase)


def housekeeping_text(phase: Phase) -> str:
    """Return what keeping a database in order costs."""
    figures, text = phase["figures"], plain_table(phase)
    if "further_run_mb" in figures:
        text += (
            f"\n\nThe first run takes {megabytes(figures['first_run_mb'])} of a SQLite file, labels included, every "
            f"further one {megabytes(figures['further_run_mb'])}: {figures['bytes_per_item']:.1f} bytes per item."
        )
    if "mb_after_deleting" in figures:
        before, after = megabytes(figures["mb_before_deleting"]), megabytes(figures["mb_after_deleting"])
        text += f" Deleting left the file at {after} (before: {before}): SQLite keeps the room for the next run."
    return text


def machine_text(results: Mapping[str, Any]) -> str:
    """Return where and with what a run was made."""
    machine = results["machine"]
    tools = ", ".join(f"{name} {version}" for name, version in machine["tools"].items() if version)
    return (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB; "
        f"{machine['system']}, Python {machine['python']}, Postgres {machine['postgres'] or '-'}; "
        f"{medians(results['rounds'])}{', on small data' if results['quick'] else ''}. {tools}."
    )


def blocks(results: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of the page by name."""
    found = {"machine": machine_text(results), "summary": summary_table(results), "goals": goal_table(results)}
    for phase in results["phases"]:
        section, workload = phase["section"], phase["workload"]
        if section in ("files", "kernel"):
            found[f"{section} {workload}"] = peer_table(phase)
        elif section == "frames":
            found["frames"] = frames_table([one for one in results["phases"] if one["section"] == "frames"])
        elif section == "growth":
            found["growth"] = growth_table(phase)
        elif section == "tricks":
            found["tricks"] = trick_table(phase)
        elif section == "housekeeping":
            found["housekeeping"] = housekeeping_text(phase)
        else:
            found[section] = plain_table(phase)
    return found


def markdown(results: Mapping[str, Any]) -> str:
    """Return the whole run as one document."""
    titles = {f"{phase['section']} {phase['workload']}".strip(): phase["title"] for phase in results["phases"]}
    titles["growth"] = next((phase["title"] for phase in results["phases"] if phase["section"] == "growth"), "")
    parts = []
    for name, text in blocks(results).items():
        title = {"machine": "Benchmark"}.get(name) or titles.get(name) or name
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n{text}\n")
    return "\n".join(parts)


def rewrite(page: Path, results: Mapping[str, Any]) -> None:
    """Put the parts of a run between the page's marks ``<!-- benchmark: NAME -->`` and ``<!-- /benchmark -->``."""
    text = page.read_text(encoding="utf-8")
    for name, part in blocks(results).items():
        begin = _BEGIN.format(name)
        before, mark, rest = text.partition(begin)
        if mark:
            _, end, after = rest.partition(_END)
            if not end:
                raise SystemExit(f"{page}: there is no {_END} after {begin}")
            text = f"{before}{begin}\n\n{part}\n\n{_END}{after}"
    page.write_text(text, encoding="utf-8")
