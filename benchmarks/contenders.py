"""From a TREC run and its qrels to the NDCG of every group: one process per tool and round.

    python benchmarks/contenders.py NAME RUN QRELS METRIC...     # what the command runs for a library

Programs are run as people type them; for a library there is a function here that reads both files and computes the
metrics of every group. The means that each finds are checked against ours, so that a table of times can show that all
did the same work. To add a library, write a function with ``@library`` before it and import the library within it.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from processes import Means

METRICS = ("ndcg@10", "ndcg@100", "ndcg")
EXACT, PRINTED, TIES = 1e-6, 6e-5, 5e-3
"""How far a mean may be from ours: the same convention; four printed digits; ties in another order."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a contender is run with: its Python, the files, and where it may store."""

    python: str
    run: Path
    qrels: Path
    database: str = ""
    trec_eval: str = ""


@dataclass(frozen=True, slots=True)
class Contender:
    """One way from files to numbers.

    ``needs``: the module it cannot do without, "" for none. ``command``: what is run. ``read``: the means from what
    it printed. ``stores``: "sqlite" or "postgres" for those that need a database; ``ready``: whether its schema is
    made beforehand. ``tolerance`` and ``convention``: how far its means may be from ours, and why. ``left_out``: the
    workloads it does not run on, each with the reason. ``only_on``: the only workloads it runs on, if not all.
    """

    what: str
    command: Callable[[Call], list[str]]
    read: Callable[[TextIO], Means]
    needs: str = ""
    distribution: str = ""
    stores: str = ""
    ready: bool = False
    tolerance: float = EXACT
    convention: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    only_on: tuple[str, ...] = ()


CONTENDERS: dict[str, Contender] = {}
LIBRARIES: dict[str, Callable[[str, str, list[str]], Means]] = {}


def ndcg_track(python: str, *arguments: str) -> list[str]:
    """Return the command that runs our command line with a given Python."""
    return [python, "-c", "from ndcg_tracker.cli.app import main; main()", *arguments]


def our_command(call: Call, *command: str) -> list[str]:
    """Return ``ndcg-track evaluate`` or ``ingest`` of the files."""
    database = ["--db", call.database] if call.database else []
    metrics = [part for metric in METRICS for part in ("--metric", metric)]
    files = [str(call.run), "--labels", str(call.qrels)]
    return ndcg_track(call.python, *database, command[0], *files, *metrics, "--format", "csv", *command[1:])


def our_means(printed: TextIO) -> Means:
    """Read one row per metric, as CSV."""
    return {row["metric"]: float(row["mean"]) for row in csv.DictReader(printed)}


def group_means(printed: TextIO) -> Means:
    """Read one row per group with a column per metric, as CSV, and return the means of the columns."""
    rows = csv.reader(printed)
    columns = [(place, name) for place, name in enumerate(next(rows)) if name in METRICS]
    sums, n_rows = [0.0] * len(columns), 0
    for row in rows:
        n_rows += 1
        for number, (place, _) in enumerate(columns):
            sums[number] += float(row[place])
    return {name: total / n_rows for total, (_, name) in zip(sums, columns, strict=True)}


def trec_means(printed: TextIO) -> Means:
    """Read trec_eval's rows of metric, group and value, and return those of all groups together."""
    names = {"ndcg": "ndcg", "ndcg_cut_10": "ndcg@10", "ndcg_cut_100": "ndcg@100"}
    rows = (line.split() for line in printed if "\tall\t" in line)
    return {names[name]: float(value) for name, _, value in rows if name in names}


def ir_measures_means(printed: TextIO) -> Means:
    """Read the rows of ``ir_measures -q``: group, metric and value."""
    rows = (line.split() for line in printed if line.startswith("all\t"))
    return {name.lower(): float(value) for _, name, value in rows}


def library_means(printed: TextIO) -> Means:
    """Read what this program prints for a library."""
    rows = (line.rstrip("\n").split("\t") for line in printed if "\t" in line)
    return {name: float(value) for name, value in rows}


QUADRATIC = "its time grows with the square of the number of groups: over 12 minutes"
CONTENDERS["interpreter"] = Contender("Python starts and ends", lambda call: [call.python, "-c", ""], lambda _: {})
CONTENDERS["evaluate"] = Contender(
    "`ndcg-track evaluate`: every group's numbers computed, means printed",
    lambda call: our_command(call, "evaluate"),
    our_means,
    "ndcg_tracker",
)
CONTENDERS["evaluate --per-group"] = Contender(
    "`ndcg-track evaluate --per-group`: every group's numbers printed",
    lambda call: our_command(call, "evaluate", "--per-group"),
    group_means,
    "ndcg_tracker",
)
CONTENDERS["ingest, SQLite"] = Contender(
    "`ndcg-track ingest`: items, labels and every group's numbers stored in a new SQLite file",
    lambda call: our_command(call, "ingest"),
    our_means,
    "ndcg_tracker",
    stores="sqlite",
)
CONTENDERS["ingest, SQLite that is there"] = Contender(
    "the same into a SQLite file whose schema is made beforehand",
    lambda call: our_command(call, "ingest"),
    our_means,
    "ndcg_tracker",
    stores="sqlite",
    ready=True,
    only_on=("w3",),
)
CONTENDERS["ingest, Postgres"] = Contender(
    "the same into Postgres (memory: the client's)",
    lambda call: our_command(call, "ingest"),
    our_means,
    "psycopg",
    stores="postgres",
    ready=True,
)
CONTENDERS["trec_eval"] = Contender(
    "`trec_eval -q`: every group's numbers printed, four digits",
    lambda call: [call.trec_eval, "-q", "-m", "ndcg_cut.10,100", "-m", "ndcg", str(call.qrels), str(call.run)],
    trec_means,
    tolerance=PRINTED,
    left_out={"w4": QUADRATIC},
)
CONTENDERS["ir_measures"] = Contender(
    "`ir_measures -q`: every group's numbers printed",
    lambda call: [
        *(call.python, "-m", "ir_measures", "-q", "-p", "9", str(call.qrels), str(call.run)),
        *("nDCG@10", "nDCG@100", "nDCG"),
    ],
    ir_measures_means,
    "ir_measures",
)


def library(
    name: str, needs: str, what: str, *, distribution: str = "", tolerance: float = EXACT, convention: str = ""
) -> Callable[[Callable[[str, str, list[str]], Means]], None]:
    """Return the decorator that enters a function of (run, qrels, metrics such as ndcg@10) under a name."""

    def enter(work: Callable[[str, str, list[str]], Means]) -> None:
        LIBRARIES[name] = work
        CONTENDERS[name] = Contender(
            what,
            lambda call: [call.python, __file__, name, str(call.run), str(call.qrels), *METRICS],
            library_means,
            needs,
            distribution,
            tolerance=tolerance,
            convention=convention,
            left_out=LEFT_OUT.get(name, {}),
        )

    return enter


LEFT_OUT: dict[str, dict[str, str]] = {
    "ranx": {"w4": "over 90 s of processor time a round, and 8 GB"},
}


@library(
    "pytrec_eval",
    "pytrec_eval",
    "its own reader, every group's numbers as dictionaries",
    distribution="pytrec_eval-terrier",
)
def _pytrec_eval(run: str, qrels: str, metrics: list[str]) -> Means:
    import pytrec_eval

    native = {metric: metric.replace("@", "_cut_") for metric in metrics}
    asked = {name.replace("_cut_", "_cut.") for name in native.values()}
    with Path(qrels).open() as labels, Path(run).open() as items:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(labels), asked)
        found = evaluator.evaluate(pytrec_eval.parse_run(items))
    return {metric: sum(group[name] for group in found.values()) / len(found) for metric, name in native.items()}


@library(
    "ranx", "ranx", "its own reader, every group's numbers in the run", tolerance=TIES, convention="ties in file order"
)
def _ranx(run: str, qrels: str, metrics: list[str]) -> Means:
    from ranx import Qrels, Run, evaluate

    found = evaluate(Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec"), metrics)
    return {metric: float(mean) for metric, mean in found.items()}


@library(
    "polars",
    "polars",
    "CSV reader, joins and window functions, one frame of every group's numbers",
    tolerance=TIES,
    convention="ties in file order",
)
def _polars(run: str, qrels: str, metrics: list[str]) -> Means:
    import polars as pl

    def table(path: str, columns: dict[str, type[pl.DataType]], wanted: list[str]) -> pl.DataFrame:
        lines = pl.scan_csv(path, separator=" ", has_header=False, quote_char=None, schema=columns)
        return lines.select(wanted).collect()

    keys: dict[str, type[pl.DataType]] = {"group": pl.String, "q0": pl.String, "item": pl.String}
    of_run = keys | {"place": pl.String, "score": pl.Float64, "tag": pl.String}
    items = table(run, of_run, ["group", "item", "score"])
    labels = table(qrels, keys | {"grade": pl.Float64}, ["group", "item", "grade"])
    labels = labels.filter(pl.col("grade") > 0)
    ranked = items.with_columns(pl.col("score").rank("ordinal", descending=True).over("group").alias("rank"))
    found = ranked.join(labels, on=["group", "item"])
    best = labels.with_columns(pl.col("grade").rank("ordinal", descending=True).over("group").alias("rank"))
    gain = pl.col("grade") / (pl.col("rank") + 1.0).log(2)
    cutoffs = {metric: int(metric.partition("@")[2] or 1 << 60) for metric in metrics}
    sums = [(pl.col("rank") <= cutoff).mul(gain).sum().alias(metric) for metric, cutoff in cutoffs.items()]
    both = best.group_by("group").agg(sums).join(found.group_by("group").agg(sums), on="group", how="left", suffix="'")
    groups = items.select("group").unique().join(both, on="group", how="left")
    values = groups.select(
        "group", *[(pl.col(f"{name}'") / pl.col(name)).fill_null(0.0).alias(name) for name in cutoffs]
    )
    return {metric: float(values[metric].sum()) / len(values) for metric in metrics}


@library(
    "duckdb",
    "duckdb",
    "CSV reader, joins and window functions in SQL, one table of every group's numbers",
    tolerance=TIES,
    convention="ties in any order",
)
def _duckdb(run: str, qrels: str, metrics: list[str]) -> Means:
    import duckdb

    read = "read_csv(?, delim=' ', header=false, quote='', auto_detect=false, columns={columns})"
    run_columns = "{'g': 'VARCHAR', 'q': 'VARCHAR', 'i': 'VARCHAR', 'r': 'INTEGER', 's': 'DOUBLE', 't': 'VARCHAR'}"
    label_columns = "{'g': 'VARCHAR', 'q': 'VARCHAR', 'i': 'VARCHAR', 'grade': 'DOUBLE'}"
    cutoffs = [int(metric.partition("@")[2] or 1 << 30) for metric in metrics]
    sums = ", ".join(
        f"sum(grade / log2(rank + 1)) FILTER (rank <= {cutoff}) AS m{place}" for place, cutoff in enumerate(cutoffs)
    )
    values = ", ".join(f"coalesce(found.m{place} / best.m{place}, 0) AS m{place}" for place in range(len(cutoffs)))
    connection = duckdb.connect()
    connection.execute(
        f"""
        CREATE TABLE results AS
        WITH items AS (SELECT g, i, row_number() OVER (PARTITION BY g ORDER BY s DESC) AS rank
                       FROM {read.replace("{columns}", run_columns)}),
             labels AS (SELECT g, i, grade FROM {read.replace("{columns}", label_columns)} WHERE grade > 0),
             ideal AS (SELECT g, grade, row_number() OVER (PARTITION BY g ORDER BY grade DESC) AS rank FROM labels),
             best AS (SELECT g, {sums} FROM ideal GROUP BY g),
             found AS (SELECT items.g, {sums} FROM items JOIN labels USING (g, i) GROUP BY items.g)
        SELECT every.g, {values} FROM (SELECT DISTINCT g FROM items) every
        LEFT JOIN best USING (g) LEFT JOIN found USING (g)""",
        [run, qrels],
    )
    means = ", ".join(f"avg(m{place})" for place in range(len(cutoffs)))
    found = connection.execute(f"SELECT {means} FROM results").fetchone()
    return dict(zip(metrics, map(float, found or ()), strict=True))


if __name__ == "__main__":
    chosen, run_file, qrels_file, *wanted = sys.argv[1:]
    for text, mean in LIBRARIES[chosen](run_file, qrels_file, wanted).items():
        sys.stdout.write(f"{text}\t{mean!r}\n")
