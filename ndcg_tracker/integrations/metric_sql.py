"""A metric as a query for another engine: the value of every group from a table of a run and a table of labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from ndcg_tracker.asked import Option
from ndcg_tracker.errors import InputError, MetricError
from ndcg_tracker.integrations import library
from ndcg_tracker.metrics.language.axes import at_least, gain_table, number_text
from ndcg_tracker.metrics.language.metric import Metric

DIALECTS = ("bigquery", "databricks", "duckdb", "postgres", "snowflake", "spark")
_CUMULATED = ("cg", "dcg", "idcg", "ndcg")
_OF_RELEVANT = ("P", "R", "AP", "RR", "Success")
_REASONS = {
    "rows of a table have no order": "ties=input",
    "grades are double precision in SQL": "label_type",
    "SQL cannot refuse labels": "label_domain negative=error",
    "SQL compares scores in their own type": "score_type",
    "sums are double precision in SQL": "arithmetic",
    "engines round halves differently": "round round_of",
    "SQL cannot refuse groups": "size1 empty=error missing=error extra=error",
    "SQL cannot refuse values": "clip",
    "it applies to the mean, but the query returns values of groups": "weights weight_type empty_weight all_skipped",
    "the query has no ideal order of negative gains": "negative=keep",
    "the query supports only plain precision": "relative",
    "the query supports only plain precision, recall and average precision": "over",
    "ids of groups and items may have different types in SQL": "own",
    "the query supports only ideals of labelled or retrieved items": "ideal=constant",
}
_NOT_IN_SQL = {setting: reason for reason, settings in _REASONS.items() for setting in settings.split()}
"""Why the query cannot compute an axis, or one of its values."""


RunTable = Annotated[str, Option("The table of the run.")]
LabelsTable = Annotated[str, Option("The table of the labels.")]
GroupKey = Annotated[str, Option("Column of the group, in both tables.")]
ItemKey = Annotated[str, Option("Column of the item, in both tables.")]
ScoreKey = Annotated[str, Option("Column of the score.")]
GradeKey = Annotated[str, Option("Column of the grade.")]


@dataclass(frozen=True)
class Tables:
    """The names of the two tables and their columns in the query."""

    run: RunTable = "run"
    labels: LabelsTable = "labels"
    group: GroupKey = "group_key"
    item: ItemKey = "item_key"
    score: ScoreKey = "score"
    grade: GradeKey = "grade"


def query(metric: Metric, dialect: str, tables: Tables | None = None) -> str:
    """Return the query that computes a metric for every group: columns ``group_key`` and ``value``.

    Parameters: ``dialect``: one of ``DIALECTS``. ``tables``: names; the run has one row per (group, item) with a score,
    the labels one row with a grade. Rows with a null score or grade count as absent. ``value`` is null if the metric
    is undefined. Values agree with the kernel to about 1e-12, because engines choose their own order of summation.
    Raises: MetricError, with the reason, for a metric that SQL does not compute exactly; InputError for an unknown
    dialect and if sqlglot is not installed.

    >>> query(Metric.of("P", cutoff=2), "duckdb").splitlines()[0]
    'WITH judged AS ('
    """
    if dialect not in DIALECTS:
        raise InputError(f"{dialect!r} is not a SQL dialect", advice=f"give one of {', '.join(DIALECTS)}")
    _refuse(metric)
    sqlglot = library("sqlglot", "sql")

    def is_name(text: str, query: str) -> bool:
        try:
            sqlglot.parse_one(query.format(text), read="duckdb")
        except sqlglot.errors.SqlglotError:
            return False
        return True

    names = tables or Tables()
    columns = {role: getattr(names, role) for role in ("group", "item", "score", "grade")}
    quoted = {
        role: name if is_name(name, "SELECT {} AS x FROM t") else '"' + name.replace('"', '""') + '"'
        for role, name in columns.items()
    }
    for table in (names.run, names.labels):
        if not is_name(table, "SELECT 1 FROM {} AS own"):
            raise InputError(f"{table!r} is not a table name in SQL", advice="put it in double quotes")
    text = _query(metric, dialect, replace(names, **quoted))
    silent = sqlglot.ErrorLevel.IGNORE  # no warnings about the order of nulls: no sort key is null
    return str(sqlglot.transpile(text, read="duckdb", write=dialect, pretty=True, unsupported_level=silent)[0]) + ";\n"


def _refuse(metric: Metric) -> None:
    if metric.measure not in (*_CUMULATED, *_OF_RELEVANT):
        measures = ", ".join((*_CUMULATED, *_OF_RELEVANT))
        raise MetricError(
            "SQL does not compute this measure", where=metric.requested_as, advice=f"it computes {measures}"
        )
    for axis, value in metric.settings:
        reason = _NOT_IN_SQL.get(axis) or _NOT_IN_SQL.get(f"{axis}={value}")
        if metric.measure in _OF_RELEVANT and (axis, value) == ("ties", "average"):
            reason = "the query computes the expected value over all orders only for cumulated gain"
        if metric.measure in _OF_RELEVANT and axis in ("ideal", "empty"):
            reason = "the query counts the relevant items of the labels, and gives 0 if there are none"
        if axis == "unjudged" and value not in ("zero", "drop") and metric.measure in _OF_RELEVANT:
            reason = "the query supports gains of unjudged items only for cumulated gain"
        if reason is not None:
            raise MetricError(f"SQL does not compute {axis}={value} exactly ({reason})", where=metric.requested_as)


def _query(metric: Metric, dialect: str, tables: Tables) -> str:
    """Return the query in DuckDB's SQL, with the parts that ``dialect`` needs in its own SQL."""
    is_cumulated = metric.measure in _CUMULATED
    item = f"CAST({tables.item} AS TEXT)"
    in_bytes = 'item_key COLLATE "C"' if dialect == "postgres" else "item_key"
    dropped = "WHERE grade >= 0" if metric["negative"] == "drop" else ""
    kept = ["(grade IS NULL OR grade >= 0)"] if dropped else []
    kept += ["grade IS NOT NULL"] if metric["unjudged"] == "drop" else []
    kept_rows = f"WHERE {' AND '.join(kept)}" if kept else ""
    within = "" if metric.cutoff is None else f"place <= {metric.cutoff}"
    depth = "" if metric["depth"] == "all" else f"WHERE place <= {metric['depth']}"
    ties = {
        "item_desc": f"{in_bytes} DESC",
        "item_asc": f"{in_bytes} ASC",
        "pessimistic": f"gain ASC, {in_bytes} DESC",
        "optimistic": f"gain DESC, {in_bytes} DESC",
        "average": f"{in_bytes} DESC",
    }[metric["ties"]]
    mean_gain = "AVG(gain) OVER (PARTITION BY group_key, score)" if metric["ties"] == "average" else "gain"
    gain = _gain(metric, "grade") if is_cumulated else f"CASE WHEN grade {_relevant(metric)} THEN 1.0 ELSE 0.0 END"
    unjudged = number_text(float(metric["unjudged"])) if metric["unjudged"] not in ("zero", "drop") else "0.0"
    value, ideal = (_cumulated if is_cumulated else _of_relevant)(metric, within)
    return f"""
WITH judged AS (
  SELECT group_key, item_key, grade FROM (
    SELECT {tables.group} AS group_key, {item} AS item_key, CAST({tables.grade} AS DOUBLE) AS grade
    FROM {tables.labels} WHERE {tables.grade} IS NOT NULL) AS given {dropped}
), listed AS (
  SELECT group_key, item_key, score, grade FROM (
    SELECT own.group_key, own.item_key, own.score, labels_of.grade
    FROM (SELECT {tables.group} AS group_key, {item} AS item_key, {tables.score} AS score
          FROM {tables.run} WHERE {tables.score} IS NOT NULL) AS own
    LEFT JOIN (SELECT {tables.group} AS group_key, {item} AS item_key, CAST({tables.grade} AS DOUBLE) AS grade
               FROM {tables.labels} WHERE {tables.grade} IS NOT NULL) AS labels_of
    ON labels_of.group_key = own.group_key AND labels_of.item_key = own.item_key) AS joined {kept_rows}
), gained AS (
  SELECT group_key, item_key, score, grade,
    CAST(CASE WHEN grade IS NULL THEN {unjudged if is_cumulated else "0.0"} ELSE {gain} END AS DOUBLE) AS gain
  FROM listed
), placed AS (
  SELECT group_key, grade, {mean_gain} AS gain,
    CAST(ROW_NUMBER() OVER (PARTITION BY group_key ORDER BY score DESC, {ties}) AS DOUBLE) AS place
  FROM gained
), ranked AS (
  SELECT group_key, grade, gain, place,
    SUM(gain) OVER (PARTITION BY group_key ORDER BY place ROWS UNBOUNDED PRECEDING) AS found
  FROM placed {depth}
), of_lists AS (
  SELECT group_key, COUNT(*) AS n_items, {value} AS total FROM ranked GROUP BY group_key
), {ideal}, all_groups AS (
  SELECT {tables.group} AS group_key, MAX(is_listed) AS is_listed, MAX(is_judged) AS is_judged FROM (
    SELECT {tables.group}, 1 AS is_listed, 0 AS is_judged FROM {tables.run} WHERE {tables.score} IS NOT NULL
    UNION ALL
    SELECT {tables.group}, 0, 1 FROM {tables.labels} WHERE {tables.grade} IS NOT NULL) AS both_tables
  GROUP BY {tables.group}
)
SELECT all_groups.group_key AS group_key, {_value(metric)} AS value
FROM all_groups
LEFT JOIN of_lists ON of_lists.group_key = all_groups.group_key
LEFT JOIN of_labels ON of_labels.group_key = all_groups.group_key
"""


def _relevant(metric: Metric) -> str:
    return "IS NOT NULL" if metric["rel"] == "any" else at_least(metric["rel"])


def _gain(metric: Metric, grade: str) -> str:
    positive = f"(CASE WHEN {grade} > 0 THEN {grade} ELSE 0.0 END)" if metric["negative"] == "zero" else grade
    table = gain_table(metric["gain"])
    if table is not None:
        entries = " ".join(f"WHEN {grade} = {level!r} THEN {gain!r}" for level, gain in table.items())
        return f"(CASE {entries} ELSE {positive} END)"
    name, _, least = metric["gain"].partition(">=")
    gain = {
        "linear": positive,
        "exp2": f"(POWER(2.0, {positive}) - 1.0)",
        "binary": f"(CASE WHEN {grade} > 0 THEN 1.0 ELSE 0.0 END)",
    }[name]
    return f"(CASE WHEN {grade} >= {least} THEN {gain} ELSE 0.0 END)" if least else gain


def _discount(metric: Metric, place: str) -> str:
    name = "none" if metric.measure == "cg" else metric["discount"]
    if name.startswith("rbp"):
        share = float(name.removeprefix("rbp"))
        return f"({1.0 - share!r} * POWER({share!r}, {place} - 1.0))"
    if name.startswith("jk"):
        base = float(name.removeprefix("jk"))
        return f"(CASE WHEN {place} <= {base!r} THEN 1.0 ELSE LN({base!r}) / LN({place}) END)"
    logs = {"log2": f"(0.6931471805599453 / LN({place} + 1.0))", "ln": f"(1.0 / LN({place} + 1.0))"}
    return {**logs, "position": f"(1.0 / {place})", "none": "1.0"}[name]


def _cumulated(metric: Metric, within: str) -> tuple[str, str]:
    """Return the sum over a list, and the tables that end with the ideal of each group."""
    terms = f"gain * {_discount(metric, 'place')}"
    total = f"SUM(CASE WHEN {within} THEN {terms} ELSE 0.0 END)" if within else f"SUM({terms})"
    gain = _gain(metric, "grade")
    by = {"gain": "gain DESC", "label": "grade DESC"}[metric["ideal_order"]]
    cut = {
        "cutoff": within.replace("place", "best"),
        "none": "",
        "retrieved": "best <= n_retrieved",
    }[metric["ideal_cut"]]
    rows = f"SELECT group_key, grade, {gain} AS gain FROM judged"
    if metric["ideal"] == "retrieved":
        rows = "SELECT group_key, grade, gain FROM gained"
    ideal = f"gain * {_discount(metric, 'best')}"
    ideal = f"SUM(CASE WHEN {cut} THEN {ideal} ELSE 0.0 END)" if cut else f"SUM({ideal})"
    return (
        total,
        f"""possible AS (
  SELECT usable.group_key, grade, CAST(gain AS DOUBLE) AS gain,
    CAST(ROW_NUMBER() OVER (PARTITION BY usable.group_key ORDER BY {by}) AS DOUBLE) AS best,
    COALESCE(n_items, 0) AS n_retrieved
  FROM ({rows}) AS usable LEFT JOIN of_lists ON of_lists.group_key = usable.group_key
), of_labels AS (
  SELECT group_key, {ideal} AS ideal, SUM(grade) AS all_labels FROM possible GROUP BY group_key
)""",
    )


def _of_relevant(metric: Metric, within: str) -> tuple[str, str]:
    up_to = f"{within} AND " if within else ""
    total = {
        "P": f"SUM(CASE WHEN {up_to}gain > 0 THEN 1.0 ELSE 0.0 END)",
        "R": f"SUM(CASE WHEN {up_to}gain > 0 THEN 1.0 ELSE 0.0 END)",
        "AP": f"SUM(CASE WHEN {up_to}gain > 0 THEN found / place ELSE 0.0 END)",
        "RR": f"COALESCE(1.0 / MIN(CASE WHEN {up_to}gain > 0 THEN place END), 0.0)",
        "Success": f"MAX(CASE WHEN {up_to}gain > 0 THEN 1.0 ELSE 0.0 END)",
    }[metric.measure]
    relevant = f"SUM(CASE WHEN grade {_relevant(metric)} THEN 1.0 ELSE 0.0 END)"
    return total, f"of_labels AS (SELECT group_key, {relevant} AS ideal FROM judged GROUP BY group_key)"


def _value(metric: Metric) -> str:
    """Return the value of a group from ``total``, ``ideal`` and whether the run and the labels have the group."""
    total, ideal = "CAST(COALESCE(total, 0.0) AS DOUBLE)", "CAST(COALESCE(ideal, 0.0) AS DOUBLE)"
    empty = {"0": "0.0", "1": "1.0", "skip": "NULL"}.get(metric["empty"], "NULL")
    of_ndcg = f"CASE WHEN {_is_empty(metric)} THEN {empty} ELSE {total} / {ideal} END"
    value = {
        "ndcg": of_ndcg,
        "idcg": ideal,
        "P": f"{total} / {metric.cutoff}.0",
        "R": f"CASE WHEN {ideal} > 0 THEN {total} / {ideal} ELSE 0.0 END",
        "AP": f"CASE WHEN {ideal} > 0 THEN {total} / {ideal} ELSE 0.0 END",
    }.get(metric.measure, total)
    nothing = ideal if metric.measure == "idcg" else "0.0"  # idcg does not depend on the run
    missing = {"zero": nothing, "skip": "NULL", "empty": value}[metric["missing"]]
    extra = {"skip": "NULL", "empty": empty if metric.measure == "ndcg" else value}[metric["extra"]]
    return f"CAST(CASE WHEN is_judged = 0 THEN {extra} WHEN is_listed = 0 THEN {missing} ELSE {value} END AS DOUBLE)"


def _is_empty(metric: Metric) -> str:
    ideal = "COALESCE(ideal, 0.0)"
    return {
        "ideal_le_0": f"{ideal} <= 0",
        "ideal_eq_0": f"{ideal} = 0",
        "labels_sum_0": f"COALESCE(all_labels, 0.0) = 0 OR {ideal} = 0",
    }[metric["empty_when"]]
