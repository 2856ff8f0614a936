"""What people read of a reproduction: every part, and what is left out where it is not known."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ndcg_tracker.compare.results import LabelSetRef, RunRef
from ndcg_tracker.questions.reproduce.decide import ListAgreement, PublishedMean, ReproducedMetric, Reproduction
from ndcg_tracker.questions.reproduce.say import reproduction_said
from ndcg_tracker.storage.records import EXTERNAL_JUDGE
from ndcg_tracker.words.notes import Note

METRIC = ReproducedMetric(
    *("external:latency(direction=lower, range=0..9)", "", 0.5, 0.25, -0.25, (-0.5, -0.125)),
    *(0.375, 1e-7, 12_000, 1.5, -0.125),
)
FOUND = Reproduction(
    *(RunRef("their", 1), RunRef("a|b", 2), "<b>", LabelSetRef(3, "0123456789abcdef", "llm")),
    *((RunRef("bm25", 3), RunRef("bm25 again", 4)), 12_000, 1, 2, 11_000, 0.5, 0.95),
    (ListAgreement(1000, None, 0.75),),
    (METRIC,),
    (Note("pruned", {"run": "their", "at": "2026-01-01"}),),
)
PUBLISHED = PublishedMean(RunRef("ours", 2), "shop", 3, "", "AP", "map", 0.5, 0.25, (0.125, 0.375), 1200)


def test_every_part_is_told() -> None:
    text = reproduction_said(FOUND).in_format("text", detail="all")
    assert " ".join(text.partition("\n\n")[0].split()) == (
        "a|b is not the same as their on <b>: 50.0% of the 11,000 lists that both have are identical; "
        "external:latency differs by -0.2500, and by 0.3750 per group (RMSE) "
        "1 with a result only in their, 2 with a result only in a|b"
    )
    for line in (
        "metric            original  reproduced  difference        95% interval    RMSE      p",
        "external:latency    0.5000      0.2500     -0.2500  -0.5000 to -0.1250  0.3750  <1e-4",
        "external:latency  1.5000  -0.1250",
        "first items  RBO, p=0.95",
        "      1,000       0.7500",
        "baselines        bm25 (original), bm25 again (reproduced)",
        "identical lists  50.0% of 11,000 groups that are in both runs",
        "labels           version 3 of judge 'llm', digest 0123456789ab",
        "groups           12,000 paired",
    ):
        assert line in text.splitlines(), text
    assert "pruned" in text
    assert "<b>" not in reproduction_said(FOUND).in_format("markdown")


def test_the_first_line_says_whether_the_runs_are_the_same() -> None:
    same = replace(FOUND, metrics=(replace(METRIC, delta=0.0, rmse=0.0),), same_lists=1.0, only_in_original=0)
    assert "not the same" in reproduction_said(same).in_format("text")  # a group is in one run alone
    same = replace(same, only_in_reproduced=0)
    said = "a|b is the same run as their on <b>: every list and every result is identical"
    assert reproduction_said(same).in_format("text").splitlines()[0] == said
    other = replace(same, same_lists=0.5)
    assert "not the same as their on <b>: 50.0% of the 11,000 lists" in reproduction_said(other).in_format("text")
    no_lists = replace(same, same_lists=None, lists=(), n_lists=0)
    assert "every result is identical, but there are no lists to compare" in reproduction_said(no_lists).in_format(
        "text"
    )


def test_what_is_not_known_is_left_out() -> None:
    bare = replace(
        FOUND, baselines=None, lists=(), n_lists=0, same_lists=None, only_in_original=0, only_in_reproduced=0, notes=(),
        label_set=LabelSetRef(1, "0" * 32, EXTERNAL_JUDGE), metrics=(replace(METRIC, er=None, delta_ri=None),),
    )  # fmt: skip
    text = reproduction_said(bare).in_format("text", detail="all")
    for word in ("ER", "KTU", "effect", "identical", "alone"):
        assert word not in text
    assert text.splitlines()[-2:] == ["labels  none: the results were given as values", "groups  12,000 paired"]


def test_rows_have_a_metric_each() -> None:
    (row,) = reproduction_said(FOUND).table().objects
    assert (row["original_run"], row["reproduced_run_id"], row["label_set_version"]) == ("their", 2, 3)
    assert (row["ci_low"], row["ci_high"], row["er"], row["n"]) == (-0.5, -0.125, 1.5, 12_000)


@pytest.mark.parametrize(
    ("found", "first"),
    [
        (PUBLISHED, "OUTSIDE: ours on shop: the published mean is outside the 95% interval of this run's mean"),
        (
            replace(PUBLISHED, published=0.375),
            "WITHIN: ours on shop: the published mean is in the 95% interval of this run's mean",
        ),
        (replace(PUBLISHED, ci=None), "ours on shop: this run's mean has no interval"),
    ],
)
def test_a_published_mean(found: PublishedMean, first: str) -> None:
    lines = reproduction_said(found).in_format("text", detail="all").splitlines()
    assert lines[0] == first
    assert lines[-2:] == ["labels  version 3", "groups  1,200"]
    assert lines[3].split()[:2] == ["AP", f"{found.published:.4f}"]
    assert json.loads(reproduction_said(found).in_format("json"))["is_within"] is found.is_within
