"""A metric over the runs of a dataset, with the runs at which it stepped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from operator import not_
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import AA_TAG, DATA, is_checkpoint
from ndcg_tracker.compare.results import COVERAGE_GAP
from ndcg_tracker.compare.run_pair import known_metric
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.say import HistoryFilter as HistoryFilter
from ndcg_tracker.questions.history.say import HistoryRow, history_chart
from ndcg_tracker.runs.labels import counting_judge, judge_option, numbered_labels
from ndcg_tracker.runs.samples import sampled_note
from ndcg_tracker.statistics.repeats import FEWEST_CHANGES, scatter_of_repeats
from ndcg_tracker.statistics.steps import Step, StepsWithScatter, steps_with_scatter
from ndcg_tracker.statistics.t_test import limited, t_interval
from ndcg_tracker.storage.records import MEANS_AGREE
from ndcg_tracker.words.notes import Fact, Note, in_words

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.render.chart import Chart
    from ndcg_tracker.storage.records import GroupWeightsById, HistoryRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

    Mask = NDArray[np.bool_]
    Results = tuple[Index, Floats]

_NAMES = (name for name in HistoryRow.__annotations__ if name != "suite")  # a frame is of one dataset
_COLUMNS = [column for name in _NAMES for column in (("ci_low", "ci_high") if name == "ci" else (name,))]
STUDY_TAG = "study"
FAR_APART = 0.1
"""Where the judged share of runs moves by this much, a history says that its means go with it."""
GOES_WITH = 0.75
"""A change goes with the judged share if a loss in proportion to it would be this part of the change or more."""
_ENOUGH = 0.9
"""A run with results for a smaller share of the others' groups is left out, since it would leave few shared groups."""


@dataclass(frozen=True, slots=True)
class History:
    """The history of one metric: a row per run, oldest first, and what must be known to read them.

    ``n_without_filter``: how many runs have the metric at all. ``n_in_dataset``: how many runs there are.
    ``other_metrics``: the texts of those that runs of the dataset have, where none has this one. ``dataset``: its name,
    or that of a suite.
    """

    rows: tuple[HistoryRow, ...]
    notes: tuple[Note, ...]
    n_without_filter: int
    n_in_dataset: int
    other_metrics: tuple[str, ...] = ()
    dataset: str = ""


@dataclass(frozen=True)
class HistoryResult:
    """A metric over the runs of a dataset; ``history``: the typed rows, with their notes as facts.

    ``new_steps``: the rows of the steps that the newest run has brought to light; None where nobody asked.
    """

    history: History
    new_steps: tuple[HistoryRow, ...] | None = None

    @property
    def rows(self) -> tuple[HistoryRow, ...]:
        """One row per run, oldest first."""
        return self.history.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the rows, in words."""
        return in_words(self.history.notes)

    def plot(self) -> Chart:
        """Return the metric over the runs as a chart. Raises: InputError without any run."""
        from ndcg_tracker.metrics.language.dialects import familiar_name
        from ndcg_tracker.render.chart import Chart

        if not self.rows:
            raise InputError("no run to draw")
        metric = familiar_name(self.rows[0]["metric"], self.rows[-1].get("requested_as", ""))
        is_suite = self.rows[0].get("suite") is not None
        on = f"suite {self.history.dataset}" if is_suite else self.history.dataset
        return Chart(history_chart(self.rows, metric, on=on))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run, or per new step if these were asked for.

        ``step_between`` and ``drift_between`` hold the names of two runs, both included, and ``step_parameters`` the
        values of each parameter before the step and after it, by name.
        """
        import pandas as pd

        table = []
        for row in self.rows if self.new_steps is None else self.new_steps:
            low, high = row["ci"] or (None, None)
            table.append({**row, "ci_low": low, "ci_high": high})
        return pd.DataFrame(table, columns=_COLUMNS)


def under_labels(
    tx: ReadTransaction, wanted: HistoryFilter, dataset_id: int, dataset: str, metric: Metric
) -> tuple[str, dict[int, HistoryRecord]]:
    """Return whose labels are meant, and what each run has under the newest of them that it was evaluated under.

    Metrics of other engines rest on no labels. Raises: InputError for a judge without labels, and where it is not
    clear whose labels count; ReferenceNotFoundError for an unknown version.
    """
    judge, label_set = "", None
    if not metric.is_external:
        if wanted.labels is None and not wanted.judge:
            judge = counting_judge(tx, dataset_id, dataset, wanted.judge)
        else:
            version = wanted.labels if isinstance(wanted.labels, int) else None
            numbered = numbered_labels(tx, dataset_id, dataset, version, wanted.judge)
            judge, label_set = numbered.judge, None if wanted.labels is None else numbered.id
    records = tx.evaluations.history(dataset_id, str(metric), label_set, judge)
    return judge, {record.run_id: record for record in records}  # they come by run and label version


def history_of(
    tx: ReadTransaction,
    dataset: str,
    metric: str,
    wanted: HistoryFilter,
    *,
    most_steps: int | None = None,
    without_run_id: int | None = None,
) -> History:
    """Return the history of a metric over the wanted runs, each under the newest labels it was evaluated under.

    These are labels of the judge that counts, or that the filter names, or those of the version that it names.
    ``most_steps``: steps are not looked for among more runs, which reads the results of all their groups.
    ``without_run_id``: a run that is left out of the wanted ones. Raises: ReferenceNotFoundError for an unknown
    dataset; MetricError for a wrong text.
    """
    known = tx.datasets.known(dataset)
    dataset_id, dataset = known.id, known.name
    parsed = known_metric(tx, dataset_id, parse_metric(metric))
    text = str(parsed)
    judge, newest = under_labels(tx, wanted, dataset_id, dataset, parsed)
    runs = tx.runs.all(dataset)
    chosen = wanted.chosen([run for run in runs if run.id in newest])
    details = {run.id: run for run in chosen if run.id != without_run_id}
    records = [newest[run_id] for run_id in details]
    notes = different_labels(records, dataset, metric, judge)
    versions = sorted({record.label_set_version for record in records})
    steps: dict[int, FoundStep] = {}
    if most_steps is not None and len(records) > most_steps:
        for of_task in by_task(records):
            steps |= differences(of_task)
    elif parsed.shown_only is None:
        steps = steps_of(tx, dataset, text, records, newest, notes)
    else:
        notes.append(Note("shown_only", {"metric": text, "why": parsed.shown_only}))
    notes += _samples(records)
    # iterations of a training are no retrainings
    if all(run.tags.get("stage") == "iteration" for run in details.values()):
        notes = [note for note in notes if note.kind != "few_runs"]
    notes += lacking_groups(list(details.values()), records, parsed, judge)
    notes += _study(list(details.values()), records, dataset, metric, judge)
    no_interval = parsed["weights"] != "none" or parsed.shown_only is not None
    shares = judged_shares_of(tx, records, parsed)
    rows = [
        history_row(
            record,
            details,
            parsed,
            steps.get(record.run_id),
            no_interval,
            judged=shares.get(record.run_id),
            judge=judge,
        )
        for record in records
    ]
    of_versions = [[row for row in rows if row.get("label_set_version") == version] for version in versions]
    marked = next(filter(None, map(mark_judged, reversed(of_versions))), None)
    marked = marked or next(filter(None, map(_far_apart, reversed(of_versions))), None)
    if marked is not None:
        asked = () if wanted.labels is None else ("--labels", str(wanted.labels))
        words = (*marked, "--metric", metric, "--dataset", dataset, "--all", *judge_option(judge), *asked)
        notes.append(Note("goes_with_judged", {}, ("ndcg-track", "labels", "needed", *words)))
    others = () if newest else tuple(use.metric for use in tx.evaluations.metrics(dataset_id, judge))
    return History(tuple(rows), tuple(notes), len(newest), len(runs), others, dataset)


def different_labels(records: Sequence[HistoryRecord], dataset: str, metric: str, judge: str = "") -> list[Note]:
    """Return a note on runs that are evaluated under several versions of the labels, with the way around it."""
    counts = sorted(Counter(record.label_set_version for record in records).items())
    command = ("ndcg-track", "rescore", "--all", "--dataset", dataset, "--metric", metric, *judge_option(judge))
    return [Note("different_labels", {"versions": tuple(counts)}, command)] if len(counts) > 1 else []


def new_steps_of(history: History, without_newest: Callable[[], History]) -> tuple[HistoryRow, ...]:
    """Return the rows whose steps do not show, as a step or a drift, in the history without its newest run.

    ``without_newest``: gives that history, asked for only where there are steps. A large step is new when its first run
    comes; a small one when enough runs have followed to be sure of it.
    """
    steps = [row for row in history.rows if row.get("step")]
    if not steps:
        return ()
    before = without_newest()
    place = {row["run"]: number for number, row in enumerate(history.rows)}

    def between(ends: Sequence[str] | None) -> tuple[int, int] | None:
        return None if ends is None else (place[ends[0]], place[ends[1]])

    earlier = [between(row.get("step_between")) for row in before.rows if row.get("step")]
    earlier += [between(row.get("drift_between")) for row in before.rows]
    spans = [span for span in earlier if span is not None]

    def is_new(row: HistoryRow) -> bool:
        first, last = between(row.get("step_between")) or (place[row["run"]],) * 2
        return not any(first <= end and begin <= last for begin, end in spans)

    return tuple(row for row in steps if is_new(row))


def stored_interval(record: HistoryRecord, metric: Metric) -> tuple[float, float] | None:
    """Return the 95% t interval of a stored mean, None where groups weigh differently, or none applies."""
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
    """Return one run as JSON has it; ``judged``: which share of its first ranks is judged."""
    run, limits = details[record.run_id], metric.limits
    step = None if found_step is None else found_step.step
    drift = None if step is None else step.drift
    begins = (
        details[found_step.drift_from].name if found_step is not None and found_step.drift_from is not None else None
    )
    between, before = None, None
    if found_step is not None and found_step.first is not None and found_step.last is not None:
        between = (details[found_step.first].name, details[found_step.last].name)
        before = None if found_step.before is None else details[found_step.before]
    ci = None if no_interval else stored_interval(record, metric)
    change_limits = None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])
    return {
        "run": record.run,
        "run_id": record.run_id,
        "created_at_utc": record.created_at_utc,
        "metric": str(metric),
        "mean": record.mean,
        "ci": ci,
        "step": step is not None and step.is_step,
        "delta": None if step is None else step.delta,
        "p_adjusted": None if step is None else step.p_adjusted,
        "git_commit": record.git_commit,
        "label_set_version": record.label_set_version,
        "tags": run.tags,
        "parameters": run.parameters,
        "step_change": None if step is None else step.change,
        "step_ci": None if step is None else limited(step.change_ci, change_limits),
        "step_between": between,
        "step_before": None if before is None else before.name,
        "step_parameters": None if before is None else _changed(before.parameters, run.parameters),
        "step_possible": step is not None and step.is_possible,
        "requested_as": record.requested_as,
        "drift_change": None if drift is None else drift.change,
        "drift_ci": None if drift is None else limited(drift.ci, change_limits),
        "drift_between": None if begins is None else (begins, record.run),
        "drift_runs": None if drift is None else drift.last - drift.first + 1,
        "direction": metric.direction,
        "judged": judged,
        "goes_with_judged": None,
        "cutoff": metric.cutoff,
        "judge": judge,
        "step_or_drift": step is not None and step.may_be_drift,
    }


def judged_shares_of(tx: ReadTransaction, records: Sequence[HistoryRecord], metric: Metric) -> dict[int, float]:
    """Return the judged share of each run's first ranks, by run id, where it is known."""
    if metric.is_external:
        return {}
    labels_of = {record.run_id: record.label_set_id for record in records}
    return {
        coverage.run_id: coverage.judged_share
        for label_set_id in dict.fromkeys(labels_of.values())
        for coverage in tx.evaluations.coverages_under(label_set_id)
        if coverage.cutoff == metric.cutoff and labels_of.get(coverage.run_id) == label_set_id
    }


def mark_judged(rows: Sequence[HistoryRow]) -> tuple[str, str] | None:
    """Mark the steps and drifts that unjudged items alone may have made; return the runs around the last, None of none.

    ``rows``: of runs under the same labels, between which steps are looked for.
    The share of judged first ranks that was lost or won, of the mean of the run that has more, makes three quarters of
    the change or more, and goes its way.
    """
    place = {row["run"]: at for at, row in enumerate(rows)}
    marked = None
    for at, row in enumerate(rows):
        drift, step = row.get("drift_between"), row.get("step_between")
        change = row.get("drift_change") if drift is not None else row.get("step_change")
        if change is None:
            continue
        begin, end = (place[drift[0]], at) if drift is not None else (max(at - 1, 0), at)
        if drift is None and step is not None and step[0] != step[1]:  # it lies somewhere between these
            begin, end = max(place[step[0]] - 1, 0), place[step[1]]
        first, last = rows[begin].get("judged"), rows[end].get("judged")
        if first is None or last is None:
            continue
        moved = (
            (last - first) / max(first, last, COVERAGE_GAP) * max(rows[begin]["mean"] or 0.0, rows[end]["mean"] or 0.0)
        )
        if moved * change > 0 and abs(last - first) > COVERAGE_GAP and abs(moved) >= GOES_WITH * abs(change):
            row["goes_with_judged"], marked = (first, last), (rows[begin]["run"], rows[end]["run"])
    return marked


def _far_apart(rows: Sequence[HistoryRow]) -> tuple[str, str] | None:
    """Return the runs with the most and the least judged, where these are so far apart that means say little."""
    known = [(share, row["run"]) for row in rows if (share := row.get("judged")) is not None]
    if not known or max(known)[0] - min(known)[0] < FAR_APART:
        return None
    return max(known)[1], min(known)[1]


def lacking_groups(
    runs: Sequence[RunRecord], records: Sequence[HistoryRecord], metric: Metric, judge: str = ""
) -> list[Note]:
    """Return a note on the runs that lack groups which others have, where the metric counts these as 0."""
    if not metric.counts_missing:
        return []
    fewest: dict[int, int] = {}
    for record in records:
        fewest[record.label_set_id] = min(record.n_missing, fewest.get(record.label_set_id, record.n_missing))
    lacking = [
        (run, record)
        for run, record in zip(runs, records, strict=True)
        if record.n_missing > fewest[record.label_set_id]
    ]
    if not lacking:
        return []
    facts: dict[str, Fact] = {
        "runs": [(run.name, record.n_missing) for run, record in lacking],
        "n_groups": max(record.n_groups for _, record in lacking),
        "metric": metric.requested_as,
    }
    skipping = str(metric.with_axes(missing="skip"))
    of_all = ("--dataset", runs[0].dataset, "--metric", skipping, *judge_option(judge))
    command, again = ("ndcg-track", "rescore", "--all", *of_all), ("ndcg-track", "history", *of_all)
    return [Note("history_lacking", facts, command), Note("after_that", command=again)]


def _study(
    runs: Sequence[RunRecord], records: Sequence[HistoryRecord], dataset: str, metric: str, judge: str
) -> tuple[Note, ...]:
    """Return what to ask instead where most of the runs are trials of one search."""
    trials: dict[str, list[HistoryRecord]] = {}
    for run, record in zip(runs, records, strict=True):
        if STUDY_TAG in run.tags and record.mean is not None:
            trials.setdefault(str(run.tags[STUDY_TAG]), []).append(record)
    name, most = max(trials.items(), key=lambda item: len(item[1]), default=("", []))
    if len(most) < 2 or 2 * len(most) <= len(runs):
        return ()
    best, following = sorted(most, key=lambda record: (-float(record.mean or 0.0), record.run_id))[:2]
    both = (following.run, best.run, "--dataset", dataset, "--metric", metric)
    command = ("ndcg-track", "compare", *both, *judge_option(judge))
    return (Note("study", {"n": len(most), "n_runs": len(runs), "study": name}, command),)


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """Return the parameters that differ, each with its value before and after, None where there was none.

    >>> _changed({"k1": "0.9", "b": "0.4"}, {"k1": "1.2", "b": "0.4", "fields": "title"})
    {'fields': (None, 'title'), 'k1': ('0.9', '1.2')}
    """
    pairs = {key: (before.get(key), after.get(key)) for key in sorted({*before, *after})}
    return {key: values for key, values in pairs.items() if values[0] != values[1]}


@dataclass(frozen=True, slots=True)
class FoundStep:
    """The step or the drift at one run; other runs are given by id.

    ``before``: the run it was compared with. ``first`` and ``last``: the runs between which a step lies.
    ``drift_from``: the first run of the drift that ends here.
    """

    step: Step
    before: int | None = None
    first: int | None = None
    last: int | None = None
    drift_from: int | None = None


def steps_of(
    tx: ReadTransaction,
    dataset: str,
    metric: str,
    records: Sequence[HistoryRecord],
    newest: Mapping[int, HistoryRecord],
    notes: list[Note],
) -> dict[int, FoundStep]:
    """Return the steps at the runs by run id, and add to the notes what could not be compared.

    Each run is paired with those under the same version of the labels that rank the same items, whatever stands between
    them. ``newest``: the
    records of all runs of the dataset by id, whose repeats tell how much runs scatter where the history does not.
    """
    steps: dict[int, FoundStep] = {}
    for of_version in by_task(records):
        if len(of_version) > 1:
            steps |= _steps_of_version(tx, dataset, metric, of_version, newest, notes)
    return steps


def _samples(records: Sequence[HistoryRecord]) -> list[Note]:
    """Return the notes on each sample of items among which runs rank theirs."""
    samples = dict.fromkeys(record.sampled for record in records)
    names = {sample: [record.run for record in records if record.sampled == sample] for sample in samples}
    if len(samples) < 2:
        return [sampled_note(sample) for sample in samples if sample is not None]
    some = [(sample, len(names[sample]), names[sample][0]) for sample in samples if sample is not None]
    return [Note("history_of_samples", {"samples": some, "n_runs": len(records)})]


def by_task(records: Sequence[HistoryRecord]) -> list[list[HistoryRecord]]:
    """Return the records apart that cannot be compared: under other labels, or of other sampled items."""
    apart: dict[object, list[HistoryRecord]] = {}
    for record in records:
        apart.setdefault((record.label_set_version, record.sample), []).append(record)
    return list(apart.values())


def _steps_of_version(
    tx: ReadTransaction,
    dataset: str,
    metric: str,
    records: Sequence[HistoryRecord],
    newest: Mapping[int, HistoryRecord],
    notes: list[Note],
) -> dict[int, FoundStep]:
    """Return the steps at runs under one version of the labels."""
    dataset_id = tx.datasets.known(dataset).id
    results = tx.evaluations.results_of([record.evaluation_id for record in records])
    pruned = tx.runs.prunings()
    are_kept = [record.run_id not in pruned or each[0].size > 0 for record, each in zip(records, results, strict=True)]
    if not all(are_kept):
        of_sums = ["groups" not in pruned[record.run_id].holds for record in compress(records, map(not_, are_kept))]
        if False in of_sums:
            notes.append(Note("summaries_only", {"n": of_sums.count(False)}))
        if True in of_sums:
            notes.append(Note("sums_only", {"n": of_sums.count(True)}))
        records, results = list(compress(records, are_kept)), list(compress(results, are_kept))
        if len(records) < 2:
            return {}
    weights = tx.groups.weights_by_id(dataset_id) if parse_metric(metric)["weights"] != "none" else None
    if any(not _is_mean(record, each, weights) for record, each in zip(records, results, strict=True)):
        no_inference = Note("means_weigh_groups")
        if no_inference not in notes:
            notes.append(no_inference)
        return differences(records)
    ids, values, kept = _side_by_side(results)
    if ids is not results[0][0]:
        notes += _notes(records, results, ids, kept)
    runs = [record for record, is_kept in zip(records, kept.tolist(), strict=True) if is_kept]
    scale = None if weights is None else weights.weights_of(ids)
    tested = steps_with_scatter(values, scale)
    if tested.is_unsure:
        families = _repeats(tx, dataset, newest, records[0].label_set_version, ids)
        tested = steps_with_scatter(values, scale, repeats=scatter_of_repeats(families, scale))
    notes += [note for note in scatter_notes(tested, dataset) if note not in notes]
    return found_steps([run.run_id for run in runs], tested)


def found_steps(run_ids: Sequence[int], tested: StepsWithScatter) -> dict[int, FoundStep]:
    """Return the steps by run id; ``run_ids``: of the runs that were tested, oldest first."""
    steps = {}
    for run_id, last, step in zip(run_ids, [None, *run_ids], tested.steps, strict=False):
        places = (step.first, step.last, None if step.drift is None else step.drift.first)
        steps[run_id] = FoundStep(step, last, *(None if at is None else run_ids[at] for at in places))
    return steps


def _repeats(
    tx: ReadTransaction, dataset: str, newest: Mapping[int, HistoryRecord], version: int, ids: Index
) -> list[Floats]:
    """Return the results for these groups of the repeats of each unchanged system: equal tag aa, equal data."""
    families: dict[tuple[str, ...], list[int]] = {}
    for run in tx.runs.all(dataset):
        record = newest.get(run.id)
        is_repeat = AA_TAG in run.tags and not is_checkpoint(run)
        if is_repeat and record is not None and record.label_set_version == version:
            data = (str(run.parameters.get(name)) for name in DATA)
            families.setdefault((str(run.tags[AA_TAG]), *data), []).append(record.evaluation_id)
    repeats = []
    for evaluations in families.values():
        rows = [_at(ids, results) for results in tx.evaluations.results_of(evaluations)]
        repeats.append(np.array([row for row in rows if row is not None]).reshape(-1, ids.size))
    return repeats


def _at(ids: Index, results: Results) -> Floats | None:
    """Return the results of these groups, None if one is missing."""
    stored_ids, values = results
    places = np.minimum(np.searchsorted(stored_ids, ids), max(0, stored_ids.size - 1))
    if not stored_ids.size or (stored_ids[places] != ids).any() or np.isnan(values[places]).any():
        return None
    return np.asarray(values[places])


def scatter_notes(tested: StepsWithScatter, dataset: str | None) -> list[Note]:
    """Return notes on how far runs scatter beyond what groups explain, and on runs that resemble the one before."""
    if tested.is_unsure:
        of = () if dataset is None else ("--dataset", dataset)
        command = ("ndcg-track", "ingest", "FILE", *of, "--tag", "aa=NAME")
        return [Note("few_runs", {"n": tested.n_changed, "fewest": FEWEST_CHANGES}, command)]
    notes, scatter = list[Note](), tested.scatter
    if scatter is not None and scatter.beyond > scatter.own:
        notes.append(Note("run_scatter", {"sd": scatter.variance**0.5, "own": scatter.own**0.5}))
    if tested.n_wandering:
        notes.append(Note("wandering", {"n": tested.n_wandering, "resemblance": tested.resemblance}))
    return notes


def _notes(records: Sequence[HistoryRecord], results: Sequence[Results], ids: Index, kept: Mask) -> list[Note]:
    """Return notes on runs that do not all have results for the same groups."""
    n_defined = [values.size - int(np.count_nonzero(np.isnan(values))) for _, values in results]
    notes = [
        Note("other_groups", {"run": records[place].run, "n": n_defined[place], "n_beside": ids.size})
        for place in np.flatnonzero(np.logical_not(kept)).tolist()
    ]
    most = max(n_defined)
    if 0 < ids.size < most:
        notes.append(Note("shared_groups", {"n": ids.size, "most": most}))
    return notes


def differences(records: Sequence[HistoryRecord]) -> dict[int, FoundStep]:
    """Return the differences of the stored means, where nothing can be tested."""
    steps: dict[int, FoundStep] = {}
    for before, record in pairwise(records):
        unknown = record.mean is None or before.mean is None
        delta = None if unknown else float(record.mean or 0.0) - float(before.mean or 0.0)
        steps[record.run_id] = FoundStep(Step(delta, None, None, False), before.run_id)
    return steps


def _side_by_side(results: Sequence[Results]) -> tuple[Index, Floats, Mask]:
    """Return the groups that the runs share, a row of their results per run, and which runs these are."""
    first = results[0][0]
    kept = np.ones(len(results), dtype=np.bool_)
    if all(ids is first for ids, _ in results):
        table = np.concatenate([values for _, values in results]).reshape(len(results), first.size)
        if not np.isnan(table.sum()):
            return first, table, kept
    all_ids = np.unique(np.concatenate([ids for ids, _ in results]))
    defined = np.zeros((len(results), all_ids.size), dtype=np.bool_)
    for row, (ids, values) in zip(defined, results, strict=True):
        row[np.searchsorted(all_ids, ids)] = ~np.isnan(values)
    usual = 2 * defined.sum(axis=0) > len(results)
    kept = defined[:, usual].sum(axis=1) >= _ENOUGH * int(usual.sum())
    common = defined[kept].all(axis=0)
    shared = all_ids[common]
    rows = [
        values[np.searchsorted(ids, shared)]
        for (ids, values), is_kept in zip(results, kept.tolist(), strict=True)
        if is_kept
    ]
    return shared, np.stack(rows) if rows else np.empty((0, shared.size)), kept


def _is_mean(record: HistoryRecord, results: Results, weights: GroupWeightsById | None) -> bool:
    """Return whether the stored mean is the (weighted) mean of the stored results."""
    if weights is None or record.mean is None:
        return True
    ids, values = results
    defined = ~np.isnan(values)
    shares = weights.weights_of(ids[defined])
    if not shares.any():
        return True
    return abs(float(np.average(values[defined], weights=shares)) - record.mean) <= MEANS_AGREE
