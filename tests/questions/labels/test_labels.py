"""Reports of labels: what is flagged in a comparison stays flagged, and ids are text and never markup."""

from dataclasses import replace

from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.questions.labels.decide import (
    GradeChange,
    GradeCount,
    JudgesAgreement,
    LabelsDiff,
    SetSizes,
)
from ndcg_tracker.questions.labels.say import agreement_said, labels_diff_said
from ndcg_tracker.statistics.similarity import Kappa, SignedError
from ndcg_tracker.words.notes import Note

DIFF = LabelsDiff(
    "shop",
    LabelSetRef(2, "ab" * 16),
    LabelSetRef(5, "cd" * 16, "gpt\x1b[2J"),
    SetSizes(3, 1200, 3, 0, 1197),
    SetSizes(5, 1204, 4, 1, 1200),
    3,
    (GradeCount(0.0, 0.0, 3), GradeCount(1.0, 2.0, 1), GradeCount(1.0, None, 1), GradeCount(None, 2.0, 1200)),
    (GradeChange("<b>q\u202e", "a", 1.0, 2.0),),
    (),
    tuple(f"n{number}" for number in range(10)),
    0.75,
)
NOTES = (Note("agreement_without_items", {"n": 1, "first": "c"}),)
AGREEMENT = JudgesAgreement(
    DIFF, Kappa(0.5, (0.25, 0.75), 4, 3), "AP", NOTES, "gpt", "", None, SignedError(4, 0.25), (), ()
)


def test_what_hostile_ids_come_to() -> None:
    for format in ("text", "markdown", "json", "csv"):
        for printed in (labels_diff_said(DIFF).in_format(format), agreement_said(AGREEMENT).in_format(format)):
            assert not {"\x1b", "\u202e"} & set(printed), format
    assert "<b>q" not in labels_diff_said(DIFF).in_format("markdown")


def test_many_groups_are_counted() -> None:
    text = labels_diff_said(DIFF).in_format("text")
    assert "n9 and 1,187 more" in text
    assert "75.0% of the 4 labels in both have the same grade" in " ".join(text.split())


def test_what_is_left_out_is_told_last() -> None:
    assert agreement_said(AGREEMENT).in_format("text", more="").splitlines()[-2:] == [
        "note: left out: 1 run without stored items, such as c; without its items, nothing is known about the",
        "      errors in its first ranks",
    ]


def test_kappa_that_is_undefined() -> None:
    text = agreement_said(replace(AGREEMENT, kappa=None)).in_format("text")
    assert ": weighted kappa is undefined\n" in text
