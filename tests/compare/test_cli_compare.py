"""``ndcg-track compare``."""

import csv
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, LABELS, frame_of, write_csv, write_qrels

from ndcg_tracker.api.tracker import Tracker

pytestmark = pytest.mark.usefixtures("folder")


def test_the_text_is_for_people(shop: CommandLine) -> None:
    lines = shop.done("compare", "bm25", "dense", "-v").splitlines()
    delta = np.mean(results("ndcg@10", DENSE, LABELS).values - results("ndcg@10", BM25, LABELS).values)
    start = "dense against bm25 on shop (5 queries): no difference detected in ndcg@10"
    assert lines[0] == f"{start} ({delta:+.4f}; low information)"
    heads = ["", "metric", "bm25", "dense", "delta", "95% interval", "p", "unjudged items"]
    assert re.split(" {2,}", lines[2]) == heads
    assert "worst queries in ndcg@10" in lines
    assert "best queries in ndcg@10" in lines
    assert not any("\x1b" in line for line in lines)


def test_the_json_is_the_dict_of_the_tracker(shop: CommandLine) -> None:
    with Tracker(shop.url) as tracker:
        expected = tracker.compare("bm25", "dense").to_dict()
    assert shop.rows("compare", "bm25", "dense") == json.loads(json.dumps(expected))


def test_several_candidates(shop: CommandLine, folder: Path) -> None:
    write_csv(folder / "third.csv", frame_of({**BM25, "q3": {"f": 2.0, "e": 1.0}}))
    shop.done("ingest", "third.csv", "--dataset", "shop")
    found = shop.rows("compare", "bm25", "dense", "third")
    assert found["candidate"]["name"] == "dense"
    assert [one["candidate"]["name"] for one in found["further"]] == ["third"]
    table = list(csv.DictReader(io.StringIO(shop.done("compare", "bm25", "dense", "third", "--format", "csv"))))
    assert [(row["candidate_run"], row["metric"]) for row in table] == [("dense", "ndcg@10"), ("third", "ndcg@10")]
    assert [float(row["delta"]) for row in table] == [one["metrics"][0]["delta"] for one in [found, *found["further"]]]
    text = shop.done("compare", "bm25", "dense", "third")
    assert text.startswith("2 candidates against bm25 on shop (5 queries): no difference detected")
    assert "third against bm25 on shop" not in text
    assert "\nmore: -v the page of each   explain why   report a page\n" in text
    for asked in (["-v"], ["--equivalence", "0.1"]):
        text = shop.done("compare", "bm25", "dense", "third", *asked)
        assert "dense against bm25 on shop" in text
        assert "third against bm25 on shop" in text
    assert shop.refused("compare", "bm25", "dense", "--details") == "--details is gone: -v shows everything"


def test_markdown(shop: CommandLine) -> None:
    lines = shop.done("compare", "bm25", "dense", "--format", "markdown").splitlines()
    assert lines[0].startswith("### dense against bm25 on shop")
    assert any(line.startswith("| \\~ | ndcg@10 |") for line in lines)
    assert "<details><summary>statistics and queries</summary>" in lines


def test_top_and_missing_and_metrics(shop: CommandLine) -> None:
    shop("rescore", "--all", "--metric", "ndcg(missing=skip)@10", "--metric", "dcg@3")
    assert shop.rows("compare", "bm25", "dense", "--metric", "ndcg@10", "--top", "0")["worst"] == []
    assert len(shop.rows("compare", "bm25", "dense", "--metric", "ndcg@10", "--top", "1")["worst"]) == 1
    arguments = ["compare", "bm25", "dense", "--metric", "ndcg(missing=skip)@10"]
    assert shop.refused(*arguments) == (
        "ndcg(missing=skip)@10: 1 query has a result in one run only (1 in the baseline, 0 in the candidate): "
        "choose --missing zero (count 0 there) or --missing intersect (leave them out)"
    )
    assert shop.rows(*arguments, "--missing", "zero")["groups"]["paired"] == 5
    assert shop.rows(*arguments, "--missing", "intersect")["groups"]["paired"] == 4
    assert shop.rows(*arguments, "--missing", "skip")["groups"]["paired"] == 4
    two = shop.rows("compare", "bm25", "dense", "--metric", "dcg@3", "--metric", "ndcg@10", "--metric", "dcg@3")
    assert [metric["metric"] for metric in two["metrics"]] == ["dcg@3", "ndcg@10"]


def test_what_cannot_be_compared_is_5_and_names_the_command_that_mends_it(
    shop: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = shop.refused("compare", "bm25", "dense", "--metric", "ndcg(gain=exp2)@10", code=5)
    assert message == (
        "runs 'bm25' and 'dense' do not both have ndcg(gain=exp2)@10 under one version of the labels; type: "
        "ndcg-track rescore bm25 dense --dataset shop --metric 'ndcg(gain=exp2)@10'"
    )
    program, *words = shlex.split(message.partition("; type: ")[2])
    assert program == "ndcg-track"
    assert shop(*words).code == 0
    assert shop.rows("compare", "bm25", "dense", "--metric", "ndcg(gain=exp2)@10")["label_set"]["version"] == 1


def test_runs_of_two_datasets_are_5(shop: CommandLine) -> None:
    shop("ingest", "bm25.csv", "--name", "other", "--dataset", "site", "--labels", "labels.csv")
    assert shop.refused("compare", "bm25", "other", code=5) == (
        "run 'bm25' is of dataset 'shop' and run 'other' of dataset 'site'; only runs of one dataset can be compared"
    )


def test_newer_labels_are_noted_and_the_note_mends_it(shop: CommandLine, folder: Path) -> None:
    write_qrels(folder / "new.txt", {"q1": {"a": 1, "b": 2}})
    shop.said("labels", "add", "new.txt", "--dataset", "shop", "--replace")
    found = shop.rows("compare", "bm25", "dense")
    assert found["label_set"]["version"] == 1
    changed, note = found["notes"][:2]
    assert changed == (
        "labels version 2 is not like version 1: its grades are 1 and 2, those of version 1 are 0, 1 and 3; 2 of 2 "
        "labels have another grade"
    )
    start = "labels version 2 is newer than version 1, which the runs share; to use it: ndcg-track "
    assert note.startswith(start)
    told = f"note: {note.replace(' ndcg-track', chr(10) + '      ndcg-track')}"  # a command has a line of its own
    assert f"\n{told}\n" in shop.done("compare", "bm25", "dense")
    assert shop(*shlex.split(note.removeprefix(start))).code == 0
    found = shop.rows("compare", "bm25", "dense")
    assert found["label_set"]["version"] == 2
    assert not any("newer" in note for note in found["notes"])


def test_wrong_references_are_2(shop: CommandLine) -> None:
    assert shop.refused("compare", "bm52", "dense") == "no run 'bm52'; did you mean 'bm25'?"
    assert shop.refused("compare", "bm25", "@prod") == (
        "no alias '@prod'; create it with: ndcg-track alias set prod RUN"
    )
    assert shop.refused("compare", "bm25", "dense", "--dataset", "shp") == ("no dataset 'shp'; did you mean 'shop'?")
    assert "ndgc" in shop.refused("compare", "bm25", "dense", "--metric", "ndgc@10")


def test_methods(shop: CommandLine) -> None:
    text = shop.done("compare", "bm25", "dense", "--test", "wilcoxon", "--ci", "betting", "--equivalence", "0.05", "-v")
    told = "betting (valid at any n); p: Wilcoxon signed-rank test without zeros (tests symmetry, not the mean)"
    assert f" 95% interval: {told} " in " ".join(text.split())
    table = text[text.index("\nequivalence within ±0.05\n") :].splitlines()
    assert re.split(" {2,}", table[2]) == ["metric", "finding", "90% interval", "p"]
    assert table[3].startswith("ndcg@10  not shown equivalent  -")
    found = shop.rows("compare", "bm25", "dense", "--test", "permutation", "--ci", "bootstrap")["metrics"][0]
    assert (found["test"], found["ci_method"]) == ("permutation", "bootstrap")
    for option, choices in (("--test", ("permutation", "wilcoxon")), ("--ci", ("bootstrap", "betting"))):
        printed = shop("compare", "bm25", "dense", option, "x")
        assert (printed.code, printed.out) == (2, "")
        assert all(word in printed.err for word in (option, *choices))
    shop.done("rescore", "bm25", "dense", "--metric", "dcg@3")
    assert shop.refused("compare", "bm25", "dense", "--metric", "dcg@3", "--ci", "betting") == (
        "dcg@3: a betting interval needs differences within -1 to 1: choose --ci t or --ci bootstrap"
    )


def test_wrong_margins_are_2(shop: CommandLine) -> None:
    for margin in ("0", "-0.1", "nan", "inf"):
        assert shop.refused("compare", "bm25", "dense", "--equivalence", margin) == (
            f"the equivalence margin must be a number above 0, not {float(margin)}; "
            "give it in absolute points, such as 0.01"
        )
    assert shop("compare", "bm25", "dense", "--equivalence", "much").code == 2


def test_slices(shop: CommandLine, folder: Path) -> None:
    assert shop.refused("compare", "bm25", "dense", "--by", "device") == (
        "no query of dataset 'shop' has an attribute 'device'; set it with: ndcg-track groups set FILE --dataset shop"
    )
    (folder / "groups.csv").write_text("group,device\nq1,phone\nq2,tv\nq3,tv\nq4,phone\n", encoding="utf-8")
    shop.said("groups", "set", "groups.csv", "--dataset", "shop")
    found = shop.rows("compare", "bm25", "dense", "--by", "device")
    assert [(row["value"], row["n"]) for row in found["slices"]] == [(None, 1), ("tv", 2), ("phone", 2)]
    text = shop.done("compare", "bm25", "dense", "--by", "device")
    table = text[text.index("ndcg@10 by device: no difference detected, 1 not tested (3 slices)\n") :].splitlines()
    assert table[1].split() == ["device", "n", "bm25", "dense", "delta", "95%", "interval", "p", "q"]
    assert [line.split()[1] for line in table[2:5]] == ["(none)", "tv", "phone"]
    assert "\n**ndcg@10 by device: no difference detected, 1 not tested (3 slices)**\n" in shop.done(
        "compare", "bm25", "dense", "--by", "device", "--format", "markdown"
    )
    printed = shop.done("compare", "bm25", "dense", "--by", "device", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["attribute"], row["value"]) for row in rows] == [
        ("", ""), ("device", ""), ("device", "tv"), ("device", "phone"),
    ]  # fmt: skip
    assert [float(row["delta"]) for row in rows[1:]] == [row["delta"] for row in found["slices"]]


REPORT = """\
dense against bm25 on shop (5 queries): no difference detected in ndcg@10 (-0.2192; low information)

   metric     bm25   dense    delta        95% interval     p  unjudged items
~  ndcg@10  0.7174  0.4981  -0.2192  -0.8663 to +0.4278  0.40  -0.33 to -0.08  ¹ ²
¹ 1 query with labels but missing in the candidate run: counted as 0
² low information: 4 of 5 differences are nonzero; below 25, the t interval may be too narrow

worst: q5 (-1.00)     best: q1 (+0.41)

unjudged items: delta, if each is counted from 0 up to the average item at its rank
~ no difference detected
d_z: effect size, mean difference / standard deviation of the differences
detectable: the smallest difference detected with 80% power; none: not even the largest possible
judged: share of the first ranks with a label, in the baseline and in the candidate
delta: candidate - baseline, in absolute points
95% interval: paired t; p: paired t-test

queries  5 paired
labels   version 1, digest 2f5ce8d7bd46

metric   better  same  worse    d_z  detectable        judged
ndcg@10       1     1      3  -0.42      0.8765  79.2%, 75.0%

worst queries in ndcg@10
query  baseline  candidate    delta  of which  rank         item
q5       1.0000     0.0000  -1.0000   -1.0000  gone from 1  h (grade 1)

best queries in ndcg@10
query  baseline  candidate    delta  of which  rank   item
q1       0.5869     1.0000  +0.4131   +0.4131  3 → 1  a (grade 3)
"""


def test_the_report_to_the_letter(shop: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert shop.done("compare", "bm25", "dense", "--top", "1", "-v") == REPORT
    monkeypatch.setenv("COLUMNS", "500")
    wide = shop.done("compare", "bm25", "dense", "--top", "1", "-v")
    assert wide == REPORT
    monkeypatch.setenv("COLUMNS", "60")
    narrow = shop.done("compare", "bm25", "dense", "--top", "1", "-v")
    assert "² low information: 4 of 5 differences are nonzero; below 25,\n  the t interval may be" in narrow


def test_groups_that_neither_run_has_are_told_with_the_option(shop: CommandLine, folder: Path) -> None:
    write_qrels(folder / "more.qrels", {**LABELS, "q8": {"a": 1}})
    assert shop("labels", "add", "more.qrels", "--dataset", "shop", "--rescore").code == 0
    told = (
        "in neither run 1 query with labels: it counts the same in both and shrinks delta; --missing skip leaves it out"
    )
    assert told in " ".join(shop.done("compare", "bm25", "dense", "-v").split())
    assert "--missing skip leaves it out" in shop.done("compare", "bm25", "dense", "--format", "markdown")
    assert "in neither run  1 query with labels, left out\n" in shop.done(
        "compare", "bm25", "dense", "--missing", "skip", "-v"
    )
    gate = ("gate", "dense", "--baseline", "bm25", "--scope", "set", "--margin", "0.99", "-v")
    assert told in " ".join(shop.done(*gate).split())
    assert "in neither run  1 query with labels, left out\n" in shop.done(*gate, "--missing", "skip")


def test_runs_without_a_judged_item_end_in_5_with_the_report(command: CommandLine, folder: Path) -> None:
    elsewhere = {group: {f"x-{item}": label for item, label in of.items()} for group, of in LABELS.items()}
    write_qrels(folder / "labels.qrels", elsewhere)
    for name, ranking in (("bm25", BM25), ("dense", DENSE)):
        write_csv(folder / f"{name}.csv", frame_of(ranking))
    assert command("ingest", "bm25.csv", "dense.csv", "--labels", "labels.qrels").code == 0
    found = command("compare", "bm25", "dense")
    assert (found.code, found.err) == (5, "")
    lines = found.out.splitlines()
    assert lines[0] == (
        "dense against bm25 on default (5 queries): ndcg@10 cannot be compared: neither run has a judged item"
    )
    assert lines[-2] == "      ndcg-track labels carry MAPPING.csv --dataset default"
    assert (
        json.loads(command("compare", "bm25", "dense", "--format", "json").out)["metrics"][0]["not_comparable"]
        == "nothing_judged"
    )
    assert command("gate", "dense", "--baseline", "bm25", "--margin", "0.01").code == 5


def test_unjudged_bounds_are_gone(shop: CommandLine) -> None:
    assert shop.refused("compare", "bm25", "dense", "--unjudged-bounds") == (
        "--unjudged-bounds is gone: compare shows the range of what unjudged items may be worth; judge them with "
        "labels needed"
    )
