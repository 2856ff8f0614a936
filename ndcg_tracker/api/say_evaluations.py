"""Print metrics of files in a format: their means, or the values of every group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    from ndcg_tracker.api.evaluation import Evaluation
    from ndcg_tracker.render.report import Format, Paper


def evaluations_as(
    format: Format, evaluations: Sequence[tuple[str, Evaluation]], *, per_group: bool = False, **paper: Unpack[Paper]
) -> str:
    """Return the means of runs by name in a format, or with ``per_group`` their values."""
    values: list[list[Any]]
    common: Iterable[Mapping[str, object]]
    columns: list[tuple[str, int | None]] = [("run", None)]
    if per_group:
        texts = evaluations[0][1].texts
        names = [name for name, evaluation in evaluations for _ in range(len(evaluation.results[0].group_keys))]
        groups = [key for _, evaluation in evaluations for key in evaluation.results[0].group_keys.to_list()]
        values = [
            [value for _, evaluation in evaluations for value in evaluation.results[place].values.tolist()]
            for place in range(len(texts))
        ]
        columns += [("group", None), *((text, 4) for text in texts)]
        common = (
            {"results": [{"metric": text, "value": value} for text, value in zip(texts, row, strict=True)]}
            for row in zip(*values, strict=True)
        )
        return columns_of_runs(format, columns, [names, groups, *values], common, **paper)
    heads = ("metric", "mean", "n_groups", "n_missing", "n_undefined")
    columns += [(name, 4 if name == "mean" else None) for name in heads]
    rows = [
        (name, text, *(getattr(result, head) for head in heads[1:]))
        for name, evaluation in evaluations
        for text, result in zip(evaluation.texts, evaluation.results, strict=True)
    ]
    values = [[row[place] for row in rows] for place in range(len(columns))]
    common = ({"results": [{"metric": row[1], "value": row[2]}]} for row in rows)
    return columns_of_runs(format, columns, values, common, **paper)


def columns_of_runs(
    format: Format,
    columns: Sequence[tuple[str, int | None]],
    values: list[list[Any]],
    common: Iterable[Mapping[str, object]],
    **paper: Unpack[Paper],
) -> str:
    """Return columns of values in a format; in JSON with the keys that all kinds of rows have.

    ``columns``: their names and digits. ``common``: the common values of each row, without the keys that are null.
    """
    from ndcg_tracker.render.formats import columns_as
    from ndcg_tracker.render.report import read_by_people

    if format == "json":
        added = [name for name in ("group", "attribute", "slice", "results") if name != columns[1][0]]
        columns = [*columns, *((name, None) for name in added)]
        rows = [[row.get(name) for name in added] for row in common]
        values = [*values, *([row[place] for row in rows] for place in range(len(added)))]
    described = [replace(of, digits=digits) for (name, digits) in columns for of in read_by_people(name)]
    return columns_as(format, described, values, **paper)
