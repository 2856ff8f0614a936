"""``ndcg-track labels list``, ``diff``, ``agreement``, ``compare --labels``, ``rescore --labels``, and ``--judge``."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, LABELS, Run, write_qrels

pytestmark = pytest.mark.usefixtures("folder")


NEW_LABELS: Run = {"q1": {"a": 1, "b": 2, "x": 1}, "q2": {"a": 1, "d": 2}, "q9": {"x": 1}}
RESCORE = "ndcg-track rescore bm25 dense --dataset shop --metric ndcg@10"
NO_9 = "no version 9 of the labels of dataset 'shop' (it has 1 to 2); see: ndcg-track labels list --dataset shop"


@pytest.fixture
def newer(shop: CommandLine, folder: Path) -> CommandLine:
    """The shop with a newer version of its labels, under which no run is evaluated."""
    write_qrels(folder / "new.txt", NEW_LABELS)
    shop.said("labels", "add", "new.txt", "--dataset", "shop", "--replace")
    return shop


def means(compared: dict[str, Any]) -> tuple[int, float, float]:
    metric = compared["metrics"][0]
    return compared["label_set"]["version"], round(metric["baseline"], 12), round(metric["candidate"], 12)


def expected(version: int, labels: Run) -> tuple[int, float, float]:
    one, other = (results("ndcg@10", run, labels).mean or 0.0 for run in (BM25, DENSE))
    return version, round(one, 12), round(other, 12)


def test_the_versions_in_every_format(newer: CommandLine) -> None:
    rows = newer.rows("labels", "list", "--dataset", "shop")
    assert [(row["version"], row["n_groups"], row["n_items"], row["n_labels"], row["n_runs"]) for row in rows] == [
        (1, 5, 7, 8, 2),
        (2, 3, 4, 6, 0),
    ]
    assert rows[0]["grades"] == [{"grade": 0, "n": 2}, {"grade": 1, "n": 4}, {"grade": 2, "n": 1}, {"grade": 3, "n": 1}]
    assert [row["source"] for row in rows] == ["labels.csv", "new.txt"]
    table = list(csv.DictReader(io.StringIO(newer.done("labels", "list", "--dataset", "shop", "--format", "csv"))))
    assert [(row["dataset"], row["digest"], row["grades"]) for row in table] == [
        ("shop", rows[0]["digest"], "0=2 1=4 2=1 3=1"),
        ("shop", rows[1]["digest"], "1=4 2=2"),
    ]
    text = newer.done("labels", "list", "--dataset", "shop").splitlines()
    assert " ".join(text[0].split()) == "version digest created (UTC) source groups items labels runs grades"
    assert text[2].endswith("3      4       6     0  1: 4, 2: 2")
    assert newer.done("labels", "list", "--dataset", "shop", "--format", "markdown").startswith("| version | digest |")


def test_many_grades_are_told_by_their_range(shop: CommandLine, folder: Path) -> None:
    write_qrels(folder / "clicks.txt", {"q1": {f"i{number}": number / 4 for number in range(13)}})
    shop.said("labels", "add", "clicks.txt", "--dataset", "shop", "--replace")
    assert shop.done("labels", "list", "--dataset", "shop").splitlines()[2].endswith("  13 from 0 to 3")
    assert "columns those of" not in shop.done("labels", "diff", "1", "--dataset", "shop")


def test_two_versions_as_text(newer: CommandLine) -> None:
    assert newer.done("labels", "diff", "1", "--dataset", "shop") == (
        "labels of shop, version 2 against version 1: 50.0% of the 4 labels in both have the same grade\n"
        "gone queries: q3, q4, q5\n"
        "new queries: q9\n"
        "\n"
        "         version 1  version 2  in both  gone  new\n"
        "queries          5          3        2     3    1\n"
        "labels           8          6        4     4    2\n"
        "\n"
        "grades: rows from version 1, columns from version 2\n"
        "      0  1  2  3  none\n"
        "0     0  0  0  0     2\n"
        "1     0  1  1  0     2\n"
        "2     0  0  1  0     0\n"
        "3     0  1  0  0     0\n"
        "none  0  2  0  0\n"
        "\n"
        "labels whose grade changed most (2 of 2)\n"
        "query  item  version 1  version 2\n"
        "q1     a             3          1\n"
        "q1     b             1          2\n"
    )


def test_two_versions_as_data(newer: CommandLine) -> None:
    found = newer.rows("labels", "diff", "2", "1", "--dataset", "shop", "--top", "1")
    assert (found["first"]["version"], found["second"]["version"], found["agreement"]) == (2, 1, 0.5)
    assert found["labels"] == {"first": 6, "second": 8, "in_both": 4, "gone": 2, "new": 4}
    assert found["changes"] == [{"group": "q1", "item": "a", "first": 1.0, "second": 3.0}]
    table = newer.done("labels", "diff", "1", "2", "--dataset", "shop", "--format", "csv").splitlines()
    assert table[:3] == ["dataset,first,second,grade_first,grade_second,n", "shop,1,2,0.0,,2", "shop,1,2,1.0,1.0,1"]
    assert "shop,1,2,,1.0,2" in table


def test_unknown_versions_and_datasets(newer: CommandLine, shop: CommandLine) -> None:
    assert newer.refused("labels", "diff", "9", "--dataset", "shop") == NO_9
    assert newer.refused("compare", "bm25", "dense", "--labels", "9") == NO_9
    assert newer.refused("rescore", "--all", "--labels", "9") == NO_9
    other = newer.refused("labels", "list", "--dataset", "default")
    assert other == "no dataset 'default'; there is only 'shop': name it with --dataset shop"
    assert newer.refused("compare", "bm25", "dense", "--labels", "old") == (
        "--labels 'old' is not a version; give a number, such as --labels 1, or newest or all"
    )
    assert newer.refused("compare", "bm25", "dense", "--labels", "all", "--tie-bounds") == (
        "--tie-bounds does not go with --labels all: it shows one version of one judge; leave one out"
    )


def test_a_version_that_was_asked_for(newer: CommandLine) -> None:
    found = newer.rows("compare", "bm25", "dense", "--labels", "1")
    assert means(found) == expected(1, LABELS)
    assert not any("newer" in note for note in found["notes"])  # who asks for a version knows that there are others
    without = "runs 'bm25' and 'dense' do not both have a metric under version 2 of the labels; type: " + RESCORE
    for version in ("2", "newest"):
        assert newer.refused("compare", "bm25", "dense", "--labels", version, code=5) == without
    newer.done(*RESCORE.split()[1:])
    for version in ("2", "newest"):
        assert means(newer.rows("compare", "bm25", "dense", "--labels", version)) == expected(2, NEW_LABELS)
    assert means(newer.rows("compare", "bm25", "dense", "--labels", "1"))[0] == 1


def test_a_run_is_scored_under_an_older_version_by_the_command_that_is_named(newer: CommandLine, folder: Path) -> None:
    newer("ingest", "bm25.csv", "--name", "late", "--dataset", "shop")
    refused = newer.refused("compare", "bm25", "late", "--labels", "1", code=5)
    command = "ndcg-track rescore bm25 late --dataset shop --metric ndcg@10 --labels 1"
    assert refused == f"runs 'bm25' and 'late' do not both have a metric under version 1 of the labels; type: {command}"
    newer(*command.split()[1:])
    assert newer.rows("compare", "bm25", "late", "--labels", "1")["metrics"][0]["verdict"] == "identical"


def test_all_versions_and_what_is_missing(newer: CommandLine) -> None:
    text = newer.done("compare", "bm25", "dense", "--labels", "all").splitlines()
    assert text[0] == "dense against bm25 on shop, 1 version of the labels: nothing to compare it with"
    assert text[-4:-1] == [
        "note: no results under version 2 of the labels for 'dense' and the baseline together; to add the",
        "      results:",
        f"      {RESCORE} --labels 2",
    ]
    newer.done("rescore", "--all")
    found = newer.rows("compare", "bm25", "dense", "--labels", "all")
    assert [means(one) for one in found["versions"]] == [expected(1, LABELS), expected(2, NEW_LABELS)]
    assert found["conclusions"] == [
        {
            "candidate": "dense",
            "metric": "ndcg@10",
            "changes": False,
            "turns_between_judges": False,
            "verdicts": [
                {
                    "version": n,
                    "verdict": "no_difference_detected",
                    "low_information": True,
                    "judge": "",
                    "is_open": False,
                }
                for n in (1, 2)
            ],
        }
    ]
    assert (found["not_evaluated"], found["notes"]) == ([], [])
    text = newer.done("compare", "bm25", "dense", "--labels", "all").splitlines()
    assert text[0] == "dense against bm25 on shop, 2 versions of the labels: the conclusion is the same under each"
    table = csv.DictReader(io.StringIO(newer.done("compare", "bm25", "dense", "--labels", "all", "--format", "csv")))
    assert [row["label_set_version"] for row in table] == ["1", "2"]


def test_no_version_in_common(newer: CommandLine) -> None:
    refused = newer.refused("compare", "bm25", "dense", "--labels", "all", "--metric", "AP", code=5)
    assert refused == (
        "runs 'bm25' and 'dense' do not both have AP under one version of the labels; type: ndcg-track rescore "
        "bm25 dense --dataset shop --metric AP --labels 1; that is the version of the labels that most runs have; for "
        "the latest: --labels 2"
    )


def test_labels_of_a_judge_and_how_far_it_agrees(newer: CommandLine, folder: Path) -> None:
    write_qrels(folder / "gpt.txt", {**LABELS, "q1": {"a": 2, "b": 1, "c": 1}})
    add = ["labels", "add", "gpt.txt", "--dataset", "shop", "--judge", "gpt", "--rescore"]
    assert newer.said(*add) == (
        "stored as version 3 of dataset 'shop': 8 labels of judge 'gpt'\nrescored 2 of 2 runs\n"
    )
    newer.done("rescore", "--all")
    listed = newer.done("labels", "list", "--dataset", "shop").splitlines()
    assert listed[0].endswith("  runs  judge  grades")
    assert listed[3].endswith("  gpt    0: 1, 1: 5, 2: 2")
    assert [row["version"] for row in newer.rows("labels", "list", "--dataset", "shop", "--judge", "gpt")] == [3]
    by_judge = newer.done("compare", "bm25", "dense", "--judge", "gpt", "-v")
    whose = "dense against bm25 on shop (judge 'gpt') (5 queries)"
    assert by_judge.startswith(f"{whose}: no difference detected in ndcg@10")
    assert "  version 3 of judge 'gpt', digest" in by_judge
    shown = newer.rows("runs", "show", "bm25")["evaluations"]
    assert [(one["label_set_version"], one["judge"]) for one in shown] == [(1, ""), (3, "gpt"), (2, "")]
    shown = newer.done("runs", "show", "bm25", "--top", "0").splitlines()
    assert [line.split()[:3] for line in shown if " gpt " in line] == [["ndcg@10", "gpt", "3"]]
    assert means(newer.rows("compare", "bm25", "dense"))[0] == 2
    assert means(newer.rows("compare", "bm25", "dense", "--judge", "gpt"))[0] == 3
    text = newer.done("labels", "agreement", "--dataset", "shop").splitlines()
    assert text[0].startswith("gpt against unnamed on shop: weighted kappa ")
    assert text[1] == (
        "labels of shop, version 3 of judge 'gpt' against version 2: 50.0% of the 4 labels in both have the"
    )
    found = newer.rows("labels", "agreement", "--dataset", "shop", "--judge", "gpt", "--metric", "ndcg@10")
    assert (found["kappa"]["n"], found["metric"]) == (4, "ndcg@10")
    assert newer.refused("labels", "agreement", "--dataset", "shop", "--judge", "human") == (
        "dataset 'shop' has no labels of judge 'human', only those of the unnamed judge, judge 'gpt'; choose with "
        "--judge"
    )


def test_what_a_newer_version_lacks_is_told(sqlite_command: CommandLine, folder: Path) -> None:
    write_qrels(folder / "first.txt", {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}})
    write_qrels(folder / "second.txt", {"q1": {"a": 1}, "q3": {"a": 1}})
    sqlite_command.said("labels", "add", "first.txt")
    assert sqlite_command.refused("labels", "add", "second.txt") == (
        "1 of the 2 queries of version 1 would have no labels left; add to that version with --extend, or replace it "
        "with --replace"
    )
    assert sqlite_command.said("labels", "add", "second.txt", "--replace") == (
        "stored as version 2 of dataset 'default': 2 labels\n"
        "note: 2 labels of version 1 are not in it, and 1 query has none left; to keep them: ndcg-track labels add "
        "first.txt --extend --dataset default\n"
        "note: 1 of its 2 queries is new: a run without them has 0 there under metrics such as ndcg@10\n"
    )
    assert sqlite_command.said("labels", "add", "second.txt") == (
        "already stored as version 2 of dataset 'default': 2 labels\n"
    )


def test_labels_that_extend_those_of_another_judge_say_what_to_do(newer: CommandLine, folder: Path) -> None:
    write_qrels(folder / "ada.txt", {"q1": {"a": 0, "k": 1}})
    add = ["labels", "add", "ada.txt", "--dataset", "shop", "--extend"]
    assert newer.refused(*add) == (
        "item 'a' of group 'q1' has the label 0 here but 1 in the latest labels of dataset 'shop'; to replace those, "
        "make a new version with: ndcg-track labels add FILE --dataset shop; to keep both, as labels of another judge: "
        "ndcg-track labels add FILE --dataset shop --judge NAME"
    )
    assert newer.said(*add, "--judge", "ada").splitlines() == [
        "stored as version 3 of dataset 'shop': 2 labels of judge 'ada'",
        "note: there were no labels of judge 'ada' to extend, so the new version has only these; to add them to "
        "version 2 (without a judge): ndcg-track labels add ada.txt --extend --dataset shop",
    ]
    write_qrels(folder / "more.txt", {"q1": {"a": 2}})
    assert newer.refused("labels", "add", "more.txt", "--dataset", "shop", "--extend", "--judge", "ada") == (
        "item 'a' of group 'q1' has the label 2 here but 0 in the latest labels of judge 'ada' of dataset 'shop'; to "
        "replace those, make a new version with: ndcg-track labels add FILE --dataset shop --judge ada; to keep both, "
        "as labels of another judge: ndcg-track labels add FILE --dataset shop --judge NAME"
    )
    write_qrels(folder / "more.txt", {"q1": {"m": 2}})
    assert newer.said("labels", "add", "more.txt", "--dataset", "shop", "--extend", "--judge", "ada") == (
        "stored as version 4 of dataset 'shop': 1 label of judge 'ada' added to the version before\n"
    )
    assert newer.said("labels", "add", "more.txt", "--dataset", "shop", "--extend", "--judge", "bob").endswith(
        "to add them to version 4 (judge 'ada'): ndcg-track labels add more.txt --extend --dataset shop --judge ada\n"
    )


TWO_JUDGES = "group,item,label,judge\nq1,a,2,gpt\nq1,b,0,gpt\nq1,a,0,human\nq1,b,1,human\n"
UNCLEAR = "dataset 'default' has labels of judges 'gpt' and 'human', but none without a judge; choose with --judge gpt"


@pytest.fixture
def judges(sqlite_command: CommandLine, folder: Path) -> CommandLine:
    """A dataset whose labels are of gpt, version 1, and of human, version 2; no run is stored yet."""
    (folder / "both.csv").write_text(TWO_JUDGES)
    for name, order in (("a", "ab"), ("b", "ba")):
        lines = [f"q1,{item},{2 - place}" for place, item in enumerate(order)]
        (folder / f"{name}.csv").write_text("\n".join(["group,item,score", *lines, ""]))
    assert sqlite_command.said("labels", "add", "both.csv") == (
        "stored as version 1 of dataset 'default': 2 labels of judge 'gpt'\n"
        "stored as version 2 of dataset 'default': 2 labels of judge 'human'\n"
    )
    return sqlite_command


def test_a_file_of_several_judges_gives_each_a_version(judges: CommandLine) -> None:
    add = ["labels", "add", "both.csv"]
    of_gpt = "already stored as version 1 of dataset 'default': 2 labels of judge 'gpt'\n"
    assert judges.said(*add, "--judge", "gpt") == judges.said(*add, "--where", "judge=gpt") == of_gpt
    assert judges.said(*add, "--where", "judge=gpt", "--judge", "model") == (
        "stored as version 3 of dataset 'default': 2 labels of judge 'model'\n"
    )
    assert judges.refused(*add, "--judge", "ada") == (
        "both.csv: the column 'judge' names 'gpt', 'human', not 'ada'; name one of these with --judge, or leave it out"
    )
    choose = (
        "both.csv: the column 'judge' names 'gpt', 'human'; choose one with --judge, or store all with: ndcg-track "
        "labels add FILE"
    )
    for command in ("evaluate", "ingest"):
        assert judges.refused(command, "a.csv", "--labels", "both.csv") == choose
    assert judges.rows("evaluate", "b.csv", "--labels", "both.csv", "--judge", "human", "-m", "P@1")[0]["mean"] == 1.0
    assert judges.rows("evaluate", "b.csv", "--labels", "both.csv", "--judge", "gpt", "-m", "P@1")[0]["mean"] == 0.0
    assert judges.refused("evaluate", "a.csv", "--judge", "gpt").startswith(
        "--judge needs --labels: the file names the judges; "
    )
    row = judges.rows("ingest", "a.csv", "--labels", "both.csv", "--judge", "human")[0]
    assert (row["label_set_version"], row["judge"]) == (2, "human")


@pytest.mark.nightly
def test_every_command_under_labels_of_named_judges_alone(judges: CommandLine, folder: Path) -> None:
    assert judges.refused("ingest", "a.csv", "b.csv") == UNCLEAR
    rows = judges.rows("ingest", "a.csv", "b.csv", "--judge", "gpt", "--judge", "human", "-m", "P@1")
    assert [(row["run"], row["judge"], row["mean"]) for row in rows] == [
        *(("a", "gpt", 1.0), ("a", "human", 0.0), ("b", "gpt", 0.0), ("b", "human", 1.0)),
    ]
    said = judges.said("rescore", "--all", "--judge", "*", "-m", "P@1").splitlines()
    assert said[1] == "a: nothing new to compute under labels version 2 of judge 'human'"
    text = judges.done("rescore", "--all", "--judge", "*", "-m", "ndcg@10").splitlines()
    assert [line.split()[-1] for line in text] == ["judge", "gpt", "human", "gpt", "human"]
    both, of = ("a", "b"), ("-m", "P@1")
    commands: list[tuple[str, ...]] = [
        ("compare", *both, *of),
        ("gate", "b", "--baseline", "a", *of, "--scope", "set", "--margin", "0.99", "--dry-run"),
        ("leaderboard", *of),
        ("history", *of),
        ("explain", *both, "-m", "ndcg@10"),
        ("reproduce", *both, *of),
        ("reproduce", "a", "--published", "0.5", *of),
        ("labels", "needed", *both),
        ("runs", "list", "--sort", "mean", *of),
        ("doctor", "conventions", "a"),
        ("report", *both, *of, "-o", "page.html"),
        ("plot", "compare", *both, *of, "-o", "p.svg"),
        ("plot", "history", *of, "-o", "p.svg"),
        ("plot", "explain", *both, "--group", "q1", "-m", "ndcg@10", "-o", "p.svg"),
    ]
    for command in commands:
        assert judges.refused(*command) == UNCLEAR, command
        assert judges(*command, "--judge", "human").code == 0, command
    for command in commands[:6]:
        named = judges.done(*command, "--labels", "2")
        assert named == judges.done(*command, "--labels", "2", "--judge", "human"), command
        assert judges.refused(*command, "--labels", "2", "--judge", "gpt").startswith("version 2 of the labels of ")
    judges.said("suite", "create", "all", "default")
    for system in (
        ("leaderboard", *of),
        ("compare", *both, *of),
        ("report", *both, *of, "-o", "suite.html"),
        ("gate", "b", "--baseline", "a", *of, "--margin", ".5", "--acknowledge", "known"),
    ):
        assert judges.refused(*system, "--suite", "all") == UNCLEAR, system
        assert judges(*system, "--suite", "all", "--judge", "gpt").code == 0, system
    assert "version 1 of judge 'gpt' of each dataset" in judges.done(
        "leaderboard", "--suite", "all", *of, "--judge", "gpt"
    )
    table = csv.DictReader(io.StringIO(judges.done("leaderboard", *of, "--judge", "human", "--format", "csv")))
    assert {(row["label_set_version"], row["judge"]) for row in table} == {("2", "human")}
    every = judges.done("compare", *both, *of, "--judge", "*")
    assert every.splitlines()[0].startswith("b against a on default, 2 versions of the labels of 2 judges: ")
    found = judges.rows("compare", *both, *of, "--judge", "*")
    assert [one["label_set"]["judge"] for one in found["versions"]] == ["gpt", "human"]
    assert [one["judge"] for one in found["conclusions"][0]["verdicts"]] == ["gpt", "human"]
    table = csv.DictReader(io.StringIO(judges.done("compare", *both, *of, "--judge", "*", "--format", "csv")))
    assert [row["judge"] for row in table] == ["gpt", "human"]
    assert "| human | 2 |" in judges.done("compare", *both, *of, "--judge", "*", "--format", "markdown")
    assert judges.refused("compare", *both, "--judge", "*", "--labels", "1") == (
        "--labels does not go with --judge '*': a version has one judge; leave one out"
    )
    assert judges.refused("compare", "--suite", "all", *both, "--judge", "*") == (
        "--judge '*' does not go with --suite: a suite has several datasets; name one version or judge"
    )


def test_a_first_batch_for_a_new_judge_goes_back(judges: CommandLine, folder: Path) -> None:
    judges.done("ingest", "a.csv", "b.csv", "--judge", "gpt")
    said = judges.said("labels", "needed", "a", "b", "--judge", "ada", "-o", "batch.csv")
    assert said == (
        "wrote 2 items; fill in the grades, then type: ndcg-track labels add batch.csv --rescore --dataset "
        "default --judge ada\n"
    )
    assert (folder / "batch.csv").read_text().splitlines()[0] == "group,item,label,could_move"
    lines = (folder / "batch.csv").read_text().replace(",,", ",1,").replace("\r\n", "\n")
    (folder / "batch.csv").write_text(lines)
    assert judges.said("labels", "add", "batch.csv", "--rescore", "--judge", "ada").startswith(
        "stored as version 3 of dataset 'default': 2 labels of judge 'ada'\nrescored 2 of 2 runs"
    )
    text = judges.done("labels", "needed", "a", "b", "--judge", "bob", "-v").splitlines()
    assert text[-1] == "labels  none of judge 'bob' yet"
