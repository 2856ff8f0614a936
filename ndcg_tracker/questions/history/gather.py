"""A metric over the runs of a dataset, with the runs at which it stepped."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import AA_TAG, DATA, by_system, without_checkpoints
from ndcg_tracker.compare.labels_or_ranking import labels_or_ranking
from ndcg_tracker.compare.options import LabelView
from ndcg_tracker.compare.reach import other_ids_notes
from ndcg_tracker.compare.run_pair import RunPair, Side, adding_words, known_metric, suite_metric
from ndcg_tracker.compare.say_where import where_shape
from ndcg_tracker.compare.slices import asked_slices
from ndcg_tracker.compare.where import where_of_step
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics.kernel.mean import mean_within
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.question import HistoryFilter as HistoryFilter
from ndcg_tracker.questions.history.say import MOST_CHANGES, HistoryRow, history_chart
from ndcg_tracker.questions.history.steps import (
    NOT_TESTED,
    FoundStep,
    at_groups,
    changed,
    differences,
    different_labels,
    far_apart,
    found_steps,
    group_notes,
    lacking_groups,
    mark_judged,
    mark_vanished,
    sample_notes,
    scatter_notes,
    side_by_side,
    sides_of_steps,
    study_notes,
)
from ndcg_tracker.runs.judges import FAR_BELOW, counting_judge, judge_option, numbered_labels
from ndcg_tracker.statistics.repeats import scatter_of_repeats
from ndcg_tracker.statistics.steps import steps_with_scatter
from ndcg_tracker.statistics.stratified import stratified, stratum_mean
from ndcg_tracker.statistics.t_test import TTest, limited, t_interval
from ndcg_tracker.words.notes import Note, carry_command, in_words
from ndcg_tracker.words.texts import DatasetName, about

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.render.chart import Chart
    from ndcg_tracker.storage.records import GroupWeightsById, HistoryRecord, RunRecord, SuiteRecord
    from ndcg_tracker.storage.store import ReadTransaction

    Mask = NDArray[np.bool_]
    Results = tuple[Index, Floats]

_STEPS_LOOKED_AT = 3
_NAMES = (name for name in HistoryRow.__annotations__ if name not in ("suite", "label_set_versions"))  # of one dataset
_COLUMNS = [column for name in _NAMES for column in (("ci_low", "ci_high") if name == "ci" else (name,))]


@dataclass(frozen=True, slots=True)
class History:
    """The history of one metric: a row per run, oldest first, and the notes that a reader needs.

    ``n_without_filter``: how many runs have the metric at all. ``n_in_dataset``: how many runs there are.
    ``other_metrics``: the texts of the metrics that runs of the dataset have, if none has this one. ``dataset``: the
    name of the dataset or suite. ``adding``: the command that gives its runs the metric, if none has it.
    """

    rows: tuple[HistoryRow, ...]
    notes: tuple[Note, ...]
    n_without_filter: int
    n_in_dataset: int
    other_metrics: tuple[str, ...] = ()
    dataset: str = ""
    adding: str = ""


@dataclass(frozen=True)
class HistoryResult:
    """A metric over the runs of a dataset; ``history``: the typed rows, with their notes as facts.

    ``new_steps``: the rows of the steps that the latest run reveals; None if not requested.
    """

    history: History
    new_steps: tuple[HistoryRow, ...] | None = None

    @property
    def rows(self) -> tuple[HistoryRow, ...]:
        """One row per run, oldest first."""
        return self.history.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the rows must know, in words."""
        return in_words(self.history.notes, self.history.dataset)

    def plot(self) -> Chart:
        """Return the metric over the runs as a chart. Raises: InputError without any run."""
        from ndcg_tracker.metrics.language.dialects import familiar_name
        from ndcg_tracker.render.chart import Chart

        if not self.rows:
            raise InputError("no run to draw")
        metric = familiar_name(self.rows[0]["metric"], self.rows[-1].get("requested_as", ""))
        is_suite = self.rows[0].get("suite") is not None
        on = f"suite {self.history.dataset}" if is_suite else self.history.dataset
        with about(self.history.dataset):
            return Chart(history_chart(self.rows, metric, on=on))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run, or per new step if these were asked for.

        ``step_between`` and ``drift_between`` hold the names of two runs, both included, and ``step_parameters`` the
        values of each parameter before the step and after it, by name.
        """
        from ndcg_tracker.questions.history.frame import HistoryFrame

        table = []
        for row in self.rows if self.new_steps is None else self.new_steps:
            low, high = row["ci"] or (None, None)
            table.append({**row, "ci_low": low, "ci_high": high})
        return HistoryFrame(table, columns=_COLUMNS)


def under_labels(
    tx: ReadTransaction, wanted: HistoryFilter, dataset_id: int, dataset: str, metric: Metric
) -> tuple[str, dict[int, HistoryRecord]]:
    """Return the judge that is meant, and what each run has under the latest labels of the judge.

    Metrics of other engines do not use labels. Raises: InputError for a judge without labels, and if it is not clear
    whose labels count; ReferenceNotFoundError for an unknown version.
    """
    judge, label_set = "", None
    if not metric.is_external:
        if wanted.labels is None and not wanted.judge:
            judge = counting_judge(tx, dataset_id, dataset, wanted.judge)
        else:
            numbered = numbered_labels(tx, dataset_id, dataset, wanted.version, wanted.judge)
            judge, label_set = numbered.judge, None if wanted.labels is None else numbered.id
    records = tx.evaluations.history(dataset_id, str(metric), label_set, judge)
    return judge, {record.run_id: record for record in records}  # they are sorted by run and label version


@dataclass(frozen=True, slots=True)
class _System:
    """A run of a dataset, or a system with a run on every dataset of a suite: its runs, and what is stored of them."""

    name: str
    runs: tuple[RunRecord, ...]
    records: tuple[HistoryRecord, ...]

    @property
    def latest(self) -> RunRecord:
        """The latest of its runs; since that run a system has a macro mean."""
        return max(self.runs, key=lambda run: (run.created_at_utc, run.id))

    @property
    def tasks(self) -> tuple[object, ...]:
        """The conditions for comparing it on each dataset: labels, and the items that it ranks."""
        return tuple((record.label_set_version, record.sample) for record in self.records)

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions of the labels."""
        return tuple(record.label_set_version for record in self.records)

    @property
    def macro(self) -> TTest:
        """The mean of its means."""
        strata = [
            stratum_mean(
                of.n_groups, of.mean or 0.0, None if of.std_dev is None else of.std_dev / math.sqrt(of.n_groups)
            )
            for of in self.records
        ]
        return stratified(strata, [1.0] * len(strata))

    @property
    def record(self) -> HistoryRecord:
        """What is stored of its run, or of all of them together."""
        if len(self.records) == 1:
            return self.records[0]
        latest = self.latest
        return replace(
            self.records[-1],
            run_id=latest.id,
            run=self.name,
            created_at_utc=latest.created_at_utc,
            git_commit=latest.git_commit,
            mean=self.macro.mean,
            std_dev=None,
            n_groups=sum(of.n_groups for of in self.records),
        )


def history_of(
    tx: ReadTransaction,
    place: str | SuiteRecord,
    metric: str,
    wanted: HistoryFilter,
    *,
    by_tag: str | None = None,
    most_steps: int | None = None,
    without: Collection[str] = (),
) -> History:
    """Return the history of a metric over the wanted runs, each under the latest labels that it was evaluated under.

    These are labels of the judge that counts, or of the judge or version that the filter names. Of a suite it is the
    macro mean of every system that has a run on each dataset; then steps are those of the mean over all groups, in
    which each group of a dataset of n groups weighs 1/n, and a system counts if all of its runs do. Parameters:
    ``place``: a dataset, or a suite, whose systems are named by ``by_tag``. ``most_steps``: with more runs than this,
    steps are not searched, because that reads the results of all their groups. ``without``: runs or systems to leave
    out of the wanted ones. Raises: ReferenceNotFoundError for an unknown dataset, and if no system has the metric on
    every dataset; MetricError for a wrong text.
    """
    suite = None if isinstance(place, str) else place
    known = [tx.datasets.known(name) for name in ((place,) if isinstance(place, str) else place.datasets)]
    parsed = parse_metric(metric)
    parsed = known_metric(tx, known[0].id, parsed) if suite is None else suite_metric(tx, suite, parsed)
    runs = tx.runs.all(known[0].name) if suite is None else []
    datasets = [_Newest(of.name, of.id, *under_labels(tx, wanted, of.id, of.name, parsed), runs) for of in known]
    every, notes = _single_runs(datasets[0], wanted) if suite is None else _systems(tx, datasets, wanted, by_tag)
    chosen = [system for system in every if len(wanted.chosen(system.runs)) == len(system.runs)]
    systems = [system for system in chosen[-(wanted.last or 0) :] if system.name not in without]
    if suite is not None and not systems and not without:
        what = f" and {wanted.words}" if every and wanted.words else ""
        raise ReferenceNotFoundError(
            f"no system has {metric}{what} on every dataset of suite {suite.name!r}",
            advice=f"see the systems with: ndcg-track leaderboard --suite {shlex.quote(suite.name)}",
        )
    for at, of in enumerate(datasets):
        notes += different_labels([system.records[at] for system in systems], of.name, metric)
    steps: dict[int, FoundStep] = {}
    tasks = [[system for system in systems if system.tasks == one] for one in dict.fromkeys(of.tasks for of in systems)]
    if parsed.shown_only is not None:
        notes.append(Note("shown_only", {"metric": str(parsed), "why": parsed.shown_only}))
    elif most_steps is not None and len(systems) > most_steps:
        for of_task in tasks:
            steps |= differences([system.record for system in of_task])
    else:
        for of_task in tasks:
            steps |= _steps(tx, datasets, parsed, of_task, notes)
    if suite is None:
        notes += sample_notes([system.record for system in systems])
    if all(system.runs[0].is_checkpoint for system in systems):  # iterations of one training are not retrainings
        notes = [note for note in notes if note.kind != "few_runs"]
    for at in range(len(datasets)):
        notes += lacking_groups([of.runs[at] for of in systems], [of.records[at] for of in systems], parsed)
    if suite is None:
        every_record, judge = [system.record for system in systems], datasets[0].judge
        notes += study_notes([system.runs[0] for system in systems], every_record, datasets[0].name, metric, judge)
    details = {system.latest.id: replace(system.latest, name=system.name) for system in systems}
    shares = [judged_shares_of(tx, [of.records[at] for of in systems], parsed) for at in range(len(datasets))]
    judges = " ".join(dict.fromkeys(of.judge for of in datasets if of.judge))
    no_interval = parsed["weights"] != "none" or parsed.shown_only is not None or suite is not None
    rows = []
    for system in systems:
        judged = [of_dataset.get(run.id) for run, of_dataset in zip(system.runs, shares, strict=True)]
        share = None if None in judged else sum(filter(None, judged)) / len(judged)
        step = steps.get(system.latest.id)
        row = history_row(system.record, details, parsed, step, no_interval, judged=share, judge=judges)
        if suite is not None:
            row["ci"], row["suite"] = limited(system.macro.ci, parsed.limits), suite.name
            row["step_compare"] = None  # which names runs of one dataset
            row["label_set_versions"] = system.versions
        rows.append(row)
    if parsed.counts_missing:
        mark_vanished(
            rows,
            [
                [(o.name, sum(r.n_missing for r in o.records), sum(r.n_groups for r in o.records)) for o in of_task]
                for of_task in tasks
            ],
        )
    found = _Rows(rows, systems, parsed, metric)
    marked = next(filter(None, [mark_judged(of_version) for of_version in found.of_versions]), None)
    if suite is not None:
        distinct = [note for at, note in enumerate(notes) if note not in notes[:at]]
        return History(
            tuple(rows),
            tuple(distinct),
            len(every),
            len(every),
            dataset=DatasetName.over(suite.name, (of.name for of in datasets)),
        )
    return _of_dataset(tx, datasets[0], found, wanted, notes, marked)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a history and the system of each, under a metric; ``asked``: its text as it was given."""

    rows: list[HistoryRow]
    systems: Sequence[_System]
    metric: Metric
    asked: str

    @property
    def of_versions(self) -> list[list[HistoryRow]]:
        """The rows under each version of the labels, the latest first."""
        return [
            [row for system, row in zip(self.systems, self.rows, strict=True) if system.versions == versions]
            for versions in sorted({system.versions for system in self.systems}, reverse=True)
        ]


@dataclass(frozen=True, slots=True)
class _Newest:
    """What each run of a dataset has of a metric under its latest labels, by run id, and whose labels these are.

    ``runs``: all of the dataset, none where a suite is asked.
    """

    name: str
    id: int
    judge: str
    records: Mapping[int, HistoryRecord]
    runs: Sequence[RunRecord]


def _single_runs(of: _Newest, wanted: HistoryFilter) -> tuple[list[_System], list[Note]]:
    """Return the wanted runs of a dataset that have the metric, and a note on checkpoints left out."""
    chosen, left_out = without_checkpoints(wanted.chosen([run for run in of.runs if run.id in of.records]), wanted.tags)
    return [_System(run.name, (run,), (of.records[run.id],)) for run in chosen], left_out


def _systems(
    tx: ReadTransaction, datasets: Sequence[_Newest], wanted: HistoryFilter, by_tag: str | None
) -> tuple[list[_System], list[Note]]:
    """Return the systems that have the metric on every dataset of a suite, oldest latest run first, and notes."""
    pairs_of: dict[str, list[tuple[RunRecord, HistoryRecord]]] = {}
    notes = list[Note]()
    for of in datasets:
        run_of, left_out = by_system(tx, of.name, by_tag, tags=wanted.tags)
        notes += left_out
        for system, run in run_of.items():
            if run.id in of.records and of.records[run.id].mean is not None:
                pairs_of.setdefault(system, []).append((run, of.records[run.id]))
    complete = {system: pairs for system, pairs in pairs_of.items() if len(pairs) == len(datasets)}
    systems = [_System(name, *zip(*pairs, strict=True)) for name, pairs in complete.items()]
    return sorted(systems, key=lambda system: (system.latest.created_at_utc, system.latest.id)), notes


def _of_dataset(
    tx: ReadTransaction,
    of: _Newest,
    found: _Rows,
    wanted: HistoryFilter,
    notes: list[Note],
    marked: tuple[str, str] | None,
) -> History:
    """Return the history of one dataset, with notes on judged shares and changed ids, and what new labels did.

    ``marked``: the runs whose means go with the judged share.
    """
    rows, systems, parsed = found.rows, found.systems, found.metric
    marked = marked or next(filter(None, map(far_apart, found.of_versions)), None)
    told = [] if parsed.is_external else _other_ids(tx, of.name, rows, [system.runs[0] for system in systems], parsed)
    notes += told
    if marked is not None and not told:
        fell = any(
            (shares := row.get("goes_with_judged")) is not None and shares[1] <= FAR_BELOW * shares[0] for row in rows
        )
        asked = () if wanted.labels is None else ("--labels", str(wanted.labels))
        words = (*marked, "--metric", found.asked, "--dataset", of.name, "--all", *judge_option(of.judge), *asked)
        needed = ("ndcg-track", "labels", "needed", *words)
        facts, command = ({"fell": True}, carry_command(of.name)) if fell else ({}, needed)
        notes.append(Note("goes_with_judged", facts, command))
    ids = [system.record.label_set_id for system in systems]
    for at in [at for at in range(1, len(ids)) if ids[at] != ids[at - 1]][-MOST_CHANGES:]:
        both = [system.runs[0] for system in systems[at - 1 : at + 1]]
        split = labels_or_ranking(tx, both, ids[at - 1 : at + 1], parsed)
        rows[at]["labels_or_ranking"] = None if split is None else asdict(split)
    others = () if of.records else tuple(use.metric for use in tx.evaluations.metrics(of.id, of.judge))
    view = LabelView(labels=wanted.version, judge=of.judge)
    adding = "" if of.records or not of.runs else adding_words(tx, of.runs, [found.asked], view, every=True)
    return History(tuple(rows), tuple(notes), len(of.records), len(of.runs), others, of.name, adding)


def _other_ids(
    tx: ReadTransaction, dataset: str, rows: Sequence[HistoryRow], runs: Sequence[RunRecord], metric: Metric
) -> list[Note]:
    """Return notes on the latest of the last steps at which ids were changed, or labelled items vanished."""
    of_name = {run.name: run for run in runs}
    steps = [row for row in rows if (row["step"] or row.get("step_possible")) and row.get("step_before") in of_name]
    for row in steps[: -_STEPS_LOOKED_AT - 1 : -1]:
        before, after = of_name[row["step_before"] or ""], of_name[row["run"]]
        of_both = numbered_labels(tx, after.dataset_id, dataset, row["label_set_version"], row.get("judge"))
        baseline, candidate = (Side.of(run, of_both, ()) for run in (before, after))
        both = RunPair.of(baseline, candidate, (metric,), of_both.version)
        notes = other_ids_notes(tx, both, tx.runs.group_ids(before.id))
        if notes:
            return notes
    return []


def new_steps_of(history: History, n_known: int, without: Callable[[Sequence[str]], History]) -> tuple[HistoryRow, ...]:
    """Return the rows whose steps no shorter history shows, neither that of the first ``n_known`` runs nor one before.

    So a step is new once: when the runs so far show it for the first time. That a later history loses it and finds it
    again, as happens to small steps, is not new, nor is what the history of the known runs takes for a drift.
    ``without``: returns the history without the latest runs. It is called once if that shows the steps, else for each
    number of runs that reaches into a step.
    """
    names = [row["run"] for row in history.rows]

    def span(row: HistoryRow) -> tuple[int, int]:
        first, last = row.get("step_between") or (row["run"], row["run"])
        return names.index(first), names.index(last)

    steps = {row["run"]: span(row) for row in history.rows if row.get("step")}
    for n in range(n_known, 0, -1):
        if all(first >= n for first, _ in steps.values()):
            break
        before = without(names[n:]).rows
        shown = [span(row) for row in before if row.get("step")]
        if n == n_known:
            drifts = filter(None, (row.get("drift_between") for row in before))
            shown += [(names.index(first), names.index(last)) for first, last in drifts]
        steps = {
            run: (first, last)
            for run, (first, last) in steps.items()
            if not any(first <= end and begin <= last for begin, end in shown)
        }
    return tuple(row for row in history.rows if row["run"] in steps)


def stored_interval(record: HistoryRecord, metric: Metric) -> tuple[float, float] | None:
    """Return the 95% t interval of a stored mean, None if groups have different weights, or if no interval applies."""
    if metric["weights"] != "none" or metric.shown_only is not None or record.mean is None or record.std_dev is None:
        return None
    ci, limits = t_interval(record.mean, record.std_dev, record.n_groups), metric.limits
    return limited(ci, limits) if limits is not None and limits[0] <= record.mean <= limits[1] else ci


def history_row(
    record: HistoryRecord,
    details: Mapping[int, RunRecord],
    metric: Metric,
    found_step: FoundStep | None,
    no_interval: bool,
    *,
    judged: float | None,
    judge: str,
) -> HistoryRow:
    """Return one run as in JSON; ``judged``: the judged share of its first ranks."""
    run, limits, found = details[record.run_id], metric.limits, found_step or NOT_TESTED
    step, drift = found.step, found.step.drift
    before = None if found.first is None or found.before is None else details[found.before]
    change_limits = None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])

    def names(first: int | None, last: int | None) -> tuple[str, str] | None:
        return None if first is None or last is None else (details[first].name, details[last].name)

    return {
        "run": record.run,
        "run_id": record.run_id,
        "created_at_utc": record.created_at_utc,
        "metric": str(metric),
        "mean": record.mean,
        "ci": None if no_interval else stored_interval(record, metric),
        "step": step.is_step,
        "delta": step.delta,
        "p_adjusted": step.p_adjusted,
        "git_commit": record.git_commit,
        "label_set_version": record.label_set_version,
        "tags": run.tags,
        "parameters": run.parameters,
        "step_change": step.change,
        "step_ci": limited(step.change_ci, change_limits),
        "step_between": names(found.first, found.last),
        "step_before": None if before is None else before.name,
        "step_parameters": None if before is None else changed(before.parameters, run.parameters),
        "step_possible": step.is_possible,
        "requested_as": record.requested_as,
        "drift_change": None if drift is None else drift.change,
        "drift_ci": None if drift is None else limited(drift.ci, change_limits),
        "drift_between": names(found.drift_from, record.run_id),
        "drift_runs": None if drift is None else drift.last - drift.first + 1,
        "direction": metric.direction,
        "judged": judged,
        "goes_with_judged": None,
        "cutoff": metric.cutoff,
        "judge": judge,
        "step_or_drift": step.may_be_drift,
        "n_vanished": 0,
        "labels_or_ranking": None,
        "step_where": None if found.where is None else where_shape(found.where),
        "step_compare": None if before is None else _comparing(before, run, metric, judge, found),
    }


def _comparing(before: RunRecord, run: RunRecord, metric: Metric, judge: str, of: FoundStep) -> str:
    """Return the command that compares both sides of a step."""
    by = () if of.where is None else ("--by", "all")
    asked = ("--dataset", run.dataset, "--metric", metric.requested_as or str(metric), *judge_option(judge))
    return shlex.join(("ndcg-track", "compare", before.name, run.name, *asked, *by))


def judged_shares_of(tx: ReadTransaction, records: Sequence[HistoryRecord], metric: Metric) -> dict[int, float]:
    """Return the judged share of each run's first ranks, by run id, if it is known."""
    if metric.is_external:
        return {}
    labels_of = {record.run_id: record.label_set_id for record in records}
    return {
        coverage.run_id: coverage.judged_share
        for label_set_id in dict.fromkeys(labels_of.values())
        for coverage in tx.evaluations.coverages_under(label_set_id)
        if coverage.cutoff == metric.cutoff and labels_of.get(coverage.run_id) == label_set_id
    }


def _steps(
    tx: ReadTransaction, datasets: Sequence[_Newest], metric: Metric, systems: Sequence[_System], notes: list[Note]
) -> dict[int, FoundStep]:
    """Return the steps at runs under the same labels that rank the same items, by run id.

    Each is paired with the others, whatever runs are between them; add to the notes what could not be compared.
    """
    if len(systems) < 2:
        return {}
    results = [
        tx.evaluations.results_of([system.records[at].evaluation_id for system in systems])
        for at in range(len(datasets))
    ]
    pruned = tx.runs.prunings()
    are_kept = [
        all(run.id not in pruned or of_run[0].size > 0 for run, of_run in zip(system.runs, own, strict=True))
        for system, own in zip(systems, zip(*results, strict=True), strict=True)
    ]
    if not all(are_kept):
        notes.append(Note("summaries_only", {"n": are_kept.count(False)}))
        systems, results = list(compress(systems, are_kept)), [list(compress(of, are_kept)) for of in results]
        if len(systems) < 2:
            return {}
    records, first, is_suite = [system.record for system in systems], datasets[0], len(datasets) > 1
    weights = tx.groups.weights(first.id) if metric["weights"] != "none" else None
    if any(not _is_mean(metric, record, each, weights) for record, each in zip(records, results[0], strict=True)):
        no_inference = Note("means_weigh_groups")
        if no_inference not in notes:
            notes.append(no_inference)
        return differences(records)
    each = [side_by_side(of_dataset) for of_dataset in results]
    for at, (ids, _, kept) in enumerate(each):
        if ids is not results[at][0][0]:
            notes += group_notes([system.records[at] for system in systems], results[at], ids, kept)
    if is_suite and not all(ids.size for ids, _, _ in each):  # then only the means can be compared
        return differences(records)
    in_all = np.logical_and.reduce([kept for _, _, kept in each])
    values = np.concatenate([of_runs[in_all[kept]] for _, of_runs, kept in each], axis=1)
    scale = None if weights is None else weights.weights_of(each[0][0])
    if is_suite:
        shares = np.concatenate([np.full(ids.size, 1 / ids.size) for ids, _, _ in each])
        scale = shares * shares.size / shares.sum()
    tested = steps_with_scatter(values, scale)
    if tested.is_unsure and not is_suite:
        families = _repeats(tx, first.name, first.records, records[0].label_set_version, each[0][0])
        tested = steps_with_scatter(values, scale, repeats=scatter_of_repeats(families, scale))
    notes += [note for note in scatter_notes(tested, None if is_suite else first.name) if note not in notes]
    kept_ids = [record.run_id for record in compress(records, in_all.tolist())]
    found, sides = found_steps(kept_ids, tested), {} if is_suite else sides_of_steps(tested.steps)
    sides = {place: of for place, of in sides.items() if of[0].size and of[1].size}
    slices, left_out = asked_slices(tx, tx.runs.all(first.name)[0]) if sides else ((), {})
    for place, of_step in sides.items() if slices else ():
        told = where_of_step(values, of_step, metric.direction, scale, [of.of(each[0][0]) for of in slices])
        found[kept_ids[place]] = replace(found[kept_ids[place]], where=replace(told, left_out=left_out))
    return found


def _repeats(
    tx: ReadTransaction, dataset: str, newest: Mapping[int, HistoryRecord], version: int, ids: Index
) -> list[Floats]:
    """Return the results for these groups of the repeats of each unchanged system: same tag aa, same data."""
    families: dict[tuple[str, ...], list[int]] = {}
    for run in tx.runs.all(dataset):
        record = newest.get(run.id)
        is_repeat = AA_TAG in run.tags and not run.is_checkpoint
        if is_repeat and record is not None and record.label_set_version == version:
            data = (str(run.parameters.get(name)) for name in DATA)
            families.setdefault((str(run.tags[AA_TAG]), *data), []).append(record.evaluation_id)
    repeats = []
    for evaluations in families.values():
        rows = [at_groups(ids, results) for results in tx.evaluations.results_of(evaluations)]
        repeats.append(np.array([row for row in rows if row is not None]).reshape(-1, ids.size))
    return repeats


def _is_mean(metric: Metric, record: HistoryRecord, results: Results, weights: GroupWeightsById | None) -> bool:
    """Return whether the stored mean is the (weighted) mean of the stored results."""
    if weights is None or record.mean is None:
        return True
    ids, values = results
    defined = ~np.isnan(values)
    shares = weights.weights_of(ids[defined])
    if not shares.any():
        return True
    return abs(float(np.average(values[defined], weights=shares)) - record.mean) <= mean_within(metric)
