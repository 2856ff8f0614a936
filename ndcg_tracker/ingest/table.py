"""Turn the rows of a table from any source into the columnar ranking, the labels and the weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import NO_RANK, Places, Ranks
from ndcg_tracker.ingest.columns import Refused
from ndcg_tracker.ingest.documents import Chunks
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import Grouping, group_ranges, grouped_spans, places_in
from ndcg_tracker.rankings.groups_share import in_share
from ndcg_tracker.rankings.keys import BLOCK, Keys
from ndcg_tracker.rankings.ranking import (
    MAX_WEIGHT,
    NO_ITEMS,
    GroupedItems,
    GroupWeights,
    LabelLists,
    Ranking,
    Run,
    run_of_groups,
    single_means,
)
from ndcg_tracker.rankings.sorting import descending_order, repeats_before
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import shown

LONGEST_ID = 2000  # bytes; beyond 2.7 kB a Postgres index refuses an id


_BLOCK_ROWS = 1 << 19  # of a table that is ranked in blocks
_LAST_POSITION = 100_000
_LEAST_LIST = 5  # shorter lists may have such scores by chance


def no_row(refused: Refused, n_failed: int = 0) -> Exception:
    """Return the error of ``refused`` for a table without rows; ``n_failed``: how many responses were left out."""
    if n_failed:
        return refused("every response failed", advice="run the search again")
    return refused("there are no rows", advice="give at least one")


def no_score(refused: Refused) -> Exception:
    """Return the error of ``refused`` for a run without scores."""
    return refused("no row has a score", advice="name the score column, or read the file as labels")


def none_in_share(share: Fraction, refused: Refused) -> Exception:
    """Return the error of ``refused`` for a table that has none of the groups of a share."""
    return refused(f"no group is in the share {share}", advice="give a larger share")


def too_heavy(refused: Refused) -> Exception:
    """Return the error of ``refused`` for a weight that is too large."""
    what = f"the weight is above {MAX_WEIGHT:g}"
    return refused(what, advice="give weights of a common size, such as 1 for most groups")


def refuse_no_chunk(chunks: Sequence[Chunks], refused: Refused) -> None:
    """Raise the error of ``refused`` for a run in which the rule for documents matches no item."""
    if chunks and not sum(of_block.n_changed for of_block in chunks):
        raise refused(
            f"{argument('item_to_document')} matches no item of the run, so each item would be its own document",
            advice="give a pattern that matches what follows the document's id, such as '#.*', or leave it out",
        )


def joined_notes(notes: Iterable[Note], *, has_labels: bool = False) -> list[Note]:
    """Return the notes on the parts of a run as notes on all of it.

    ``has_labels``: whether labels came with the run in the same table, so that an item without a score is judged.

    >>> for note in joined_notes([Note("rank_conflict", {"n": 2, "first": "q1"}), Note("no_score", {"n": 1})] * 2):
    ...     print(note)
    rank conflict: n=4, first='q1'
    no score: n=2
    """
    every, joined = list(notes), list[Note]()
    if any(note.facts.get("deciding") == "lists" for note in every):  # the order does not decide
        every = [note for note in every if note.kind != "order_of_lists"]
    for kind in (
        "failed_responses",
        "order_of_lists",
        "ties_by_input",
        "rank_conflict",
        "scores_like_ranks",
        "rank_gaps",
        "duplicates",
        *(() if has_labels else ("no_score",)),
    ):
        parts = [note for note in every if note.kind == kind]
        n = sum(cast("int", note.facts.get("n", 0)) for note in parts)
        joined += [replace(note, facts={**note.facts, "n": n}) if n else note for note in parts[:1]]
    return joined


def scores_like_ranks(group_keys: Keys, offsets: Index, scores: Floats) -> Note | None:
    """Return a note if the scores of every group look like ranks: the positions in a list, from 0 or 1.

    Such scores are whole numbers from 0 that rise with the rows of each group, possibly with gaps. They may also be the
    numbers from 0 or 1 to the number of rows in any order, unless they fall with the rows. Parameters: ``scores``:
    float64, one per row. If all groups are shorter than 5 rows, there is no note.

    >>> scores_like_ranks(Keys.from_strings(["q"]), np.array([0, 5]), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    Note(kind='scores_like_ranks', facts={'n': 1, 'first': 'q'}, command=())
    """
    lengths = np.diff(offsets)
    if lengths.max(initial=0) < _LEAST_LIST:
        return None
    for part in (scores[: int(lengths[0])], scores):  # for most runs the first group is enough
        if part.min() < 0 or not np.array_equal(part, np.floor(part)):
            return None
    starts = offsets[:-1]
    if _falls(scores, offsets) or _stays(scores, offsets):
        lowest = np.minimum.reduceat(scores, starts)
        if not _falls(-scores, offsets) or lowest.max() > 1:
            return None
        places = scores - np.repeat(lowest - starts, lengths)
        within = (places >= np.repeat(starts, lengths)) & (places < np.repeat(offsets[1:], lengths))
        if not within.all() or np.bincount(places.astype(np.int64)).max() > 1:
            return None
    return Note("scores_like_ranks", {"n": lengths.size, "first": group_keys[0]})


def rank_conflict(
    group_keys: Keys, offsets: Index, ranks: Ranks, scores: Floats, *, is_descending: bool = False
) -> Note | None:
    """Return a note on the groups in which a better rank has a lower score, None if there are none.

    Parameters: ``ranks``: int32, one per row, ``NO_RANK`` for none. ``scores``: float64, one per row, finite;
    ``is_descending``: whether they are known to descend in each group.

    >>> keys, offsets = Keys.from_strings(["q", "r"]), np.array([0, 2, 4])
    >>> rank_conflict(keys, offsets, np.array([1, 2, 1, 2], dtype=np.int32), np.array([2.0, 1.0, 0.5, 0.6]))
    Note(kind='rank_conflict', facts={'n': 1, 'first': 'r'}, command=())
    """
    if not _falls(ranks, offsets) and (is_descending or not _falls(-scores, offsets)):
        return None
    suspect = ranks[1:] < ranks[:-1]
    suspect |= scores[1:] > scores[:-1]
    suspect[offsets[1:-1] - 1] = False
    groups = np.unique(np.searchsorted(offsets, np.flatnonzero(suspect), "right") - 1)
    lengths = np.diff(offsets)[groups]
    rows = np.repeat(offsets[groups] - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    rows = rows[ranks[rows] != NO_RANK]
    owners = np.searchsorted(offsets, rows, "right") - 1
    bounds = np.append(np.searchsorted(owners, groups), rows.size)
    order = rows[descending_order(-ranks[rows].astype(np.float64), bounds)]
    # the lowest score of one rank may not be below the highest of the next
    firsts = np.flatnonzero(np.append(True, (np.diff(ranks[order]) != 0) | (np.diff(owners) != 0))[: order.size])
    if not firsts.size:
        return None
    lowest, highest = np.minimum.reduceat(scores[order], firsts), np.maximum.reduceat(scores[order], firsts)
    owner = owners[firsts]
    wrong = np.unique(owner[1:][(owner[1:] == owner[:-1]) & (highest[1:] > lowest[:-1])])
    return Note("rank_conflict", {"n": int(wrong.size), "first": group_keys[int(wrong[0])]}) if wrong.size else None


def _scores_in_rank_order(offsets: Index, ranks: Ranks, scores: Floats) -> Floats:
    """Return scores that put each group in the order of its ranks; they change only if the order changes.

    Equal scores of two ranks are replaced too, because otherwise each metric would decide which comes first. A group
    in which a row has no rank keeps its scores.

    >>> _scores_in_rank_order(np.array([0, 2, 4]), np.array([1, 2, 2, 1]), np.array([2.0, 1.0, 0.6, 0.5])).tolist()
    [2.0, 1.0, -2.0, -1.0]
    """
    order = descending_order(-ranks.astype(np.float64), offsets)
    after, before = order[1:], order[:-1]
    wrong = (scores[after] > scores[before]) | ((scores[after] == scores[before]) & (ranks[after] != ranks[before]))
    wrong[offsets[1:-1] - 1] = False
    groups = np.searchsorted(offsets, np.append(np.flatnonzero(wrong), 0)[:-1], "right") - 1
    others = np.zeros(offsets.size - 1, dtype=np.bool_)
    others[groups] = True
    others[np.searchsorted(offsets, np.flatnonzero(ranks == NO_RANK), "right") - 1] = False
    return np.where(np.repeat(others, np.diff(offsets)), 0.0 - ranks, scores)


def rank_gaps(group_keys: Keys, offsets: Index, ranks: Floats) -> Note | None:
    """Return a note on the groups whose ranks are not 1, 2, 3 and so on, in any order; None if there are none.

    >>> rank_gaps(Keys.from_strings(["q", "r"]), np.array([0, 2, 4]), np.array([2.0, 1.0, 1.0, 3.0]))
    Note(kind='rank_gaps', facts={'n': 1, 'first': 'r', 'why': 'gaps'}, command=())
    """
    lengths = np.diff(offsets)
    order = descending_order(-ranks, offsets)
    wrong = np.flatnonzero(ranks[order] != places_in(lengths))
    groups = np.unique(np.searchsorted(offsets, wrong, "right") - 1)
    if not groups.size:
        return None
    first = int(groups[0])
    of_first = np.sort(ranks[offsets[first] : offsets[first + 1]])
    why = "repeats" if (np.diff(of_first) == 0).any() else "start" if of_first[0] != 1 else "gaps"
    return Note("rank_gaps", {"n": groups.size, "first": group_keys[first], "why": why})


def _at_positions(keys: Keys, offsets: Index, items: Keys, ranks: Floats, places: Places) -> tuple[Index, Keys, Floats]:
    """Return the lists with an item that nobody labelled at each position without one, and scores in this order.

    Raises: the error of ``places`` for ranks that are not positions.
    """
    owners = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    bad = (ranks < 1) | (ranks != np.floor(ranks)) | (ranks > _LAST_POSITION)
    last = np.where(bad.any(), 0, np.maximum.reduceat(ranks, offsets[:-1])).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(last)])
    at = ends[owners] + ranks.astype(np.int64) - 1
    if not bad.any():
        bad[np.setdiff1d(np.arange(at.size), np.unique(at, return_index=True)[1])] = True
    if bad.any():
        wrong = int(np.argmax(bad))
        what = f"rank {ranks[wrong]:g} of item {shown(items[wrong])} of group {shown(keys[int(owners[wrong])])}"
        advice = f"give each item its own rank from 1 to {_LAST_POSITION:,}, as RecTools reads them"
        raise places.whole(f"{what} is not a position of its own", advice=advice)
    positions = places_in(np.diff(ends))
    empty = Keys.from_strings([f"(no item at rank {place})" for place in range(1, last.max() + 1)])
    chosen = len(items) + positions - 1
    chosen[at] = np.arange(len(items))
    return ends, Keys.joined([items, empty]).take(chosen), -positions.astype(np.float64)


def _falls(values: Ranks | Floats, offsets: Index) -> bool:
    """Return whether a value is lower than the one before it in its group."""
    n_falls = 0
    for first in range(0, values.size, BLOCK):
        block = values[first : first + BLOCK + 1]
        n_falls += int(np.count_nonzero(block[1:] < block[:-1]))
    starts = offsets[1:-1]
    return bool(n_falls > np.count_nonzero(values[starts] < values[starts - 1]))


def _stays(values: Floats, offsets: Index) -> bool:
    """Return whether a value equals the one before it in its group."""
    same = values[1:] == values[:-1]
    same[offsets[1:-1] - 1] = False
    return bool(same.any())


@dataclass(frozen=True, slots=True)
class RankedTable:
    """The content of a run's file or frame: the run and, if they are there, labels and group weights.

    ``run``: in the order of its rows; it has items, except in a block of a stream in which every row is judged and none
    was retrieved. ``by_row_number``: whether items are identified by the row's number within the group, because they
    have no ids. ``notes``: what the user should know. ``chunks``: how chunks became documents, None for other items.
    ``group_column``: see ``Rows``.
    """

    run: Run
    labels: LabelLists | None
    weights: GroupWeights | None
    by_row_number: bool = False
    notes: tuple[Note, ...] = ()
    chunks: Chunks | None = None
    group_column: str = ""

    @property
    def ranking(self) -> Ranking:
        """The run in the order of its scores, sorted when it is first asked for."""
        return self.run if isinstance(self.run, Ranking) else self.run.in_order


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Rows collected group by group; ``rows`` are the source rows at each place."""

    keys: Keys
    offsets: Index
    items: Keys
    rows: Index | slice

    def arranged(self, values: Floats) -> Floats:
        """Return a column of the source in the order of the groups, as doubles."""
        return values[self.rows].astype(np.float64, copy=False)

    def source_row(self, place: int) -> int:
        """Return the source row at a place."""
        return place + int(self.rows.start) if isinstance(self.rows, slice) else int(self.rows[place])


NO_LISTS = RankedTable(NO_ITEMS, None, None)
"""A run of which every list is empty."""


def ranked_table(rows: Rows, places: Places, *, is_part: bool = False) -> RankedTable:
    """Return the run, the labels and the weights of a table.

    A row without score is judged but not retrieved, a row without grade is unjudged. ``is_part``: whether this is a
    part of a table, which may lack scores. Raises: the error of ``places`` for an id that is empty, too long or has a
    NUL byte, and for two rows of one (group, item). Raises it also for a table without rows or scores, and for an
    empty or negative weight.
    """
    if rows.n_empty:
        return replace(NO_LISTS, notes=tuple(of_failed(rows.n_failed)))
    grouping = _grouping(rows, places, is_part=is_part)
    if rows.scores is None and not is_part:
        raise places.whole("there are no scores; a run needs one per item")
    return _ranked(rows, _grouped(rows, grouping), places, is_part=is_part)


def ranked_blocks(rows: Rows, places: Places) -> Iterator[RankedTable]:
    """Yield the result of ``ranked_table`` in blocks of whole groups, which take less memory and use several cores.

    Raises: the errors of ``ranked_table``.
    """
    grouping = _grouping(rows, places)
    ranges = list(group_ranges(grouping.offsets, _BLOCK_ROWS))
    if grouping.rows is not None and rows.items is not None and rows.items.numbers is None:
        rows.items.single_words()  # for short ids these are rearranged instead of the text
    if rows.scores is None or len(ranges) == 1:
        table = ranked_table(rows, places)
        refuse_no_chunk([] if table.chunks is None else [table.chunks], places.whole)
        yield table
        return
    any_score = False
    chunks: list[Chunks] = []
    try:
        told = replace(rows, n_failed=0)  # by the first block alone
        for block in mapped(
            lambda part: _ranked(told if part[0] else rows, _grouped(rows, grouping, *part), places, is_part=True),
            ranges,
        ):
            any_score |= block.run.n_items > 0
            chunks += [] if block.chunks is None else [block.chunks]
            yield block
            del block  # frees memory while the next block is made
    except InputError:
        ranked_table(rows, places)  # raises the first row's error
        raise
    refuse_no_chunk(chunks, places.whole)
    if not any_score:
        raise no_score(places.whole)


def _ranked(rows: Rows, table: _Grouped, places: Places, *, is_part: bool) -> RankedTable:
    given = scores = np.full(len(table.items), np.nan) if rows.scores is None else table.arranged(rows.scores)
    n_rows = scores.size
    weights = None if rows.weights is None else _group_weights(table, rows.weights, places)
    labels = None
    if rows.grades is not None:
        judged = _of_documents(rows, _without_nulls(table, table.arranged(rows.grades)), places)
        labels = LabelLists(*judged, by_row_number=rows.items is None) if judged[3].size else None
    keys, offsets, items, scores = _without_nulls(table, scores)
    if not scores.size and not is_part:
        raise no_score(places.whole)
    run = run_of_groups(keys, offsets, items, scores)
    once = None if rows.items is None else _each_once(table, rows, given, places, run, labels)
    if once is not None:
        found = _ranked(rows, once[0], places, is_part=is_part)
        return replace(found, notes=(*once[1], *found.notes))
    notes = of_failed(rows.n_failed)
    looks_ranked = None if scores.size < n_rows else scores_like_ranks(table.keys, table.offsets, given)
    notes += [] if looks_ranked is None else [looks_ranked]
    notes += [Note("order_of_lists")] if rows.in_order else []
    ranks = None if rows.ranks is None else rows.ranks[table.rows][~np.isnan(given)]
    if ranks is not None and scores.size:
        conflict = rank_conflict(keys, offsets, ranks, scores, is_descending=isinstance(run, Ranking))
        if conflict is not None:
            deciding = {} if rows.deciding == "format" else {"deciding": rows.deciding}
            notes.append(replace(conflict, facts={**conflict.facts, **deciding}))
        if rows.deciding in ("ranks", "lists"):
            scores = _scores_in_rank_order(offsets, ranks, scores)
            run = run_of_groups(keys, offsets, items, scores)
    positions: Floats | None = 0.0 - scores if rows.are_ranks else None
    if ranks is not None and rows.deciding == "ranks":
        positions = ranks.astype(np.float64)
    are_whole = positions is not None and scores.size and (positions != NO_RANK).all()
    if positions is not None and are_whole and (gaps := rank_gaps(keys, offsets, positions)):
        if rows.by_position:
            offsets, items, scores = _at_positions(keys, offsets, items, positions, places)
            run = run_of_groups(keys, offsets, items, scores)
        notes.append(replace(gaps, facts={**gaps.facts, "are_positions": rows.by_position}))
    if scores.size < n_rows:
        notes.append(Note("no_score", {"n": n_rows - scores.size}))
    chunks = None
    if rows.documents is not None:
        if rows.documents.is_column and not rows.documents.are_read:
            raise places.whole(
                f"a format without columns has no column {shown(rows.documents.rule)}{rows.documents.no_file}",
                advice=f"give a pattern such as {argument('item_to_document', '#.*')}, or a file of documents",
            )
        documents, n_changed = rows.documents.of(items, places.whole)
        if rows.documents.texts is None:
            chunks = rows.documents.chunks(offsets, documents, scores, n_changed)
        collapsed = rows.documents.collapsed(offsets, documents, scores, rows.documents.collapse)
        if rows.documents.collapse == "sum":
            _refuse_no_sum(keys, offsets, collapsed[0], scores, places)
        run = run_of_groups(keys, *collapsed)
    if rows.tie_order is not None:
        run = replace(run, tie_order=rows.tie_order)
        in_order = run if isinstance(run, Ranking) else run.in_order
        notes += [Note("ties_by_input")] if repeats_before(in_order.scores, in_order.offsets).any() else []
    return RankedTable(run, labels, weights, rows.items is None, tuple(notes), chunks, rows.group_column)


def of_failed(n: int) -> list[Note]:
    """Return the note that so many failed responses were left out, if there are any."""
    return [Note("failed_responses", {"n": n})] if n else []


def _refuse_no_sum(keys: Keys, before: Index, after: Index, scores: Floats, places: Places) -> None:
    """Refuse to add up scores if none is above 0, as with scores computed from ranks: more chunks would be worse.

    Parameters: the offsets of the items ``before``, and of their documents ``after``.
    """
    if not scores.size:
        return
    wrong = np.flatnonzero((np.diff(after) < np.diff(before)) & (np.maximum.reduceat(scores, before[:-1]) <= 0))
    if wrong.size:
        raise places.whole(
            f"group {shown(keys[int(wrong[0])])} has no score above 0 (as with ranks or distances), so with "
            f"{argument('collapse', 'sum')} a document with more chunks would rank lower",
            advice=f"give {argument('collapse', 'max')}, or scores where the highest is the best",
        )


def _of_documents(
    rows: Rows, labels: tuple[Keys, Index, Keys, Floats], places: Places
) -> tuple[Keys, Index, Keys, Floats]:
    """Return labels of chunks as labels of their documents: each document gets the highest label of its chunks."""
    if rows.documents is None:
        return labels
    keys, offsets, items, grades = labels
    documents, _ = rows.documents.of(items, places.whole, are_labels=True)
    return keys, *rows.documents.collapsed(offsets, documents, grades, "max")


def label_lists(rows: Rows, places: Places, *, are_answers: bool = False) -> LabelLists:
    """Return the labels of a table; rows without grade are unjudged and left out (raises: see ``ranked_table``).

    In a table without grades every row is a relevant item, of grade 1 (``Columns.are_relevant``).
    ``are_answers``: whether people had to fill them in.
    """
    table = _grouped(rows, _grouping(rows, places))
    grades = np.ones(rows.n_rows) if rows.grades is None else rows.grades
    judged = _of_documents(rows, _without_nulls(table, table.arranged(grades)), places)
    labels = LabelLists(*judged, by_row_number=rows.items is None, group_column=rows.group_column)
    told = replace(rows, duplicates=rows.duplicates or "same")
    once = None if rows.items is None else _each_once(table, told, table.arranged(grades), places, labels)
    if once is not None:
        judged = _of_documents(rows, _without_nulls(once[0], once[0].arranged(grades)), places)
        labels = LabelLists(*judged, group_column=rows.group_column)
    if not labels.n_items:
        if are_answers:
            advice = f"write grades into the label column, or name the column that has them with {argument('label')}"
            raise places.whole("no answer is filled in yet", advice=advice)
        raise places.whole("no row has a label", advice="name the label column")
    return labels


def _grouping(rows: Rows, places: Places, *, is_part: bool = False) -> Grouping:
    if not rows.n_rows and not rows.n_empty:
        raise no_row(places.whole, rows.n_failed)
    _check_ids(rows.span_keys, "group", places, rows)
    if rows.items is not None and (rows.documents is None or rows.documents.texts is None):
        _check_ids(rows.items, "item", places, None)
    grouping = grouped_spans(rows.span_keys, rows.span_lengths)
    if rows.groups_share is None:
        return grouping
    kept = np.flatnonzero(in_share(grouping.keys, rows.groups_share))
    if not kept.size and not is_part:
        raise none_in_share(rows.groups_share, places.whole)
    return grouping.of_groups(kept)


def _grouped(rows: Rows, grouping: Grouping, first: int = 0, last: int | None = None) -> _Grouped:
    """Return the rows of some groups, from ``first`` to ``last`` (exclusive; None: to the end)."""
    offsets = grouping.offsets[first : None if last is None else last + 1]
    keys = grouping.keys.slice(first, first + offsets.size - 1)
    span = slice(int(offsets[0]), int(offsets[-1]))
    offsets = offsets - offsets[0]
    source = span if grouping.rows is None else grouping.rows[span]
    if rows.items is None:
        items = Keys.from_numbers(places_in(np.diff(offsets)))
    else:
        items = rows.items.slice(span.start, span.stop) if isinstance(source, slice) else rows.items.take(source)
    return _Grouped(keys, offsets, items, source)


def _check_ids(keys: Keys, role: str, places: Places, spans: Rows | None) -> None:
    """Refuse ids that are empty, too long or contain NUL; ``spans``: the rows of the ids, None for single rows."""
    if keys.numbers is not None and (keys.dictionary is None or not _bad_id(keys.dictionary, role)):
        return
    fault = _bad_id(keys, role)
    if fault is not None:
        at, what, advice = fault
        raise places.error(at if spans is None else int(spans.span_starts[at]), what, advice=advice)


def _bad_id(keys: Keys, role: str) -> tuple[int, str, str] | None:
    """Return the place of an id that is empty, too long or contains NUL, what is wrong with it and what to do."""
    lengths = keys.lengths
    if not len(keys):
        return None
    if int(lengths.min()) < 1:
        return int(np.argmin(lengths)), f"the {role} id is empty; every row needs one", ""
    if int(lengths.max()) > LONGEST_ID:
        bad = int(np.argmax(lengths > LONGEST_ID))
        return bad, f"the {role} id has {lengths[bad]} bytes", f"shorten it to {LONGEST_ID} or fewer"
    start, end = int(keys.offsets[0]), int(keys.offsets[-1])
    data = keys.data[start:end]
    if data.all():
        return None
    bad = int(np.searchsorted(keys.offsets, start + int(np.argmin(data)), side="right")) - 1
    return bad, f"the {role} id has a NUL byte", "write the file again without it"


def _without_nulls(table: _Grouped, numbers: Floats) -> tuple[Keys, Index, Keys, Floats]:
    """Return group keys, offsets, items and numbers of the rows that have a number, and only of their groups."""
    null = np.isnan(numbers)
    if not null.any():
        return table.keys, table.offsets, table.items, numbers
    kept = np.flatnonzero(~null)
    before = np.concatenate([[0], np.cumsum(~null)])
    counts = np.diff(before[table.offsets])
    groups = np.flatnonzero(counts)
    offsets = np.concatenate([[0], np.cumsum(counts[groups])])
    return table.keys.take(groups), offsets, table.items.take(kept), numbers[kept]


def _group_weights(table: _Grouped, weights: Floats, places: Places) -> GroupWeights:
    null = np.isnan(weights)
    if null.any():
        raise places.error(int(np.argmax(null)), "the weight is empty; every row needs one")
    if float(weights.min()) < 0:
        raise places.error(int(np.argmax(weights < 0)), "the weight is negative; weights are 0 or more")
    if float(weights.max()) > MAX_WEIGHT:
        raise too_heavy(partial(places.error, int(np.argmax(weights > MAX_WEIGHT))))
    arranged = table.arranged(weights)
    starts, lengths = table.offsets[:-1], np.diff(table.offsets)
    lowest = np.minimum.reduceat(arranged, starts)
    varies: Mask = lowest != np.maximum.reduceat(arranged, starts)
    means: Floats = np.add.reduceat(arranged / np.repeat(lengths, lengths), starts)
    values: NDArray[np.float64] = np.where(varies, means, lowest)
    return GroupWeights(table.keys, values, varies, single_means(arranged, table.offsets))


def _each_once(
    table: _Grouped, rows: Rows, numbers: Floats, places: Places, *lists: GroupedItems | None
) -> tuple[_Grouped, list[Note]] | None:
    """Return the table with one row per (group, item), and what it leaves out; None if it has no more rows than that.

    A second row is refused unless ``rows.duplicates`` says which counts: the "first", the "best" (by ``numbers``), or
    either if they are the "same". ``numbers``: of the places of the table. ``lists``: one of all rows provides its
    hashes.
    """
    if rows.documents is not None and rows.documents.are_read:
        return None  # the items are those of the chunks
    whole = next((items for items in lists if items is not None and items.n_items == len(table.items)), None)
    if whole is not None and not whole.has_duplicates():
        return None
    in_order = GroupedItems(table.keys, table.offsets, table.items, np.empty(0))
    if whole is None and not in_order.has_duplicates():
        return None
    order = np.argsort(in_order.pair_hashes, kind="stable")
    hashes = in_order.pair_hashes[order]
    same = hashes[1:] == hashes[:-1]
    suspects = np.sort(order[np.append(same, False) | np.insert(same, 0, False)])
    if not isinstance(table.rows, slice):
        suspects = suspects[np.argsort(table.rows[suspects], kind="stable")]
    kept: dict[tuple[int, bytes], int] = {}
    left_out = []
    for place in suspects.tolist():
        group = int(np.searchsorted(table.offsets, place, "right")) - 1
        pair = group, table.items.bytes_at(place)
        if (first := kept.setdefault(pair, place)) == place:
            continue
        are_same = numbers[place] == numbers[first] or np.isnan([numbers[place], numbers[first]]).all()
        if rows.duplicates is None or (rows.duplicates == "same" and not are_same):
            item, name, there = shown(pair[1]), shown(table.keys[group]), places.mention(table.source_row(first))
            hows = ("first", "best") if rows.scores is not None else ("first", "best", "mean")
            ways = [argument("allow", f"duplicates:{how}") for how in hows]
            advice = f"{places.if_twice}, or give {' or '.join(ways)}"
            raise places.error(
                table.source_row(place), f"item {item} of group {name} is in {there} already", advice=advice
            )
        if rows.duplicates == "best" and not numbers[place] <= numbers[first]:
            kept[pair], place = place, first
        left_out.append(place)
    if not left_out:
        return None
    is_kept = np.ones(len(table.items), dtype=np.bool_)
    is_kept[left_out] = False
    places_kept = np.flatnonzero(is_kept)
    source = places_kept + table.rows.start if isinstance(table.rows, slice) else table.rows[places_kept]
    offsets = np.concatenate([[0], np.cumsum(is_kept)])[table.offsets]
    facts: dict[str, Fact] = {"n": len(left_out), "how": rows.duplicates}
    return _Grouped(table.keys, offsets, table.items.take(places_kept), source), [Note("duplicates", facts)]
