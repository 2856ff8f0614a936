"""``ndcg-track labels needed``, and ``labels add --extend`` for the answers."""

import csv
import io
import json
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.usefixtures("folder")


def test_the_table_the_csv_and_the_json_are_of_the_same_items(shop: CommandLine) -> None:
    found = shop.rows("labels", "needed", "bm25", "dense", "--budget", "2")
    assert (found["dataset"], found["metric"], found["label_set"]["version"]) == ("shop", "ndcg@10", 1)
    assert len(found["items"]) == 2
    text = shop.done("labels", "needed", "bm25", "dense", "--budget", "2")
    title = f"dense against bm25 on shop: judge these 2 of {found['n_unjudged']} unjudged items next for ndcg@10\n"
    assert text.startswith(title)
    printed = shop.done("labels", "needed", "bm25", "dense", "--budget", "2", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["group"], row["item"], row["label"], float(row["could_move"])) for row in rows] == [
        (one["group"], one["item"], "", one["could_move"]) for one in found["items"]
    ]
    assert "\n| query | item | could move |\n" in shop.done("labels", "needed", "bm25", "dense", "--format", "markdown")


def test_answers_go_back_and_settle(shop: CommandLine, folder: Path) -> None:
    said = shop.said("labels", "needed", "bm25", "dense", "--format", "elasticsearch", "-o", "ask.json")
    document = json.loads((folder / "ask.json").read_text(encoding="utf-8"))
    n_asked = sum(len(request["ratings"]) for request in document["requests"])
    assert said == (
        f"wrote {n_asked} items; fill in the grades, then type: "
        "ndcg-track labels add ask.json --extend --rescore --dataset shop\n"
    )
    for request in document["requests"]:
        for rating in request["ratings"]:
            assert rating["_index"] == "shop"
            rating["rating"] = 0
    (folder / "ask.json").write_text(json.dumps(document), encoding="utf-8")
    said = shop.said("labels", "add", "ask.json", "--extend", "--rescore", "--dataset", "shop")
    assert said == (
        f"stored as version 2 of dataset 'shop': {n_asked} labels added to the version before\nrescored 2 of 2 runs\n"
    )
    assert shop.rows("labels", "needed", "bm25", "dense")["items"] == []
    (metric,) = shop.rows("compare", "bm25", "dense")["metrics"]
    assert (metric["open"], metric.get("unjudged")) == (None, None)


def test_wrong_questions_are_2(shop: CommandLine, folder: Path) -> None:
    assert shop.refused("labels", "needed", "bm25", "dense", "--budget", "0") == (
        "the budget must be 1 label or more, not 0"
    )
    assert shop.refused("labels", "needed", "bm25", "dense", "--metric", "ERR", "-o", "x.csv") == (
        "ERR: the effect of unjudged items on it has no known bound for this measure; use --metric ndcg@10"
    )
    assert not (folder / "x.csv").exists()
    assert "no run 'sparse'" in shop.refused("labels", "needed", "bm25", "sparse")
