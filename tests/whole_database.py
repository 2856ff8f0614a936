"""Databases with all that a database may hold."""

from dataclasses import replace
from typing import Any

from judged_worlds import world
from rankings_of import labels_of
from runs_of_sums import store_sums
from small_shop import BM25, DENSE, LABELS, frame_of

import ndcg_tracker as nt

WORLD, OF_LLAMA, TRUE = world()
PAIR = ("dense", "stylish")
OF_JUDGE: dict[str, Any] = {"judge": "llama", "dataset": "shop"}


def fill_designs(tracker: nt.Tracker) -> None:
    """Store designs of every kind: that check a judge, in part, that fill holes, and of single items."""
    tracker.ingest(WORLD["other"], labels=OF_LLAMA, judge="llama", name="first", dataset="books")
    for name, frame in WORLD.items():
        tracker.ingest(frame, labels=OF_LLAMA, judge="llama", name=name, dataset="shop")
    tracker.labels_sample(*PAIR, budget=420, seed="s", **OF_JUDGE)
    answer(tracker, 1)
    tracker.labels_sample("dense", "other", budget=440, **OF_JUDGE)
    answer(tracker, 2)
    tracker.ingest(WORLD["other"], labels=OF_LLAMA, judge="llama", name="tuned", dataset="shop")
    tracker.labels_sample("dense", "tuned", budget=480, **OF_JUDGE)
    answer(tracker, 3, n=4)
    with tracker.store().write() as tx:
        first, *_ = tx.designs.all(tx.datasets.known("shop").id)
        item = tx.designs.items(first.id)[0]
        answered = {"group_id": item.group_id, "grade": 2.0, "answered_at_utc": first.created_at_utc}
        of_old = {"kind": "items", "n_looks": 2, "greatest_grade": 4.0, "not_tuned": True}
        old = tx.write.designs.insert(replace(first, planned_budget=800, **of_old))
        of_old = answered | {"design_id": old.id, "answered_after_run_id": None}
        rows = [{"item_key": item.item_key, "probability": 0.25}, {"item_key": "new", "probability": None}]
        tx.write.copies.insert("drawn_items", [of_old | row for row in rows])


def answer(tracker: nt.Tracker, design: int, n: int | None = None, grade: int | None = None) -> None:
    """Answer the open items of a design as people would, or with a grade."""
    pairs = [pair for pair, (*_, old, _) in items_of(tracker)[design].items() if old is None][:n]
    frame: dict[str, list[Any]] = {
        "group": [group for group, _ in pairs],
        "item": [item for _, item in pairs],
        "label": [TRUE[pair] if grade is None else grade for pair in pairs],
    }
    tracker.add_answers(frame, design=design, judge="human", dataset="shop")


def items_of(tracker: nt.Tracker, dataset: str = "shop") -> dict[int, dict[tuple[str, str], tuple[Any, ...]]]:
    """Return probability, grade and time of what each design drew."""
    with tracker.store().read() as tx:
        ids, keys = tx.groups.all(tx.datasets.known(dataset).id)
        key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
        found: dict[int, dict[tuple[str, str], tuple[Any, ...]]] = {}
        for design in tx.designs.all(tx.datasets.known(dataset).id):
            found[design.number] = {
                (key_of[item.group_id], item.item_key): (item.probability, item.grade, item.answered_at_utc)
                for item in tx.designs.items(design.id)
            }
        return found


def fill_all(tracker: nt.Tracker) -> None:
    """Store all that a database may hold: what people did, runs without items, and labels that no run has."""
    metrics = ["ndcg@3", "AP"]
    for month, (name, run) in enumerate((("pruned", DENSE), ("means", BM25), ("old", DENSE), ("bm25", BM25)), 1):
        tracker.ingest(
            frame_of(run), labels=frame_of(LABELS, "label"), name=name, metrics=metrics, git_commit="abc",
            parameters={"k1": "0.9"}, tags={"stage": name}, created_at=f"2025-0{month}-01T00:00:00Z",
        )  # fmt: skip
    tracker.ingest(frame_of(BM25), name="gone", metrics=metrics, git_commit="")
    for name, run in (("bm25", DENSE), ("old", BM25)):
        tracker.ingest(frame_of(run), labels=frame_of(LABELS, "label"), name=name, dataset="books", metrics=metrics)
    tracker.add_labels(labels_of({"q1": {"a": 1}}), judge="gpt")
    with tracker.store().write() as tx:
        labels = tx.labels.sets(tx.datasets.known("default").id, "gpt")[0]
        row = {"label_set_id": labels.id, "group_id": tx.labels.group_ids(labels.id).tolist()[0], "item_key": "a"}
        tx.write.copies.insert("label_reasons", [row | {"reason": "it fits", "n_given": 2, "std_dev": 0.5}])
    tracker.set_groups({"group": ["q1", "q2"], "weight": [2.0, 1.0], "locale": ["de", "en"]}, dataset="default")
    tracker.add_texts({"group": ["q1"], "title": ["shoes"]})
    tracker.set_alias("baseline", "old", "default")
    tracker.gate("bm25", baseline="@baseline", metric="ndcg@3", margin=0.5, dataset="default")
    tracker.gate("gone", baseline="bm25", metric="ndcg@3", margin=0.5, dataset="default")
    for alias, run in (("baseline", "bm25"), ("champion", "gone"), ("champion", "bm25")):
        tracker.set_alias(alias, run, "default")
    tracker.delete_alias("champion", "default")
    tracker.create_suite("both", ["default", "books"])
    tracker.gate("bm25", suite="both", baseline="old", metric="ndcg@3", margin=0.5)
    tracker.rename_run("gone", "lost")
    tracker.delete_run("lost")
    tracker.prune("2025-01-15", apply=True)
    tracker.prune("2025-02-15", summaries_only=True, apply=True)
    tracker.log_results({"q1": 7.0, "q2": 9.0}, name="measured", metric="latency", direction="lower", range=(0, 100))
    with tracker.store().write() as tx:
        store_sums(tx, "sums")
        store_sums(tx, "more sums", baseline="sums")
