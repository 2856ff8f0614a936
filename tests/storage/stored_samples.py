"""Small runs with labels and results, as the tests of storage store them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from rankings_of import Run, labels_of, ranking_of

from ndcg_tracker.storage.records import LabelOrigin, RunRecord
from ndcg_tracker.storage.store import WriteTransaction

REPOSITORY = Path(__file__).resolve().parents[2]
BM25: Run = {"q1": {"a": 3.0, "b": 2.5, "c": -1.0}, "q2": {"d": 0.5}, "q3": {"a": 7.0}}
DENSE: Run = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"e": 0.1 + 0.2, "d": 0.25}, "q3": {"a": 1e-300}}
LABELS: Run = {"q1": {"a": 1.0, "c": 0.0}, "q2": {"e": 2.0}}
HOSTILE = [
    'quote"', "back\\slash", "new\nline", "tab\t", "{a,b}", "NULL", "null", "[1]", '","', "'", "''", "é", "日本語",
    "\u202e", "\x01", "\x1f\x7f", "a\x01b", "a|b", " ", "", "0", "007", "1e5", "-0", "$[0]", "%s", ":x", "?", "\\N",
    "\\.", "a" * 3000, "😀", "\u2028", "<script>", "=1+1", "--", "/*", "\\u0041", "\ufeff",
]  # fmt: skip


def add_run(tx: WriteTransaction, name: str, run: Run, labels: Run = LABELS, dataset: str = "shop") -> RunRecord:
    """Store a run with a made-up result of every group, the last one undefined, and return its record."""
    record = tx.write.datasets.ensure(dataset)
    wanted = labels_of(labels)
    label_set = next((one for one in tx.labels.sets(record.id) if one.digest == wanted.digest()), None)
    if label_set is None:
        label_set = tx.write.labels.insert(record.id, wanted, LabelOrigin("labels.qrels"))
    stored = tx.write.runs.insert(record.id, name, ranking_of(run), source=f"{name}.run", tags={"stage": "test"})
    keys = ranking_of(run).group_keys
    n_groups = len(keys)
    values = np.linspace(0.25, 0.75, n_groups) + len(name) / 100
    values[-1] = np.nan
    reasons = [None] * (n_groups - 1) + ["no label"]
    tx.write.evaluations.insert(
        stored.id,
        label_set.id,
        "ndcg@10",
        mean=float(np.nanmean(values)) if n_groups > 1 else None,
        n_groups=n_groups - 1,
        n_missing=0,
        n_undefined=1,
        group_ids=tx.write.groups.ensure(record.id, keys),
        values=values,
        dcg=values * 2,
        ideal_dcg=values * 4,
        reasons=reasons,
    )
    tx.write.evaluations.insert_coverage(stored.id, label_set.id, 10, 0.5)
    tx.write.evaluations.insert_coverage(stored.id, label_set.id, None, 0.25)
    return stored


def started(script: str, *arguments: str, python: str | Path = sys.executable) -> subprocess.Popen[str]:
    """Start a Python process that runs a script with this repository and the tests on its path.

    ``python``: the one of ``preloaded_programs`` spares the imports, and many that start at once do begin at once.
    """
    folders = [str(REPOSITORY), str(REPOSITORY / "tests"), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [python, "-W", "error", "-c", script, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outputs_of(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Wait for processes, require that all succeeded, and return what each printed."""
    done = [(process.communicate(timeout=120), process.returncode) for process in processes]
    assert [(code, error) for (_, error), code in done] == [(0, "")] * len(done)
    return [output for (output, _), _ in done]
