"""What to judge next, and what becomes of the answers."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ndcg_tracker import Tracker, errors, evaluate
from ndcg_tracker.ingest.reading import read_labels
from ndcg_tracker.rankings.ranking import LabelLists

RUNS = {
    "old": {"q1": "abxc", "q2": "dye", "q3": "fg"},
    "new": {"q1": "xazb", "q2": "edw", "q3": "gf"},
    "third": {"q1": "abcv", "q2": "dye", "q3": "fg"},
}
LABELS = {"q1": {"a": 2, "b": 1}, "q2": {"d": 1, "e": 0}, "q3": {"f": 1, "g": 2}}
FREE = {("q1", "x"), ("q1", "z"), ("q2", "y"), ("q2", "w")}


def rows(lists: dict[str, str]) -> dict[str, list[object]]:
    listed = [(group, item, -float(rank)) for group, items in lists.items() for rank, item in enumerate(items)]
    return {name: [row[at] for row in listed] for at, name in enumerate(("group", "item", "score"))}


def labelled(labels: dict[str, dict[str, int]]) -> dict[str, list[object]]:
    pairs = [(group, item, grade) for group, items in labels.items() for item, grade in items.items()]
    return {name: [row[at] for row in pairs] for at, name in enumerate(("group", "item", "label"))}


def answers(folder: Path, text: str, suffix: str = "csv") -> LabelLists:
    path = folder / f"answers.{suffix}"
    path.write_text(text, encoding="utf-8")
    return read_labels(str(path))


def fill_shop(url: str) -> None:
    with Tracker(url) as tracker:
        for name, lists in RUNS.items():
            tracker.ingest(rows(lists), labels=labelled(LABELS), name=name, metrics=["ERR", "ndcg@3"], dataset="shop")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: Tracker) -> Tracker:
    fill_as(fill_shop)
    return tracker


def delta(labels: dict[str, dict[str, int]], *names: str) -> float:
    one, other = (evaluate(rows(RUNS[name]), ["ndcg@3"], labels=labelled(labels)).mean["ndcg@3"] for name in names)
    assert one is not None
    assert other is not None
    return other - one


def test_an_item_comes_by_how_far_its_grade_alone_moves_the_difference(shop: Tracker) -> None:
    found = shop.labels_needed("old", "new").needed
    expected = {}
    for group, item in FREE:
        deltas = [delta(LABELS, "old", "new")]
        for grade in (0, 1, 2):
            deltas.append(delta({**LABELS, group: {**LABELS[group], item: grade}}, "old", "new"))
        expected[group, item] = max(deltas) - min(deltas)
    moves = {(one.group, one.item): one.could_move for one in found.items}
    assert moves == pytest.approx(expected, abs=1e-12)
    assert list(moves.values()) == sorted(moves.values(), reverse=True)
    assert (found.metric, found.n_unjudged, found.label_set.version) == ("ndcg@3", 4, 1)
    assert [(one.group, one.item) for one in shop.labels_needed("old", "new", budget=2).needed.items] == list(moves)[:2]


def test_of_several_candidates_the_difference_counts_that_an_item_moves_most(shop: Tracker) -> None:
    alone = [shop.labels_needed("old", name).needed for name in ("new", "third")]
    both = shop.labels_needed("old", ["new", "third"]).needed
    expected: dict[tuple[str, str], float] = {}
    for found in alone:
        for one in found.items:
            key = (one.group, one.item)
            expected[key] = max(one.could_move, expected.get(key, 0.0))
    assert {(one.group, one.item): one.could_move for one in both.items} == expected
    assert [run.name for run in both.candidates] == ["new", "third"]
    assert both.n_unjudged == 5  # c is unjudged in old and third, at the third rank


def test_weights_of_groups_count(tracker: Tracker) -> None:
    for name in ("old", "new"):
        metric = "ndcg(weights=group)@3"
        tracker.ingest(rows(RUNS[name]), labels=labelled(LABELS), name=name, metrics=metric)
    tracker.set_groups({"group": ["q1", "q2", "q3"], "weight": [1.0, 7.0, 2.0]})
    weighted = {one.item: one.could_move for one in tracker.labels_needed("old", "new").needed.items}
    alike = {one.item: one.could_move for one in tracker.labels_needed("old", "new", metric="ndcg@3").needed.items}
    assert weighted["x"] == pytest.approx(alike["x"] * 3 * 0.1)
    assert weighted["y"] == pytest.approx(alike["y"] * 3 * 0.7)


def test_answers_are_added_and_narrow_the_range(shop: Tracker, tmp_path: Path) -> None:
    before = shop.compare("old", "new", metrics="ndcg@3").to_dict()["metrics"][0]["unjudged"]
    shop.labels_needed("old", "new", budget=2).save(tmp_path / "ask.csv")
    asked = list(csv.DictReader(io.StringIO((tmp_path / "ask.csv").read_text())))
    assert [row["label"] for row in asked] == ["", ""]
    given = f"group,item,label\n{asked[0]['group']},{asked[0]['item']},1\n{asked[1]['group']},{asked[1]['item']},\n"
    assert shop.add_labels(answers(tmp_path, given), dataset="shop", extend=True) == (2, True)
    left = shop.labels_needed("old", "new").needed
    assert left.n_unjudged == 3
    assert left.label_set.version == 2  # before any run is evaluated under it
    assert (asked[0]["group"], asked[0]["item"]) not in {(one.group, one.item) for one in left.items}
    shop.rescore()
    after = shop.compare("old", "new", metrics="ndcg@3").to_dict()["metrics"][0]["unjudged"]
    assert after["n_items"] == before["n_items"] - 1 == 3


def test_labels_that_extend_are_the_union_and_never_change_a_grade(shop: Tracker, tmp_path: Path) -> None:
    more = answers(tmp_path, "group,item,label\nq1,x,2\nq9,n,1\nq1,a,2\n")
    assert shop.add_labels(more, dataset="shop", extend=True) == (2, True)
    assert shop.add_labels(more, dataset="shop", extend=True) == (2, False)
    stored = shop.sql("SELECT group_key, item_key, grade FROM labels WHERE label_set_version = 2").to_numpy().tolist()
    expected = {**{(g, i): v for g, items in LABELS.items() for i, v in items.items()}, ("q1", "x"): 2, ("q9", "n"): 1}
    assert {(group, item): grade for group, item, grade in stored} == expected
    with pytest.raises(errors.ConflictError) as refused:
        shop.add_labels(answers(tmp_path, "group,item,label\nq1,a,0\n"), dataset="shop", extend=True)
    assert str(refused.value) == (
        "item 'a' of group 'q1' has the label 0 here but 2 in the latest labels of dataset 'shop'; to replace those, "
        "make a new version with: ndcg-track labels add FILE --dataset shop; to keep both, as labels of another judge: "
        "ndcg-track labels add FILE --dataset shop --judge NAME"
    )
    assert shop.add_labels(more, dataset="shop", replace=True) == (3, True)


def test_every_format_for_judges_is_read_back(shop: Tracker, tmp_path: Path) -> None:
    needed = shop.labels_needed("old", "new")
    pairs = {(one.group, one.item) for one in needed.needed.items}
    for format, suffix in (("csv", "csv"), ("quepid", "csv"), ("elasticsearch", "json")):
        needed.save(tmp_path / f"ask.{suffix}", format)  # type: ignore[arg-type]
        text = (tmp_path / f"ask.{suffix}").read_text(encoding="utf-8")
        if suffix == "json":
            document = json.loads(text)
            for request in document["requests"]:
                for rating in request["ratings"]:
                    assert rating.pop("rating", 0) is None
                    rating["rating"] = 1
            text = json.dumps(document)
        else:
            head, *lines = text.splitlines()
            place = head.split(",").index("label" if format == "csv" else "rating")
            cells = [line.split(",") for line in lines]
            assert {row[place] for row in cells} == {""}
            text = "\n".join([head, *(",".join([*row[:place], "1", *row[place + 1 :]]) for row in cells)]) + "\n"
        lists = answers(tmp_path, text, suffix)
        groups = [
            key
            for key, n in zip(lists.group_keys.to_list(), lists.offsets[1:] - lists.offsets[:-1], strict=True)
            for _ in range(n)
        ]
        assert set(zip(groups, lists.item_keys.to_list(), strict=True)) == pairs
        assert set(lists.grades.tolist()) == {1.0}


def test_ids_that_csv_would_change_are_refused_and_json_has_them(tracker: Tracker, tmp_path: Path) -> None:
    for name, items in (("old", ["=1+1", "b"]), ("new", ["b", "c\x1b[2J"])):
        run = {"group": ["q", "q"], "item": items, "score": [2.0, 1.0]}
        tracker.ingest(run, labels={"group": ["q"], "item": ["b"], "label": [1]}, name=name)
    needed = tracker.labels_needed("old", "new")
    with pytest.raises(errors.InputError) as refused:
        needed.save(tmp_path / "ask.csv", "quepid")
    assert str(refused.value) == (
        "item '=1+1' cannot be read back from CSV that is safe to open; use format='elasticsearch'"
    )
    assert not (tmp_path / "ask.csv").exists()
    needed.save(tmp_path / "ask.json", "elasticsearch")
    text = (tmp_path / "ask.json").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert [one["_id"] for one in json.loads(text)["requests"][0]["ratings"]] == ["=1+1", "c\x1b[2J"]


def test_wrong_questions_are_refused(shop: Tracker) -> None:
    def refusal(*runs: str, **rest: object) -> str:
        with pytest.raises(errors.NdcgTrackerError) as refused:
            shop.labels_needed(*runs, **rest)  # type: ignore[arg-type]
        return str(refused.value)

    assert refusal("old") == "choosing what to judge takes two runs or more; name a candidate after the baseline"
    assert refusal("old", "new", budget=0) == "the budget must be 1 label or more, not 0"
    assert refusal("old", "new", metric="ERR") == (
        "ERR: the effect of unjudged items on it has no known bound for this measure; use metric='ndcg@10'"
    )
    assert refusal("old", "new", metric="ndcg(ties=optimistic)@5") == (
        "ndcg(ties=optimistic)@5: the effect of unjudged items on it has no known bound with ties=optimistic; use "
        "metric='ndcg@10'"
    )
    shop.ingest(rows(RUNS["old"]), labels=labelled(LABELS), name="other", dataset="elsewhere")
    assert refusal("old", "other") == (
        "run 'old' is of dataset 'shop' and run 'other' of dataset 'elsewhere'; only runs of one dataset can be judged "
        "together"
    )
    for name in ("old", "new"):
        shop.ingest(rows(RUNS[name]), labels=labelled(LABELS), name=name, metrics="ERR", dataset="ap")
    assert refusal("old", "new", dataset="ap") == (
        "the runs share no metric for which the effect of unjudged items has a known bound, such as ndcg@10; type: "
        "ndcg-track rescore old new --dataset ap --metric ndcg@10"
    )


def test_where_all_is_judged_nothing_is_asked(tracker: Tracker) -> None:
    for name in ("old", "new"):
        kept = {"q3": RUNS[name]["q3"]}
        tracker.ingest(rows(kept), labels=labelled({"q3": LABELS["q3"]}), name=name)
    needed = tracker.labels_needed("old", "new")
    assert needed.to_frame().to_dict("list") == {"group": [], "item": [], "could_move": []}
    assert str(needed).startswith("new against old on default: no label could move ndcg@10\n\nmore: ")


def test_a_named_judge_is_asked_for_what_that_judge_has_not_seen(shop: Tracker, tmp_path: Path) -> None:
    some = answers(tmp_path, "group,item,label\nq1,x,1\nq2,y,0\n")
    assert shop.add_labels(some, dataset="shop", judge="ann") == (2, True)
    found = shop.labels_needed("old", "new", metric="ndcg@3", judge="ann").needed
    assert (found.label_set.version, found.label_set.judge) == (2, "ann")
    assert ("q1", "a") in {(one.group, one.item) for one in found.items}
    more = answers(tmp_path, "group,item,label\nq1,a,0\n")
    assert shop.add_labels(more, dataset="shop", judge="ann", extend=True) == (3, True)
    assert shop.labels_needed("old", "new").needed.label_set.version == 1
    labels = shop.sql("SELECT item_key FROM labels WHERE label_set_version = 3")["item_key"]
    assert sorted(labels) == ["a", "x", "y"]
