"""The workloads W1 to W4: the same data on every machine, in memory and as files.

W1: 6,980 groups of 1,000 items with ids like MS MARCO's, 1 to 4 relevant items per group. W2: 30,000 groups of about
120 items, a grade from 0 to 4 on every one. W3: the first 50 groups of W1. W4: 1,000,000 groups of 20 items, binary.
A fleet: many runs of the first 5,000 groups of W1, 20 items each. ``BENCHMARK_DATA`` names another folder for them.

    python benchmarks/workloads.py w1 w3     # writes the files of W1 and W3 to benchmarks/data
    python benchmarks/workloads.py w1x10     # files of 10 times W1's groups, for growth
    python benchmarks/workloads.py fleet-100 # 100 runs of a fleet, in a folder of their own
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking

DATA = Path(os.environ.get("BENCHMARK_DATA", Path(__file__).resolve().parent / "data")).resolve()
_GROUPS_PER_WRITE = 2_000

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Table:
    """A run and its labels as numbers; an id is a prefix with a number behind it.

    ``groups``: int64, shape (n_groups,), in the order of the run. ``offsets``: group ``g`` owns the run's rows
    ``offsets[g]:offsets[g + 1]``, ``items`` and ``scores`` (6 decimals, descending within a group) are those rows.
    ``label_groups`` (ascending places in ``groups``), ``label_items`` and ``grades``: the rows of the labels.
    """

    group_prefix: str
    item_prefix: str
    groups: Integers
    offsets: Integers
    items: Integers
    scores: Floats
    label_groups: Integers
    label_items: Integers
    grades: Integers

    @property
    def group_keys(self) -> Keys:
        """The ids of the groups."""
        return numbered_keys(self.group_prefix, self.groups)

    @property
    def label_offsets(self) -> Integers:
        """Which rows of the labels belong to each group."""
        return np.searchsorted(self.label_groups, np.arange(self.groups.size + 1))

    def ranking(self) -> Ranking:
        """Return the run in memory."""
        return Ranking(self.group_keys, self.offsets, numbered_keys(self.item_prefix, self.items), self.scores)

    def labels(self) -> LabelLists:
        """Return the labels in memory."""
        items = numbered_keys(self.item_prefix, self.label_items)
        return LabelLists(self.group_keys, self.label_offsets, items, self.grades.astype(np.float64))

    def shuffled(self) -> tuple[Keys, Integers, Keys, Floats]:
        """Return what ``Ranking.from_groups`` takes: the run with the rows of each group in another order."""
        groups = np.repeat(np.arange(self.groups.size), np.diff(self.offsets))
        order = np.lexsort((np.random.default_rng(0).random(self.items.size), groups))
        return self.group_keys, self.offsets, numbered_keys(self.item_prefix, self.items[order]), self.scores[order]


def numbered_keys(prefix: str, numbers: Integers) -> Keys:
    """Return the ids that a prefix and these numbers (>= 0) make.

    >>> numbered_keys("d", np.array([0, 17])).to_list()
    ['d0', 'd17']
    """
    head = np.frombuffer(prefix.encode(), dtype=np.uint8)
    n_digits = np.ones(numbers.size, dtype=np.int64)
    for power in range(1, 19):
        n_digits += numbers >= 10**power
    offsets = np.concatenate([[0], np.cumsum(n_digits + head.size)])
    data = np.empty(int(offsets[-1]), dtype=np.uint8)
    for place, letter in enumerate(head):
        data[offsets[:-1] + place] = letter
    rest, last = numbers.copy(), offsets[1:] - 1
    while rest.size:
        data[last] = 48 + rest % 10
        rest, last = rest // 10, last - 1
        rest, last = rest[rest > 0], last[rest > 0]
    return Keys(data, offsets)


def w1() -> Table:
    """Return 6,980 groups of 1,000 items, each with 1 to 4 relevant items, most of them near the top."""
    random = np.random.default_rng(1)
    n_groups, n_ranks, n_documents = 6_980, 1_000, 8_841_823
    groups = random.choice(1_102_432, n_groups, replace=False)
    n_relevant = random.choice([1, 2, 3, 4], n_groups, p=[0.94, 0.045, 0.01, 0.005])
    label_groups = np.repeat(np.arange(n_groups), n_relevant)
    relevant = random.choice(n_documents, label_groups.size, replace=False)
    items = random.integers(0, n_documents, (n_groups, n_ranks))
    for group in np.flatnonzero((np.diff(np.sort(items, axis=1), axis=1) == 0).any(axis=1)):
        items[group] = random.choice(n_documents, n_ranks, replace=False)
    scores = -np.sort(-random.gamma(6.0, 1.5, (n_groups, n_ranks)).round(6), axis=1)
    tied = random.random((n_groups, n_ranks - 1)) < 0.01
    for rank in range(1, n_ranks):
        scores[:, rank] = np.where(tied[:, rank - 1], scores[:, rank - 1], scores[:, rank])
    ranks = random.exponential(12.0, label_groups.size).astype(np.int64).clip(max=n_ranks - 1)
    found = random.random(label_groups.size) < 0.85
    for group, item, rank in zip(label_groups[found], relevant[found], ranks[found], strict=True):
        if item not in items[group]:
            items[group, rank] = item
    offsets = np.arange(n_groups + 1) * n_ranks
    grades = np.ones(label_groups.size, dtype=np.int64)
    return Table("", "", groups, offsets, items.ravel(), scores.ravel(), label_groups, relevant, grades)


def w2() -> Table:
    """Return 30,000 groups of about 120 items (2 to 900), every item with a grade; labels in the order of item ids."""
    random = np.random.default_rng(2)
    lengths = np.clip(random.gamma(3.0, 40.0, 30_000).astype(np.int64), 2, 900)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    groups = np.repeat(np.arange(lengths.size), lengths)
    items = np.arange(groups.size) - offsets[groups]
    grades = random.choice(5, groups.size, p=[0.52, 0.32, 0.133, 0.018, 0.009])
    scores = (grades * 0.8 + random.normal(0, 1.6, groups.size)).round(6)
    order = np.lexsort((-scores, groups))
    return Table(
        "", "d", np.arange(1, lengths.size + 1), offsets, items[order], scores[order] + 0.0, groups, items, grades
    )


def w3() -> Table:
    """Return the first 50 groups of W1."""
    return _first_of(table("w1"), 50, 1_000)


def w4() -> Table:
    """Return 1,000,000 groups of 20 items; at least one of each is relevant, and only those have a label."""
    random = np.random.default_rng(4)
    n_groups, n_ranks, n_catalogue = 1_000_000, 20, 200_000
    first, step = random.integers(0, n_catalogue, n_groups), random.integers(1, 9_000, n_groups)
    items = (first[:, None] + np.arange(n_ranks) * step[:, None]) % n_catalogue
    scores = -np.sort(-random.random((n_groups, n_ranks)).round(6), axis=1)
    relevant = random.random((n_groups, n_ranks)) < 0.5 / (np.arange(n_ranks) + 3)
    relevant[np.arange(n_groups), random.integers(0, n_ranks, n_groups)] = True
    label_groups, ranks = np.nonzero(relevant)
    offsets = np.arange(n_groups + 1) * n_ranks
    grades = np.ones(label_groups.size, dtype=np.int64)
    return Table(
        "u",
        "i",
        np.arange(n_groups),
        offsets,
        items.ravel(),
        scores.ravel(),
        label_groups,
        items[label_groups, ranks],
        grades,
    )


def fleet() -> Table:
    """Return the first 5,000 groups of W1, 20 items each, as one of many runs that are stored together."""
    return _first_of(table("w1"), 5_000, 20)


def tiny() -> Table:
    """Return 40 groups of 30 items with grades from 0 to 2 on about every third item, for the tests."""
    random = np.random.default_rng(0)
    n_groups, n_ranks = 40, 30
    items = np.argsort(random.random((n_groups, 100)), axis=1)[:, :n_ranks]
    scores = -np.sort(-random.random((n_groups, n_ranks)).round(6), axis=1)
    label_groups, ranks = np.nonzero(random.random((n_groups, n_ranks)) < 0.3)
    return Table(
        "q",
        "d",
        np.arange(n_groups),
        np.arange(n_groups + 1) * n_ranks,
        items.ravel(),
        scores.ravel(),
        label_groups,
        items[label_groups, ranks],
        random.integers(0, 3, label_groups.size),
    )


WORKLOADS: dict[str, Callable[[], Table]] = {"w1": w1, "w2": w2, "w3": w3, "w4": w4, "fleet": fleet, "tiny": tiny}


def table(name: str) -> Table:
    """Return a workload as numbers, from benchmarks/data where it has been made before."""
    path = DATA / f"{name}.npz"
    if path.exists():
        with np.load(path) as stored:
            return Table(*(_plain(stored[field]) for field in Table.__dataclass_fields__))
    made = WORKLOADS[name]()
    DATA.mkdir(exist_ok=True)
    _replace(path, lambda part: np.savez(part, **{field: getattr(made, field) for field in Table.__dataclass_fields__}))
    return made


def trec_files(name: str) -> tuple[Path, Path]:
    """Return the TREC run and the qrels of a workload, written where they are not there yet."""
    run, qrels = DATA / f"{name}.run", DATA / f"{name}.qrels"
    if not (run.exists() and qrels.exists()):
        if "x" in name:
            base, times = name.split("x")
            for path, one in zip((run, qrels), trec_files(base), strict=True):
                _replace(path, partial(_write_repeated, one=one, times=int(times)))
            return run, qrels
        made = table(name)
        _replace(qrels, lambda part: _write_qrels(part, made))
        _replace(run, lambda part: _write_run(part, made, name))
    return run, qrels


def fleet_files(name: str, n_runs: int) -> tuple[list[Path], Path]:
    """Return the TREC runs of a fleet and the qrels they share: a workload's items in orders of their own.

    Each run has the workload's scores with other noise.
    """
    folder = DATA / f"{name}-runs"
    runs, qrels = [folder / f"run{number:03}.run" for number in range(n_runs)], folder / "qrels.txt"
    left = [number for number, path in enumerate(runs) if not path.exists()]
    if left or not qrels.exists():
        folder.mkdir(exist_ok=True)
        base = table(name)
        _replace(qrels, lambda part: _write_qrels(part, base))
        groups = np.repeat(np.arange(base.groups.size), np.diff(base.offsets))
        for number in left:
            noise = np.random.default_rng(number).normal(0.0, 0.1 * base.scores.std(), base.scores.size)
            scores = (base.scores + noise).round(6) + 0.0
            order = np.lexsort((-scores, groups))
            made = replace(base, items=base.items[order], scores=scores[order])
            _replace(runs[number], partial(_write_run, made=made, tag=name))
    return runs, qrels


def _first_of(whole: Table, n_groups: int, n_ranks: int) -> Table:
    """Return the first groups of a workload, and of each the first items and all labels."""
    lengths = np.minimum(np.diff(whole.offsets[: n_groups + 1]), n_ranks)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.arange(offsets[-1]) + np.repeat(whole.offsets[:n_groups] - offsets[:-1], lengths)
    labels = slice(0, int(np.searchsorted(whole.label_groups, n_groups)))
    return Table(
        whole.group_prefix,
        whole.item_prefix,
        whole.groups[:n_groups],
        offsets,
        whole.items[rows],
        whole.scores[rows],
        whole.label_groups[labels],
        whole.label_items[labels],
        whole.grades[labels],
    )


def parquet_files(name: str) -> tuple[Path, Path]:
    """Return the Parquet files of a workload's run (group, item, score) and labels (group, item, label)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    run, labels = DATA / f"{name}.parquet", DATA / f"{name}.labels.parquet"
    if not (run.exists() and labels.exists()):
        made = table(name)
        rankings, lists = made.ranking(), made.labels()
        for path, lists_of, number in ((labels, lists, "label"), (run, rankings, "score")):
            groups = np.repeat(np.arange(made.groups.size), np.diff(lists_of.offsets))
            columns = {
                "group": pa.array(lists_of.group_keys.take(groups).to_list()),
                "item": pa.array(lists_of.item_keys.to_list()),
                number: lists_of.numbers,
            }
            _replace(path, partial(pq.write_table, pa.table(columns)))
    return run, labels


def _write_run(path: Path, made: Table, tag: str) -> None:
    group_ids = made.group_keys.to_bytes_list()
    head = made.item_prefix.encode()
    with path.open("wb") as file:
        for first in range(0, len(group_ids), _GROUPS_PER_WRITE):
            lines = []
            for group in range(first, min(first + _GROUPS_PER_WRITE, len(group_ids))):
                rows = slice(int(made.offsets[group]), int(made.offsets[group + 1]))
                rows_of_group = zip(made.items[rows].tolist(), made.scores[rows].tolist(), strict=True)
                lines += [
                    b"%b Q0 %b%d %d %.6f %b\n" % (group_ids[group], head, item, rank, score, tag.encode())
                    for rank, (item, score) in enumerate(rows_of_group, 1)
                ]
            file.write(b"".join(lines))


def _write_qrels(path: Path, made: Table) -> None:
    group_ids, head = made.group_keys.to_bytes_list(), made.item_prefix.encode()
    rows = zip(made.label_groups.tolist(), made.label_items.tolist(), made.grades.tolist(), strict=True)
    with path.open("wb") as file:
        file.writelines(b"%b 0 %b%d %d\n" % (group_ids[group], head, item, grade) for group, item, grade in rows)


def _write_repeated(path: Path, one: Path, times: int) -> None:
    """Write a file several times over, each time with two digits of its own before the ids of the groups."""
    with path.open("wb") as file:
        for number in range(10, 10 + times):
            head = b"%d" % number
            with one.open("rb") as lines:
                while block := lines.readlines(1 << 24):
                    file.write(head + head.join(block))


def _replace(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under another name first, so that an interrupted run leaves no half of one."""
    part = path.with_name(f"part-{path.name}")
    write(part)
    part.replace(path)


def _plain(stored: NDArray[Any]) -> Any:
    return stored.item() if stored.ndim == 0 else stored


if __name__ == "__main__":
    for chosen in sys.argv[1:] or ["w1", "w2", "w3", "w4"]:
        if "-" in chosen:
            workload, _, number = chosen.partition("-")
            fleet_files(workload, int(number))
            continue
        sys.stdout.write(f"{' '.join(str(path) for path in trec_files(chosen))}\n")
