"""Compare systems on the same queries: rankings, which become stored runs, or results, without a database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC
from ndcg_tracker.compare.decide import ComparedRuns, PairedResults, compare_runs
from ndcg_tracker.compare.gather import ComparisonResult
from ndcg_tracker.compare.options import Methods, Missing
from ndcg_tracker.compare.pair import pair
from ndcg_tracker.compare.results import LabelSetRef, RunRef
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.objects import array_of
from ndcg_tracker.ingest.reading import path_of, read_labels
from ndcg_tracker.metrics.language.metric import Direction, named_external
from ndcg_tracker.metrics.language.text import metric_texts
from ndcg_tracker.storage.checks import checked_name
from ndcg_tracker.storage.records import EXTERNAL_JUDGE

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.compare.gather import ComparisonResult
    from ndcg_tracker.compare.options import CiMethod, TestName
    from ndcg_tracker.compare.results import Estimate
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.runs.ingest import IngestResult


_QUERY_IDS = ("qid", "query_id", "query-id", "group")


@dataclass(frozen=True)
class ExperimentResult:
    """The results of several systems on the same queries; notebooks and ``print`` show it as a table.

    ``runs``: the result of storing each run, in the order in which they were given. ``comparison``: of the baseline
    with all others, None without a baseline. ``tracker``: where the runs are stored, for further questions.
    """

    runs: tuple[IngestResult, ...]
    metrics: tuple[str, ...]
    comparison: ComparisonResult | None
    tracker: Tracker = field(repr=False, compare=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system: ``name``, the mean of each metric and, with a baseline, how each compares.

        For each metric, ``METRIC +`` and ``METRIC -`` count the queries that are better and worse than the baseline.
        ``METRIC p-value`` comes from the test, and ``METRIC p-value corrected`` is Holm-corrected over all candidates
        and metrics. For the baseline these are missing.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for run in self.runs:
            means = [evaluated.mean for evaluated in run.metrics]
            rows.append({"name": run.run, **dict(zip(self.metrics, means, strict=True))})
        frame = pd.DataFrame(rows).astype(dict.fromkeys(self.metrics, "float64"))
        for comparison in self.comparison.comparisons if self.comparison is not None else ():
            place = next(at for at, run in enumerate(self.runs) if run.run == comparison.candidate.name)
            of_metric = {result.metric: result for result in comparison.metrics}
            for text, evaluated in zip(self.metrics, self.runs[place].metrics, strict=True):
                result = of_metric[evaluated.metric]
                for name, value in _compared(result):
                    frame.loc[place, f"{text} {name}"] = value
        return frame

    def to_html(self) -> str:
        """Return the table as HTML."""
        return str(self.to_frame().to_html(index=False))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self.to_frame().to_string(index=False))


def _compared(result: Estimate) -> Sequence[tuple[str, float | None]]:
    return (
        ("+", result.wins),
        ("-", result.losses),
        ("p-value", result.p_value),
        ("p-value corrected", result.p_adjusted),
    )


def experiment(
    systems: Mapping[str, object] | Sequence[object],
    queries: object = None,
    labels: object | None = None,
    metrics: str | Sequence[object] = DEFAULT_METRIC,
    names: Sequence[str] | None = None,
    *,
    baseline: str | int | None = None,
    filter_by_qrels: bool = False,
    filter_by_topics: bool = True,
    test: TestName = "t",
    dataset: str = DEFAULT_DATASET,
    database: str | os.PathLike[str] | None = None,
    tags: Mapping[str, str] | None = None,
    replace: bool = False,
    allow: str | Sequence[str] = (),
) -> ExperimentResult:
    """Rank the same queries with several systems, store each ranking as a run, and compare them with a baseline.

    Each run is stored as soon as it is ready. The first five parameters, ``baseline`` and the two filters mean the same
    as in ``pyterrier.Experiment``.

    Parameters: ``systems``: by name, or a sequence with ``names``. A system is a ranking (anything that
    ``Tracker.ingest`` takes: a frame, a dict, a path), a PyTerrier transformer, or a function that takes ``queries``
    and returns a ranking. ``queries``: the input of the systems, such as a frame with ``qid`` and ``query``, or
    ``{id: text}``. ``labels``: see ``Tracker.ingest``; None if each ranking has its own. ``metrics``: texts, or
    measures of ir_measures. ``baseline``: the name of a system, or its place from 0. ``filter_by_topics``: count only
    labels of these queries, if their ids are known. ``filter_by_qrels``: give systems only queries that have labels.
    ``test``: see ``Tracker.compare``. ``dataset``, ``database``, ``tags``, ``replace``, ``allow``: for all runs.
    Returns: the means and comparisons. Raises: InputError for arguments that do not fit together, before any system
    runs; the errors of ``Tracker.ingest`` and ``Tracker.compare``.

    >>> import ndcg_tracker as nt, tempfile
    >>> queries, labels = {"q1": "tent", "q2": "lamp"}, {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> def by_length(queries):
    ...     return {query: {"a": len(text), "b": 4.5} for query, text in queries.items()}
    >>> reversed_ids = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 1.0, "b": 2.0}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     systems = {"length": by_length, "ids": reversed_ids}
    ...     result = nt.experiment(systems, queries, labels, "P@1", baseline="ids", database=f"{folder}/db")
    ...     frame = result.to_frame()
    >>> frame[["name", "P@1", "P@1 +", "P@1 -"]].fillna(-1).values.tolist()
    [['length', 0.5, 0.0, 0.0], ['ids', 0.5, -1.0, -1.0]]
    """
    named = _named(systems, names)
    texts = list(metric_texts(metrics if isinstance(metrics, str) else [str(measure) for measure in metrics]))
    reference = _reference(list(named), baseline)
    asked = [name for name, system in named.items() if _is_asked(system)]
    if asked and queries is None:
        raise InputError(f"system {asked[0]!r} ranks queries, but there are none", advice=f"give {argument('queries')}")
    label_lists = None if labels is None else read_labels(labels)
    ids = _ids_of(queries)
    if filter_by_qrels:
        queries = _labelled(queries, ids, label_lists)
        ids = _ids_of(queries)
    of_queries = (
        labels if not filter_by_topics or ids is None or label_lists is None else _only(labels, label_lists, ids)
    )
    tracker = Tracker(database)
    runs = tuple(
        tracker.ingest(
            _asked(system, queries),
            name=name,
            labels=of_queries,
            dataset=dataset,
            metrics=texts,
            tags=tags,
            replace=replace,
            allow=allow,
        )
        for name, system in named.items()
    )
    comparison = None
    if reference is not None and len(runs) > 1:
        others = [name for name in named if name != reference]
        comparison = tracker.compare(reference, others, dataset=dataset, metrics=texts, test=test)
    return ExperimentResult(runs, tuple(texts), comparison, tracker)


def _named(systems: Mapping[str, object] | Sequence[object], names: Sequence[str] | None) -> dict[str, object]:
    """Return the systems by name; refuse names that are missing, used twice, or not names."""
    if isinstance(systems, Mapping):
        if names is not None:
            raise InputError("the systems already have names", advice=f"leave out {argument('names', list(names))}")
        by_name = dict(systems)
    else:
        listed = list(systems)
        if names is None:
            raise InputError("the systems have no names", advice="give {name: system}, or names=[...]")
        if len(names) != len(listed):
            raise InputError(f"there are {len(listed)} systems but {len(names)} names", advice="give one per system")
        if len(set(names)) < len(names):
            twice = next(name for at, name in enumerate(names) if name in names[:at])
            raise InputError(f"two systems are called {twice!r}", advice="give each system its own name")
        by_name = dict(zip(names, listed, strict=True))
    if not by_name:
        raise InputError("there is no system", advice="give at least one")
    for name in by_name:
        checked_name("run", name)
    return by_name


def _reference(names: list[str], baseline: str | int | None) -> str | None:
    """Return the name of the baseline."""
    if baseline is None or (isinstance(baseline, str) and baseline in names):
        return baseline
    if isinstance(baseline, int) and not isinstance(baseline, bool) and 0 <= baseline < len(names):
        return names[baseline]
    raise InputError(
        f"{argument('baseline', baseline)} is not a system",
        advice=f"give one of {', '.join(map(repr, names))}, or its place from 0 to {len(names) - 1}",
    )


def _is_asked(system: object) -> bool:
    """Return whether a system ranks queries; a frame is a ranking, although it may have a ``transform`` method."""
    is_frame = hasattr(system, "__arrow_c_stream__") or hasattr(system, "__dataframe__")
    return not is_frame and (callable(getattr(system, "transform", None)) or callable(system))


def _asked(system: Any, queries: object) -> object:
    """Return the ranking of a system: its result for the queries, or the system itself if it is a ranking."""
    if path_of(system) is not None or not _is_asked(system):
        return system
    ask: Callable[[object], object] = getattr(system, "transform", None) or system
    return ask(queries)


def _ids_of(queries: Any) -> list[str] | None:
    """Return the ids of the queries, None if they are not known."""
    if isinstance(queries, Mapping):
        return [str(query) for query in queries]
    columns = getattr(queries, "columns", None)
    name = (
        None if columns is None else next((candidate for candidate in _QUERY_IDS if candidate in list(columns)), None)
    )
    return None if name is None else [str(query) for query in queries[name]]


def _labelled(queries: Any, ids: list[str] | None, labels: LabelLists | None) -> object:
    """Return the queries that have labels."""
    if ids is None or labels is None:
        raise InputError(
            f"the {'ids of the queries' if ids is None else 'labels'} are not known",
            advice=f"leave out {argument('filter_by_qrels', True)}",
        )
    labelled = set(labels.group_keys.to_list())
    if isinstance(queries, Mapping):
        return {query: text for query, text in queries.items() if str(query) in labelled}
    return queries[np.array([query_id in labelled for query_id in ids])]


def _only(labels: object, lists: LabelLists, ids: Iterable[str]) -> object:
    """Return only the labels of some queries, or ``labels`` unchanged if there are no others."""
    asked = set(ids)
    groups = np.array(lists.group_keys.to_list(), dtype=object)
    kept = np.repeat(np.array([group in asked for group in groups], dtype=bool), np.diff(lists.offsets))
    if kept.all():
        return labels
    if not kept.any():
        raise InputError("no query has labels", advice="check that queries and labels write their ids the same way")
    items = np.array(lists.item_keys.to_list(), dtype=object)
    owners = np.repeat(groups, np.diff(lists.offsets))
    return {"group": owners[kept], "item": items[kept], "label": lists.grades[kept]}


def paired(
    baseline: object,
    candidate: object,
    *,
    metric: str = "value",
    direction: Direction = "higher",
    range: tuple[float, float] = (-np.inf, np.inf),
    names: tuple[str, str] = ("baseline", "candidate"),
    test: TestName = "t",
    ci: CiMethod = "t",
    missing: Missing = "error",
    top: int = 10,
) -> ComparisonResult:
    """Return the comparison of two runs from their group results, as ``Tracker.compare`` does for stored runs.

    Parameters: ``baseline``, ``candidate``: arrays of the same length, paired by place, NaN where undefined; or dicts
    with a value per group, or pandas Series with the groups as index, paired by group. ``metric``: the name of the
    values. ``direction``: "higher" or "lower", whichever is better. ``range``: the lowest and the highest possible
    value. ``names``: of both runs. ``test``, ``ci``, ``missing``, ``top``: see ``Tracker.compare``. Returns: the
    result, with ``to_dict``, ``to_frame`` and ``to_html``; ``str`` gives a report. Raises: InputError for values that
    are not numbers.

    >>> import ndcg_tracker as nt
    >>> result = nt.paired([0.50, 0.25, 0.75, 0.50], [0.75, 0.50, 0.75, 0.75], range=(0, 1))
    >>> found = result.to_dict()["metrics"][0]
    >>> found["delta"], found["wins"], round(found["p_value"], 4), found["verdict"]
    (0.1875, 3, 0.0577, 'no_difference_detected')
    >>> nt.paired({"q1": 80, "q2": 95}, {"q1": 71, "q2": 90}, metric="latency", direction="lower").to_dict()["best"][0]
    {'group': 'q1', 'baseline': 80.0, 'candidate': 71.0, 'delta': -9.0}
    """
    parsed = named_external(metric, direction, *map(str, range))
    limits = parsed.limits or (-np.inf, np.inf)
    groups, of_baseline, of_candidate = _aligned(baseline, candidate)
    for values in (of_baseline[1], of_candidate[1]):
        defined = values[~np.isnan(values)]
        if np.isinf(defined).any() or (defined < limits[0]).any() or (defined > limits[1]).any():
            raise InputError(f"a value is outside the range {limits[0]:g} to {limits[1]:g}")
    results = PairedResults(
        str(parsed),
        pair(*of_baseline, *of_candidate, missing=missing, metric=parsed.measure),
        limits=(limits[0] - limits[1], limits[1] - limits[0]),
        direction=parsed.direction,
    )
    runs = ComparedRuns(
        RunRef(names[0], None), RunRef(names[1], None), "these values", LabelSetRef(0, "", EXTERNAL_JUDGE)
    )
    comparison = compare_runs(
        runs,
        [results],
        lambda ids: [groups[place] for place in ids.tolist()],
        methods=Methods(test=test, ci=ci),
        top=top,
    )
    return ComparisonResult((comparison,))


def _aligned(baseline: Any, candidate: Any) -> tuple[list[str], tuple[Index, Floats], tuple[Index, Floats]]:
    """Return the names of the groups and, for each side, the places of its groups among them and its values."""
    sides = [_by_group(given) for given in (baseline, candidate)]
    of_baseline, of_candidate = sides
    if of_baseline is not None and of_candidate is not None:
        names = sorted({*of_baseline, *of_candidate})
        place_of = {name: place for place, name in enumerate(names)}
        aligned = []
        for side in (of_baseline, of_candidate):
            places = np.array([place_of[name] for name in side], dtype=np.int64)
            order = np.argsort(places)
            aligned.append((places[order], _values(list(side.values()))[order]))
        return names, aligned[0], aligned[1]
    if of_baseline is not None or of_candidate is not None:
        raise InputError("one side has groups but the other has none", advice="give two arrays, or two dicts")
    values, others = _values(baseline), _values(candidate)
    if values.size != others.size:
        raise InputError(
            f"the arrays have {values.size:,} and {others.size:,} values", advice="give one value per group in each"
        )
    places = np.arange(values.size)
    return [str(place) for place in places.tolist()], (places, values), (places, others)


def _by_group(given: Any) -> dict[str, object] | None:
    """Return the values by group, None for an array."""
    if not isinstance(given, Mapping) and not (hasattr(given, "index") and hasattr(given, "items")):
        return None
    pairs = [(str(key), value) for key, value in given.items()]
    by_group = dict(pairs)
    if len(by_group) < len(pairs):
        raise InputError("a group is given twice", advice="give one value per group")
    return by_group


def _values(given: object) -> Floats:
    try:
        values = np.asarray(array_of(given, "one side"), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"a {type(given).__name__} is not an array of numbers", advice="give one number per group"
        ) from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"the values have {values.ndim} dimensions", advice="give one number per group")
    return values
