"""Two arms side by side: their runs, and the labels and metrics that these share."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndcg_tracker.asked import DEFAULT_METRIC
from ndcg_tracker.compare.arms import Arm
from ndcg_tracker.compare.options import LATEST, LabelView
from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.compare.shares import evaluation_in
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.measures import EXTERNAL
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import asked_for, parse_metric
from ndcg_tracker.rankings.groups_share import smallest_share
from ndcg_tracker.runs.judges import counting_judge, judge_option, numbered_labels
from ndcg_tracker.runs.no_answer import NO_ANSWER
from ndcg_tracker.runs.samples import sampled_note
from ndcg_tracker.storage.records import EXTERNAL_JUDGE, NO_LABELS_HERE
from ndcg_tracker.words.notes import Fact, Note

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import (
        EvaluationRecord,
        LabelSetRecord,
        RunRecord,
        SuiteRecord,
    )
    from ndcg_tracker.storage.store import ReadTransaction

_MOST_NAMED = 3
"""A message names at most this many of the metrics that runs have."""


@dataclass(frozen=True, slots=True)
class Side:
    """A run under a label set; ``evaluations``: its stored evaluations under these labels, by metric.

    External results do not use stored labels, so they belong to a side under any labels. ``share``: the share of the
    groups that the evaluations are over, None for all that the run keeps.
    """

    run: RunRecord
    label_set: LabelSetRecord
    evaluations: Mapping[str, EvaluationRecord]
    share: str | None = None

    @classmethod
    def of(cls, run: RunRecord, label_set: LabelSetRecord, evaluations: Sequence[EvaluationRecord]) -> Side:
        """Return a side; ``evaluations``: those of the run under any labels."""
        of_labels = (of for of in evaluations if of.label_set_id == label_set.id or of.judge == EXTERNAL_JUDGE)
        return cls(run, label_set, {of.metric: of for of in of_labels})


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two arms of one dataset, their runs each under a label set, and the metrics that are asked of all.

    ``sides_of``: the runs of baseline and candidate, one each unless an arm repeats a system. ``metrics``: groups are
    reported by the first. ``newest_version``: of the dataset's labels. ``are_labels_named``: whether a version was
    asked for. ``checked_by``: whose answers check these labels, None where nobody asked.
    """

    arms: tuple[Arm, Arm]
    sides_of: tuple[tuple[Side, ...], tuple[Side, ...]]
    metrics: tuple[Metric, ...]
    newest_version: int
    are_labels_named: bool = False
    checked_by: str | None = None

    @classmethod
    def of(
        cls,
        baseline: Side,
        candidate: Side,
        metrics: tuple[Metric, ...],
        newest_version: int,
        are_labels_named: bool = False,
    ) -> RunPair:
        """Return a pair of single runs."""
        arms = Arm.of(baseline.run), Arm.of(candidate.run)
        return cls(arms, ((baseline,), (candidate,)), metrics, newest_version, are_labels_named)

    @property
    def baseline(self) -> Side:
        """The baseline; the first of its runs where an arm repeats it."""
        return self.sides_of[0][0]

    @property
    def candidate(self) -> Side:
        """The candidate; the first of its runs where an arm repeats it."""
        return self.sides_of[1][0]

    @property
    def is_repeated(self) -> bool:
        """Whether either arm has several runs."""
        return len(self.sides) > len(self.arms)

    @property
    def metric(self) -> Metric:
        """The first metric."""
        return self.metrics[0]

    @property
    def dataset_id(self) -> int:
        """The dataset of both runs."""
        return self.baseline.run.dataset_id

    @property
    def sides(self) -> tuple[Side, ...]:
        """Every run, those of the baseline first."""
        return (*self.sides_of[0], *self.sides_of[1])

    @property
    def run_ids(self) -> dict[str, list[int]]:
        """The ids of all runs, as decisions keep them."""
        of_sides = [[side.run.id for side in sides] for sides in self.sides_of]
        return dict(zip(("baseline_run_id", "candidate_run_id"), of_sides, strict=True))

    @property
    def is_same_labels(self) -> bool:
        """Whether all runs are evaluated under one label set."""
        return all(side.label_set.id == self.baseline.label_set.id for side in self.sides)

    def notes(self) -> list[Note]:
        """Return what to know of what the runs rank, and a note where the labels that both share are not the latest."""
        runs = [side.run for side in self.sides]
        share = next((side.share for side in self.sides if side.share is not None), None)
        smaller = [run.name for run in runs if share is not None and share == run.groups_share][:1]
        ranked = [Note("smaller_share", {"share": share, "run": name}) for name in smaller]
        ranked += [*ranked_notes(runs), *self.arms[0].notes, *self.arms[1].notes]
        told = self.baseline.run.tags.get(NO_ANSWER), self.candidate.run.tags.get(NO_ANSWER)
        if all(told) and not self.is_repeated:
            ranked.append(Note("no_answer_of_both", {"baseline": told[0], "candidate": told[1]}))
        version = self.baseline.label_set.version
        if self.are_labels_named or not self.is_same_labels or version >= self.newest_version:
            return ranked
        command = adding_command(
            runs, [metric.requested_as for metric in self.metrics], LabelView(labels=self.newest_version)
        )
        return [*ranked, Note("newer_labels", {"newest": self.newest_version, "version": version}, command)]


def resolved_pair(
    tx: ReadTransaction,
    baseline: Arm,
    candidate: Arm,
    metrics: Sequence[Metric] = (),
    view: LabelView = LATEST,
) -> RunPair:
    """Return two arms under the requested labels, with the requested metrics or else all that they share.

    Raises: NotComparableError, with the command that fixes it; ReferenceNotFoundError for an unknown version.
    """
    sides, shared, newest = shared_labels(tx, (*baseline.runs, *candidate.runs), metrics, view)
    n = len(baseline.runs)
    return RunPair((baseline, candidate), (tuple(sides[:n]), tuple(sides[n:])), shared, newest, view.labels is not None)


def shared_labels(
    tx: ReadTransaction,
    runs: Sequence[RunRecord],
    metrics: Sequence[Metric] = (),
    view: LabelView = LATEST,
) -> tuple[list[Side], tuple[Metric, ...], int]:
    """Return runs under the requested labels, the metrics that all have, and the version of the latest labels.

    ``metrics``: none for all that the runs share. Raises: see ``resolved_pair``.
    """
    labels, judge = view.labels, view.judge
    for run in runs[1:]:
        check_one_dataset(runs[0], run, "compared")
    tx.runs.require("groups", *runs)
    asked_metrics = [known_metric(tx, runs[0].dataset_id, metric) for metric in metrics]
    wanted = list(dict.fromkeys(map(str, asked_metrics)))
    evaluations = [tx.evaluations.of_run(run.id) for run in runs]
    is_external = bool(wanted) and all(text.startswith(EXTERNAL) for text in wanted)
    if not is_external:
        check_one_sample(runs)
    if labels is None and not is_external:
        judge = counting_judge(tx, runs[0].dataset_id, runs[0].dataset, judge)
    label_sets = asked = tx.labels.sets(runs[0].dataset_id, judge or "")
    if labels is not None or (judge and not label_sets):
        asked = [numbered_labels(tx, runs[0].dataset_id, runs[0].dataset, view.version, judge)]
        label_sets = tx.labels.sets(runs[0].dataset_id, asked[0].judge)
    without = [
        label_set
        for of_judge in (NO_LABELS_HERE if is_external or (labels is None and not view.judge) else ())
        for label_set in tx.labels.sets(runs[0].dataset_id, of_judge)
    ]
    for label_set in [*without, *([] if is_external else asked)][::-1]:
        sides = [Side.of(run, label_set, of_run) for run, of_run in zip(runs, evaluations, strict=True)]
        shared = [text for text in sides[0].evaluations if all(text in side.evaluations for side in sides)]
        if label_set.judge in NO_LABELS_HERE:
            label_sets = [label_set]
        elif all(text.startswith(EXTERNAL) for text in shared):
            continue  # older labels may have evaluations of our own metrics
        if shared and set(wanted) <= set(shared):
            found = asked_metrics or [typed_metric(sides[0].evaluations[text]) for text in shared]
            ordered = sorted(dict.fromkeys(found), key=lambda metric: metric.shown_only is not None)
            return _in_one_share(tx, sides), tuple(ordered), label_sets[-1].version
    typed = list(dict.fromkeys(metric.requested_as for metric in asked_metrics))
    what = ", ".join(sorted(typed)) if typed else "a metric"
    of_runs = (typed_metric(evaluation) for of_run in evaluations for evaluation in of_run)
    texts = typed or [metric.requested_as for metric in dict.fromkeys(of_runs)]
    under = "one version" if labels is None else f"version {asked[0].version}"
    whose = asked[0].judge if asked else ""
    names = [repr(run.name) for run in runs]
    each = f"runs {', '.join(names[:-1])} and {names[-1]} do not {'both' if len(runs) == 2 else 'all'}"
    split = _split(tx, runs, asked_metrics, label_sets) if labels is None else ""
    raise NotComparableError(
        f"{each} have {what} under {under} of the labels{f' of judge {whose!r}' if whose else ''}{split}",
        advice=advice_for_lacking(
            tx,
            runs,
            asked_metrics,
            adding_words(tx, runs, texts, LabelView(judge=whose, labels=None if labels is None else asked[0].version)),
        ),
    )


def _split(
    tx: ReadTransaction, runs: Sequence[RunRecord], metrics: Sequence[Metric], label_sets: Sequence[LabelSetRecord]
) -> str:
    """Return in words what labels and ranking did between two runs, each under its latest labels; "" if unknown."""
    ids = [label_set.id for label_set in label_sets]
    every = [sorted(tx.evaluations.of_run(run.id), key=lambda of: of.label_set_id) for run in runs]
    own = [{of.metric: of.label_set_id for of in of_run if of.label_set_id in ids} for of_run in every]
    text = next((text for text in map(str, metrics or own[0]) if all(text in of_run for of_run in own)), None)
    if text is None or len(runs) != 2 or own[0][text] == own[1][text]:
        return ""
    from ndcg_tracker.compare.labels_or_ranking import labels_or_ranking

    split = labels_or_ranking(tx, runs, [of_run[text] for of_run in own], parse_metric(text))
    return "" if split is None else f": {text} {split.words}"


def _in_one_share(tx: ReadTransaction, sides: list[Side]) -> list[Side]:
    """Return sides over the smallest share of the groups that a run keeps: all keep these groups."""
    share = smallest_share(side.run.groups_share for side in sides)
    if share is None:
        return sides
    return [
        side
        if side.run.groups_share == share
        else replace(
            side,
            evaluations={of: evaluation_in(tx, side.run, record, share) for of, record in side.evaluations.items()},
            share=share,
        )
        for side in sides
    ]


def typed_metric(evaluation: EvaluationRecord) -> Metric:
    """Return the metric of an evaluation, with the text that it was requested as."""
    typed = asked_for(evaluation.metric, evaluation.requested_as)
    metric = parse_metric(evaluation.metric)
    return metric if typed is None else replace(metric, requested_as=typed)


def no_group_of_labels(run: RunRecord, label_set: LabelSetRecord) -> NotComparableError:
    """Return the error for a run that has none of the labelled groups: all of them would count as missing."""
    return NotComparableError(
        f"run {run.name!r} has no group of version {label_set.version} of the labels of dataset {run.dataset!r}, so "
        "each would count as missing",
        advice="are its group ids written as in the labels?",
    )


def check_one_dataset(baseline: RunRecord, candidate: RunRecord, what: str, advice: str = "") -> None:
    """Raise NotComparableError for runs of two datasets; ``what``: what cannot be done, such as "compared"."""
    if baseline.dataset_id != candidate.dataset_id:
        raise NotComparableError(
            f"run {baseline.name!r} is of dataset {baseline.dataset!r} and run {candidate.name!r} of dataset "
            f"{candidate.dataset!r}; only runs of one dataset can be {what}",
            advice=advice,
        )


def check_one_sample(runs: Sequence[RunRecord]) -> None:
    """Raise NotComparableError for runs that rank other items of each group: another sample, or all of them."""
    for first, other in ((runs[0], other) for other in runs[1:]):
        if other.sampled != first.sampled:
            what = ["all items" if run.sampled is None else f"{run.sampled} sampled ones" for run in (first, other)]
            raise NotComparableError(
                f"items are ranked among {what[0]} in run {first.name!r}, and among {what[1]} in run {other.name!r}: "
                "the easier task has the higher metric",
                advice="rank the same items in both, ideally all items",
            )
        if other.sample_digest != first.sample_digest:
            raise NotComparableError(
                f"runs {first.name!r} and {other.name!r} rank different sampled items ({first.sampled})",
                advice="draw the sample once, and rank it in both; ideally, rank all items",
            )


def ranked_notes(runs: Sequence[RunRecord]) -> list[Note]:
    """Return notes on what runs rank: samples of the items, documents instead of chunks, and how ties are broken."""
    notes = [] if runs[0].sampled is None else [sampled_note(runs[0].sampled)]
    in_ten = {run.name: run.documents_in_ten for run in runs if run.documents_in_ten is not None}
    if in_ten:
        others = [run.name for run in runs if run.name not in in_ten]
        facts: dict[str, Fact] = {"in_ten": list(in_ten.items()), "others": others}
        collapsed = {run.name: run.collapsed for run in runs if run.collapsed is not None}
        if len({*collapsed.values()}) > 1:
            facts["collapsed"] = list(collapsed.items())
        notes.append(Note("documents_in_ten", facts))
    orders = {run.name: run.tie_order for run in runs}
    if any(orders.values()):
        by_id = [name for name, order in orders.items() if order is None]
        notes.append(Note("tie_orders", {"by_input": [name for name in orders if name not in by_id], "by_id": by_id}))
    return notes


def adding_command(runs: Sequence[RunRecord], metrics: Sequence[str], view: LabelView = LATEST) -> tuple[str, ...]:
    """Return the command that adds metrics to runs of one dataset, under a version or a judge's latest labels.

    External metrics cannot be computed here: where only these are asked for, the command stores those of the first run
    from a file.
    """
    own = [text for text in metrics if not text.startswith(EXTERNAL)]
    if metrics and not own:
        return storing_command(runs[0].name, runs[0].dataset, parse_metric(metrics[0]))
    words = ("ndcg-track", "rescore", *dict.fromkeys(run.name for run in runs), "--dataset", runs[0].dataset)
    under = judge_option(view.judge or "") if view.labels is None else ("--labels", str(view.labels))
    return (*words, *(word for text in own for word in ("--metric", text)), *under)


def adding_words(
    tx: ReadTransaction,
    runs: Sequence[RunRecord],
    metrics: Sequence[str],
    view: LabelView = LATEST,
    *,
    every: bool = False,
) -> str:
    """Return the command that adds metrics to runs under the labels that most of them have, and how to use newer ones.

    ``view``: whose labels, and the only version that is meant. ``every``: whether these are all runs of the
    dataset, which the command then does not name.
    """
    label_sets = tx.labels.sets(runs[0].dataset_id, view.judge or "")
    newest = label_sets[-1].version if label_sets else None

    def under(number: int | None) -> str:
        of = LabelView(labels=None if number == newest else number, judge=view.judge)
        words = adding_command(runs, metrics, of)
        return shlex.join((*words[:2], "--all", *words[words.index("--dataset") :]) if every else words)

    if view.version is not None:
        return under(view.version)
    n_all = tx.evaluations.runs_by_label_set(runs[0].dataset_id)
    of_runs = ({evaluation.label_set_id for evaluation in tx.evaluations.of_run(run.id)} for run in runs)
    n_here = Counter(label_set_id for of_run in of_runs for label_set_id in of_run)
    most = max(label_sets, key=lambda of: (n_here[of.id], n_all.get(of.id, 0), of.version), default=None)
    told, newer = under(None if most is None else most.version), under(newest)
    if most is None or told == newer:
        return told
    return f"{told}; that is the version of the labels that most runs have; for the latest: --labels {newest}"


def label_set_ref(label_set: LabelSetRecord) -> LabelSetRef:
    """Return a label set as reports name it."""
    of_model = label_set.told("model"), label_set.told("prompt")
    return LabelSetRef(label_set.version, label_set.digest, label_set.judge, *of_model)


def known_metric(tx: ReadTransaction, dataset_id: int, metric: Metric) -> Metric:
    """Return a metric with the direction and range that its results are stored with, if its text leaves them out.

    Raises: ReferenceNotFoundError where the dataset has no such results.
    """
    if not metric.is_external or metric.settings:
        return metric
    text = tx.evaluations.external(dataset_id, metric.measure)
    if text is None:
        dataset = tx.datasets.with_id(dataset_id).name
        raise ReferenceNotFoundError(
            f"dataset {dataset!r} has no results {metric}",
            advice=f"store some with: {shlex.join(storing_command('NAME', dataset, metric))}",
        )
    return parse_metric(text)


def is_tested_on_suites(metric: Metric) -> bool:
    """Return whether the mean of a metric over datasets, each of which counts its groups, says something."""
    return metric.shown_only is None and metric.summary == "mean" and metric["weights"] == "none"


def suite_metric(tx: ReadTransaction, suite: SuiteRecord, metric: Metric) -> Metric:
    """Return the metric as the datasets of a suite know it, checked (InputError, ReferenceNotFoundError)."""
    if metric.is_external and not metric.settings:
        having = [tx.datasets.known(dataset).id for dataset in suite.datasets]
        texts = {
            text for dataset_id in having if (text := tx.evaluations.external(dataset_id, metric.measure)) is not None
        }
        if len(texts) > 1:
            raise NotComparableError(
                f"the datasets of suite {suite.name!r} store {metric} as {' and '.join(sorted(texts))}",
                advice="store its results with one direction and range",
            )
        metric = parse_metric(texts.pop()) if texts else metric
    if metric.shown_only is not None or metric.summary != "mean":
        raise InputError(f"{metric} is shown, but not tested", advice="choose another metric")
    if not is_tested_on_suites(metric):
        raise InputError(f"{metric} weighs groups, but a suite counts them", advice="choose one without weights")
    return metric


def storing_command(run: str, dataset: str, metric: Metric) -> tuple[str, ...]:
    """Return the command that stores the results of another engine for a run.

    >>> " ".join(storing_command("a", "b", parse_metric("external:latency(direction=lower, range=0..inf)")))
    'ndcg-track ingest --results FILE --name a --dataset b --metric external:latency --direction lower --range 0,inf'
    """
    settings = {"direction": "higher", "range": "0..1"} | dict(metric.settings)
    scale = ("--direction", settings["direction"], "--range", settings["range"].replace("..", ","))
    of_run = ("--name", run, "--dataset", dataset, "--metric", metric.measure)
    return ("ndcg-track", "ingest", "--results", "FILE", *of_run, *scale)


def advice_for_lacking(tx: ReadTransaction, runs: Sequence[RunRecord], metrics: Sequence[Metric], rescore: str) -> str:
    """Return the advice where runs lack metrics: ask for those that they have by a similar name, or add them.

    ``metrics``: those of other engines with their direction and range. ``rescore``: the command that computes metrics
    of runs with items (see ``adding_words``).
    """
    for metric in metrics:
        for run in runs if metric.is_external else ():
            if str(metric) not in {evaluation.metric for evaluation in tx.evaluations.of_run(run.id)}:
                return f"store those of {run.name!r}: {shlex.join(storing_command(run.name, run.dataset, metric))}"
    asked = {metric.requested_as.rpartition(":")[2].lower() for metric in metrics}
    kinds = {(metric.measure, metric.cutoff) for metric in metrics}
    of_runs = [
        {asked_for(evaluation.metric, evaluation.requested_as) for evaluation in tx.evaluations.of_run(run.id)}
        for run in runs
    ]
    shared = sorted(name for name in set.intersection(*of_runs) if name)
    others = {name: parse_metric(name) for name in shared if name.lower() not in asked}
    alike = [
        name
        for name, other in others.items()
        if name.rpartition(":")[2].lower() in asked or (":" in name and (other.measure, other.cutoff) in kinds)
    ]
    if not alike and asked == {DEFAULT_METRIC} and DEFAULT_METRIC not in shared:  # perhaps it is the default, not typed
        alike = list(others)[:_MOST_NAMED]
    typed = f"type: {rescore}"
    without = [run for run in runs if not run.n_items]
    if not without:
        return f"ask for {' or '.join(alike)}, which they have, or {typed}" if alike else typed
    if shared:
        return f"they have results of another engine: ask for {' or '.join(alike or shared)}"
    return (
        f"run {without[0].name!r} has no items to compute it from, only results of another engine; store those of the "
        "others: ndcg-track ingest --results FILE"
    )
