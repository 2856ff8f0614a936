"""A baseline compared with its candidates: the comparison of each, with the items that moved its extreme groups."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.attributes import AttributeValues, attribute_values
from ndcg_tracker.compare.decide import T_TEST, ComparedRuns, PairedResults, adjusted_jointly, compare_runs
from ndcg_tracker.compare.families import retraining_note
from ndcg_tracker.compare.gather_sums import are_sums, compared_sums
from ndcg_tracker.compare.gather_unjudged import with_unjudged
from ndcg_tracker.compare.inference import Chance, Methods
from ndcg_tracker.compare.item_moves import item_moves
from ndcg_tracker.compare.pair import Missing
from ndcg_tracker.compare.results import (
    Comparison,
    GroupDelta,
    GroupTieBounds,
    JudgedShare,
    RunRef,
    coverage_notes,
    most_telling,
)
from ndcg_tracker.compare.run_pair import (
    RunPair,
    Side,
    Version,
    adding_command,
    label_set_ref,
    no_group_of_labels,
    paired_results,
    resolved_pair,
)
from ndcg_tracker.compare.say import comparison_as, comparison_html, comparison_object, metric_rows, slice_rows
from ndcg_tracker.compare.sums import refuse_groups
from ndcg_tracker.errors import (
    InputError,
    NdcgTrackerError,
    ReferenceNotFoundError,
    argument,
)
from ndcg_tracker.metrics.kernel.mean import plain_mean
from ndcg_tracker.metrics.kernel.values import group_results, tie_bounds
from ndcg_tracker.metrics.language.agreement import familiar_name
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.unjudged_bounds import judged_shares
from ndcg_tracker.rankings.join import JudgedRanking, judged, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.runs.scoring import stored_weights
from ndcg_tracker.storage.references import is_pattern
from ndcg_tracker.words.notes import Fact, Note, in_words

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.compare.chart import ComparisonChart
    from ndcg_tracker.compare.report_facts import PairReports
    from ndcg_tracker.compare.sums import SummedResults
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.render.charts.chart import Chart
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.transactions import ReadTransaction


MOVES = 3
"""So many items at most are kept for each of the worst and best groups."""
_ROUNDING = 1e-12
_MUCH_SHORTER = 0.8
"""What share of the length of lists is so much less that it is told."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What a comparison is asked for beside the runs (see ``Tracker.compare``).

    ``metrics``: none for all that a candidate shares with the baseline. ``tie_bounds``: look for the groups that ties
    in scores leave open as well, which reads the items of all runs. ``by``: a group attribute to slice by.
    ``cluster``: one whose values mark groups that depend on each other. ``labels``, ``judge``: see ``resolved_pair``.
    ``unjudged_bounds``: find how far unjudged items leave every metric open, which reads them, too.
    """

    metrics: tuple[Metric, ...] = ()
    dataset: str | None = None
    missing: Missing = "error"
    top: int = 10
    tie_bounds: bool = False
    methods: Methods = T_TEST
    by: str | None = None
    cluster: str | None = None
    labels: Version = None
    judge: str | None = None
    unjudged_bounds: bool = False

    def words(self) -> tuple[str, ...]:
        """Return what a command says to ask the same: metrics, version of the labels, missing groups, clusters."""
        metrics = [word for metric in self.metrics for word in ("--metric", metric.requested_as)]
        chosen = (
            ("--labels", None if self.labels is None else str(self.labels)),
            ("--missing", None if self.missing == "error" else self.missing),
            ("--cluster", self.cluster),
        )
        return (*metrics, *(word for option, value in chosen if value is not None for word in (option, value)))

    def __post_init__(self) -> None:
        """Refuse what is no version of labels (InputError)."""
        if self.labels not in (None, "newest") and (isinstance(self.labels, bool) or not isinstance(self.labels, int)):
            advice = f"give a number, such as {argument('labels', 1)}, or {argument('labels', 'newest')}"
            raise InputError(f"labels {self.labels!r} is no version", advice=advice)


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two stored runs, their comparison, and the sums or the results of groups that it rests on, by metric."""

    both: RunPair
    comparison: Comparison
    of_groups: list[PairedResults]
    sums: list[SummedResults] | None = None

    @property
    def results(self) -> list[PairedResults]:
        """The results of groups (InputError where runs were stored as sums)."""
        if self.sums is not None:
            names = " and ".join(repr(side.run.name) for side in self.both.sides)
            raise InputError(
                f"runs {names} were stored as sums: there are no groups to show", advice="see them with: compare, gate"
            )
        return self.of_groups


def compared(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> list[ComparedPair]:
    """Return the comparison of a run with each candidate, their p-values corrected together.

    Parameters: references of runs, the candidates one by one or in lists. Raises: ReferenceNotFoundError; InputError
    without a candidate, for an attribute that no group has, and for methods that do not apply; NotComparableError where
    two runs share no metric, with the command that fixes it.
    """
    candidates = named_runs(tx, candidates, options.dataset, baseline)
    run, *others = tx.runs.resolve_all([baseline, *candidates], options.dataset)
    if not others:
        raise InputError("a comparison needs a candidate", advice="name one after the baseline")
    pairs = [resolved_pair(tx, run, other, options.metrics, options.labels, options.judge) for other in others]
    attributes = asked_attributes(tx, run, options)
    each = [compared_pair(tx, both, options, attributes) for both in pairs]
    if len(each) == 1:
        return each
    corrected = adjusted_jointly([one.comparison for one in each])
    return [replace(one, comparison=comparison) for one, comparison in zip(each, corrected, strict=True)]


def comparable_others(
    tx: ReadTransaction, reference: str, options: CompareOptions
) -> tuple[list[RunRecord], list[tuple[RunRecord, NdcgTrackerError]]]:
    """Return the other runs of a run's dataset that can be compared with it, oldest first, and why the rest cannot."""
    run = tx.runs.resolve(reference, options.dataset)
    found: list[RunRecord] = []
    left_out: list[tuple[RunRecord, NdcgTrackerError]] = []
    for other in tx.runs.all(run.dataset):
        if other.id == run.id:
            continue
        try:
            both = resolved_pair(tx, run, other, options.metrics, options.labels, options.judge)
            compared_pair(tx, both, options, asked_attributes(tx, run, options))
        except NdcgTrackerError as error:
            left_out.append((other, error))
        else:
            found.append(other)
    return found, left_out


Attributes = tuple[AttributeValues | None, AttributeValues | None]
"""The attribute to slice by, and the one that makes clusters, None where nobody asked."""


def asked_attributes(tx: ReadTransaction, run: RunRecord, options: CompareOptions) -> Attributes:
    """Return the attributes of groups that a comparison needs (InputError where no group has one).

    The slices and clusters of a run that was stored as sums come with these.
    """
    pruning = tx.runs.prunings(run.id).get(run.id)
    if pruning is not None and pruning.is_of_sums:
        return None, None
    slices, clusters = (
        None if name is None else attribute_values(tx, run, name) for name in (options.by, options.cluster)
    )
    return slices, clusters


def compared_pair(tx: ReadTransaction, both: RunPair, options: CompareOptions, attributes: Attributes) -> ComparedPair:
    """Return the comparison of two runs under one label set; ``attributes``: see ``asked_attributes``."""
    if are_sums(tx, both):
        refuse_groups(tie_bounds=options.tie_bounds, unjudged_bounds=options.unjudged_bounds)
        asked = {"by": options.by, "cluster": options.cluster}
        comparison, sums = compared_sums(tx, both, methods=options.methods, missing=options.missing, **asked)
        return ComparedPair(both, _with_requests(comparison, both), [], sums)
    one, other = both.baseline.run, both.candidate.run
    slices, clusters = attributes
    if clusters is not None:
        options.methods.check_t_only("clusters of groups")
    label_set = both.baseline.label_set
    pruned = pruned_notes(tx, both)
    _refuse_other_groups(both)
    shares = _shares_of_both(tx, both)
    results = [
        replace(
            paired_results(tx, both, metric, options.missing),
            nothing_judged=all(
                has_nothing_judged(tx, side, metric, of_run) for side, of_run in zip(both.sides, shares, strict=True)
            ),
        )
        for metric in both.metrics
    ]
    more = []
    if clusters is not None:
        more += _without_cluster(clusters, results[0].pairing.group_ids)
        results = [clustered(one, clusters) for one in results]
    more += _missing_that_count(both, results, options)
    more += [] if pruned else _shorter_lists(both)
    if options.unjudged_bounds:

        def results_of(older: RunPair) -> list[PairedResults]:
            found = [paired_results(tx, older, metric, options.missing) for metric in older.metrics]
            return found if clusters is None else [clustered(one, clusters) for one in found]

        results = with_unjudged(tx, both, results, results_of, options.methods)
    coverage = tuple(
        JudgedShare(cutoff, *(of_run.get(cutoff) for of_run in shares))
        for cutoff in dict.fromkeys(metric.cutoff for metric in both.metrics if not metric.is_external)
    )
    comparison = compare_runs(
        ComparedRuns(
            RunRef(one.name, one.id),
            RunRef(other.name, other.id),
            one.dataset,
            label_set_ref(label_set),
            coverage=coverage,
            notes=(*both.notes(), *pruned, *more),
            positives_only=holds_positives_only(tx, label_set, coverage),
            asked=options.words(),
        ),
        results,
        lambda group_ids: tx.groups.keys(both.dataset_id, group_ids).to_list(),
        methods=options.methods,
        top=options.top,
        by=None if slices is None else slices.of(results[0].pairing.group_ids),
    )
    comparison = _with_requests(comparison, both)
    if not pruned:
        comparison = _with_moves(tx, comparison, both)
    note = retraining_note(tx, both, comparison.metrics[0])
    if note is not None:
        comparison = replace(comparison, notes=(*comparison.notes, note))
    if options.tie_bounds and not both.metric.is_external:
        found, n_open = _open_groups(tx, both, options.top)
        comparison = replace(comparison, tie_groups=found, n_tie_groups=n_open)
    return ComparedPair(both, comparison, results)


def pruned_notes(tx: ReadTransaction, both: RunPair) -> list[Note]:
    """Return a note for each of two runs whose items are gone, or were not all stored."""
    return [
        Note("pruned", {"run": side.run.name, "at": found.created_at_utc})
        if found.kept_share is None
        else Note("without_items", {"run": side.run.name, "kept_share": found.kept_share})
        for side in both.sides
        for found in tx.runs.prunings(side.run.id).values()
    ]


def holds_positives_only(tx: ReadTransaction, label_set: LabelSetRecord, coverage: Sequence[JudgedShare]) -> bool:
    """Return whether the coverage of runs differs for a reason: no label says that an item is not relevant."""
    return bool(coverage_notes(coverage)) and not tx.labels.has_judged_zero(label_set.id)


def clustered(results: PairedResults, by: AttributeValues) -> PairedResults:
    """Return results whose groups depend on each other where they share a value; one without a value stands alone."""
    numbers: dict[object, int] = {}
    each = zip(results.pairing.group_ids.tolist(), by.of(results.pairing.group_ids).values, strict=True)
    codes = [numbers.setdefault((0, group) if value is None else (1, value), len(numbers)) for group, value in each]
    return replace(results, chance=Chance(clusters=np.array(codes, dtype=np.int64)), clustered_by=by.attribute)


def _without_cluster(clusters: AttributeValues, group_ids: Index) -> list[Note]:
    """Return a note where some groups have no value of the attribute that makes clusters."""
    n = sum(value is None for value in clusters.of(group_ids).values)
    facts: dict[str, Fact] = {"n": n, "n_groups": group_ids.size, "attribute": clusters.attribute}
    return [Note("without_cluster", facts)] if n else []


def _missing_that_count(both: RunPair, results: Sequence[PairedResults], options: CompareOptions) -> list[Note]:
    """Return notes where missing groups were to be left out, and the metric counts them as 0 all the same."""
    if options.missing not in ("intersect", "skip"):
        return []
    for metric, one in zip(both.metrics, results, strict=True):
        n = max(one.missing_in_baseline, one.missing_in_candidate)
        if n:
            facts: dict[str, Fact] = {"n": n, "metric": familiar_name(str(metric), metric.requested_as)}
            skipping, runs = metric.with_axes(missing="skip"), [side.run for side in both.sides]
            words = replace(options, metrics=(skipping,), missing="intersect").words()
            again = ("ndcg-track", "compare", *(run.name for run in runs), "--dataset", runs[0].dataset, *words)
            return [
                Note("missing_that_count", facts, adding_command(runs, [str(skipping)])),
                Note("after_that", command=again),
            ]
    return []


def _shorter_lists(both: RunPair) -> list[Note]:
    """Return a note where the lists of one run end before a cutoff that those of the other reach, on average."""
    lengths = [(side.run.n_items / side.run.n_groups, side.run.name) for side in both.sides if side.run.n_groups]
    if len(lengths) < len(both.sides):
        return []
    (n_short, run), (n_long, _) = sorted(lengths)
    cut = [metric for metric in both.metrics if metric.cutoff is not None and n_short < metric.cutoff <= n_long]
    if not cut or n_short > _MUCH_SHORTER * n_long:
        return []
    facts: dict[str, Fact] = {"run": run, "n_short": n_short, "n_long": n_long}
    return [Note("shorter_lists", facts | {"metric": familiar_name(str(cut[0]), cut[0].requested_as)})]


def _refuse_other_groups(both: RunPair) -> None:
    """Raise NotComparableError where one run of two has no group of the labels: all of them would count as missing."""
    without = [side for side in both.sides if any(_has_no_group(side, metric) for metric in both.metrics)]
    if len(without) != 1:
        return
    raise no_group_of_labels(without[0].run, without[0].label_set)


def _has_no_group(side: Side, metric: Metric) -> bool:
    return not metric.is_external and side.evaluations[str(metric)].n_missing >= side.label_set.n_groups > 0


def judged_shares_of(tx: ReadTransaction, side: Side) -> dict[int | None, float]:
    """Return the judged share of a run by cutoff."""
    return {one.cutoff: one.judged_share for one in tx.evaluations.coverages(side.run.id, side.label_set.id)}


def _shares_of_both(tx: ReadTransaction, both: RunPair) -> list[dict[int | None, float]]:
    """Return the judged shares of two runs by cutoff, over the same groups where either lacks some of the labels'."""
    stored = [judged_shares_of(tx, side) for side in both.sides]
    is_missing = any(one.n_missing for side in both.sides for one in side.evaluations.values())
    ids = [side.run.id for side in both.sides]
    if not is_missing or any(tx.runs.prunings(run_id) for run_id in ids):
        return stored
    if np.array_equal(tx.runs.group_ids(ids[0]), tx.runs.group_ids(ids[1])):
        return stored
    lists = [tx.runs.ranking(run_id) for run_id in ids]
    labels = tx.labels.lists(both.baseline.label_set.id)
    found = []
    for own, other, shares in zip(lists, lists[::-1], stored, strict=True):
        shared = own.of_groups(np.flatnonzero(places_of(own.group_keys, other.group_keys) >= 0))
        of_cutoffs = {cutoff: judged_shares(judged(shared, labels), cutoff) for cutoff in shares}
        found.append({cutoff: plain_mean(of_groups) for cutoff, of_groups in of_cutoffs.items() if of_groups.size})
    return found


def has_nothing_judged(tx: ReadTransaction, side: Side, metric: Metric, shares: Mapping[int | None, float]) -> bool:
    """Return whether a run has no judged item that the metric counts; ``shares``: the judged share by cutoff.

    Of a pruned run it is not said where it takes the items to know.
    """
    if metric.is_external:
        return False
    if _has_no_group(side, metric):
        return True
    if shares.get(metric.cutoff) != 0:
        if metric["depth"] == "all" or tx.runs.prunings(side.run.id):
            return False
        return not judged_shares(_judged(tx, side), int(metric["depth"])).any()
    if metric["unjudged"] != "drop" or metric.cutoff is None:
        return True
    # what is dropped makes room for items below the cutoff
    return not tx.runs.prunings(side.run.id) and not _judged(tx, side).rows.size


def _judged(tx: ReadTransaction, side: Side) -> JudgedRanking:
    return judged(tx.runs.ranking(side.run.id), tx.labels.lists(side.label_set.id))


def _with_requests(comparison: Comparison, both: RunPair) -> Comparison:
    """Return the comparison with the texts that its metrics were asked for by, as the view ``group_diff`` has them."""
    metrics = []
    for metric in comparison.metrics:
        one, other = (side.evaluations[metric.metric].requested_as for side in both.sides)
        metrics.append(replace(metric, requested_as=one if other == metric.metric else other))
    return replace(comparison, metrics=tuple(metrics))


def _with_moves(tx: ReadTransaction, comparison: Comparison, both: RunPair) -> Comparison:
    """Return the comparison with the items that moved its worst and best groups; only their lists are read."""
    shown = [*comparison.worst, *comparison.best]
    ids = tx.groups.ids(both.dataset_id, Keys.from_strings([group.group for group in shown]))
    moves = item_moves(tx, both, ids, n=sys.maxsize)
    if not moves:
        return comparison

    def with_moves(groups: Sequence[GroupDelta], of_groups: Sequence[int]) -> tuple[GroupDelta, ...]:
        return tuple(
            replace(group, moves=most_telling(moves[group_id], group.delta, MOVES))
            for group, group_id in zip(groups, of_groups, strict=True)
        )

    worst, best = ids[: len(comparison.worst)].tolist(), ids[len(comparison.worst) :].tolist()
    return replace(comparison, worst=with_moves(comparison.worst, worst), best=with_moves(comparison.best, best))


def _open_groups(tx: ReadTransaction, both: RunPair, top: int) -> tuple[tuple[GroupTieBounds, ...], int]:
    """Return the groups of baseline and candidate whose value ties leave open, and how many there are.

    The widest come first, ``top`` at most; a group that is open in both runs counts twice.
    """
    labels, weights = tx.labels.lists(both.baseline.label_set.id), stored_weights(tx, both.dataset_id)
    found: list[GroupTieBounds] = []
    n_open = 0
    for role, side in zip(("baseline", "candidate"), both.sides, strict=True):
        known = judged(tx.runs.ranking(side.run.id), labels)
        ((worst, best),) = tie_bounds(known, [both.metric], weights)
        values = group_results(known, [both.metric], weights)[0].values
        spread = np.nan_to_num(best.values - worst.values)
        places = np.flatnonzero(spread > _ROUNDING)
        n_open += places.size
        places = places[np.argsort(-spread[places], kind="stable")][:top]
        found += [
            GroupTieBounds(key, role, float(worst.values[place]), float(values[place]), float(best.values[place]))
            for key, place in zip(known.group_keys.take(places).to_list(), places.tolist(), strict=True)
        ]
    return tuple(sorted(found, key=lambda group: group.worst - group.best)[:top]), n_open


def named_runs(
    tx: ReadTransaction, candidates: Sequence[str | Sequence[str]], dataset: str | None, baseline: str = ""
) -> list[str]:
    """Return the references of candidates, each pattern replaced by the names of the runs that fit it.

    The baseline is not among those. Raises: ReferenceNotFoundError for a pattern that fits no other run.
    """
    if not isinstance(baseline, str):
        advice = "name it first, and the candidates after it"
        raise InputError(f"the baseline is one run's name, id or @alias as text, not {baseline!r}", advice=advice)
    found: list[str] = []
    for one in one_by_one(candidates):
        if not is_pattern(one):
            found.append(one)
            continue
        pinned = tx.runs.resolve(baseline, dataset) if baseline and ":" not in baseline else None
        runs = tx.runs.matching(one, dataset if pinned is None else pinned.dataset)
        names = [run.name for run in runs if pinned is None or run.id != pinned.id]
        if not names:
            raise ReferenceNotFoundError(f"no run but the baseline fits {one!r}", advice="name a candidate")
        found += names
    return list(dict.fromkeys(found))


def one_by_one(candidates: Sequence[str | Sequence[str]]) -> list[str]:
    """Return the references of runs that were given one by one or in lists (InputError for anything else)."""
    found: list[str] = []
    for given in candidates:
        each = [given] if isinstance(given, str) else given
        if not isinstance(each, (list, tuple)) or not all(isinstance(one, str) for one in each):
            raise InputError(f"a candidate is a run's name, id or @alias as text, or a list of these, not {given!r}")
        found += each
    return found


@dataclass(frozen=True)
class ComparisonResult:
    """A baseline compared with one candidate or several; notebooks show it as a report, and ``print`` prints it.

    ``comparisons``: the typed rows, one comparison per candidate.

    >>> import ndcg_tracker as nt
    >>> from tempfile import TemporaryDirectory
    >>> groups, items = ["tent", "tent", "lamp", "lamp"], ["a", "b", "a", "b"]
    >>> shop = {"group": groups, "item": items, "label": [3, 0, 1, 0]}
    >>> with TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     _ = tracker.ingest({**shop, "score": [2.0, 1.0, 2.0, 1.0]}, name="old")
    ...     _ = tracker.ingest({**shop, "score": [1.0, 2.0, 2.0, 1.0]}, name="new")
    ...     _ = tracker.set_groups({"group": ["tent", "lamp"], "device": ["phone", "tv"]})
    ...     result = tracker.compare("old", "new", by="device")
    >>> print(str(result).splitlines()[0])
    new against old on default: no difference detected in ndcg@10 (-0.1845; low information)
    >>> result.to_frame()[["candidate_run", "metric", "n", "wins", "ties", "losses"]].values.tolist()
    [['new', 'ndcg@10', 2, 0, 1, 1]]
    >>> worst = result.to_dict()["worst"][0]
    >>> worst["group"], worst["moves"][0]["item"], worst["moves"][0]["rank_candidate"]
    ('tent', 'a', 2)
    >>> result.slices_to_frame()[["value", "n", "verdict"]].values.tolist()
    [['phone', 1, 'no_difference_detected'], ['tv', 1, 'identical']]
    >>> result.to_html()[:48]
    '<div><p><strong>new against old on default: no d'
    """

    comparisons: tuple[Comparison, ...]
    reports_of: Callable[[ComparisonChart], PairReports] | None = field(default=None, repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know of the comparisons, in words."""
        return in_words(note for comparison in self.comparisons for note in comparison.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track compare --format json`` prints."""
        return comparison_object(*self.comparisons)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and metric, with the columns of ``--format csv`` that do not concern slices.

        What is undefined or was not asked for is None or NaN.
        """
        import pandas as pd

        return pd.DataFrame([row for comparison in self.comparisons for row in metric_rows(comparison)])

    def slices_to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and slice of the first metric; no row where ``by`` was not given."""
        import pandas as pd

        return pd.DataFrame([row for comparison in self.comparisons for row in slice_rows(comparison)])

    def plot(self, kind: ComparisonChart = "every", *, by: str | None = None) -> Chart:
        """Return a chart of the comparison: "every" group, "scatter", "histogram", "forest", "slices", "cutoffs".

        "heatmap" shows every run against every other. The groups are read again from the database; of several
        candidates the first is drawn where a chart shows one. Parameters: ``by``: a group attribute, for "slices", and
        as colours for "every" and "scatter". Raises: InputError for a kind that is none or cannot be drawn, and where
        the database has changed since.
        """
        from ndcg_tracker.compare.chart import checked_kind, comparison_chart
        from ndcg_tracker.render.charts.chart import Chart

        checked_kind(kind)
        if self.reports_of is None:
            raise InputError("this comparison has no database behind it", advice="ask Tracker.compare for one")
        reports = self.reports_of(kind)
        if tuple(pair.comparison for pair in reports.pairs) != self.comparisons:
            raise InputError("the database has changed since these runs were compared", advice="compare them again")
        return Chart(comparison_chart(kind, reports, by))

    def to_html(self) -> str:
        """Return the report as a piece of HTML with its tables, in which ids are text and never markup."""
        return comparison_html(*self.comparisons)

    def _repr_html_(self) -> str:
        from ndcg_tracker.render.charts.chart import picture_element

        return self.to_html() + ("" if self.reports_of is None else picture_element(self.plot))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return comparison_as("text", *self.comparisons)
