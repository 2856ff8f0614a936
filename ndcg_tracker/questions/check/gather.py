"""Read the results, the golden set and the baseline of a check."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ndcg_tracker.asked import checked_margin
from ndcg_tracker.errors import InputError, NdcgTrackerWarning, argument
from ndcg_tracker.ingest.by_shape import empty_lists
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.reading import path_of
from ndcg_tracker.ingest.shapes import Recognised
from ndcg_tracker.ingest.table import RankedTable, joined_notes
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metrics
from ndcg_tracker.questions.check.baseline import DEPTH, Baseline, read_baseline
from ndcg_tracker.questions.check.decide import Facts, Rules, default_metrics
from ndcg_tracker.questions.check.question import CheckQuestion
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.statistics.small_sets import TOLERANCE
from ndcg_tracker.words.notes import note_text
from ndcg_tracker.words.texts import counted, shown, shown_name

T = TypeVar("T")


class Reads(Protocol):
    """How to read a run and its labels: ``api.reading.Reading``."""

    @property
    def recognised(self) -> list[Recognised]:
        """What was recognised, in the order of reading."""

    @property
    def item_to_document(self) -> object:
        """What says that items are chunks of documents, None for other items."""

    def of_run(self, labels: object) -> Columns:
        """Return the columns of a run with labels of its own file."""

    def labels_given(self, labels: object, judge: None = None, run: object = None) -> Any:
        """Return the labels that come apart from a run."""

    def used_by(self, frame: object, given: Any, use: Callable[..., T]) -> T:
        """Return the result of a function of the blocks of a run and its labels."""


def gathered(
    reading: Reads, results: object, labels: object, against: str | None, question: CheckQuestion
) -> tuple[Facts, Rules]:
    """Return what was read, and what decides."""
    baseline = None
    if against is not None and Path(against).exists():
        baseline = read_baseline(against)
    elif against is not None and not question.accept:
        raise _no_baseline(results, labels, against)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        given = reading.labels_given(labels, None, (results,) if baseline is None else (results, against))
        golden = reading.recognised[0] if reading.recognised else Recognised("", [])
        of_golden = [*given.lists.group_keys.to_list(), *golden.without_answer]
        try:
            tables = reading.used_by(results, given, _whole)
        except InputError:  # so it is where every list is empty
            tables = []
            if not empty_lists(results, reading.of_run(labels), of_golden):
                raise
    names = _name(labels, "the golden set"), _name(results, "the results"), shown_name(against) if against else ""
    read = [str(warning.message) for warning in caught if isinstance(warning.message, NdcgTrackerWarning)]
    notes = joined_notes(note for table in tables for note in table.notes if note.kind != "order_of_lists")
    metrics = parse_metrics(question.metrics or [*(baseline.mean if baseline else ())]) or default_metrics(given.lists)
    scored = next((of.list_scores for of in reading.recognised if of.list_scores), {})
    try:
        lists = _lists(tables, metrics[0], question.empty_below, scored)
    except InputError as error:
        raise error.at(names[1]) from None
    lists = {
        **(empty_lists(results, reading.of_run(labels), of_golden) if {*of_golden} - lists.keys() else {}),
        **lists,
    }
    for of, name, n in ((labels, names[0], len(of_golden)), (results, names[1], len(lists))):  # of a known format
        if path_of(of) is not None and not any(line.startswith(f"{name}: ") for line in read):
            read.append(f"{name}: read {counted(n, 'query')}")
    cutoffs = [metric.cutoff for metric in metrics]
    cutoff = None if None in cutoffs else max(filter(None, cutoffs))
    if baseline is not None and not question.accept:
        _refuse_depth(metrics, baseline)
    if baseline is not None and reading.item_to_document is not None:
        baseline = replace(baseline, lists=_documents(reading, baseline, given, metrics[0]))
    _refuse_strangers(lists, given.lists, baseline, names)
    facts = Facts(
        lists,
        given.lists,
        golden.without_answer,
        baseline,
        golden.attributes,
        None if question.corpus_ids is None else _ids_in(question.corpus_ids),
        names,
        [*read, *(f"{names[1]}: {note_text(note)}" for note in notes)],
        cutoff,
    )
    margin = None if question.margin is None else checked_margin(question.margin, "the margin")
    tolerance = TOLERANCE if question.tolerance is None else checked_margin(question.tolerance, "the tolerance")
    are_stable = question.ids_are_stable or (baseline is not None and baseline.ids_are_stable)
    return facts, Rules(metrics, tolerance, question.strict, margin, are_stable, cutoff and max(cutoff, DEPTH))


def _whole(blocks: Iterable[RankedTable], _: object) -> list[RankedTable]:
    return list(blocks)


def _documents(reading: Reads, baseline: Baseline, given: Any, metric: Metric) -> Mapping[str, Sequence[str]]:
    """Return the lists of a baseline with documents in the place of chunks, unless it has documents already."""
    full = {query: ids for query, ids in baseline.lists.items() if ids}
    try:
        return {**baseline.lists, **_lists(reading.used_by(full, given, _whole), metric)}
    except InputError:
        return baseline.lists


def _no_baseline(results: object, labels: object, against: str) -> InputError:
    paths, accept = [path_of(results), path_of(labels)], argument("accept", True)
    command = (
        f"ndcg-track check {shlex.join([paths[0] or '', '--labels', paths[1] or '', '--against', against])} --accept"
    )
    how = command if all(paths) else accept
    return InputError("there is no such file", where=shown_name(against), advice=f"write it with: {how}")


def _name(given: object, otherwise: str) -> str:
    path = path_of(given)
    return otherwise if path is None else shown_name(path)


def _lists(
    tables: Iterable[RankedTable],
    metric: Metric,
    empty_below: float | None = None,
    scored: Mapping[str, Mapping[str, float]] = {},
) -> dict[str, Sequence[str]]:
    """Return the ranked items of each query; those of equal score in the order that the first metric gives them.

    ``empty_below``: items with a lower score are left out. ``scored``: the scores of lists that are in order. Raises:
    InputError for an item without a score, if that is to decide.
    """
    lists: dict[str, Sequence[str]] = {}
    for table in tables:
        run, rule = table.ranking, metric.tie_rule(table.ranking.tie_order)
        in_order = any(note.kind == "order_of_lists" for note in table.notes)
        items, scores, ends = run.item_keys.to_list(), run.scores.tolist(), run.offsets.tolist()
        for query, low, high in zip(run.group_keys.to_list(), ends, ends[1:], strict=False):
            rows = [*range(low, high)]
            if rule in ("item_asc", "item_desc"):
                rows = sorted(rows, key=lambda row: items[row].encode(), reverse=rule == "item_desc")
                rows = sorted(rows, key=lambda row: -scores[row])
            if empty_below is not None:
                known = scored.get(query, {}) if in_order else dict(zip(items[low:high], scores[low:high], strict=True))
                if any(items[row] not in known for row in rows):
                    what = f"query {query!r} has an item without a score, so {argument('empty_below', empty_below)}"
                    advice = "write the score of each item, or return an empty list"
                    raise InputError(f"{what} does not tell whether to leave it out", advice=advice)
                rows = [row for row in rows if known[items[row]] >= empty_below]
            lists[query] = [items[row] for row in rows]
    return lists


def _refuse_depth(metrics: Sequence[Metric], baseline: Baseline) -> None:
    """Refuse metrics that read more than the baseline keeps of a list that it cut (InputError)."""
    depth = baseline.depth or float("inf")
    deep = [one for one in metrics if (one.cutoff or float("inf")) > depth]
    if deep and any(len(ids) == depth for ids in baseline.lists.values()):
        what = f"it keeps the first {baseline.depth} items of a list, and {deep[0].requested_as} reads more"
        advice = f"accept results anew with {argument('metrics', deep[0].requested_as)} and {argument('accept', True)}"
        raise InputError(what, where=baseline.name, advice=advice)


def _refuse_strangers(
    lists: Mapping[str, Sequence[str]], labels: LabelLists, baseline: Baseline | None, names: Sequence[str]
) -> None:
    """Refuse results in which no labelled item occurs, unless a baseline shows that they once did (InputError)."""
    golden = set(labels.item_keys.to_list())
    for of in (lists, {} if baseline is None else baseline.lists):
        if any(item in golden for ids in of.values() for item in ids):
            return
    examples = labels.item_keys.to_list()[0], next((ids[0] for ids in lists.values() if ids), "")
    such = f"one has ids such as {shown(examples[0])}, the other {shown(examples[1])}"
    what = f"no id of {names[0]} is in {names[1]}: {such}"
    raise InputError(
        what, advice=f"give the golden set of these results, or name its key with {argument('relevant', 'KEY')}"
    )


def _ids_in(path: str) -> frozenset[str]:
    """Return the ids in a file, one on a line."""
    try:
        return frozenset(Path(path).read_text(encoding="utf-8-sig").split("\n"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=shown_name(path), advice="give one id on a line") from None
