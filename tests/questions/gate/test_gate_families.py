"""Which runs a gate takes for repeats of its baseline, and what it refuses to learn from, on both engines."""

from collections.abc import Callable
from typing import Any

import pytest
from gated import fill_with_candidates, refusal, worse
from ranked_runs import frame_of_ranks

import ndcg_tracker as nt

GEO = {"data_features": "2: price, geo", "data_rows": "1200: 0a", "data_labels": "240: 0b"}
PLAIN = {**GEO, "data_features": "1: price"}
AUTO: dict[str, Any] = {"baseline": "geo-0", "margin": "auto", "dry_run": True}


def train(
    tracker: nt.Tracker, name: str, lost: int, parameters: dict[str, Any], tags: dict[str, str] | None = None
) -> None:
    """Store a run as a training does, which loses the first place in as many groups."""
    tracker.ingest(
        frame_of_ranks(worse(lost, 4)),
        name=name,
        dataset="shop",
        parameters={"leaves": 8, "seed": int(name[-1]), **parameters},
        tags={"training": name, "stage": "final", **(tags or {})},
    )


def fill_with_trainings(url: str) -> None:
    """Five trainings with geo and five without, which lose 30 groups more."""
    fill_with_candidates(url)
    with nt.Tracker(url) as tracker:
        for seed, lost in enumerate((2, 4, 3, 5, 1)):
            train(tracker, f"geo-{seed}", lost, GEO)
            train(tracker, f"plain-{seed}", lost + 30, PLAIN)


@pytest.fixture
def trained(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    fill_as(fill_with_trainings)
    tracker.store()
    return tracker


def repeats(tracker: nt.Tracker, candidate: str = "plain-0", **asked: Any) -> list[str]:
    found: list[str] = tracker.gate(candidate, **{**AUTO, **asked}).to_dict()["learned_margin"]["runs"]
    return found


@pytest.mark.nightly(but=2)
def test_other_features_make_another_recipe(trained: nt.Tracker) -> None:
    """A real drop is a FAIL by the repeats of the baseline, and would be open by those of both recipes."""
    geo, plain = ([f"{recipe}-{seed}" for seed in range(5)] for recipe in ("geo", "plain"))
    found = trained.gate("plain-0", **AUTO).to_dict()
    assert found["learned_margin"]["runs"] == geo
    assert (found["decision"], round(found["margin"], 3)) == ("fail", 0.01)
    mixed = trained.gate("plain-0", **AUTO, repeats=[*geo, *plain[1:]]).to_dict()
    assert mixed["decision"] == "inconclusive"
    assert mixed["margin"] > 5 * found["margin"]


def test_other_rows_labels_or_tags_make_another_recipe(trained: nt.Tracker) -> None:
    for number, other in enumerate(({"data_rows": "1200: 0c"}, {"data_labels": "240: 0d"}, {"data_features": "2"}), 5):
        train(trained, f"geo-{number}", number, {**GEO, **other})
    train(trained, "geo-8", 8, GEO, {"arm": "b"})
    train(trained, "geo-9", 9, GEO, {"seed": "9", "random_state": "9", "trial": "3"})
    assert repeats(trained) == ["geo-0", "geo-1", "geo-2", "geo-3", "geo-4", "geo-9"]


def test_a_measure_that_has_a_limit_is_no_tag_of_a_recipe(trained: nt.Tracker) -> None:
    for number in range(5):
        trained.tag_run(f"geo-{number}", {"latency_ms": str(20 + number)})
    trained.tag_run("plain-0", {"latency_ms": "20"})
    assert repeats(trained, limits={"latency_ms": "+10%"}) == [f"geo-{number}" for number in range(5)]
    assert refusal(trained, "plain-0", **AUTO) == (
        "margin='auto' needs at least 3 runs of one unchanged system, and there is 1 with the parameters and tags of "
        "'geo-0' except for the seed (geo-0); 'geo-1' does not count: tag latency_ms is '20' in 'geo-0' and '21' in "
        "'geo-1'; if it is a repeat, name all repeats with repeats='RUN', or tag them and the baseline, each as in: "
        "ndcg-track runs tag geo-0 aa=NAME --dataset shop"
    )


def test_where_early_stopping_ended_a_training_is_no_recipe(trained: nt.Tracker) -> None:
    for seed in range(3):
        stopped = {"leaves": 9, "iteration": str(40 + seed), "best_iteration": str(40 + seed)}
        train(trained, f"stopped-{seed}", seed, {**GEO, **stopped})
    train(trained, "stopped-3", 3, {**GEO, **stopped, "iteration": "10"})
    assert repeats(trained, baseline="stopped-0") == ["stopped-0", "stopped-1", "stopped-2"]


def test_the_siblings_of_the_candidate_teach_nothing(trained: nt.Tracker) -> None:
    how = (
        "so similar runs may be repeats of either; name those of the baseline with repeats='RUN', or tag them "
        "and the baseline, each as in: ndcg-track runs tag geo-0 aa=NAME --dataset shop"
    )
    assert refusal(trained, "geo-1", **AUTO) == (
        "baseline 'geo-0' and candidate 'geo-1' are of one recipe (parameters and tags are equal except for the "
        f"seed), {how}"
    )
    assert repeats(trained, "geo-1", repeats=["geo-0", "geo-2", "geo-3"]) == ["geo-0", "geo-2", "geo-3"]
    train(trained, "old-0", 8, {})
    assert refusal(trained, "old-0", **AUTO) == (
        "baseline 'geo-0' and candidate 'old-0' may be of one recipe (parameters and tags are equal except for the "
        "seed; only data_features is '2: price, geo' in 'geo-0', and 'old-0' has none, like runs that an older "
        f"version stored), {how}"
    )
    trained.tag_run("geo-4", {"aa": "four"})
    assert refusal(trained, "geo-4", **AUTO).startswith(
        "baseline 'geo-0' and candidate 'geo-4' may be of one recipe (parameters and tags are equal except for the "
        "seed; only tag aa is 'four' in 'geo-4', and 'geo-0' has none), "
    )
    for seed in range(4):
        trained.tag_run(f"geo-{seed}", {"aa": "geo"})
    assert repeats(trained, "geo-1") == ["geo-0", "geo-2", "geo-3"]


def test_runs_of_an_older_version_are_in_doubt(trained: nt.Tracker) -> None:
    """They lack what they were made from: alike among themselves, but not like one that has it."""
    for seed in range(3):
        train(trained, f"old-{seed}", seed, {})
    assert repeats(trained, baseline="old-0", candidate="drop") == ["old-0", "old-1", "old-2"]
    assert repeats(trained) == [f"geo-{seed}" for seed in range(5)]
    train(trained, "new-0", 6, {"data_rows": "7", "data_labels": "7", "data_features": "7"})
    asked = {**AUTO, "baseline": "new-0"}
    assert refusal(trained, "drop", **asked).startswith(
        "margin='auto' needs at least 3 runs of one unchanged system, and there is 1 with the parameters and tags of "
        "'new-0' except for the seed (new-0); 'old-0' does not count: data_features is '7' in 'new-0', and 'old-0' has "
        "none, like runs that an older version stored; if it is a repeat, name all repeats with repeats='RUN', or "
    )


def test_a_tag_does_not_make_repeats_of_runs_with_other_data(trained: nt.Tracker) -> None:
    for name in ("geo-0", "geo-1", "geo-2", "plain-1"):
        trained.tag_run(name, {"aa": "ranker"})
    expected = (
        "runs 'geo-0' and 'plain-1' with the tag aa=ranker are not repeats of one system: data_features is "
        "'2: price, geo' in 'geo-0' and '1: price' in 'plain-1'; only 'geo-0' has 'geo'; name the repeats of one "
        "system with "
        "repeats='RUN', or correct the tags"
    )
    assert refusal(trained, "plain-0", **AUTO) == expected
    assert refusal(trained, "plain-0", **{**AUTO, "baseline": "@prod"}, repeats="tag:aa=ranker") == expected
    trained.tag_run("plain-1", {}, remove=["aa"])
    assert repeats(trained) == ["geo-0", "geo-1", "geo-2"]


@pytest.mark.nightly(but=2)
def test_each_run_counts_once(trained: nt.Tracker) -> None:
    """Runs with a tag aa are of its family, not of the recipe of others as well."""
    for seed in range(5, 9):
        train(trained, f"geo-{seed}", seed, GEO, {"aa": "A"})
    (note,) = [one for one in trained.compare("geo-5", "geo-0").comparisons[0].notes if one.kind == "retraining"]
    assert note.facts["families"] == ["aa=A", "the recipe of geo-0"]
    assert note.facts["n_runs"] == 9
    (note,) = [one for one in trained.compare("geo-1", "geo-0").comparisons[0].notes if one.kind == "retraining"]
    assert (note.facts["families"], note.facts["n_runs"]) == (["the recipe of geo-1"], 5)
    trained.tag_run("plain-0", {"aa": "A"})
    (note,) = [one for one in trained.compare("geo-5", "geo-0").comparisons[0].notes if one.kind == "retraining"]
    assert note.facts["families"] == ["the recipe of geo-0"]
