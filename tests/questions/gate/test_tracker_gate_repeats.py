"""``Tracker.gate`` with a margin that repeats of the baseline teach."""

from typing import Any

import pytest
from gated import BASE, decisions, refusal, worse
from ranked_runs import frame_of_ranks

import ndcg_tracker as nt
from ndcg_tracker.questions.gate.decide_bounds import learned_margin
from ndcg_tracker.render.formats import as_object


@pytest.fixture
def repeated(pinned: nt.Tracker) -> nt.Tracker:
    """The pinned baseline, with four repeats of it that carry the tag aa=base."""
    for number, lost in enumerate((1, 3, 0, 2)):
        ranks = frame_of_ranks(worse(lost, 1))
        pinned.ingest(ranks, name=f"repeat{number}", dataset="shop", tags={"aa": "base"})
    return pinned


def test_a_margin_is_learned_from_repeats(repeated: nt.Tracker) -> None:
    names = [f"repeat{number}" for number in range(4)]
    means = [repeated.run(name)[1][0].mean or 0.0 for name in names]
    expected = learned_margin(names, means)
    by_tag = repeated.gate("noisy", baseline="@prod", margin="auto", repeats="tag:aa=base").to_dict()
    known = by_tag["learned_margin"].pop("run_variance")
    assert known["n_runs"] == 4
    assert known["means"] == pytest.approx(expected.sd**2)
    assert 0 < known["residual"] < known["means"]
    assert (by_tag["margin"], {**by_tag["learned_margin"], "run_variance": None}) == (
        expected.margin,
        as_object(expected),
    )
    assert decisions(repeated)[-1].margin == expected.margin
    assert decisions(repeated)[-1].reason.endswith(
        "(margin learned from 4 repeats: repeat0, repeat1, repeat2, repeat3)"
    )
    three = repeated.gate("noisy", baseline="@prod", margin="auto", repeats=["repeat0", *names[:3]]).to_dict()
    assert three["margin"] == learned_margin(names[:3], means[:3]).margin
    assert repeated.gate("noisy", baseline="repeat1", margin="auto").to_dict()["margin"] == expected.margin
    itself = repeated.gate("repeat3", baseline="@prod", margin="auto", repeats="tag:aa=base").to_dict()
    assert itself["margin"] == three["margin"]  # a candidate is no repeat


def test_what_teaches_no_margin(repeated: nt.Tracker) -> None:
    asked: dict[str, Any] = {"margin": "auto"}
    how = (
        "score the same groups again with the unchanged system, ingest each run with the tag aa=NAME, and give "
        "margin='auto' and repeats='tag:aa=NAME'"
    )
    assert refusal(repeated, "noisy", **asked) == (
        "margin='auto' needs at least 3 runs of one unchanged system, and baseline 'base' has no tag aa: name them "
        f"with repeats='RUN', or {how}"
    )
    assert refusal(repeated, "noisy", **asked, repeats=["repeat0", "repeat1"]) == (
        "margin='auto' needs at least 3 runs of one unchanged system, and there are 2 with repeats= (repeat0, "
        f"repeat1); {how}"
    )
    assert refusal(repeated, "noisy", **asked, repeats="tag:aa=other") == (
        "margin='auto' needs at least 3 runs of one unchanged system, and there are 0 with the tag aa=other apart from "
        f"the candidate; {how}"
    )
    assert refusal(repeated, "noisy", **asked, repeats=["repeat0", "noisy", "base"]) == (
        "run 'noisy' is the candidate and cannot be a repeat as well; leave it out"
    )
    both = repeated.gate(
        "noisy", baseline="@prod", **asked, repeats=["tag:aa=base", "repeat0", "base"], dry_run=True
    ).to_dict()
    assert both["learned_margin"]["runs"] == ["repeat0", "repeat1", "repeat2", "repeat3", "base"]
    assert refusal(repeated, "noisy", margin=0.01, repeats="tag:aa=base").endswith(
        "give margin='auto', or leave out repeats="
    )
    for name in ("copy1", "copy2"):
        repeated.ingest(frame_of_ranks(BASE), name=name, dataset="shop")
    assert refusal(repeated, "noisy", **asked, repeats=["base", "copy1", "copy2"]) == (
        "the 3 repeats have the same mean, so they show no chance to learn a margin from; for a system that always "
        "gives the same results, use scope='set', or give margin= a number"
    )
    repeated.rescore(["base", "noisy"], metrics=["dcg@3"])
    assert refusal(repeated, "noisy", nt.NotComparableError, **asked, metric="dcg@3", repeats="tag:aa=base") == (
        "repeat 'repeat0' has no dcg@3 under labels version 1, which the runs share; type: ndcg-track rescore repeat0 "
        "--dataset shop --metric dcg@3 --labels 1"
    )
    part = frame_of_ranks(BASE[:100])
    repeated.ingest(part, name="part", dataset="shop", metrics="ndcg(missing=skip)@10")
    repeated.rescore(["base", "noisy", "repeat0", "repeat1"], metrics=["ndcg(missing=skip)@10"])
    assert refusal(
        repeated, "noisy", **asked, metric="ndcg(missing=skip)@10", repeats=["part", "repeat0", "repeat1"]
    ) == (
        "the repeats have ndcg(missing=skip)@10 for different numbers of groups (part: 100, repeat0: 240, "
        "repeat1: 240); repeat all groups"
    )
    assert decisions(repeated) == []
