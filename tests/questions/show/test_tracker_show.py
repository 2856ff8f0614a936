"""What ``show`` tells of a run: against the stored results."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from command_line import CommandLine
from small_shop import BM25, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.questions.show.decide import mean_interval, run_slices


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> nt.Tracker:
    """One run with an alias and an attribute of its groups."""

    def stored(url: str) -> None:
        with nt.Tracker(url) as tracker:
            tracker.ingest(
                frame_of(BM25), labels=labels_frame(), name="bm25", dataset="shop", metrics=["ndcg@10", "P@1"]
            )
            tracker.set_alias("prod", "bm25", "shop")
            groups = sorted(BM25)
            tracker.set_groups(
                {"group": groups, "kind": ["x" if at % 2 else "y" for at in range(len(groups))]}, dataset="shop"
            )

    fill_as(stored)
    return nt.Tracker(database_url)


def test_every_number(shop: nt.Tracker) -> None:
    found = shop.show("@prod", by="kind")
    values = shop.sql("SELECT group_key, value FROM group_history WHERE metric = 'ndcg@10'").set_index("group_key")[
        "value"
    ]
    assert found.aliases == ("prod",)
    assert found.by_group.metric == "ndcg@10"
    wanted = scipy.stats.t.interval(0.95, len(values) - 1, values.mean(), scipy.stats.sem(values))
    assert found.evaluations[0].ci == pytest.approx((max(wanted[0], 0.0), min(wanted[1], 1.0)), abs=1e-12)
    assert [(one.group, one.value) for one in found.hardest] == list(values.sort_values(kind="stable").head(5).items())
    kinds = {group: "x" if at % 2 else "y" for at, group in enumerate(sorted(BM25))}
    for one in found.slices:
        of_slice = values[[kinds.get(group) == one.value for group in values.index]]
        assert one.ci is None or (one.ci[0] >= 0 and one.ci[1] <= 1)
        assert (one.n, one.mean) == (len(of_slice), pytest.approx(of_slice.mean()))
    assert {one.value for one in found.slices} >= {"x", "y"}
    assert [one.cutoff for one in found.coverages] == [1, 10]
    assert shop.show("bm25", metric="P@1", top=1).hardest[0].value == 0.0


def test_hardest_groups_have_their_texts(shop: nt.Tracker, capsys: pytest.CaptureFixture[str]) -> None:
    worst = shop.show("bm25", top=1).hardest[0]
    shop.add_texts({"group": [worst.group], "text": ["light tent for two"]}, dataset="shop")
    line = CommandLine(shop.location, capsys)
    shown = line("show", "bm25", "--top", "2").out
    _, heads, row, other, *_ = shown[shown.index("hardest queries") :].splitlines()
    assert heads.split() == ["query", "text", "ndcg@10"]
    assert row.split() == [worst.group, "light", "tent", "for", "two", f"{worst.value:.4f}"]
    assert len(other.split()) == 2
    hardest = json.loads(line("show", "bm25", "--top", "2", "--format", "json").out)["hardest"]
    assert hardest[0]["query"]["text"] == "light tent for two"
    assert hardest[1].keys() == {"group", "value"}
    assert "light tent for two" in line("show", "bm25", "--format", "html").out


def test_what_is_refused(shop: nt.Tracker) -> None:
    with pytest.raises(ReferenceNotFoundError) as refused:
        shop.show("bm25", metric="AP")
    assert str(refused.value) == (
        "run 'bm25' has no AP; compute it with: ndcg-track rescore bm25 --dataset shop --metric AP"
    )
    with pytest.raises(InputError, match="no group of dataset 'shop' has an attribute 'color'"):
        shop.show("bm25", by="color")


def test_a_run_whose_results_are_gone(shop: nt.Tracker) -> None:
    shop.delete_alias("prod", "shop")
    shop.prune("2999-01-01", summaries_only=True, apply=True)
    found = shop.show("bm25")
    assert found.hardest == ()
    with pytest.raises(InputError) as refused:
        shop.show("bm25", by="kind")
    assert str(refused.value) == "run 'bm25' has no group results to slice; ingest its ranking again"
    assert found.pruned_at_utc is not None
    assert found.evaluations[0].mean is not None


def test_slices_weigh_groups_as_the_metric_does(shop: nt.Tracker) -> None:
    groups = sorted(BM25)
    shop.set_groups({"group": groups, "weight": [1.0 + at for at in range(len(groups))]}, dataset="shop")
    shop.rescore(["bm25"], metrics="ndcg(weights=group)@10", dataset="shop")
    found = shop.show("bm25", metric="ndcg(weights=group)@10", by="kind")
    history = shop.sql("SELECT group_key, value FROM group_history WHERE metric = 'ndcg(weights=group)@10'")
    values = history.set_index("group_key")["value"]
    chosen = [group for at, group in enumerate(groups) if at % 2 and group in values.index]
    weights = [1.0 + groups.index(group) for group in chosen]
    (of_x,) = (one for one in found.slices if one.value == "x")
    assert of_x.mean == pytest.approx(sum(values[g] * w for g, w in zip(chosen, weights, strict=True)) / sum(weights))


def test_groups_without_weight_count_in_no_slice() -> None:
    found = run_slices(np.array([0.0, 1.0, 0.5]), ["a", "a", "b"], np.array([0.0, 2.0, 0.0]))
    assert [(one.value, one.n, one.mean) for one in found] == [("a", 1, 1.0), ("b", 0, None)]
    assert mean_interval(np.array([0.0, 1.0]), np.array([1.0, 3.0]))[0] == 0.75
