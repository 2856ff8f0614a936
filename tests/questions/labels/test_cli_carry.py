"""``ndcg-track labels carry``, and the notes that name it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.usefixtures("folder")

GROUPS = [f"q{number}" for number in range(20)]


@pytest.fixture
def renamed(command: CommandLine, folder: Path) -> CommandLine:
    """A run, its labels, and the files of the same run with new ids."""
    rows = [(group, item, score) for group in GROUPS for score, item in enumerate(("c", "b", "a"), 1)]
    (folder / "old.csv").write_text("group,item,score\n" + "".join(f"{g},{i},{n}\n" for g, i, n in rows))
    (folder / "v2.csv").write_text("group,item,score\n" + "".join(f"{g},v2-{i},{n}\n" for g, i, n in rows))
    (folder / "other.csv").write_text("group,item,score\n" + "".join(f"{g},{i}{i},{n}\n" for g, i, n in rows))
    (folder / "labels.csv").write_text("group,item,label\n" + "".join(f"{g},{i},1\n" for g in GROUPS for i in "ac"))
    (folder / "mapping.csv").write_text("old,new\na,aa\nb,bb\nc,cc\nc,ccc\n")
    command.done("ingest", "old.csv", "--labels", "labels.csv", "--dataset", "shop")
    return command


def test_a_pattern_that_the_refusal_names(renamed: CommandLine) -> None:
    assert renamed.refused("ingest", "v2.csv", "--dataset", "shop") == (
        "v2: none of its items has a label, so every result is 0 or undefined: the run has 'v2-a', but the labels have "
        "'a'; the ids of the run start with 'v2-' (ndcg@10 is 0.9197 if 'v2-' is left out); write both the same way, "
        "or map the ids with: "
        "ndcg-track labels carry --pattern '^v2-' --dataset shop; if that is meant, give --allow no-overlap"
    )
    assert renamed.done("labels", "carry", "--pattern", "^v2-", "--dataset", "shop", "--rescore") == (
        "stored as version 2 of dataset 'shop'\n"
        "carried 0 labelled items; 0 unclear, 2 without another id\n"
        "no stored id is another one now: it counts for ids to come\n"
        "rescored 1 of 1 runs\n"
    )
    renamed.done("ingest", "v2.csv", "--dataset", "shop")
    assert "identical" in renamed.done("compare", "old", "v2", "--dataset", "shop").splitlines()[0]


def test_a_file_of_ids_that_the_refusal_names(renamed: CommandLine) -> None:
    assert renamed.refused("ingest", "other.csv", "--dataset", "shop") == (
        "other: none of its items has a label, so every result is 0 or undefined: the run has 'aa', but the labels "
        "have 'a'; were ids renamed? Then carry the labels to them with: ndcg-track labels carry MAPPING.csv "
        "--dataset shop; if that is meant, give --allow no-overlap"
    )
    assert renamed.done("labels", "carry", "mapping.csv", "--dataset", "shop") == (
        "stored as version 2 of dataset 'shop'\n"
        "carried 1 labelled item; 1 unclear, 0 without another id\n"
        "1 row of the mapping without a label\n"
        "unclear: its grade stays with its own id; read the texts, and label the others yourself\n"
        "\n"
        "unclear  may be\n"
        "c        cc, ccc\n"
    )
    told = json.loads(renamed.done("labels", "carry", "mapping.csv", "--dataset", "shop", "--format", "json"))
    assert (told["version"], told["is_new"], told["unclear"]) == (2, False, [{"item": "c", "others": ["cc", "ccc"]}])
    listed = renamed.done("labels", "carry", "mapping.csv", "--dataset", "shop", "--format", "csv")
    assert listed.splitlines() == ["item,other", "c,cc", "c,ccc"]


def test_a_file_with_one_column_is_refused(renamed: CommandLine, folder: Path) -> None:
    (folder / "one.csv").write_text("old\na\n")
    assert renamed.refused("labels", "carry", "one.csv", "--dataset", "shop") == (
        "one.csv:1: there is only one column; give one of old ids and one of new ids"
    )


def test_history_says_what_labels_and_ranking_did(renamed: CommandLine, folder: Path) -> None:
    (folder / "more.csv").write_text((folder / "labels.csv").read_text() + "q0,b,1\n")
    renamed.said("labels", "add", "more.csv", "--dataset", "shop")
    assert renamed("ingest", "old.csv", "--name", "again", "--dataset", "shop").code == 0
    shown = renamed.done("history", "--metric", "ndcg@10", "--dataset", "shop")
    assert "labels 2 at again: +0.0040 since old: labels +0.0040, ranking +0.0000" in shown


def test_texts_are_stored_with_items_and_told_when_they_change(command: CommandLine, folder: Path) -> None:
    hits = [{"id": f"d#{n}", "score": 9 - n, "meta": {"text": f"passage {n}"}} for n in range(4)]
    (folder / "run.jsonl").write_text(json.dumps({"query": "q", "hits": hits}) + "\n")
    (folder / "gold.csv").write_text("query,id,label,passage\nq,d#1,1,passage 1\nq,d#2,1,other passage\n")
    command.said("labels", "add", "gold.csv", "--group", "query", "--item", "id", "--text", "passage")
    of_run = ("ingest", "run.jsonl", "--items", "hits", "--item", "id", "--group", "query", "--text", "meta.text")
    assert command.refused(*of_run) == (
        "run: 1 of 2 labelled items has another text than when labelled; give each text an id of its own; if that is "
        "meant, give --allow changed-texts"
    )
    printed = command(*of_run, "--allow", "changed-texts")
    assert (printed.code, printed.err) == (0, "note: run: 1 of 2 labelled items has another text than when labelled\n")
    texts = {row["item"]: row["text"] for row in command.rows("texts", "list")}
    assert texts == {"d#0": "passage 0", "d#1": "passage 1", "d#2": "other passage", "d#3": "passage 3"}
    (folder / "texts.csv").write_text("item,text\nd#1,new\nd#3,new\n")
    assert command.refused("texts", "add", "texts.csv") == (
        "1 of 1 labelled item would change, such as 'd#1'; give each text an id of its own, or replace them with "
        "--replace"
    )
    assert command.said("texts", "add", "texts.csv", "--replace") == "added texts of 2 items to dataset 'default'\n"


def test_an_item_is_its_text(command: CommandLine, folder: Path) -> None:
    passages = [f"passage {n} " + "word " * 600 for n in range(3)]
    (folder / "run.jsonl").write_text(json.dumps({"query": "q", "contexts": passages}) + "\n")
    (folder / "gold.csv").write_text(f"query,context,label\nq,{passages[1]},1\n")
    command.said("labels", "add", "gold.csv", "--group", "query", "--item", "context", "--item-is-text")
    words = ("--items", "contexts", "--group", "query", "--item-is-text", "--metric", "RR")
    assert command("ingest", "run.jsonl", *words).code == 0
    assert command.rows("sql", "SELECT mean FROM run_summary") == [{"mean": 0.5}]
    assert sorted(row["text"] for row in command.rows("texts", "list")) == passages
    assert command.refused(
        "ingest", "run.jsonl", "--items", "contexts", "--group", "query", "--item-is-text", "--item-to-document", "#.*"
    ) == ("--item-is-text does not go with --item-to-document: each text is its own document; leave one out")
