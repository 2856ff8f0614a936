"""Whether a run is the published one, for people and for programs."""

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
from ndcg_tracker.words.numbers import counted, interval, p_text, percent, points

_METRIC = paths("metric requested_as original reproduced delta ci_low=ci.0 ci_high=ci.1 rmse p_value er delta_ri n")
_PUBLISHED = paths(
    "run=run.name run_id=run.run_id dataset label_set_version metric requested_as published mean delta ci_low=ci.0 "
    "ci_high=ci.1 is_within n"
)


@shape_of(PublishedMean)
def _published_shape(found: PublishedMean) -> Mapping[str, object]:
    return {**fields_of(found), "delta": found.delta, "is_within": found.is_within}


def reproduction_said(found: Reproduction | PublishedMean) -> Said:
    """Return what there is to say of a reproduction; CSV has a row per metric, without what is of lists."""
    return Said(found, lambda: [reproduction_report(found)], lambda: reproduction_rows(found))


def reproduction_rows(found: Reproduction | PublishedMean) -> list[dict[str, Any]]:
    """Return one row per metric, as CSV and frames have it."""
    if isinstance(found, PublishedMean):
        return [picked(_PUBLISHED, found)]
    runs = {
        **picked(paths("original_run=original.name original_run_id=original.run_id"), found),
        **picked(paths("reproduced_run=reproduced.name reproduced_run_id=reproduced.run_id dataset"), found),
        "label_set_version": found.label_set.version,
    }
    return [{**runs, **picked(_METRIC, one)} for one in found.metrics]


def reproduction_report(found: Reproduction | PublishedMean) -> Report:
    """Return the report of a reproduction."""
    return _of_published(found) if isinstance(found, PublishedMean) else _of_run(found)


def _of_published(found: PublishedMean) -> Report:
    names = _names([found])
    verdict, where = {
        True: (Painted("WITHIN", "good"), "the published mean lies in the 95% interval of this run's mean"),
        False: (Painted("OUTSIDE", "bad"), "the published mean lies outside of the 95% interval of this run's mean"),
        None: (None, "this run's mean has no interval"),
    }[found.is_within]
    missing = f", {found.n_missing:,} of them not in the run" if found.n_missing else ""
    return Report(
        f"{found.run.name} on {found.dataset}: {where}",
        verdict=verdict,
        tables=[
            Table(
                columns("metric", ">published", ">this run", ">difference", ">95% interval"),
                [
                    [
                        names[found.metric],
                        points(found.published),
                        points(found.mean),
                        points(found.delta, signed=True),
                        interval(found.ci),
                    ]
                ],
            )
        ],
        facts=[
            ("labels", labels_text(LabelSetRef(found.label_set_version, "", found.judge))),
            ("groups", f"{found.n:,}{missing}"),
        ],
    )


def _of_run(found: Reproduction) -> Report:
    names = _names(found.metrics)
    heads = columns("metric", ">original", ">reproduced", ">difference", ">95% interval", ">RMSE", ">p")
    rows: list[list[object]] = [
        [
            names[one.metric],
            points(one.original),
            points(one.reproduced),
            points(one.delta, signed=True),
            interval(one.ci, signed=True),
            points(one.rmse),
            p_text(one.p_value),
        ]
        for one in found.metrics
    ]
    tables = [Table(heads, rows)]
    facts = []
    if found.baselines is not None:
        original, reproduced = found.baselines
        effects: list[list[object]] = [
            [names[one.metric], points(one.er), points(one.delta_ri, signed=True)] for one in found.metrics
        ]
        tables.append(Table(columns("metric", ">ER", ">DeltaRI"), effects, "effect"))
        facts.append(("baselines", f"{original.name} (original), {reproduced.name} (reproduced)"))
    if found.lists:
        alike: list[list[object]] = [[f"{one.cutoff:,}", points(one.ktu), points(one.rbo)] for one in found.lists]
        tables.append(Table(columns(">first items", ">KTU", f">RBO, p={found.rbo_p:g}"), alike, "lists", names=()))
        in_both = " that are in both runs" if found.n_lists < found.n else ""
        facts.append(("identical lists", f"{percent(found.same_lists)} of {counted(found.n_lists, 'group')}{in_both}"))
    alone = [
        f"{n:,} with a result in {run.name} alone"
        for n, run in ((found.only_in_original, found.original), (found.only_in_reproduced, found.reproduced))
        if n
    ]
    facts.append(("labels", labels_text(found.label_set)))
    facts.append(("groups", ", ".join([f"{found.n:,} paired", *alone])))
    return Report(_finding(found, names), tables=tables, facts=facts, notes=[told(note) for note in found.notes])


def _finding(found: Reproduction, names: Mapping[str, str]) -> str:
    """Return whether the runs are the same, and else how far apart they are."""
    runs = f"{found.reproduced.name} is {{}} {found.original.name} on {found.dataset}"
    are_equal = not (found.only_in_original or found.only_in_reproduced) and all(one.rmse == 0 for one in found.metrics)
    if are_equal and found.same_lists == 1:
        return f"{runs.format('the same run as')}: every list and every result is identical"
    if are_equal and found.same_lists is None:
        return f"{runs.format('as good as')}: every result is identical, and there are no lists to compare"
    one = found.metrics[0]
    of_both = f"the {found.n_lists:,} lists that both have" if found.n_lists < found.n else "the lists"
    lists = "" if found.same_lists is None else f"{percent(found.same_lists)} of {of_both} are identical; "
    how_far = f"{names[one.metric]} differs by {points(one.delta, signed=True)}"
    of_groups = "" if one.rmse is None else f", and by {points(one.rmse)} per group (RMSE)"
    return f"{runs.format('not the same as')}: {lists}{how_far}{of_groups}"


def _names(metrics: Sequence[ReproducedMetric | PublishedMean]) -> Mapping[str, str]:
    """Return the names by which people know the metrics."""
    from ndcg_tracker.metrics.language.dialects import familiar_name  # NumPy is not for those who only print a table

    return {one.metric: familiar_name(one.metric, one.requested_as) for one in metrics}
