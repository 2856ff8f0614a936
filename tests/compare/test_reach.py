"""Labels that one run never lists because its ids were changed, in worlds whose truth is known, and what is said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from hashlib import md5
from itertools import permutations
from zlib import crc32

import numpy as np
import pytest
from command_line import CommandLine
from populations import Record, repeats
from samples import decided
from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.compare.reach import Vanished
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import unjudged_range
from ndcg_tracker.questions.gate.decide import between
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking

Lists = dict[str, list[str]]
METRICS = ("ndcg@10", "R@5", "RR", "Success@5")


def named(*of: object) -> str:
    """Return an id without a pattern."""
    return md5(repr(of).encode(), usedforsecurity=False).hexdigest()[:10]


def names(number: int, first_shared: int, places: Iterable[int]) -> list[str]:
    return [named("any" if at >= first_shared else number, at) for at in places]


def pair(
    rng: np.random.Generator,
    n: int,
    rho: float,
    drop: float,
    share: float,
    depth: int,
    n_relevant: int,
    shared: int = 0,
) -> tuple[Lists, Lists, dict[str, list[str]]]:
    """Return the lists of two retrievers over one corpus, and the relevant items.

    Their noise is correlated by ``rho``; in a share of queries relevant items lose ``drop`` in score. ``shared``: how
    many items that are not relevant are in the pool of every query.
    """
    size = 200 if depth == 10 else 600
    baseline, candidate, relevant = {}, {}, {}
    for number in range(n):
        score = np.zeros(size)
        score[:n_relevant] = 3.6 + rng.normal(0, 1.2) + rng.normal(0, 0.6, n_relevant)
        content, noise, other = rng.normal(0, 0.8, size), rng.normal(0, 0.6, size), rng.normal(0, 0.6, size)
        fallen = score - drop * (rng.random() < share) * (np.arange(size) < n_relevant)
        group, items = f"q{number}", partial(names, number, size - shared)
        for lists, scores in (
            (baseline, score + content + noise),
            (candidate, fallen + content + rho * noise + np.sqrt(1 - rho**2) * other),
        ):
            lists[group] = items(np.argsort(-scores)[:depth].tolist())
        relevant[group] = items(range(n_relevant))
    return baseline, candidate, relevant


def renamed(lists: Lists, share: float, seed: int) -> Lists:
    rng, new = np.random.default_rng([seed, 9]), dict[str, str]()
    return {
        group: [new.setdefault(item, named("new", item) if rng.random() < share else item) for item in items]
        for group, items in lists.items()
    }


def lacking(lists: Lists, share: float, seed: int) -> Lists:
    rng, gone = np.random.default_rng([seed, 4]), dict[str, bool]()
    return {
        group: [item for item in items if not gone.setdefault(item, rng.random() < share)]
        for group, items in lists.items()
    }


def cut(lists: Lists, depth: int) -> Lists:
    return {group: items[:depth] for group, items in lists.items()}


def side(lists: Lists, labels: Mapping[str, Mapping[str, float]]) -> JudgedRanking:
    rows = [(group, item, -rank) for group, items in lists.items() for rank, item in enumerate(items)]
    groups, items, scores = zip(*rows, strict=True)
    run = Ranking.from_rows(Keys.from_strings(groups), Keys.from_strings(items), np.array(scores, dtype=float))
    of = [(group, item, grade) for group, items in labels.items() for item, grade in items.items()]
    groups, items, grades = zip(*of, strict=True)
    keys = Keys.from_strings(groups), Keys.from_strings(items)
    return judged(run, LabelLists.from_rows(*keys, np.array(grades, dtype=float)))


def is_flagged(baseline: Lists, candidate: Lists, labels: dict[str, list[str]]) -> bool:
    grades = {group: dict.fromkeys(items, 1.0) for group, items in labels.items()}
    sides = side(baseline, grades), side(candidate, grades)
    return any(Vanished.between(*both).is_replaced for both in permutations(sides))


SIZES = {
    "40 queries, one relevant": (40, 10, 1, 0),
    "300 queries": (300, 10, 4, 0),
    "150 queries, one relevant": (150, 10, 1, 0),
    "300 queries, first 100": (300, 100, 1, 0),
    "150 queries, shared items": (150, 10, 2, 40),
}
World = Callable[[int], tuple[Lists, Lists, dict[str, list[str]]]]


def stable() -> Iterator[tuple[str, World]]:
    """Return the worlds in which no id changes: other models, worse ones, and an index that lacks items."""
    for size, (n, depth, n_relevant, shared) in SIZES.items():
        for rho in (0.98, 0.9, 0.5):
            for drop, share in ((0, 0), (4, 0.1), (4, 0.3), (0.5, 1), (1, 1)):

                def world(
                    seed: int,
                    of: tuple[float, float, float] = (rho, drop, share),
                    sizes: tuple[int, int, int, int] = (n, depth, n_relevant, shared),
                ) -> tuple[Lists, Lists, dict[str, list[str]]]:
                    return pair(np.random.default_rng(seed), sizes[0], *of, *sizes[1:])

                yield f"{size}: noise {rho}, relevant items lose {drop} in {share:.0%}", world
        for share in (0.1, 0.3, 0.5):

            def smaller(
                seed: int, share: float = share, sizes: tuple[int, int, int, int] = (n, depth, n_relevant, shared)
            ) -> tuple[Lists, Lists, dict[str, list[str]]]:
                n, depth, n_relevant, shared = sizes
                made = pair(np.random.default_rng(seed), n, 0.98, 0, 0, 3 * depth, n_relevant, shared)
                return cut(made[0], depth), cut(lacking(made[1], share, seed), depth), made[2]

            yield f"{size}: an index that lacks {share:.0%}", smaller


STABLE = dict(stable())


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize("name", STABLE)
def test_stable_ids_are_never_taken_for_changed_ones(name: str, record_property: Record) -> None:
    n = repeats(4)
    rate = np.mean([is_flagged(*STABLE[name](crc32(f"{name} {seed}".encode()))) for seed in range(n)])
    record_property("flagged", float(rate))
    assert rate <= 0.01


@lru_cache(maxsize=200)
def of_300_queries(seed: int) -> tuple[Lists, dict[str, list[str]]]:
    """Return the lists of a retriever and the four relevant items of each query."""
    lists, _, relevant = pair(np.random.default_rng(seed), 300, 1.0, 0, 0, 10, 4)
    return lists, relevant


def word_of(old: JudgedRanking, new: JudgedRanking, text: str, is_graded: bool) -> str:
    """Return what a gate decides with margin 0.02 about runs whose labels seem to reach both."""
    metric, groups = parse_metric(text), old.labels.group_keys
    before, after = (np.nan_to_num(group_values(side, [metric])[0].values) for side in (old, new))
    gate = partial(decided, margin=0.02, limits=(-1.0, 1.0))
    if not is_graded:  # there is no range where all labels are positives
        return gate(after - before).decision
    moved = unjudged_range(old, new, metric, groups)
    low, high = (gate(np.clip(after - before + end, -1, 1)) for end in (moved.low, moved.high))
    return between(gate(after - before), low, high).decision


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.4, 0.6])
@pytest.mark.parametrize("is_graded", [False, True])
@pytest.mark.parametrize("rewritten", [False, True])
def test_changed_ids_neither_pass_nor_fail(
    share: float, is_graded: bool, rewritten: bool, record_property: Record
) -> None:
    """300 queries and the same lists; ``rewritten``: the labels have the new ids, so that they miss the baseline."""
    n, n_flagged, counts = 200 if LONG else 5, 0, Counter[tuple[str, str]]()
    for seed in range(n):
        baseline, relevant = of_300_queries(seed)
        candidate = renamed(baseline, share, seed)
        grades = {group: dict.fromkeys(items, 1.0) for group, items in relevant.items()}
        if is_graded:
            grades = {group: dict.fromkeys(items, 0.0) | grades[group] for group, items in baseline.items()}
        if rewritten:
            pairs = {group: dict(zip(items, candidate[group], strict=True)) for group, items in baseline.items()}
            grades = {group: {pairs[group].get(i, i): n for i, n in of.items()} for group, of in grades.items()}
        old, new = side(baseline, grades), side(candidate, grades)
        is_seen = any(Vanished.between(*both).is_replaced for both in permutations((old, new)))
        n_flagged += is_seen
        for metric in METRICS:
            counts[metric, "inconclusive" if is_seen else word_of(old, new, metric, is_graded)] += 1
        if seed == 0 and share >= 0.4 and not is_graded:  # what the rule is for
            without = {word_of(old, new, metric, is_graded) for metric in METRICS}
            assert without == {"pass" if rewritten else "fail"}
    record_property("flagged", n_flagged / n)
    for metric in METRICS:
        for decision in ("pass", "fail"):
            record_property(f"{metric} {decision}", counts[metric, decision] / n)
        if share > 0.05:
            assert not counts[metric, "pass"] + counts[metric, "fail"]
        elif rewritten:
            assert not counts[metric, "pass"]
        else:
            assert counts[metric, "fail"] <= 0.15 * n
    assert n_flagged / n >= (0.85 if share == 0.05 else 1.0)


def frame(lists: Lists, scores: Callable[[int], float] = float) -> dict[str, list[object]]:
    rows = [(group, item, scores(-rank)) for group, items in lists.items() for rank, item in enumerate(items)]
    return dict(zip(("group", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))


def rows(labels: dict[str, dict[str, int]]) -> dict[str, list[object]]:
    each = [(group, item, grade) for group, of in labels.items() for item, grade in of.items()]
    return dict(zip(("group", "item", "label"), map(list, zip(*each, strict=True)), strict=True))


def small(share: float = 0.4, *, prefix: str = "") -> tuple[Lists, Lists, dict[str, dict[str, int]]]:
    """Return the lists of one retriever on 60 queries, with other ids for a share of the items, and labels."""
    baseline, _, relevant = pair(np.random.default_rng(3), 60, 1.0, 0, 0, 10, 3)
    candidate = renamed(baseline, share, 1)
    if prefix:
        old = {item for items in baseline.values() for item in items}
        paired = {g: list(zip(baseline[g], candidate[g], strict=True)) for g in baseline}
        candidate = {g: [a if b in old else prefix + a for a, b in both] for g, both in paired.items()}
    return baseline, candidate, {group: dict.fromkeys(items, 1) for group, items in relevant.items()}


def store(tracker: nt.Tracker, baseline: Lists, candidate: Lists, labels: dict[str, dict[str, int]]) -> None:
    tracker.ingest(frame(baseline), name="old", labels=rows(labels), dataset="shop", metrics=METRICS)
    tracker.ingest(frame(candidate), name="new", dataset="shop", metrics=METRICS)


def told(baseline: Lists, candidate: Lists, labels: dict[str, dict[str, int]]) -> str:
    found = Vanished.between(side(baseline, labels), side(candidate, labels))
    return f"{found.n} of the {found.n_labelled} labelled items in old's first three never occur in new"


WORDS = ", and ids that old never had stand in their places: were documents cut anew or renamed?"


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("metric", METRICS)
def test_a_gate_decides_nothing_about_ids(tracker: nt.Tracker, metric: str) -> None:
    made = small()
    store(tracker, *made)
    result = tracker.gate("new", baseline="old", dataset="shop", metric=metric, margin=0.02)
    assert (result.decision, result.reason) == ("inconclusive", told(*made) + WORDS)
    carry = "to carry the labels over to the ids of both: ndcg-track labels carry MAPPING.csv --dataset shop"
    assert carry in result.notes
    kept = tracker.gate("new", baseline="old", dataset="shop", metric=metric, margin=0.02, ids_are_stable=True)
    assert kept.gated.decision.barred is None
    stable = f"the verdict takes ids as stable: {told(*made)}, although ids that old never had are in their places"
    assert stable in kept.notes


def test_labels_with_the_new_ids_miss_the_baseline(tracker: nt.Tracker) -> None:
    baseline, candidate, labels = small()
    store(tracker, candidate, baseline, labels)  # old has the new ids, new those of the labels
    result = tracker.gate("new", baseline="old", dataset="shop", metric="R@5", margin=0.02)
    assert result.decision == "inconclusive"
    assert result.reason.endswith(
        "and ids that new never had stand in their places: were documents cut anew or renamed?"
    )


def test_compare_shows_the_figures_as_open(tracker: nt.Tracker, capsys: pytest.CaptureFixture[str]) -> None:
    made = small(prefix="v2-")
    store(tracker, *made)
    line = CommandLine(tracker.location, capsys)
    asked = ("compare", "old", "new", "--metric", "R@5", "--dataset", "shop")
    answer = line(*asked)
    assert answer.code == 5
    text = " ".join(answer.out.split())
    told_so = "R@5 cannot be compared: the labels do not reach both runs"
    assert text.startswith(f"new against old on shop (60 queries): {told_so} ")
    assert " ? R@5 " in text
    assert "? open: the labels do not reach both runs" in line(*asked, "-v").out
    assert f"note: {told(*made)}{WORDS}" in text
    assert "ndcg-track labels carry --pattern '^v2-' --dataset shop" in text
    found = json.loads(line(*asked, "--format", "json").out)["metrics"][0]
    assert (found["verdict"], found["open"], found["is_open"]) == ("not_comparable", "labels do not reach", True)
    assert found["delta"] < 0
    assert found["p_value"] is found["ci"] is None
    kept = line(*asked, "--ids-are-stable")
    assert kept.code == 0
    assert "R@5 worse by" in kept.out
    gated = line("gate", "new", "--baseline", "old", "--dataset", "shop", "--metric", "R@5", "--margin", "0.02")
    assert gated.code == 4


def test_programs_read_how_many_labelled_items_each_run_lists(tracker: nt.Tracker) -> None:
    old, new = {"q": ["a", "b", "c"], "r": ["d"]}, {"q": ["a", "x", "y"], "s": ["e"]}
    labels = {"q": {"a": 2, "b": 0, "z": 1}, "r": {"d": 1}, "s": {"e": 1}}
    store(tracker, old, new, labels)
    asked = {"metrics": "ndcg(missing=skip)@10", "missing": "intersect", "dataset": "shop"}
    tracker.rescore(metrics=asked["metrics"], dataset="shop")
    listed = json.loads(json.dumps(tracker.compare("old", "new", **asked).to_dict()))["listed"]
    assert listed == [
        {"of": "labelled", "baseline": 2 / 3, "candidate": 1 / 3},
        {"of": "relevant", "baseline": 1 / 2, "candidate": 1 / 2},
    ]


def test_labels_that_have_both_ids_reach_both_runs(tracker: nt.Tracker) -> None:
    baseline, candidate, labels = small()
    new = {g: dict(zip(baseline[g], candidate[g], strict=True)) for g in baseline}
    carried = {g: {**of, **{new[g].get(item, item): grade for item, grade in of.items()}} for g, of in labels.items()}
    store(tracker, baseline, candidate, carried)
    assert tracker.gate("new", baseline="old", dataset="shop", metric="RR", margin=0.02).gated.decision.barred is None


def test_texts_prove_that_ids_were_changed(tracker: nt.Tracker) -> None:
    """Under another model, few new ids stand at the place of an old one."""
    baseline, candidate, labels = small()
    turned = {group: items[::-1] for group, items in candidate.items()}
    store(tracker, baseline, turned, labels)
    asked = {"dataset": "shop", "metric": "RR", "margin": 0.02, "dry_run": True}
    assert tracker.gate("new", baseline="old", **asked).gated.decision.barred is None
    both = [(a, b) for g in baseline for a, b in zip(baseline[g], candidate[g], strict=True)]
    texts = {item: f"text of {old}" for old, new in both for item in (old, new)}
    tracker.add_texts({"item": list(texts), "text": list(texts.values())}, dataset="shop")
    result = tracker.gate("new", baseline="old", **asked)
    assert result.decision == "inconclusive"
    assert any(note.endswith("ndcg-track labels carry --by-text --dataset shop") for note in result.notes)


def test_an_index_that_lacks_items_is_told_and_judged(tracker: nt.Tracker) -> None:
    deep, _, relevant = pair(np.random.default_rng(3), 60, 1.0, 0, 0, 30, 3)
    baseline, candidate = cut(deep, 10), cut(lacking(deep, 0.3, 1), 10)
    labels = {group: dict.fromkeys(items, 1) for group, items in relevant.items()}
    store(tracker, baseline, candidate, labels)
    result = tracker.gate("new", baseline="old", dataset="shop", metric="R@5", margin=0.02)
    assert result.decision == "fail"
    assert f"{told(baseline, candidate, labels)}: is a part of the index missing?" in result.notes


def test_the_policy_says_whether_ids_are_stable(tracker: nt.Tracker) -> None:
    store(tracker, *small())
    tracker.set_alias("prod", "old", dataset="shop")
    tracker.set_policy("prod", metric="R@5", margin=0.02, dataset="shop")
    with pytest.raises(
        nt.InputError, match=r"^ids_are_stable=True is not the policy of @prod, which says: no, the def"
    ):
        tracker.gate("new", baseline="@prod", dataset="shop", metric="R@5", ids_are_stable=True)
    assert tracker.gate("new", baseline="@prod", dataset="shop", metric="R@5").decision == "inconclusive"
    tracker.set_policy("prod", metric="R@5", margin=0.02, ids_are_stable=True, dataset="shop")
    assert tracker.gate("new", baseline="@prod", dataset="shop", metric="R@5").decision == "fail"


def test_explain_and_history_say_it(tracker: nt.Tracker) -> None:
    made = small()
    store(tracker, *made)
    assert told(*made) + WORDS in tracker.explain("old", "new", dataset="shop", metric="ndcg@10").notes
    group = next(iter(made[0]))
    assert told(*made) + WORDS in tracker.explain("old", "new", dataset="shop", metric="ndcg@10", group=group).notes
    notes = tracker.history_report("R@5", dataset="shop").notes
    assert told(*made) + WORDS in notes
    assert not any("labels needed" in note for note in notes)
    tracker.create_suite("all", ["shop"])
    with pytest.raises(
        nt.NotComparableError, match="on 'shop': the labels do not reach both runs; see: ndcg-track comp"
    ):
        tracker.compare("old", "new", suite="all", metrics="R@5")


@pytest.mark.both_engines
def test_a_gate_on_a_suite_decides_nothing_about_ids(tracker: nt.Tracker, capsys: pytest.CaptureFixture[str]) -> None:
    made = small(prefix="v2-")
    store(tracker, *made)
    baseline, _, labels = made
    for name in ("old", "new"):
        tracker.ingest(frame(baseline), name=name, labels=rows(labels), dataset="other", metrics=METRICS)
    tracker.create_suite("all", ["other", "shop"])
    line = CommandLine(tracker.location, capsys)
    asked = ("gate", "new", "--baseline", "old", "--suite", "all", "--metric", "R@5", "--margin", "0.02")
    answer = line(*asked)
    assert answer.code == 4
    text = " ".join(answer.out.split())
    assert text.startswith("INCONCLUSIVE: new may or may not replace old on suite all (macro R@5, margin ")
    assert f"{told(*made)}{WORDS}" in text
    assert "ndcg-track labels carry --pattern '^v2-' --dataset shop" in text
    assert tracker.sql("SELECT decision, reason FROM suite_gate_decisions")["decision"].tolist() == ["inconclusive"]
    assert line(*asked, "--ids-are-stable").code == 3


def test_repeats_of_one_side_are_each_asked(tracker: nt.Tracker) -> None:
    baseline, candidate, labels = small()
    store(tracker, baseline, candidate, labels)
    tracker.ingest(frame(baseline, lambda rank: rank * 2.0), name="old again", dataset="shop", metrics=METRICS)
    for name, arm in (("old", "a"), ("old again", "a")):
        tracker.tag_run(name, {"arm": arm}, dataset="shop")
    result = tracker.compare("tag:arm=a", "new", dataset="shop", metrics="R@5")
    assert result.comparisons[0].metrics[0].about.not_comparable == "other_ids"
