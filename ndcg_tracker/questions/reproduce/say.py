"""Whether a run reproduces a published one, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.compare.say_tables import labels_text
from ndcg_tracker.questions.reproduce.decide import PublishedMean, ReproducedMetric, Reproduction
from ndcg_tracker.render.formats import Said, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import Report, Table, columns
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import counted, interval, p_text, percent, points

_METRIC = paths("metric requested_as original reproduced delta ci_low=ci.0 ci_high=ci.1 rmse p_value er delta_ri n")
_PUBLISHED = paths(
    "run=run.name run_id=run.run_id dataset label_set_version metric requested_as published mean delta ci_low=ci.0 "
    "ci_high=ci.1 is_within n judge"
)


@shape_of(PublishedMean)
def _published_shape(beside: PublishedMean) -> Mapping[str, object]:
    return {**fields_of(beside), "delta": beside.delta, "is_within": beside.is_within}


def reproduction_said(reproduction: Reproduction | PublishedMean) -> Said:
    """Return the output for a reproduction; CSV has a row per metric, without the numbers of lists."""
    return Said(
        reproduction,
        lambda: [reproduction_report(reproduction)],
        lambda: Table.of_rows(reproduction_rows(reproduction)),
    )


def reproduction_rows(reproduction: Reproduction | PublishedMean) -> list[dict[str, Any]]:
    """Return one row per metric, as CSV and frames have it."""
    if isinstance(reproduction, PublishedMean):
        return [picked(_PUBLISHED, reproduction)]
    runs = {
        **picked(paths("original_run=original.name original_run_id=original.run_id"), reproduction),
        **picked(paths("reproduced_run=reproduced.name reproduced_run_id=reproduced.run_id dataset"), reproduction),
        "label_set_version": reproduction.label_set.version,
    }
    judge = {"judge": reproduction.label_set.judge}
    return [{**runs, **picked(_METRIC, metric), **judge} for metric in reproduction.metrics]


def reproduction_report(reproduction: Reproduction | PublishedMean) -> Report:
    """Return the report of a reproduction."""
    return _of_published(reproduction) if isinstance(reproduction, PublishedMean) else _of_run(reproduction)


def _of_published(beside: PublishedMean) -> Report:
    names = _names([beside])
    verdict, where = {
        True: (Painted("WITHIN", "good"), "the published mean is in the 95% interval of this run's mean"),
        False: (Painted("OUTSIDE", "bad"), "the published mean is outside the 95% interval of this run's mean"),
        None: (None, "this run's mean has no interval"),
    }[beside.is_within]
    missing = f", {beside.n_missing:,} of them not in the run" if beside.n_missing else ""
    return Report(
        f"{beside.run.name} on {beside.dataset}: {where}",
        verdict=verdict,
        tables=[
            Table(
                columns("metric", ">published", ">this run", ">difference", ">95% interval"),
                [
                    [
                        names[beside.metric],
                        points(beside.published),
                        points(beside.mean),
                        points(beside.delta, signed=True),
                        interval(beside.ci),
                    ]
                ],
            )
        ],
        facts=[
            ("labels", labels_text(LabelSetRef(beside.label_set_version, "", beside.judge))),
            ("groups", f"{beside.n:,}{missing}"),
        ],
    )


def _of_run(reproduction: Reproduction) -> Report:
    names = _names(reproduction.metrics)
    heads = columns("metric", ">original", ">reproduced", ">difference", ">95% interval", ">RMSE", ">p")
    rows: list[list[object]] = [
        [
            names[metric.metric],
            points(metric.original),
            points(metric.reproduced),
            points(metric.delta, signed=True),
            interval(metric.ci, signed=True),
            points(metric.rmse),
            p_text(metric.p_value),
        ]
        for metric in reproduction.metrics
    ]
    tables = [Table(heads, rows)]
    facts = []
    if reproduction.baselines is not None:
        original, reproduced = reproduction.baselines
        effects: list[list[object]] = [
            [names[metric.metric], points(metric.er), points(metric.delta_ri, signed=True)]
            for metric in reproduction.metrics
        ]
        tables.append(Table(columns("metric", ">ER", ">DeltaRI"), effects, "effect"))
        facts.append(("baselines", f"{original.name} (original), {reproduced.name} (reproduced)"))
    if reproduction.lists:
        alike: list[list[object]] = [
            [f"{agreement.cutoff:,}", points(agreement.ktu), points(agreement.rbo)] for agreement in reproduction.lists
        ]
        tables.append(
            Table(columns(">first items", ">KTU", f">RBO, p={reproduction.rbo_p:g}"), alike, "lists", names=())
        )
        in_both = " that are in both runs" if reproduction.n_lists < reproduction.n else ""
        facts.append(
            (
                "identical lists",
                f"{percent(reproduction.same_lists)} of {counted(reproduction.n_lists, 'group')}{in_both}",
            )
        )
    alone = [
        f"{n:,} with a result only in {run.name}"
        for n, run in (
            (reproduction.only_in_original, reproduction.original),
            (reproduction.only_in_reproduced, reproduction.reproduced),
        )
        if n
    ]
    facts.append(("labels", labels_text(reproduction.label_set)))
    facts.append(("groups", ", ".join([f"{reproduction.n:,} paired", *alone])))
    return Report(
        _finding(reproduction, names), tables=tables, facts=facts, notes=[told(note) for note in reproduction.notes]
    )


def _finding(reproduction: Reproduction, names: Mapping[str, str]) -> str:
    """Return whether the runs are the same, or how far apart they are."""
    runs = f"{reproduction.reproduced.name} is {{}} {reproduction.original.name} on {reproduction.dataset}"
    are_equal = not (reproduction.only_in_original or reproduction.only_in_reproduced) and all(
        metric.rmse == 0 for metric in reproduction.metrics
    )
    if are_equal and reproduction.same_lists == 1:
        return f"{runs.format('the same run as')}: every list and every result is identical"
    if are_equal and reproduction.same_lists is None:
        return f"{runs.format('as good as')}: every result is identical, but there are no lists to compare"
    first = reproduction.metrics[0]
    of_both = (
        f"the {reproduction.n_lists:,} lists that both have" if reproduction.n_lists < reproduction.n else "the lists"
    )
    lists = (
        "" if reproduction.same_lists is None else f"{percent(reproduction.same_lists)} of {of_both} are identical; "
    )
    how_far = f"{names[first.metric]} differs by {points(first.delta, signed=True)}"
    of_groups = "" if first.rmse is None else f", and by {points(first.rmse)} per group (RMSE)"
    return f"{runs.format('not the same as')}: {lists}{how_far}{of_groups}"


def _names(metrics: Sequence[ReproducedMetric | PublishedMean]) -> Mapping[str, str]:
    """Return the names by which people know the metrics."""
    from ndcg_tracker.metrics.language.dialects import familiar_name  # printing a table needs no NumPy

    return {metric.metric: familiar_name(metric.metric, metric.requested_as) for metric in metrics}
