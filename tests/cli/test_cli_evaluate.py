"""``ndcg-track evaluate``: metrics of files, nothing stored."""

import csv
import io
from pathlib import Path

import pytest
from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, LABELS, Run, joint_frame, write_csv, write_qrels

COMMON = ["group", "attribute", "slice", "results"]
"""Keys that every row of JSON has, whatever was asked for."""


@pytest.fixture
def command(sqlite_command: CommandLine, files: None, folder: Path) -> CommandLine:
    """The command line on a database that must not be created."""
    return sqlite_command


def test_the_means_of_several_files(command: CommandLine, folder: Path) -> None:
    before = sorted(folder.iterdir())
    printed = command.done("evaluate", "bm25.csv", "dense.run", "--labels", "qrels.txt")
    means = [results("ndcg@10", run, LABELS).mean for run in (BM25, DENSE)]
    assert printed.splitlines() == [
        "run    metric     mean  groups  missing  undefined",
        f"bm25   ndcg@10  {means[0]:.4f}       5        0          0",
        f"dense  ndcg@10  {means[1]:.4f}       5        1          0",
    ]
    assert sorted(folder.iterdir()) == before


def test_the_formats(command: CommandLine) -> None:
    arguments = ["evaluate", "bm25.csv", "--labels", "labels.csv", "--metric", "dcg@3", "--metric", "ndcg(empty=skip)"]
    rows = command.rows(*arguments)
    own = ["run", "metric", "mean", "n_groups", "n_missing", "n_undefined"]
    assert [list(row) for row in rows] == [[*own, *COMMON]] * 2
    for row, metric in zip(rows, ("dcg@3", "ndcg(empty=skip)"), strict=True):
        found = results(metric, BM25, LABELS)
        assert [row[name] for name in own] == ["bm25", metric, found.mean, found.n_groups, 0, found.n_undefined]
        assert [row[name] for name in COMMON] == [None, None, None, [{"metric": metric, "value": found.mean}]]
    table = list(csv.DictReader(io.StringIO(command.done(*arguments, "--format", "csv"))))
    assert [float(row["mean"]) for row in table] == [row["mean"] for row in rows]
    assert command.done(*arguments, "--format", "markdown").startswith("| run | metric | mean |")


def test_per_group(command: CommandLine) -> None:
    arguments = ["evaluate", "bm25.csv", "dense.run", "--labels", "labels.csv", "--per-group"]
    metrics = ["ndcg@10", "ndcg(empty=skip)@10"]
    rows = command.rows(*arguments, *[word for metric in metrics for word in ("--metric", metric)])
    expected = [
        {"run": name, "group": group, metrics[0]: value, metrics[1]: None if value != value or group == "q4" else value}
        for name, run in (("bm25", BM25), ("dense", DENSE))
        for group, value in zip(
            results("ndcg@10", run, LABELS).group_keys.to_list(),
            results("ndcg@10", run, LABELS).values.tolist(),
            strict=True,
        )
    ]
    assert [{name: row[name] for name in ("run", "group", *metrics)} for row in rows] == expected
    assert [{name: row[name] for name in COMMON} for row in rows] == [
        {
            "group": row["group"],
            "attribute": None,
            "slice": None,
            "results": [{"metric": metric, "value": row[metric]} for metric in metrics],
        }
        for row in expected
    ]
    assert command.done(*arguments).splitlines()[0].split() == ["run", "group", "ndcg@10"]


def test_a_metric_given_twice_is_one(command: CommandLine) -> None:
    rows = command.rows("evaluate", "bm25.csv", "--labels", "labels.csv", "--metric", "dcg@3", "--metric", "dcg@3")
    assert len(rows) == 1


def test_labels_of_the_file_itself(command: CommandLine, folder: Path) -> None:
    own: Run = {**LABELS, "q5": {"h": 1, "x": 3}}
    write_csv(folder / "own.csv", joint_frame(BM25, own))
    assert command.rows("evaluate", "own.csv")[0]["mean"] == results("ndcg@10", BM25, own).mean
    given = command.rows("evaluate", "own.csv", "--labels", "labels.csv")
    assert given[0]["mean"] == results("ndcg@10", BM25, LABELS).mean


def test_the_label_column_is_one_of_the_labels_file(command: CommandLine, folder: Path) -> None:
    labels = (folder / "labels.csv").read_text(encoding="utf-8").replace("label", "grade", 1)
    (folder / "grades.csv").write_text(labels, encoding="utf-8")
    for run in ("bm25.csv", "dense.run"):
        rows = command.rows("evaluate", run, "--labels", "grades.csv", "--label", "grade")
        assert rows == command.rows("evaluate", run, "--labels", "labels.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bm25.csv"], "bm25.csv has no labels; give them with --labels FILE"),
        (
            ["bm25.csv", "dense.run", "--scores", "x"],
            "--scores does not go with several files: it is of one run; evaluate them one by one",
        ),
        (["labels.csv", "--labels", "labels.csv"], None),
        (["bm25.csv", "--labels", "strict.txt", "--metric", "ndcg(missing=error)"], None),
    ],
)
def test_what_is_refused(command: CommandLine, folder: Path, arguments: list[str], message: str | None) -> None:
    write_qrels(folder / "strict.txt", {"q9": {"a": 1}})
    text = command.refused("evaluate", *arguments)
    assert message is None or text == message


def test_groups_in_common_and_no_labelled_item_is_noted(command: CommandLine, folder: Path) -> None:
    write_qrels(folder / "other.txt", {"q1": {"z": 1}, "q2": {"z": 1}})
    for stream in ("--stream", "--no-stream"):
        printed = command("evaluate", "bm25.csv", "--labels", "other.txt", stream)
        assert printed.code == 0
        assert printed.err == (
            "note: bm25: none of its items has a label, so every result is 0 or undefined: the run has 'c', but the "
            "labels have 'z'; do the ids match?\n"
        )


def test_no_group_in_common_is_an_error(command: CommandLine, folder: Path) -> None:
    write_qrels(folder / "other.txt", {"Q1": {"a": 1}})
    for stream in ("--stream", "--no-stream"):
        assert command.refused("evaluate", "bm25.csv", "--labels", "other.txt", stream) == (
            "no group of the run has labels: the run has 'q1', 'q2', 'q3' and others, the labels have 'Q1'; give "
            "labels of the same groups, with ids written the same way; if that is meant, give --allow no-overlap"
        )


def test_two_files_without_item_ids_are_refused(command: CommandLine, folder: Path) -> None:
    write_csv(folder / "run.csv", {"qid": ["q", "q"], "score": [2, 1]})
    write_csv(folder / "grades.csv", {"qid": ["q", "q"], "label": [1, 0]})
    write_csv(folder / "one.csv", {"qid": ["q", "q"], "score": [2, 1], "label": [1, 0]})
    needed = (
        "name the item column with --item; row numbers can identify items only if one table holds both "
        "scores and labels"
    )
    for command_name in ("evaluate", "ingest"):
        assert command.refused(command_name, "run.csv", "--labels", "grades.csv") == (
            f"grades.csv:1: no column 'item'; the columns are 'qid', 'label': {needed}"
        )
        assert command.refused(command_name, "run.csv", "--labels", "qrels.txt") == (
            f"run.csv:1: no column 'item'; the columns are 'qid', 'score': {needed}"
        )
    assert command.rows("evaluate", "one.csv")[0]["mean"] == 1.0


def test_columns_are_known_by_convention_and_told_where_they_are_read_anew(command: CommandLine, folder: Path) -> None:
    write_csv(folder / "run.csv", {"qid": ["q", "q"], "docno": ["a", "b"], "score": [2, 1], "rel": [0, 1]})
    plain = command("evaluate", "run.csv")
    assert (plain.code, plain.err) == (0, "note: run.csv: read 'qid' as group, 'docno' as item and 'rel' as label\n")
    told = command("evaluate", "run.csv", "--group", "qid", "--label", "rel")
    assert (told.code, told.out) == (0, plain.out)
    assert told.err == (
        "note: column 'docno' is read as the items, by convention; to confirm this, give --item docno, or --item '' "
        "to identify items by row numbers as before\n"
    )
    numbered = command("evaluate", "run.csv", "--group", "qid", "--label", "rel", "--item", "")
    assert (numbered.code, numbered.out, numbered.err) == (0, plain.out, "")
    write_csv(folder / "both.csv", {"qid": ["q"], "user_id": ["u"], "docno": ["a"], "score": [1], "rel": [0]})
    assert command.refused("evaluate", "both.csv") == (
        "both.csv:1: the group column could be 'qid' or 'user_id'; choose with --group qid or --group user_id"
    )


def test_named_columns_may_be_those_of_the_labels(command: CommandLine, folder: Path) -> None:
    write_csv(folder / "grades.csv", {"a": ["q1", "q2"], "b": ["a", "a"], "c": [1, 1]})
    names = ["--group", "a", "--item", "b", "--label", "c"]
    assert command.rows("evaluate", "dense.run", "--labels", "grades.csv", *names)[0]["n_groups"] == 2
    assert command.refused("evaluate", "dense.run", "--labels", "qrels.txt", "--group", "a").startswith(
        "dense.run: a trec file has no named columns; drop --group, or choose another --reader"
    )
    assert command.refused("evaluate", "dense.run", "--labels", "qrels.txt", "--label", "c") == (
        "qrels.txt: a trec file has no named columns; drop --label"
    )
    assert command.refused("evaluate", "dense.run", "--labels", "ir_datasets:x", "--label", "c") == (
        "ir_datasets:x: labels from ir_datasets have no named columns; drop --label"
    )
    assert command.refused("labels", "add", "qrels.txt", "--label", "c") == (
        "qrels.txt: a trec file has no named columns; drop --label, or choose another --reader"
    )


@pytest.mark.parametrize("name", ["evaluate", "ingest"])
def test_columns_are_named_for_the_run_alone(command: CommandLine, folder: Path, name: str) -> None:
    (folder / "run.csv").write_text("q,d,2\nq,e,1\n")
    (folder / "labels.csv").write_text("q,d,1\n")
    assert command.refused(name, "run.csv", "--columns", "qid,docno,score", "--labels", "labels.csv") == (
        "labels.csv:1: no columns 'group', 'item' and 'label'; the columns are 'q', 'd', '1': name the group column "
        "with --group, the item column with --item and the label column with --label; if each row is a relevant item, "
        "give --label =1; if this line is a row, name the columns after a slash, with --columns /NAME,NAME,..."
    )
    named = ["--columns", "qid,docno,score/qid,docno,label", "--labels", "labels.csv"]
    assert command.done(name, "run.csv", *named, "--metric", "P@1", "--format", "csv")


def test_columns_that_are_often_called_so_are_named_in_the_advice(command: CommandLine, folder: Path) -> None:
    (folder / "run.csv").write_text("user,product,y_pred,y_true\nu,a,2,1\nu,b,1,0\n")
    told, _, typed = command.refused("evaluate", "run.csv").partition(f": ndcg-track --db {command.url} ")
    assert told == (
        "run.csv has no columns 'group', 'item' and 'score' (it has 'user', 'product', 'y_pred', 'y_true'); if these "
        "guesses are right"
    )
    assert typed == "evaluate run.csv --group user --item product --score y_pred --label y_true"
    assert command.done(*typed.split()).splitlines()[1].split()[:2] == ["run", "ndcg@10"]
    (folder / "run.csv").write_text("rel,score\n1,2\n")
    assert command.refused("evaluate", "run.csv") == (
        "run.csv:1: no column 'group'; the columns are 'rel', 'score': name the group column with --group; "
        "each row needs its query, user or session"
    )


def test_slices_of_files(command: CommandLine, folder: Path) -> None:
    write_csv(folder / "groups.csv", {"group": ["q1", "q2", "q3"], "device": ["tv", "phone", "tv"]})
    asked = ("evaluate", "bm25.csv", "dense.run", "--labels", "labels.csv", "--metric", "ndcg@3", "--metric", "RR")
    rows = command.rows(*asked, "--by", "device", "--groups", "groups.csv")
    assert list(rows[0]) == ["run", "metric", "device", "n_groups", "mean", "ci_low", "ci_high", *COMMON]
    for row in rows:
        of_metric = [{"metric": row["metric"], "value": row["mean"]}]
        assert [row[name] for name in COMMON] == [None, "device", row["device"], of_metric]
    assert [(row["run"], row["metric"], row["device"]) for row in rows[:4]] == [
        *(("bm25", "ndcg@3", value) for value in ("tv", "phone", None)), ("bm25", "RR", "tv"),
    ]  # fmt: skip
    whole = {(row["run"], row["metric"]): row for row in command.rows(*asked)}
    for (run, metric), row in whole.items():
        of_run = [one for one in rows if (one["run"], one["metric"]) == (run, metric)]
        assert sum(one["n_groups"] for one in of_run) == row["n_groups"]
        assert sum(one["n_groups"] * one["mean"] for one in of_run) == pytest.approx(row["n_groups"] * row["mean"])
    assert rows[1]["ci_low"] is None  # of one group
    for words, line in {
        ("--by", "device"): "--by needs --groups: the file has the attribute; give --groups, or leave out --by",
        ("--groups", "groups.csv"): "--groups needs --by: slices are by an attribute of the file; give --by, or leave "
        "out --groups",
        ("--by", "x", "--groups", "groups.csv"): "groups.csv: there is no attribute 'x'; choose one of device",
        (
            "--by",
            "device",
            "--groups",
            "groups.csv",
            "--per-group",
        ): "--by does not go with --per-group: means of slices are computed here, and shown alone; leave one out",
    }.items():
        assert command.refused(*asked, *words) == line
    write_csv(folder / "others.csv", {"group": ["x"], "device": ["tv"]})
    line = "no group of the run has 'device'; are the groups written as in the run? One is 'q1'"
    assert command.refused(*asked, "--by", "device", "--groups", "others.csv").startswith(line[:30])
