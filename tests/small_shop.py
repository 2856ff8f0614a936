"""A shop search of five queries, two systems and their labels, as dicts, frames and files."""

from __future__ import annotations

from pathlib import Path

Run = dict[str, dict[str, float]]

LABELS: Run = {
    "q1": {"a": 3, "b": 1, "c": 0},
    "q2": {"a": 1, "d": 2},
    "q3": {"e": 1},
    "q4": {"g": 0},
    "q5": {"h": 1},
}
BM25: Run = {
    "q1": {"c": 3.0, "b": 2.0, "a": 1.0},
    "q2": {"d": 3.0, "a": 2.0, "x": 1.0},
    "q3": {"e": 2.0, "f": 1.0},
    "q4": {"g": 1.0},
    "q5": {"h": 2.0, "x": 1.0},
}
DENSE: Run = {
    "q1": {"a": 0.9, "b": 0.5, "c": 0.1},
    "q2": {"a": 0.9, "d": 0.8},
    "q3": {"f": 0.7, "e": 0.6},
    "q4": {"g": 0.5, "x": 0.4},
}


def frame_of(run: Run, value: str = "score") -> dict[str, list[object]]:
    """Return a dict of columns with one row per (group, item)."""
    rows = [(group, item, number) for group, items in run.items() for item, number in items.items()]
    return {
        "group": [row[0] for row in rows],
        "item": [row[1] for row in rows],
        value: [row[2] for row in rows],
    }


def labels_frame(labels: Run = LABELS) -> dict[str, list[object]]:
    """Return labels as a dict of columns."""
    return frame_of(labels, "label")


def joint_frame(run: Run, labels: Run) -> dict[str, list[object]]:
    """Return a run and the labels of its items in one dict of columns; items without label have None."""
    frame = frame_of(run)
    pairs = zip(frame["group"], frame["item"], strict=True)
    grades: list[object] = [labels.get(str(group), {}).get(str(item)) for group, item in pairs]
    return {**frame, "label": grades}


def write_csv(path: Path, frame: dict[str, list[object]]) -> str:
    """Write a dict of columns as CSV and return the path."""
    rows = [",".join(frame)]
    for row in zip(*frame.values(), strict=True):
        rows.append(",".join("" if value is None else str(value) for value in row))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def write_trec(path: Path, run: Run) -> str:
    """Write a run as a TREC file, the rank column upside down, for it is not read; return the path."""
    lines = [f"{group} Q0 {item} 9 {score} sys" for group, items in run.items() for item, score in items.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def write_qrels(path: Path, labels: Run = LABELS) -> str:
    """Write labels as TREC qrels and return the path."""
    lines = [f"{group} 0 {item} {grade:g}" for group, items in labels.items() for item, grade in items.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
