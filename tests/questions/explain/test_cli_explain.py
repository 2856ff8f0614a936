"""``ndcg-track explain``."""

import csv
import io
import json
import shlex
from pathlib import Path

import pytest
from command_line import CommandLine
from small_shop import BM25, DENSE, LABELS, Run, frame_of, write_csv, write_qrels

from ndcg_tracker.api.tracker import Tracker

pytestmark = pytest.mark.usefixtures("folder")


NEW_LABELS: Run = {**LABELS, "q1": {"a": 3, "b": 2}, "q2": {"a": 3, "d": 1, "x": 2}}


def test_why_a_group_changed(shop: CommandLine) -> None:
    assert shop.done("explain", "bm25", "dense", "--group", "q2") == (
        "query q2 fell in ndcg@10: 1.0000 → 0.8597 (-0.1403)\n"
        "d (grade 2) fell from rank 1 to 2 (-0.2806)\n"
        "dense against bm25 on shop\n"
        "\n"
        "item  grade   rank  before   after   change  what happened\n"
        "d         2  1 → 2  0.7602  0.4796  -0.2806  fell\n"
        "a         1  2 → 1  0.2398  0.3801  +0.1403  rose\n"
        "... and 1 item that changed nothing\n"
        "\n"
        "note: unjudged items among the first 10: 1 in the baseline, 0 in the candidate\n"
        "more: -v details\n"
    )


def test_all_items_and_few(shop: CommandLine) -> None:
    everything = shop.done("explain", "bm25", "dense", "--group", "q2", "--all")
    assert "\nx         -  3 → -  0.0000  0.0000  +0.0000  unjudged\n" in everything
    none = shop.done("explain", "bm25", "dense", "--group", "q2", "--top", "0")
    assert "item  grade" not in none
    assert len(shop.rows("explain", "bm25", "dense", "--group", "q2", "--top", "0")["items"]) == 3


def test_the_json_is_the_dict_of_the_tracker(shop: CommandLine) -> None:
    for arguments, options in (([], {}), (["--group", "q1"], {"group": "q1"})):
        with Tracker(shop.url) as tracker:
            expected = tracker.explain("bm25", "dense", metric="ndcg@10", **options).to_dict()
        found = shop.rows("explain", "bm25", "dense", "--metric", "ndcg@10", *arguments)
        assert found == json.loads(json.dumps(expected))


def test_the_contributions_of_every_group_sum_to_its_delta(shop: CommandLine) -> None:
    for group in LABELS:
        found = shop.rows("explain", "bm25", "dense", "--group", group, "--metric", "ndcg@10")
        assert sum(item["contribution"] for item in found["items"]) == pytest.approx(found["delta"], abs=1e-12)
        table = list(
            csv.DictReader(io.StringIO(shop.done("explain", "bm25", "dense", "--group", group, "--format", "csv")))
        )
        assert sum(float(row["contribution"]) for row in table) == pytest.approx(found["delta"], abs=1e-12)


def test_the_command_for_the_worst_group_works(shop: CommandLine) -> None:
    text = shop.done("explain", "bm25", "dense")
    assert text.startswith("dense against bm25 on shop: ndcg@10 0.")
    assert "no difference detected), split by" in text.splitlines()[0]
    command = text.splitlines()[-2].strip()
    program, *words = shlex.split(command)
    assert program == "ndcg-track"
    assert shop.done(*words).startswith(
        "query q5 fell in ndcg@10: 1.0000 → 0.0000 (-1.0000)\nh (grade 1) left from rank 1"
    )


def test_what_labels_did(shop: CommandLine, folder: Path) -> None:
    write_qrels(folder / "newer.txt", NEW_LABELS)
    shop("labels", "add", "newer.txt", "--dataset", "shop")
    versions = ["--labels-baseline", "1", "--labels-candidate", "2"]
    found = shop.rows("explain", "bm25", "dense", *versions)
    parts = found["parts"]
    assert parts["ranking"] + parts["labels"] + parts["coverage"] == pytest.approx(found["delta"], abs=1e-12)
    assert parts["labels_changed"] == {"changed": 3, "added": 1, "removed": 1}
    text = shop.done("explain", "bm25", "dense", *versions).splitlines()
    assert text[0].startswith("dense (labels version 2) against bm25 (labels version 1) on shop: ndcg@10 ")
    assert [line.split()[0] for line in text[4:7]] == ["ranking", "labels", "coverage"]
    command = shlex.split(text[-1].strip())
    assert shop.done(*command[1:]).startswith("dense against bm25 on shop: ")
    group = shop.rows("explain", "bm25", "dense", *versions, "--group", "q2")
    assert sum(group["parts"][name] for name in ("ranking", "labels", "coverage")) == pytest.approx(
        group["delta"], abs=1e-12
    )


def test_markdown(shop: CommandLine) -> None:
    lines = shop.done("explain", "bm25", "dense", "--group", "q2", "--format", "markdown").splitlines()
    assert lines[0] == "### query q2 fell in ndcg@10: 1.0000 → 0.8597 (-0.1403)"
    assert "| d | 2 | 1 → 2 | 0.7602 | 0.4796 | -0.2806 | fell |" in lines


def test_what_cannot_be_explained_is_5(shop: CommandLine, folder: Path) -> None:
    write_csv(folder / "elsewhere.csv", frame_of(BM25))
    shop.done("ingest", "elsewhere.csv", "--labels", "labels.csv", "--dataset", "other")
    assert shop.refused("explain", "bm25", "elsewhere", code=5) == (
        "run 'bm25' is of dataset 'shop' and run 'elsewhere' of dataset 'other'; only runs of one dataset can be "
        "explained"
    )
    message = shop.refused("explain", "bm25", "dense", "--metric", "ndcg(gain=exp2)@10", code=5)
    assert message == (
        "runs 'bm25' and 'dense' have no ndcg(gain=exp2)@10 to explain; type: "
        "ndcg-track rescore bm25 dense --dataset shop --metric 'ndcg(gain=exp2)@10'"
    )
    shop(*shlex.split(message.partition("; type: ")[2])[1:])
    assert shop.rows("explain", "bm25", "dense", "--metric", "ndcg(gain=exp2)@10")["metric"] == "ndcg(gain=exp2)@10"


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["bm25", "dense", "--metric", "AP"],
            "AP cannot be split into items; only cg, dcg and ndcg can, because they sum gain x discount; explain "
            "ndcg@10 instead",
        ),
        (["bm25", "dense", "--group", "q11"], "no group 'q11' in dataset 'shop'; did you mean 'q1'?"),
        (
            ["bm25", "dense", "--labels-candidate", "3"],
            "no version 3 of the labels of dataset 'shop' (it only has version 1); see: ndcg-track labels list "
            "--dataset shop",
        ),
        (["bm25", "dens", "--dataset", "shops"], "no dataset 'shops'; did you mean 'shop'?"),
    ],
)
def test_bad_input_is_2(shop: CommandLine, arguments: list[str], message: str) -> None:
    assert shop.refused("explain", *arguments) == message


def test_hostile_ids_are_not_obeyed(command: CommandLine, folder: Path) -> None:
    hostile = "\u202eq\x1b[2J=1"
    write_csv(folder / "one.csv", frame_of({hostile: {"=a\x1b": 2.0, "b": 1.0}}))
    write_csv(folder / "other.csv", frame_of({hostile: {"=a\x1b": 1.0, "b": 2.0}}))
    write_csv(folder / "labels.csv", frame_of({hostile: {"=a\x1b": 1.0}}, "label"))
    command.done("ingest", "one.csv", "other.csv", "--labels", "labels.csv")
    for arguments in ([], ["--group", hostile]):
        for format in ("text", "markdown", "csv", "json"):
            printed = command.done("explain", "one", "other", *arguments, "--format", format)
            assert "\x1b" not in printed
            assert "\u202e" not in printed
    assert command.rows("explain", "one", "other", "--group", hostile)["items"][0]["item"] == "=a\x1b"


def test_a_candidate_that_is_better_names_no_worst_group(shop: CommandLine, folder: Path) -> None:
    write_csv(folder / "better.csv", frame_of({**DENSE, **BM25, "q1": {"a": 3.0, "b": 2.0, "c": 1.0}}))
    shop.done("ingest", "better.csv", "--dataset", "shop")
    text = shop.done("explain", "bm25", "better")
    assert text.startswith("better against bm25 on shop: ")
    assert "ndcg-track explain" not in text
