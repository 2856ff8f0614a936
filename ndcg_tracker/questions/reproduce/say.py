"""Whether a run reproduces a published one, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping

from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.compare.say_tables import labels_text
from ndcg_tracker.questions.reproduce.decide import PublishedMean, ReproducedMetric, Reproduction
from ndcg_tracker.render.formats import Said, fields_of, shape_of
from ndcg_tracker.render.report import Column, Report, Table, kinds, unseen
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import counted, percent, points, unit, units

_PUBLISHED = unseen(
    "run=run.name run_id=run.run_id dataset label_set_version metric requested_as published mean delta ci_low=ci.0 "
    "ci_high=ci.1 is_within n judge"
)
_RUNS = unseen(
    "original_run=0.original.name original_run_id=0.original.run_id reproduced_run=0.reproduced.name "
    "reproduced_run_id=0.reproduced.run_id dataset=0.dataset label_set_version=0.label_set.version metric=1.metric "
    "requested_as=1.requested_as original=1.original reproduced=1.reproduced delta=1.delta ci_low=1.ci.0 "
    "ci_high=1.ci.1 rmse=1.rmse p_value=1.p_value er=1.er delta_ri=1.delta_ri n=1.n judge=0.label_set.judge"
)


@shape_of(PublishedMean)
def _published_shape(beside: PublishedMean) -> Mapping[str, object]:
    return {**fields_of(beside), "delta": beside.delta, "is_within": beside.is_within}


def reproduction_said(reproduction: Reproduction | PublishedMean) -> Said:
    """Return the output for a reproduction; CSV has a row per metric, without the numbers of lists."""
    return Said(reproduction, lambda: [reproduction_report(reproduction)], lambda: _rows(reproduction))


def _rows(reproduction: Reproduction | PublishedMean) -> Table:
    if isinstance(reproduction, PublishedMean):
        return Table.of(_PUBLISHED, [reproduction])
    return Table.of(_RUNS, [(reproduction, metric) for metric in reproduction.metrics])


def reproduction_report(reproduction: Reproduction | PublishedMean) -> Report:
    """Return the report of a reproduction."""
    return _of_published(reproduction) if isinstance(reproduction, PublishedMean) else _of_run(reproduction)


def _of_published(beside: PublishedMean) -> Report:
    verdict, where = {
        True: (Painted("WITHIN", "good"), "the published mean is in the 95% interval of this run's mean"),
        False: (Painted("OUTSIDE", "bad"), "the published mean is outside the 95% interval of this run's mean"),
        None: (None, "this run's mean has no interval"),
    }[beside.is_within]
    heads = kinds("published mean, mean mean this run, delta delta difference")
    heads += (Column("ci", "95% interval", "interval"),)
    missing = f"{beside.n_missing:,} of {counted(beside.n, 'group')} are not in the run"
    return Report(
        f"{beside.run.name} on {beside.dataset}: {where}",
        verdict=verdict,
        sentences=[missing] if beside.n_missing else [],
        tables=[Table.of((_METRIC, *heads), [beside])],
        facts=[
            ("labels", labels_text(LabelSetRef(beside.label_set_version, "", beside.judge))),
            (units(), f"{beside.n:,}"),
        ],
    )


def _of_run(reproduction: Reproduction) -> Report:
    heads = kinds("original mean, reproduced mean, delta delta difference, ci interval 95% interval, rmse mean RMSE")
    tables = [Table.of((_METRIC, *heads, *kinds("p_value p p")), reproduction.metrics)]
    facts = []
    if reproduction.baselines is not None:
        original, reproduced = reproduction.baselines
        heads = kinds("er mean ER, delta_ri delta DeltaRI")
        tables.append(Table.of((_METRIC, *heads), reproduction.metrics, "effect"))
        facts.append(("baselines", f"{original.name} (original), {reproduced.name} (reproduced)"))
    if reproduction.lists:
        of_lists = Column("rbo", f"RBO, p={reproduction.rbo_p:g}", "mean")
        heads = (*kinds("cutoff count first items, ktu mean KTU"), of_lists)
        tables.append(Table.of(heads, reproduction.lists, "lists"))
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
    facts.append((units(), f"{reproduction.n:,} paired"))
    return Report(
        _finding(reproduction),
        sentences=[", ".join(alone)] if alone else [],
        tables=tables,
        facts=facts,
        notes=[told(note) for note in reproduction.notes],
    )


def _familiar(metric: ReproducedMetric | PublishedMean) -> str:
    from ndcg_tracker.metrics.language.dialects import familiar_name  # printing a table needs no NumPy

    return familiar_name(metric.metric, metric.requested_as)


_METRIC = Column("metric", "metric", "id", of=_familiar)


def _finding(reproduction: Reproduction) -> str:
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
    how_far = f"{_familiar(first)} differs by {points(first.delta, signed=True)}"
    of_groups = "" if first.rmse is None else f", and by {points(first.rmse)} per {unit()} (RMSE)"
    return f"{runs.format('not the same as')}: {lists}{how_far}{of_groups}"
