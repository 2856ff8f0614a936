"""Conclusions from means and results of runs over time: steps, notes on them, and runs that cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.results import COVERAGE_GAP
from ndcg_tracker.runs.judges import judge_option
from ndcg_tracker.runs.samples import sampled_note
from ndcg_tracker.statistics.repeats import FEWEST_CHANGES
from ndcg_tracker.statistics.steps import Step, StepsWithScatter
from ndcg_tracker.words.notes import Fact, Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ndcg_tracker.compare.results import Where
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.questions.history.say import HistoryRow
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.storage.records import HistoryRecord, RunRecord

    Mask = NDArray[np.bool_]
    Results = tuple[Index, Floats]

STUDY_TAG = "study"
FAR_APART = 0.1
"""If the judged share of runs moves by this much, a history says that its means move with it."""
GOES_WITH = 0.75
"""A change goes with the judged share if a loss in proportion to that share is at least this part of the change."""
FEWEST_VANISHED = 0.01
"""If fewer groups vanish at a run, a history does not tell it."""
_ENOUGH = 0.9
"""A run with results for a smaller share of the others' groups is left out, because few groups would remain shared."""


def version_of_most(records: Sequence[HistoryRecord]) -> int:
    """Return the version of the labels that most evaluations are under, the newer one if two have as many."""
    counts = Counter(record.label_set_version for record in records)
    return max(counts, key=lambda version: (counts[version], version))


def different_labels(records: Sequence[HistoryRecord], dataset: str, metric: str) -> list[Note]:
    """Return a note on runs that are evaluated under several versions of the labels, with the commands to fix it."""
    counts = sorted(Counter(record.label_set_version for record in records).items())
    if len(counts) < 2:
        return []
    most = version_of_most(records)
    asked = ("--dataset", dataset, "--metric", metric, "--labels", str(most))
    told = Note("different_labels", {"versions": counts, "most": most}, ("ndcg-track", "rescore", "--all", *asked))
    return [told, Note("after_that", command=("ndcg-track", "history", *asked))]


def mark_judged(rows: Sequence[HistoryRow]) -> tuple[str, str] | None:
    """Mark steps and drifts that unjudged items alone may have caused; return the runs around the last one, or None.

    ``rows``: runs under the same labels, between which steps are searched. A step or drift is marked if the relative
    change of the judged share of first ranks, times the larger mean, makes up three quarters of it or more, in the same
    direction.
    """
    place = {row["run"]: at for at, row in enumerate(rows)}
    marked = None
    for at, row in enumerate(rows):
        drift, step = row.get("drift_between"), row.get("step_between")
        change = row.get("drift_change") if drift is not None else row.get("step_change")
        if change is None:
            continue
        begin, end = (place[drift[0]], at) if drift is not None else (max(at - 1, 0), at)
        if drift is None and step is not None and step[0] != step[1]:  # the step lies somewhere between these
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


def mark_vanished(rows: Sequence[HistoryRow], of_tasks: Iterable[Sequence[tuple[str, int, int]]]) -> None:
    """Set how many groups vanished or came at a run, if it is one in a hundred or more.

    A step is sure, and at this run, if these groups, had they the mean, make up three quarters of it. ``of_tasks``:
    comparable runs, oldest first, each with how many labelled groups it lacks, and how many count.
    """
    of_run = {row["run"]: row for row in rows}
    for (before, n_before, _), (run, n, n_groups) in chain.from_iterable(map(pairwise, of_tasks)):
        row, share = of_run[run], (n - n_before) / max(n_groups, 1)
        if abs(share) >= FEWEST_VANISHED:
            row["n_vanished"], change = n - n_before, row.get("step_change") or 0.0
            due = -share * max(row["mean"] or 0.0, of_run[before]["mean"] or 0.0)
            if due * change > 0 and abs(due) >= GOES_WITH * abs(change):
                row["step"], row["step_possible"], row["step_between"] = True, False, (run, run)


def far_apart(rows: Sequence[HistoryRow]) -> tuple[str, str] | None:
    """Return the runs with the largest and the smallest judged share, if the gap is so wide that means say little."""
    known = [(share, row["run"]) for row in rows if (share := row.get("judged")) is not None]
    if not known or max(known)[0] - min(known)[0] < FAR_APART:
        return None
    return max(known)[1], min(known)[1]


def lacking_groups(runs: Sequence[RunRecord], records: Sequence[HistoryRecord], metric: Metric) -> list[Note]:
    """Return a note on the runs that lack groups of other runs, if the metric counts these as 0."""
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
    of_all = ("--dataset", runs[0].dataset, "--metric", skipping, "--labels", str(version_of_most(records)))
    command, again = ("ndcg-track", "rescore", "--all", *of_all), ("ndcg-track", "history", *of_all)
    return [Note("history_lacking", facts, command), Note("after_that", command=again)]


def study_notes(
    runs: Sequence[RunRecord], records: Sequence[HistoryRecord], dataset: str, metric: str, judge: str
) -> tuple[Note, ...]:
    """Return a note on what to do instead if most of the runs are trials of one search."""
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


def changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """Return the parameters that differ, each with its value before and after, None if there was no value.

    >>> changed({"k1": "0.9", "b": "0.4"}, {"k1": "1.2", "b": "0.4", "fields": "title"})
    {'fields': (None, 'title'), 'k1': ('0.9', '1.2')}
    """
    pairs = {key: (before.get(key), after.get(key)) for key in sorted({*before, *after})}
    return {key: values for key, values in pairs.items() if values[0] != values[1]}


@dataclass(frozen=True, slots=True)
class FoundStep:
    """The step or the drift at one run; other runs are given by id.

    ``before``: the run that it was compared with. ``first`` and ``last``: the runs between which the step is.
    ``drift_from``: the first run of the drift that ends here. ``where``: the slices that stand out at the step, None
    without attributes.
    """

    step: Step
    before: int | None = None
    first: int | None = None
    last: int | None = None
    drift_from: int | None = None
    where: Where | None = field(default=None, kw_only=True)


NOT_TESTED = FoundStep(Step(None, None, None, False))
"""What is known of a run that was compared with no other."""


def sample_notes(records: Sequence[HistoryRecord]) -> list[Note]:
    """Return the notes on each sample of items that runs rank, and on runs that keep different shares of the groups."""
    shares = dict.fromkeys(record.groups_share or "all" for record in records)
    of_shares = [Note("history_of_shares", {"shares": [*shares]})] if len(shares) > 1 else []
    samples = dict.fromkeys(record.sampled for record in records)
    names = {sample: [record.run for record in records if record.sampled == sample] for sample in samples}
    if len(samples) < 2:
        return [*of_shares, *(sampled_note(sample) for sample in samples if sample is not None)]
    some = [(sample, len(names[sample]), names[sample][0]) for sample in samples if sample is not None]
    return [*of_shares, Note("history_of_samples", {"samples": some, "n_runs": len(records)})]


def found_steps(run_ids: Sequence[int], tested: StepsWithScatter) -> dict[int, FoundStep]:
    """Return the steps by run id; ``run_ids``: of the runs that were tested, oldest first."""
    steps = {}
    for run_id, last, step in zip(run_ids, [None, *run_ids], tested.steps, strict=False):
        places = (step.first, step.last, None if step.drift is None else step.drift.first)
        steps[run_id] = FoundStep(step, last, *(None if at is None else run_ids[at] for at in places))
    return steps


def sides_of_steps(steps: Sequence[Step]) -> dict[int, tuple[Index, Index]]:
    """Return, for each step, the places of the runs from the step before it on, and of those until the next one.

    Runs among which the step may be are on neither side.
    """
    places = [place for place, step in enumerate(steps) if step.is_step or step.is_possible]
    spans = [(of.first or place, of.last or place) for place in places for of in (steps[place],)]
    starts = [0, *(last for _, last in spans)]
    ends = [*(first for first, _ in spans[1:]), len(steps)]
    each = zip(places, spans, starts, ends, strict=False)
    return {place: (np.arange(begin, first), np.arange(last, end)) for place, (first, last), begin, end in each}


def at_groups(ids: Index, results: Results) -> Floats | None:
    """Return the results of these groups, None if any is missing."""
    stored_ids, values = results
    places = np.minimum(np.searchsorted(stored_ids, ids), max(0, stored_ids.size - 1))
    if not stored_ids.size or (stored_ids[places] != ids).any() or np.isnan(values[places]).any():
        return None
    return np.asarray(values[places])


def scatter_notes(tested: StepsWithScatter, dataset: str | None) -> list[Note]:
    """Return notes on scatter of runs beyond what groups explain, and on runs that resemble the one before."""
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


def group_notes(records: Sequence[HistoryRecord], results: Sequence[Results], ids: Index, kept: Mask) -> list[Note]:
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
    """Return the differences of the stored means, if nothing can be tested."""
    steps: dict[int, FoundStep] = {}
    for before, record in pairwise(records):
        unknown = record.mean is None or before.mean is None
        delta = None if unknown else float(record.mean or 0.0) - float(before.mean or 0.0)
        steps[record.run_id] = FoundStep(Step(delta, None, None, False), before.run_id)
    return steps


def side_by_side(results: Sequence[Results]) -> tuple[Index, Floats, Mask]:
    """Return the groups that the runs share, a row of results per run, and which runs these are."""
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
