"""A stored run for another tracker: its means, its group results, its items with their labels, its report page."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from ndcg_tracker.asked import Option
from ndcg_tracker.errors import InputError, NotComparableError
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.render.json import metric_key
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.storage.records import RunRecord

FACTS = b"ndcg_tracker"
"""The key of a run's facts in the metadata of its Parquet file."""
REPORT = "ndcg_tracker_report.html"
"""The artifact that is the report page."""
LONGEST_NAME = 250
ReportBaseline = Annotated[
    str | None,
    Option("The run to compare with on the report page.", metavar="RUN", default="@baseline, if there is one"),
]

_UNCLEAR = re.compile(r"[^0-9A-Za-z_()=, @]")


@dataclass(frozen=True)
class StoredRun:
    """A run under one version of the labels.

    ``means``: by canonical text, None if undefined. ``per_group``: columns of one value per group: ``group`` and one
    per metric under its ``metric_name``, None if undefined. ``ranking``: an Arrow table with one row per (group, item).
    Its columns are ``group``, ``item``, ``score`` (null: judged but not retrieved), ``label`` (null: unjudged) and, if
    the dataset has weights of groups, ``weight``; the facts about the run are in its metadata.
    """

    run: RunRecord
    label_set_version: int
    means: dict[str, float | None]
    per_group: dict[str, list[Any]]
    ranking: Any

    @property
    def table(self) -> dict[str, list[Any]]:
        """The group results: the names of the ``columns``, and the rows as ``data``."""
        return {"columns": list(self.per_group), "data": list(map(list, zip(*self.per_group.values(), strict=True)))}

    def named_means(self, prefix: str = "") -> dict[str, float]:
        """Return the means by their ``metric_name``, without undefined ones, which other trackers cannot store."""
        return {prefix + metric_name(text): mean for text, mean in self.means.items() if mean is not None}

    def notes(self) -> list[Note]:
        """Return a note for each undefined mean."""
        return [Note("no_mean", {"metric": text}) for text, mean in self.means.items() if mean is None]


def stored_run(
    tracker: Tracker, reference: str, *, dataset: str | None = None, metrics: Collection[str] | None = None
) -> StoredRun:
    """Return a run under the latest labels that it was evaluated against, with every number as stored.

    Parameters: ``metrics``: canonical texts, None for all the run has. Raises: ReferenceNotFoundError; InputError for
    a run that was not evaluated.
    """
    import pyarrow.parquet as pq

    run, evaluations = tracker.run(reference, dataset)
    counting = [evaluation for evaluation in evaluations if not evaluation.judge] or evaluations
    version = max((evaluation.label_set_version for evaluation in counting), default=0)
    chosen = [
        evaluation
        for evaluation in evaluations
        if evaluation.label_set_version == version and (metrics is None or evaluation.metric in metrics)
    ]
    means = {evaluation.metric: evaluation.mean for evaluation in chosen}
    if not means:
        raise InputError(
            f"run {run.name!r} of dataset {run.dataset!r} has no metric", advice="compute one with: ndcg-track rescore"
        )
    with TemporaryDirectory(prefix="ndcg-tracker-") as folder:
        exported = Path(folder) / "run"
        tracker.export_runs(exported, [run.name], dataset=run.dataset)
        tables = {
            name: pq.read_table(exported / f"{name}.parquet", memory_map=False)
            for name in ("items", "labels", "group_results", "groups")
        }
    ranking = _ranking(tables["items"], _of_version(tables["labels"], version), tables["groups"])
    facts = {
        "run": run.name,
        "dataset": run.dataset,
        "metrics": list(means),
        "requested_as": {
            evaluation.metric: evaluation.requested_as
            for evaluation in chosen
            if evaluation.requested_as not in (None, evaluation.metric)
        },
        "source": run.source,
        "git_commit": run.git_commit,
        "parameters": run.parameters,
        "tags": {key: value for key, value in run.tags.items() if not key.startswith("mlflow.")},
    }
    ranking = ranking.replace_schema_metadata({FACTS: json.dumps(facts, ensure_ascii=False).encode()})
    return StoredRun(
        run, version, means, _per_group(_of_version(tables["group_results"], version), list(means)), ranking
    )


def _of_version(table: Any, version: int) -> Any:
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["label_set_version"], version))


def _per_group(results: Any, metrics: list[str]) -> dict[str, list[Any]]:
    import pyarrow.compute as pc

    values: dict[str, dict[str, float | None]] = {}
    for metric in metrics:
        of_metric = results.filter(pc.equal(results["metric"], metric))
        keys, numbers = of_metric["group_key"].to_pylist(), of_metric["value"].to_pylist()
        values[metric] = dict(zip(keys, numbers, strict=True))
    groups = list(dict.fromkeys(group for of_groups in values.values() for group in of_groups))
    columns: dict[str, list[Any]] = {"group": groups}
    return columns | {
        metric_name(metric): [by_group.get(group) for group in groups] for metric, by_group in values.items()
    }


def _ranking(items: Any, labels: Any, groups: Any) -> Any:
    """Return items and labels side by side: group by group, best first, then the items not retrieved."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = ["group_key", "item_key"]
    joined = items.select([*keys, "rank", "score"]).join(labels.select([*keys, "grade"]), keys, join_type="full outer")
    weighted = groups.filter(pc.is_valid(groups["weight"])).select(["key", "weight"])
    weighted = weighted.rename_columns(["group_key", "weight"]).cast(
        pa.schema([("group_key", items["group_key"].type), ("weight", pa.float64())])
    )
    others = weighted.filter(pc.equal(weighted["group_key"], ""))["weight"].to_pylist()
    if weighted.num_rows:
        joined = joined.join(weighted, ["group_key"])
    joined = joined.sort_by([("group_key", "ascending"), ("rank", "ascending"), ("item_key", "ascending")])
    columns = {"group": "group_key", "item": "item_key", "score": "score", "label": "grade"}
    table = {name: joined[column] for name, column in columns.items()}
    if weighted.num_rows:
        table["weight"] = pc.fill_null(joined["weight"], *(others or [1.0]))  # of groups without one
    return pa.table(table)


def report_page(tracker: Tracker, run: RunRecord, baseline: str | None) -> tuple[ReportResult | None, list[Note]]:
    """Return the report page of a run, or None with notes if the default baseline cannot be compared.

    Raises: the errors of ``Tracker.report``, for a baseline that was named.
    """
    if baseline is not None:
        return tracker.report(baseline, run.name, dataset=run.dataset), []
    aliased = [alias for alias in tracker.aliases(run.dataset) if alias.name == "baseline" and alias.run_id != run.id]
    if not aliased:
        return None, []
    try:
        return tracker.report("@baseline", run.name, dataset=run.dataset), []
    except (InputError, NotComparableError) as error:
        return None, [Note("no_report", {"why": str(error)})]


def metric_name(text: str) -> str:
    """Return the name of a metric in MLflow and W&B, which allow no ``@`` in names: equal metrics get equal names.

    It is the metric's canonical text, or a tool's spelling if that text is longer than 60 characters. ``@`` becomes
    ``at``; all other characters except letters and digits become ``_``. If two metrics could get the same name, or the
    name is too long for MLflow, eight digits of the canonical text's SHA-256 follow.

    Parameters: ``text``: any text form. Raises: MetricError for a text that is not a metric.

    >>> metric_name("ndcg@10"), metric_name("ndcg(gain=linear)@10"), metric_name("ndcg(gain=exp2, ties=average)@5")
    ('ndcg_at_10', 'ndcg_at_10', 'ndcg_gain_exp2_ties_average_at_5')
    >>> metric_name("lightgbm:ndcg@10"), metric_name("ndcg(gain={1:3})@10")
    ('lightgbm_ndcg_at_10', 'ndcg_gain_1_3_at_10_3f6b4093')
    """
    canonical = str(parse_metric(text))
    familiar = familiar_name(canonical)
    name = metric_key(familiar)
    if len(name) > LONGEST_NAME or (familiar == canonical and _UNCLEAR.search(canonical)):
        return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"
    return name


def run_identity(dataset: str, name: str, digest: str) -> str:
    """Return the id that finds a pushed run again: 32 digits from the dataset, name and content of the stored run.

    >>> run_identity("shop", "bm25", "0" * 32) == run_identity("shop", "bm25-2", "0" * 32)
    False
    """
    return hashlib.sha256("\0".join((dataset, name, digest)).encode()).hexdigest()[:32]
