"""Reports of labels: what is flagged in a comparison stays flagged, and ids are text and never markup."""

from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.questions.labels.decide import (
    GradeChange,
    GradeCount,
    JudgesAgreement,
    LabelsDiff,
    PairVerdict,
    RunUnderJudges,
    SetSizes,
    TurnedVerdict,
)
from ndcg_tracker.questions.labels.say import agreement_said, labels_diff_said
from ndcg_tracker.statistics.similarity import Kappa
from ndcg_tracker.words.notes import Note

DIFF = LabelsDiff(
    "shop",
    LabelSetRef(2, "ab" * 16),
    LabelSetRef(5, "cd" * 16, "gpt\x1b[2J"),
    SetSizes(3, 1200, 3),
    SetSizes(5, 1204, 4),
    3,
    (GradeCount(0.0, 0.0, 3), GradeCount(1.0, 2.0, 1), GradeCount(1.0, None, 1), GradeCount(None, 2.0, 1200)),
    (GradeChange("<b>q\u202e", "a", 1.0, 2.0),),
    new_groups=tuple(f"n{number}" for number in range(10)),
)
TURNED = TurnedVerdict(
    "a", "b", PairVerdict(0.25, 0.01, "improved", True), PairVerdict(-0.125, 0.5, "no_difference_detected")
)
AGREEMENT = JudgesAgreement(
    DIFF,
    Kappa(0.5, (0.25, 0.75), 4, 3),
    "AP",
    (RunUnderJudges("b", 0.75, 0.5), RunUnderJudges("a", 0.5, 0.5)),
    None,
    1,
    (TURNED,),
    (Note("agreement_without_items", {"n": 1, "first": "c"}),),
)


def test_what_hostile_ids_come_to() -> None:
    for format in ("text", "markdown", "json", "csv"):
        for printed in (labels_diff_said(DIFF).in_format(format), agreement_said(AGREEMENT).in_format(format)):
            assert not {"\x1b", "\u202e"} & set(printed), format
    assert "<b>q" not in labels_diff_said(DIFF).in_format("markdown")


def test_many_groups_are_counted() -> None:
    text = labels_diff_said(DIFF).in_format("text")
    assert "n9 and 1,187 more" in text
    assert "75.0% of the 4 labels in both have the same grade" in text


def test_a_verdict_that_turns_keeps_its_flag_and_equal_means_their_rank() -> None:
    lines = agreement_said(AGREEMENT).in_format("text").splitlines()
    assert [line.removesuffix("  under one judge alone").split() for line in lines if line[:3] in ("b  ", "a  ")] == [
        ["b", "0.7500", "1", "0.5000", "1"],
        ["a", "0.5000", "2", "0.5000", "1"],
        *[["a", "b", "+0.2500", "improved", "(low", "information)", "~", "-0.1250", "no", "difference", "detected"]],
    ]
    heading = lines[lines.index("verdicts that turn") + 1]
    assert heading.split() == ["baseline", "candidate", "unnamed", "verdict", "gpt\\x1b[2J", "verdict"]
    assert "verdicts on 1 pair of runs: 0 opposite, 1 under one judge alone" in lines
    assert lines[-2:] == [
        "note: left out: 1 run without stored items, such as c; a run without items cannot be evaluated under",
        "      the labels that both judges gave",
    ]


def test_kappa_that_is_undefined() -> None:
    found = JudgesAgreement(DIFF, None, "AP", (), None, 0, ())
    text = agreement_said(found).in_format("text")
    assert ": weighted kappa is undefined\n" in text
    assert "Kendall" not in text
    assert "verdicts" not in text
