"""Ids that run and labels write otherwise: what is seen of them, and what is taken for nothing."""

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.runs.spelling import Spelling
from ndcg_tracker.words.notes import sentence

Lists = dict[str, list[str]]


def seen(run: Lists, labels: Lists) -> Spelling:
    def columns(lists: Lists) -> tuple[Keys, Keys, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        rows = [(group, item) for group, items in lists.items() for item in items]
        groups, items = ([row[side] for row in rows] for side in range(2))
        return Keys.from_strings(groups), Keys.from_strings(items), -np.arange(float(len(rows)))

    return Spelling.of(judged(Ranking.from_rows(*columns(run)), LabelLists.from_rows(*columns(labels))))


@pytest.mark.parametrize(
    ("items", "labels", "how", "example"),
    [
        (["C0FFEE-1A", "BEEF-2B"], ["c0ffee-1a", "beef-2b"], "case", ("C0FFEE-1A", "c0ffee-1a")),
        (["a ", "b "], ["b", "a"], "case", ("b ", "b")),
        (["10", "20"], ["10.0", "20.0"], "decimals", ("10", "10.0")),
        (["10.0", "20.0"], ["20", "10"], "decimals", ("20.0", "20")),
        (["sku-a", "sku-b"], ["b", "a"], "run:sku-", ("sku-b", "b")),
        (["7", "8"], ["sku7", "sku8"], "labels:sku", ("7", "sku7")),
    ],
)
def test_how_ids_differ(items: list[str], labels: list[str], how: str, example: tuple[str, str]) -> None:
    (note,) = seen({"q": [*items, "same"]}, {"q": [*labels, "same"]}).notes()
    counts = {"n": 2, "of": 2, "n_met": 1, "n_labels": 3}
    facts = {name: fact for name, fact in note.facts.items() if name != "may_map"}
    assert facts == {"how": how, "of_run": example[0], "of_labels": example[1]} | counts
    assert seen({"q": items}, {"q": labels}).none_met().facts["how"] == how


def test_other_items_are_no_other_spelling() -> None:
    """Whole numbers end in one another, and a document may be labelled beside its parts."""
    numbers = {"q": [str(number) for number in range(0, 400, 2)]}
    others = {"q": [str(number) for number in range(1, 400, 3)]}
    assert seen(numbers, others).notes() == []
    assert seen({"q": ["d1#1", "d2#1", "x"]}, {"q": ["d1", "d2", "x"]}).notes() == []
    assert seen({"q": ["A"]}, {"q": ["a", "b", "c"]}).notes() == [], "one may be by chance"
    assert seen({"q": ["A", "B"]}, {"r": ["a", "b"]}).notes() == [], "of other groups"


def test_groups_of_several_blocks_count_together() -> None:
    whole = seen({"q": ["A"]}, {"q": ["a"]})
    assert whole.notes() == []
    whole.add(seen({"r": ["B"]}, {"r": ["b"]}))
    assert [note.facts["n"] for note in whole.notes()] == [2]


@pytest.mark.parametrize(
    ("chunks", "document"),
    [
        (["d1#0", "d2#1"], "d2"),
        (["d-1/0/0", "d-2/1/0"], "d-2"),
        (["a.1", "b.2"], "b"),
        (["d1_chunk_0", "d2_chunk_1"], "d2"),
    ],
)
def test_the_pattern_that_is_told_makes_documents_of_chunks(chunks: list[str], document: str) -> None:
    run, labels = {"q": chunks}, {"q": {document: 1}}
    (_, pattern) = seen(run, {"q": [document]}).none_met().command
    with pytest.warns(NdcgTrackerWarning) as told:
        nt.evaluate(run, "RR", labels=labels)
    assert any(f"--item-to-document '{pattern}'" in str(one.message) for one in told)
    with pytest.warns(NdcgTrackerWarning, match="their order is the ranking"):
        assert nt.evaluate(run, "RR", labels=labels, item_to_document=pattern)["RR"] == 0.5


def test_no_pattern_is_told_that_would_cut_the_labels() -> None:
    note = seen({"q": ["d-1-0", "d-2-1"]}, {"q": ["d-2"]}).none_met()
    assert (note.facts["how"], note.command) == ("parts", ())
    assert sentence(note).endswith("name their documents in a column or a file (item_to_document)")
