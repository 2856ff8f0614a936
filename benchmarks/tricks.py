"""What each trick of ndcg_tracker saves: the same work with it and without it.

python benchmarks/tricks.py NAME with|without N_ROWS     # worker: a trick within the program
python benchmarks/tricks.py run PATCH ARGUMENTS          # ndcg-track, after the statements of PATCH
python benchmarks/tricks.py files "" N_ROWS              # the files of the small runs

A trick that is not worth its lines any more shows here. The docstring of the code that has it says the same figure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import DATA, serve

Work = Callable[[], object]

WITHIN = {
    "TREC by Arrow": "a run of 500,000 lines, against the exact reader",
    "CSV by Arrow": "500,000 rows, against the exact reader",
    "blocks side by side": "the TREC run on all cores, against one",
    "hash join": "500,000 items and a tenth of them, in groups of 100, against sorting their hashes",
    "few labels compared": "500,000 items and one label per group of 100, against a hash table",
    "rows by group": "500,000 rows of 50,000 groups in no order, against `np.argsort(kind='stable')`",
    "sorting keys": "500,000 scores in groups of 100, against `np.lexsort`",
    "JSON lists by Arrow": "100,000 ids and numbers to text, against `json`",
    "packed results": "500,000 group results from SQLite, against their rows",
    "pairs by table": "7,000 groups of two runs, half of them in one alone, against bisection",
    "t quantiles by expansion": "100 numbers of degrees of freedom from 7,000 on, against Newton's method",
}
"""The tricks that are measured in a process of their own, with what they do."""

_NO_SNAPSHOT = "from ndcg_tracker.storage.upkeep import migrate; migrate.snapshot_statements = lambda: None"
_TAKEN_APART = "from ndcg_tracker.cli import app; app._end = sys.exit"
_ALL_COMMANDS = (
    "from ndcg_tracker.cli import app; made = app.command_line; "
    "app.command_line = lambda: [(line := made()), [line.get_command(None, name) for name in app.COMMANDS]][0]"
)
_COMPARE = ("--db", "{few}", "compare", "run0", "run1")
_SMALL = ("evaluate", "{run}", "--labels", "{qrels}")
WHOLE = {
    "small TREC file without Arrow": (
        "`evaluate` of 25,000 lines, against Arrow",
        "from ndcg_tracker.ingest import reading; reading.SMALL = 0", _SMALL,
    ),
    "schema snapshot": (
        "`ingest` into a new file, against all migrations",
        _NO_SNAPSHOT, ("--db", "{new}", "ingest", "{tiny_run}", "--labels", "{tiny_qrels}"),
    ),
    "one command imported": ("`metrics list`, against importing all commands", _ALL_COMMANDS, ("metrics", "list")),
    "no SciPy": ("`compare`, against importing scipy.special as well", "import scipy.special", _COMPARE),
    "few garbage collections": ("`compare`", "import gc; gc.set_threshold = lambda *_: None", _COMPARE),
    "one thread of OpenBLAS": (
        "`compare`", "import os; os.environ['OPENBLAS_NUM_THREADS'] = str(os.cpu_count())", _COMPARE,
    ),
    "process ended as it is": ("`compare`, against taking the interpreter apart", _TAKEN_APART, _COMPARE),
}  # fmt: skip
"""The tricks that are measured as whole commands: what they do, the statements that undo them, the arguments."""


def _text_file(name: str, n_rows: int, line: Callable[[int], str], header: str = "") -> Path:
    path = DATA / f"trick-{n_rows}.{name}"
    if not path.exists():
        path.write_text(header + "".join(line(row) for row in range(n_rows)), encoding="utf-8")
    return path


def trec_file(n_rows: int) -> Path:
    """Return a TREC run with 100 lines per group."""
    return _text_file("run", n_rows, lambda n: f"q{n // 100} Q0 d{n * 7919 % 999_983} 0 {n * 31 % 997 / 1000} r\n")


def qrels_file(n_rows: int) -> Path:
    """Return labels of a tenth of the items of ``trec_file``."""
    return _text_file(
        "qrels", n_rows, lambda n: "" if n % 10 else f"q{n // 100} 0 d{n * 7919 % 999_983} {n // 10 % 3}\n"
    )


def _reading(kind: str, n_rows: int, *, fast: bool) -> Work:
    from ndcg_tracker.ingest.columns import RUN_TABLE, Columns
    from ndcg_tracker.ingest.reading import text_table
    from ndcg_tracker.ingest.source import Source

    path = {
        "trec": lambda: trec_file(n_rows),
        "csv": lambda: _text_file(
            "csv", n_rows, lambda n: f"q{n // 100},d{n * 7919 % 999_983},{n * 31 % 997 / 1000}\n", "group,item,score\n"
        ),
    }[kind]()  # fmt: skip

    def read() -> object:
        with Source(str(path)) as source:
            table = text_table(source, kind, Columns(), RUN_TABLE)
            return table.fast(source) if fast else table.exact(source)

    return read


def _side_by_side(n_rows: int, *, all_cores: bool) -> Work:
    from ndcg_tracker import concurrency

    if not all_cores:
        concurrency.MOST_WORKERS = 1
    return _reading("trec", n_rows, fast=True)


def _join(n_rows: int, *, hashed: bool) -> Work:
    import numpy as np

    from ndcg_tracker.rankings.join import hash_partners

    random = np.random.default_rng(0)
    n_groups = max(1, n_rows // 100)
    hashes = random.integers(0, 2**63, n_groups * 100).astype(np.uint64)
    chosen = np.sort(random.permutation(hashes.size)[: hashes.size // 10])
    groups = np.arange(hashes.size) // 100
    lengths, other_lengths = (np.bincount(of, minlength=n_groups) for of in (groups, groups[chosen]))
    if hashed:
        return lambda: hash_partners(hashes, lengths, hashes[chosen], other_lengths)

    def by_sorting() -> object:
        mixed = hashes ^ (groups.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        order = np.argsort(mixed[chosen])
        ascending = mixed[chosen][order]
        places = np.minimum(np.searchsorted(ascending, mixed), ascending.size - 1)
        return np.where(ascending[places] == mixed, order[places], -1)

    return by_sorting


def _few_labels(n_rows: int, *, compared: bool) -> Work:
    import numpy as np

    from ndcg_tracker.rankings.join import hash_partners, partners_of

    n_groups = max(1, n_rows // 100)
    hashes = np.random.default_rng(0).integers(0, 2**63, n_groups * 100).astype(np.uint64)
    sides = hashes, np.full(n_groups, 100), hashes[::100].copy(), np.ones(n_groups, dtype=np.int64)
    if compared:
        return lambda: partners_of(*sides)

    def by_hash() -> object:
        partners = hash_partners(*sides)
        rows = np.flatnonzero(partners >= 0)
        return rows, partners[rows]

    return by_hash


def _by_group(n_rows: int, *, in_one_integer: bool) -> Work:
    import numpy as np

    from ndcg_tracker.rankings.grouping import stable_order

    codes = np.random.default_rng(0).integers(0, max(1, n_rows // 10), n_rows)
    return (lambda: stable_order(codes)) if in_one_integer else (lambda: np.argsort(codes, kind="stable"))


def _sorting(n_rows: int, *, by_keys: bool) -> Work:
    import numpy as np

    from ndcg_tracker.rankings.sorting import descending_order

    n_groups = max(1, n_rows // 100)
    scores = np.random.default_rng(0).normal(size=n_groups * 100)
    offsets, groups = np.arange(n_groups + 1) * 100, np.arange(scores.size) // 100
    return (lambda: descending_order(scores, offsets)) if by_keys else (lambda: np.lexsort((-scores, groups)))


def _json_lists(n_rows: int, *, arrow: bool) -> Work:
    import numpy as np

    from ndcg_tracker.rankings.keys import Keys
    from ndcg_tracker.storage.bulk.sqlite import json_key_lists, json_number_lists

    n_items = min(n_rows, 100_000)
    keys = Keys.from_strings([f"d{number * 7919 % 999_983}" for number in range(n_items)])
    numbers, offsets = np.random.default_rng(0).random(n_items), np.append(np.arange(0, n_items, 100), n_items)
    return lambda: (
        json_key_lists(keys, offsets, arrow=arrow),
        json_number_lists(numbers, offsets, arrow=arrow),
    )


def _results(n_rows: int, *, packed: bool) -> Work:
    import sqlite3

    import numpy as np

    from ndcg_tracker.storage.bulk.protocol import packed as packed_columns
    from ndcg_tracker.storage.bulk.sqlite import SqliteBulk

    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE evaluations (id INTEGER PRIMARY KEY, packed_group_ids BLOB, packed_values BLOB)")
    connection.execute(
        "CREATE TABLE group_results (evaluation_id INTEGER, group_id INTEGER, value REAL, "
        "PRIMARY KEY (evaluation_id, group_id)) WITHOUT ROWID"
    )
    ids, values = np.arange(n_rows), np.random.default_rng(0).random(n_rows)
    connection.execute("INSERT INTO evaluations VALUES (1, ?, ?)", packed_columns(ids, values))
    rows = zip([1] * n_rows, ids.tolist(), values.tolist(), strict=True)
    connection.executemany("INSERT INTO group_results VALUES (?, ?, ?)", rows)
    bulk: Any = SqliteBulk.__new__(SqliteBulk)
    bulk._connection = connection
    return lambda: bulk.results(1) if packed else bulk.result_columns(1, "value")


def _pairs(n_rows: int, *, by_table: bool) -> Work:
    import numpy as np

    from ndcg_tracker.compare import pair

    if not by_table:
        pair._DENSE = 0
    ids = np.arange(min(n_rows, 7_000))
    return lambda: pair.places_of_ids(ids[::2], ids)


def _quantiles(*, expanded: bool) -> Work:
    from ndcg_tracker.statistics import t_distribution

    if not expanded:
        t_distribution._SERIES = 0.0

    def quantiles() -> None:
        for df in range(7_000, 7_100):
            t_distribution.two_sided_t.__wrapped__(0.05, float(df))

    return quantiles


def work_of(name: str, n_rows: int, *, has_trick: bool) -> Work:
    """Return the work of a trick within the program, with it or without it."""
    return {
        "TREC by Arrow": lambda: _reading("trec", n_rows, fast=has_trick),
        "CSV by Arrow": lambda: _reading("csv", n_rows, fast=has_trick),
        "blocks side by side": lambda: _side_by_side(n_rows, all_cores=has_trick),
        "hash join": lambda: _join(n_rows, hashed=has_trick),
        "few labels compared": lambda: _few_labels(n_rows, compared=has_trick),
        "rows by group": lambda: _by_group(n_rows, in_one_integer=has_trick),
        "sorting keys": lambda: _sorting(n_rows, by_keys=has_trick),
        "JSON lists by Arrow": lambda: _json_lists(n_rows, arrow=has_trick),
        "packed results": lambda: _results(n_rows, packed=has_trick),
        "pairs by table": lambda: _pairs(n_rows, by_table=has_trick),
        "t quantiles by expansion": lambda: _quantiles(expanded=has_trick),
    }[name]()


def main() -> None:
    """Do what the arguments say."""
    command, way, *rest = sys.argv[1:]
    if command == "files":
        trec_file(int(rest[0]))
        qrels_file(int(rest[0]))
        return
    if command == "run":
        exec(way, {"sys": sys})
        from ndcg_tracker.cli import app

        sys.argv[1:] = rest
        app.main()
        return
    work = work_of(command, int(rest[0]), has_trick=way == "with")
    work()
    serve(work, {})


if __name__ == "__main__":
    main()
