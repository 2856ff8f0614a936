"""``ndcg-track ingest``."""

import csv
import gzip
import io
import json
import subprocess
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from command_line import CommandLine
from rankings_of import results
from runs_of_sums import store_sums
from small_shop import BM25, DENSE, LABELS, frame_of, joint_frame, labels_frame, write_csv, write_qrels, write_trec
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.ingest.detection import READERS
from ndcg_tracker.rankings.groups_share import in_share

BM25_MEAN, DENSE_MEAN = (results("ndcg@10", run, LABELS).mean or 0.0 for run in (BM25, DENSE))
KEYS = [
    "run", "run_id", "dataset", "outcome", "n_groups", "n_items", "label_set_version", "metric", "mean", "n_missing",
    "n_undefined", "requested_as", "judge",
]  # fmt: skip


def test_runs_are_stored_and_told(command: CommandLine, files: None) -> None:
    printed = command.done("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv")
    means = BM25_MEAN, DENSE_MEAN
    assert printed.splitlines() == [
        "run    id  dataset  outcome  groups  items  labels  metric     mean  missing  undefined",
        f"bm25    1  default  stored        5     11       1  ndcg@10  {means[0]:.4f}        0          0",
        f"dense   2  default  stored        4      9       1  ndcg@10  {means[1]:.4f}        1          0",
    ]


def test_the_formats_for_programs_carry_everything(command: CommandLine, files: None) -> None:
    arguments = ["ingest", "bm25.csv", "dense.run", "--labels", "qrels.txt", "--metric", "ndcg@10", "--metric", "dcg"]
    stored = command.rows(*arguments)
    assert [list(row) for row in stored] == [KEYS] * 4
    assert [(row["run"], row["metric"], row["mean"]) for row in stored] == [
        (name, metric, results(metric, run, LABELS).mean)
        for name, run in (("bm25", BM25), ("dense", DENSE))
        for metric in ("ndcg@10", "dcg")
    ]
    again = list(csv.DictReader(io.StringIO(command.done(*arguments, "--format", "csv"))))
    assert [list(row) for row in again] == [KEYS] * 4
    assert [float(row["mean"]) for row in again] == [row["mean"] for row in stored]
    assert {row["outcome"] for row in again} == {"already stored"}
    markdown = command.done(*arguments, "--format", "markdown").splitlines()
    assert (len(markdown), markdown[0][:17], markdown[1][:8]) == (6, "| run | id | data", "| --- | ")


def test_the_same_again_adds_nothing(command: CommandLine, files: None, folder: Path) -> None:
    command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    before = row_counts(command.url)
    backwards = frame_of({group: dict(reversed(items.items())) for group, items in reversed(BM25.items())})
    write_csv(folder / "backwards.csv", backwards)
    for arguments in (["bm25.csv", "--labels", "qrels.txt"], ["backwards.csv", "--name", "bm25"]):
        (row,) = command.rows("ingest", *arguments)
        assert (row["outcome"], row["run_id"], row["mean"]) == ("already stored", 1, BM25_MEAN)
    assert row_counts(command.url) == before


def test_a_further_metric_is_added(command: CommandLine, files: None) -> None:
    command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    rows = command.rows("ingest", "bm25.csv", "--metric", "dcg@3", "--metric", "ndcg@10")
    assert [(row["metric"], row["outcome"]) for row in rows] == [
        ("dcg@3", "metric added"),
        ("ndcg@10", "already stored"),
    ]


def test_other_content_under_a_name_is_refused_or_replaces(command: CommandLine, files: None, folder: Path) -> None:
    command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    command.said("alias", "set", "baseline", "bm25")
    write_trec(folder / "bm25.run", DENSE)
    before = row_counts(command.url)
    assert command.refused("ingest", "bm25.run") == (
        "run 'bm25' of dataset 'default' is already stored with other content; keep both with --name bm25-2, "
        "or replace it with --replace"
    )
    assert row_counts(command.url) == before
    assert command("ingest", "bm25.run", "--name", "bm25-2").code == 0
    replaced = command("ingest", "bm25.run", "--replace")
    assert replaced.code == 0
    assert replaced.out.splitlines()[1].split()[:4] == ["bm25", "3", "default", "replaced"]
    assert replaced.err.splitlines() == [
        "note: bm25: its content equals that of run 'bm25-2'",
        "note: bm25: alias @baseline now points at the new content (run 3)",
    ]
    assert [row["run_id"] for row in command.rows("alias", "list")] == [3]


def test_notes_go_to_standard_error(command: CommandLine, files: None, folder: Path) -> None:
    command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    twin = command("ingest", "bm25.csv", "--name", "twin", "--format", "json")
    assert (twin.code, twin.err) == (0, "note: twin: its content equals that of run 'bm25'\n")
    write_trec(folder / "strangers.run", {"Q1": {"A": 1.0}})
    strangers = command("ingest", "strangers.run", "--format", "json", "--allow", "no-overlap")
    assert (strangers.code, strangers.err) == (
        0,
        "note: strangers: no group of the run has labels: the run has 'Q1', the labels have 'q1', 'q2', 'q3' and "
        "others; give labels of the same groups, with ids written the same way\n",
    )
    write_qrels(folder / "fewer.txt", {"q1": {"a": LABELS["q1"]["a"]}})
    newer = command("ingest", "dense.run", "--labels", "fewer.txt")
    assert newer.err == (
        "note: dense: its labels are new (version 2 of the dataset); to compare older runs with it, evaluate "
        "them under it: ndcg-track rescore --all --dataset default --labels 2\n"
    )


def test_what_is_allowed_has_a_name(command: CommandLine, files: None, folder: Path) -> None:
    write_trec(folder / "strangers.run", {"Q1": {"A": 1.0}})
    words = ["strangers.run", "--labels", "labels.csv"]
    refused = (
        "no group of the run has labels: the run has 'Q1', the labels have 'q1', 'q2', 'q3' and others; give labels of "
        "the same groups, with ids written the same way; if that is meant, give --allow no-overlap"
    )
    assert command.refused("ingest", *words) == f"strangers: {refused}"
    assert command.refused("evaluate", *words) == refused
    for name in ("ingest", "evaluate"):
        unknown = command.refused(name, *words, "--allow", "no-overlap", "--allow", "overlap")
        assert unknown == (
            "--allow overlap is unknown; give failed or no-overlap or duplicates:first or duplicates:best or "
            "duplicates:same or duplicates:mean or bad-grades or changed-texts"
        )
        assert command.rows(name, *words, "--allow", "no-overlap,")[0]["run"] == "strangers"
    assert command.rows("runs", "show", "strangers")["tags"] == {"allowed": "no-overlap"}
    assert command.refused("ingest", "--results", "r.csv", "--allow", "no-overlap") == (
        "--allow does not go with --results: it holds values per group, not lists; leave one out"
    )


def test_failed_responses_may_be_left_out(command: CommandLine, folder: Path) -> None:
    failed = {"error": {"reason": "all shards failed"}, "status": 503}
    found = {"hits": {"hits": [{"_id": "a", "_score": 2.0}]}}
    (folder / "night.json").write_text(json.dumps({"responses": [found, failed]}))
    (folder / "ids.txt").write_text("q1\nq2\n")
    (folder / "labels.csv").write_text("group,item,label\nq1,a,1\nq2,b,1\n")
    words = ["night.json", "--labels", "labels.csv", "--group", "@ids.txt", "--metric", "ndcg@10"]
    told = (
        "night.json: responses[1] is an error ('all shards failed'); run the search again, or leave out what failed "
        "with --allow failed"
    )
    note = "note: night: 1 response failed and was left out, so its query counts as missing: run the search again\n"
    for name in ("evaluate", "ingest"):
        assert command.refused(name, *words) == told
        stored = command(name, *words, "--allow", "failed", "--format", "json")
        [row] = json.loads(stored.out)
        assert (row["mean"], row["n_missing"], stored.err) == (0.5, 1, note)
    assert command.rows("runs", "show", "night")["tags"] == {"allowed": "failed"}


def test_without_labels_nothing_is_stored(command: CommandLine, files: None) -> None:
    assert command.refused("ingest", "bm25.csv", "--dataset", "shop") == (
        "dataset 'shop' has no labels yet; give them with --labels FILE"
    )
    counts = row_counts(command.url)
    assert {name for name, count in counts.items() if count} == {"ndcg_tracker_version"}


def test_labels_in_the_file_itself(command: CommandLine, files: None, folder: Path) -> None:
    write_csv(folder / "own.csv", joint_frame(BM25, LABELS))
    assert command.rows("ingest", "own.csv")[0]["label_set_version"] == 1
    assert command.rows("ingest", "dense.run", "--labels", "labels.csv")[0]["label_set_version"] == 1
    write_csv(folder / "fewer.csv", joint_frame({"q1": {"a": 1.0, "x": 0.5}}, LABELS))
    assert command.rows("ingest", "fewer.csv")[0]["label_set_version"] == 1
    write_csv(folder / "more.csv", joint_frame({"q1": {"a": 1.0, "x": 0.5}}, {"q1": {"x": 2}}))
    assert command.rows("ingest", "more.csv")[0]["label_set_version"] == 2
    before = row_counts(command.url)
    write_csv(folder / "conflict.csv", joint_frame({"q1": {"a": 1.0, "x": 0.5}}, {"q1": {"x": 3}}))
    assert command.refused("ingest", "conflict.csv") == (
        "item 'x' of group 'q1' has the label 3 here but 2 in the latest labels of dataset 'default'; "
        "to change labels, make a new version with ndcg-track labels add FILE"
    )
    assert row_counts(command.url) == before


def test_the_name_of_a_run(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    command = sqlite_command
    (folder / "sub").mkdir()
    (folder / "sub" / "irc_pmc.run.gz").write_bytes(gzip.compress((folder / "dense.run").read_bytes()))
    write_trec(folder / "v1.2.trec", DENSE)
    write_trec(folder / "plain", DENSE)
    write_trec(folder / "ÜBER GZ.RUN.GZ", DENSE)
    (folder / "ÜBER GZ.RUN.GZ").write_bytes(gzip.compress((folder / "ÜBER GZ.RUN.GZ").read_bytes()))
    paths = ["sub/irc_pmc.run.gz", "v1.2.trec", "plain", "ÜBER GZ.RUN.GZ"]
    rows = command.rows("ingest", *paths, "--labels", "labels.csv")
    assert [row["run"] for row in rows] == ["irc_pmc", "v1.2", "plain", "ÜBER GZ"]
    assert command.rows("ingest", "dense.run", "--name", "any thing")[0]["run"] == "any thing"
    shown = command.rows("runs", "show", "irc_pmc")
    assert shown["source"] == "sub/irc_pmc.run.gz"


def test_names_are_given_once_per_file_in_their_order(command: CommandLine, files: None) -> None:
    arguments = ["bm25.csv", "dense.run", "--labels", "labels.csv", "--name", "first", "--name", "second"]
    rows = command.rows("ingest", *arguments)
    assert [(row["run"], row["mean"]) for row in rows] == [("first", BM25_MEAN), ("second", DENSE_MEAN)]
    assert [row["run"] for row in command.rows("evaluate", *arguments)] == ["first", "second"]


def test_a_table_without_header(command: CommandLine, files: None, folder: Path) -> None:
    for name, ending in (("bm25.csv", "tsv"), ("labels.csv", "txt")):
        rows = (folder / name).read_text(encoding="utf-8").splitlines()[1:]
        (folder / f"bare.{ending}").write_text("\n".join(rows).replace(",", "\t") + "\n", encoding="utf-8")
    names = ["--columns", "qid,doc,label", "--group", "qid", "--item", "doc"]
    assert command("labels", "add", "bare.txt", *names).code == 0
    (row,) = command.rows("ingest", "bare.tsv", "--columns", "group, item ,score")
    assert row["mean"] == BM25_MEAN
    arguments = ["--columns", "group,item,s", "--score", "s", "--labels", "labels.csv"]
    for way in ("--stream", "--no-stream"):
        assert command.rows("evaluate", "bare.tsv", *arguments, way)[0]["mean"] == BM25_MEAN


def test_each_run_has_the_tags_of_its_own_header(command: CommandLine, files: None, folder: Path) -> None:
    for name, score in (("one", 1.0), ("two", 2.0)):
        header = f"# ir_metadata.start\n# tag: {name}\n# actor:\n#   team: ours\n# ir_metadata.end\n"
        (folder / f"{name}.run").write_text(f"{header}q1 Q0 a 1 {score} x\n", encoding="utf-8")
    command.done("ingest", "one.run", "two.run", "--labels", "qrels.txt", "--tag", "actor.team=mine")
    for name in ("one", "two"):
        assert command.rows("show", name)["tags"] == {"tag": name, "actor.team": "mine"}


@pytest.mark.parametrize("way", ["--stream", "--no-stream"])
def test_a_trec_run_with_comments_and_words_whose_ranks_are_wrong(
    command: CommandLine, files: None, folder: Path, way: str
) -> None:
    text = "".join(
        f"{group}\tQ0\t{item}\t{-rank if group in ('q2', 'q3') else rank}\t{score}\tmy tag\n"
        for group, items in DENSE.items()
        for rank, (item, score) in enumerate(sorted(items.items(), key=lambda item: -item[1]), 1)
    )
    (folder / "odd.tsv").write_text(f"# ir_metadata.start\n# tag: odd\n# ir_metadata.end\n{text}", encoding="utf-8")
    note = (
        "note: odd: the rank column contradicts the scores in 2 {} (the first: 'q2'); the scores decide, as in "
        "trec_eval: if lower scores are better here, negate them\n"
    )
    for name, word in (("evaluate", "groups"), ("ingest", "queries")):  # only a dataset knows its word
        printed = command(name, "odd.tsv", "--labels", "qrels.txt", way, "--format", "csv")
        assert (printed.code, printed.err) == (0, note.format(word))
        assert [float(row["mean"]) for row in csv.DictReader(io.StringIO(printed.out))] == [DENSE_MEAN]


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["bm25.csv", "dense.run", "--name", "x"],
            "1 name for 2 files; give --name once per file, in their order, or leave it out",
        ),
        (
            ["bm25.csv", "--name", "x", "--name", "y"],
            "2 names for 1 file; give --name once per file, in their order, or leave it out",
        ),
        (
            ["bm25.csv", "dense.run", "--name", "x", "--name", "x"],
            "bm25.csv and dense.run would both be run 'x'; nothing was read: give each file its own --name",
        ),
        (
            ["dense.run", "bm25.csv", "o/dense.trec.gz"],
            "dense.run and o/dense.trec.gz would both be run 'dense'; nothing was read: give each file its own --name",
        ),
        (
            ["bm25.csv", "--columns", "group,,score"],
            "--columns group,,score has an empty name; write names like qid,pid,rank",
        ),
        (
            ["dense.run", "--columns", "group,item,score"],
            "dense.run: --columns names the columns of a csv or tsv file, but the first line of this one has neither a "
            "comma nor a tab; separate the columns with commas or tabs",
        ),
        (
            ["bm25.csv", "--reader", "jsonl", "--columns", "group,item,score"],
            "bm25.csv: --columns is for csv or tsv files without a header, but this file is read as jsonl; leave "
            "it out",
        ),
        (
            ["bm25.csv", "dense.run", "--scores", "x"],
            "--scores does not go with several files: it is of one run; ingest them one by one",
        ),
        (["-"], "<stdin>: a run from standard input has no name; give one with --name"),
        (["nowhere.csv"], "nowhere.csv: no such file; check the path"),
        (["bm25.csv", "--labels", "nowhere.txt"], "nowhere.txt: no such file; check the path"),
        (["nowhere.csv", "--labels", "bm25.csv"], "nowhere.csv: no such file; check the path"),  # not of the labels
        (["bm25.csv", "--tag", "x"], "--tag 'x' is not of the form key=value; write --tag model=bm25"),
        (["bm25.csv", "--param", "=x"], "--param '=x' is not of the form key=value; write --param model=bm25"),
        (["bm25.csv", "--reader", "xml"], f"no reader 'xml'; choose one of {' '.join(READERS)}"),
        (["bm25.csv", "--name", ""], "the name of a run is empty; give it a name"),
        (["bm25.csv", "--name", "@x"], None),
        (["bm25.csv", "--dataset", ""], "the name of a dataset is empty; give it a name"),
        (["bm25.csv", "--metric", "ndgc@10"], None),
        (
            ["bm25.csv", "--score", "s"],
            "bm25.csv:1: no column 's'; the columns are 'group', 'item', 'score': name the score column with "
            "--score score",
        ),
        (
            ["dense.run", "--group", "qid", "--labels", "qrels.txt"],
            "dense.run: a trec file has no named columns; drop --group, or choose another --reader",
        ),
        (
            ["broken.csv"],
            "broken.csv:3: ",
        ),
    ],
)
def test_what_is_refused_leaves_nothing_behind(
    sqlite_command: CommandLine, files: None, folder: Path, arguments: list[str], message: str | None
) -> None:
    (folder / "broken.csv").write_text("group,item,score\nq1,a,1\nq1,b,one\n", encoding="utf-8")
    labels = [] if "--labels" in arguments else ["--labels", "labels.csv"]
    text = sqlite_command.refused("ingest", *arguments, *labels)
    if message is not None:
        assert text == message or (message.endswith(" ") and text.startswith(message))
    assert {name for name, count in row_counts(sqlite_command.url).items() if count} <= {"ndcg_tracker_version"}


def test_the_files_before_a_broken_one_stay(command: CommandLine, files: None, folder: Path) -> None:
    (folder / "broken.csv").write_text("group,item,score\nq1,a,1\nq1,b,one\n", encoding="utf-8")
    words = ["ingest", "bm25.csv", "broken.csv", "dense.run", "--labels", "labels.csv", "--format", "csv"]
    printed = command(*words)
    assert (printed.code, printed.err[:21]) == (2, "error: broken.csv:3: ")
    assert [line.split(",")[0] for line in printed.out.splitlines()] == ["run", "bm25"]
    assert [row["run"] for row in command.rows("runs", "list")] == ["bm25"]
    rows = command.rows("ingest", "bm25.csv", "dense.run")
    assert [row["outcome"] for row in rows] == ["already stored", "stored"]


def test_the_column_options(command: CommandLine, folder: Path) -> None:
    run, labels = frame_of(BM25), labels_frame()
    write_csv(folder / "run.csv", {"qid": run["group"], "doc": run["item"], "s": run["score"]})
    write_csv(folder / "grades.csv", {"qid": labels["group"], "doc": labels["item"], "rel": labels["label"]})
    columns = ["--group", "qid", "--item", "doc", "--score", "s", "--label", "rel"]
    (row,) = command.rows("ingest", "run.csv", "--labels", "grades.csv", *columns)
    assert row["mean"] == BM25_MEAN


@pytest.mark.both_engines
def test_responses_of_a_search_are_stored(command: CommandLine, folder: Path) -> None:
    hits = [{"sku": {"id": item}} for item in ("a", "b")]
    text = "".join(f"{json.dumps({'q': {'id': group}, 'found': hits})}\n" for group in ("lamp", "tent"))
    (folder / "log.jsonl").write_text(text)
    judged = [{"q": group, "judged": [{"id": "b", "grade": 1}]} for group in ("lamp", "tent")]
    (folder / "judged.json").write_text(json.dumps(judged))
    paths = ["--items", "judged", "--group", "q", "--item", "id", "--label", "grade"]
    assert command.said("labels", "add", "judged.json", *paths).splitlines() == [
        "stored as version 1 of dataset 'default': 2 labels"
    ]
    paths = ["--items", "found", "--group", "q.id", "--item", "sku.id"]
    told = command("ingest", "log.jsonl", *paths, "--metric", "RR").err
    assert told == "note: log: its lists have no scores, so their order is the ranking, the best item first\n"
    assert [row["value"] for row in command.rows("sql", "SELECT value FROM group_history")] == [
        0.5, 0.5
    ]  # fmt: skip
    assert command.refused("ingest", "log.jsonl", "--items", "found", "--group", "q.id") == (
        "log.jsonl:1: found[0] has no 'item'; its keys are 'sku'; name the path of its item with --item PATH"
    )
    (folder / "ids.txt").write_text("lamp\n")
    assert command.refused("ingest", "log.jsonl", "--items", "found", "--group", "@ids.txt", "--item", "sku.id") == (
        "log.jsonl:2: there are more responses than the 1 id in ids.txt; write one id per line, in the order of the "
        "responses"
    )
    assert command.refused("ingest", "log.jsonl", "--items", "found", "--engine", "spark") == (
        "--items does not go with --engine spark: Spark reads the rows, not this program; leave one out"
    )
    assert command.refused("ingest", "nightly", "--engine", "spark", "--store-items", "none") == (
        "--store-items is gone: a run from Spark keeps all its items; store a share of its groups with "
        "--groups-share 1/100"
    )


def test_the_label_column_is_one_of_the_labels_file(command: CommandLine, files: None, folder: Path) -> None:
    labels = labels_frame()
    write_csv(folder / "grades.csv", {"group": labels["group"], "item": labels["item"], "grade": labels["label"]})
    assert command.rows("ingest", "bm25.csv", "--labels", "grades.csv", "--label", "grade")[0]["mean"] == BM25_MEAN
    assert command.rows("ingest", "dense.run", "--labels", "grades.csv", "--label", "grade")[0]["mean"] == DENSE_MEAN
    own = joint_frame(BM25, LABELS)
    write_csv(folder / "own.csv", {("grade" if name == "label" else name): column for name, column in own.items()})
    assert command.rows("ingest", "own.csv", "--label", "grade", "--dataset", "own")[0]["mean"] == BM25_MEAN


def test_weights_of_groups(command: CommandLine, files: None, folder: Path) -> None:
    weights = [{"q1": 3.0}.get(str(group), 1.0) for group in frame_of(BM25)["group"]]
    write_csv(folder / "weighted.csv", {**frame_of(BM25), "w": [*weights]})
    metric = "ndcg(weights=group)@10"
    (row,) = command.rows("ingest", "weighted.csv", "--labels", "labels.csv", "--weight", "w", "--metric", metric)
    values = results("ndcg@10", BM25, LABELS).values
    assert row["mean"] == pytest.approx((3 * values[0] + values[1:].sum()) / 7)


def test_predictions_beside_a_label_file(command: CommandLine, folder: Path) -> None:
    (folder / "test.svm").write_text("2 qid:1 1:0.5\n0 qid:1 1:0.1\n1 qid:2 1:0.2\n", encoding="utf-8")
    (folder / "scores.txt").write_text("0.1\n0.9\n0.4\n", encoding="utf-8")
    (row,) = command.rows("ingest", "test.svm", "--scores", "scores.txt", "--name", "xgb", "--metric", "dcg@1")
    assert (row["run"], row["n_groups"], row["n_items"], row["mean"]) == ("xgb", 2, 3, 0.5)


def test_what_is_kept_beside_the_run(command: CommandLine, files: None) -> None:
    command.done(
        "ingest", "bm25.csv", "--labels", "labels.csv", "--tag", "stage=prod", "--tag", "url=a=b", "--param", "k1=0.9",
        "--git-commit", "abc123",
    )  # fmt: skip
    shown = command.rows("runs", "show", "bm25")
    assert shown["tags"] == {"stage": "prod", "url": "a=b"}
    assert shown["parameters"] == {"k1": "0.9"}
    assert (shown["git_commit"], shown["source"]) == ("abc123", "bm25.csv")


def test_the_commit_is_that_of_the_repository(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    sqlite_command.done("ingest", "bm25.csv", "--labels", "labels.csv")
    assert sqlite_command.rows("runs", "show", "bm25")["git_commit"] is None
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    sqlite_command("ingest", "bm25.csv", "--name", "no-commit-yet")
    assert sqlite_command.rows("runs", "show", "no-commit-yet")["git_commit"] is None
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *author, "commit", "-q", "--allow-empty", "-m", "x"], cwd=folder, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    sqlite_command.done("ingest", "dense.run")
    assert sqlite_command.rows("runs", "show", "dense")["git_commit"] == head.stdout.strip()


def test_a_path_that_is_no_utf8(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    path = b"\xff.csv".decode("utf-8", "surrogateescape")
    try:
        Path(path).write_bytes((folder / "bm25.csv").read_bytes())
    except OSError:
        pytest.skip("this file system takes no such name")
    sqlite_command.done("ingest", path, "--name", "odd", "--labels", "labels.csv")
    assert sqlite_command.rows("runs", "show", "odd")["source"] == "\\udcff.csv"


def test_messages_do_not_steer_the_terminal(sqlite_command: CommandLine, files: None) -> None:
    assert sqlite_command.refused("ingest", "no\x1b[2Jwhere.csv", "--labels", "labels.csv") == (
        "no\\x1b[2Jwhere.csv: cannot name a run after this file; give a name with --name"
    )
    assert sqlite_command.refused("ingest", "no\x1b[2Jwhere.csv", "--name", "x", "--labels", "labels.csv") == (
        "no\\x1b[2Jwhere.csv: no such file; check the path"
    )


def test_runs_are_dated(command: CommandLine, files: None) -> None:
    command.done("ingest", "bm25.csv", "--labels", "labels.csv", "--created-at", "2026-06-30T02:00+02:00")
    command.done("ingest", "dense.run", "--created-at", "2026-06-29")
    dated = [(row["run"], row["created_at_utc"]) for row in command.rows("runs", "list")]
    assert dated == [("dense", "2026-06-29T00:00:00.000000Z"), ("bm25", "2026-06-30T00:00:00.000000Z")]
    assert [row["run"] for row in command.rows("history")] == ["dense", "bm25"]
    assert command.rows("runs", "show", "latest")["run"] == "bm25"


def test_streams_and_results_of_a_backfill_are_dated(command: CommandLine, files: None, folder: Path) -> None:
    (folder / "latency.csv").write_text("group,value\nq1,3\nq2,4\n", encoding="utf-8")
    of_results = ["--metric", "external:latency", "--direction", "lower", "--range", "0,inf"]
    command.done("ingest", "bm25.csv", "--labels", "labels.csv", "--created-at", "2026-06-30")
    command.done("ingest", "dense.run", "--stream", "--created-at", "2026-06-29")
    command.done("ingest", "--results", "latency.csv", *of_results, "--created-at", "2026-06-28")
    dated = [(row["run"], row["created_at_utc"][:10]) for row in command.rows("runs", "list")]
    names = ["latency", "dense", "bm25"]
    assert dated == [(name, f"2026-06-{day}") for name, day in zip(names, (28, 29, 30), strict=True)]
    assert [command.rows("runs", "show", name)["run"] for name in ("latest", "latest~2")] == ["bm25", "latency"]
    for further in (["--results", "latency.csv", *of_results], ["bm25.csv", "--stream"]):
        assert command.refused("ingest", *further, "--created-at", "2026-02-30").startswith(
            "--created-at 2026-02-30 is not a time; write it in ISO 8601, such as "
        )


def test_what_is_no_date_is_refused_before_anything_is_read(sqlite_command: CommandLine, files: None) -> None:
    assert sqlite_command.refused("ingest", "nowhere.csv", "--created-at", "last night") == (
        "--created-at 'last night' is not a time; write it in ISO 8601, such as 2025-01-31T08:00:00Z or "
        "2025-01-31T09:00+01:00"
    )


def test_a_share_of_the_groups_is_kept_however_the_file_is_read(command: CommandLine, folder: Path) -> None:
    names = [f"g{number}" for number in range(400)]
    rows = "".join(f"{name},d{item},{item}\n" for name in names for item in range(3))
    (folder / "run.csv").write_text(f"group,item,score\n{rows}", encoding="utf-8")
    (folder / "labels.csv").write_text(f"group,item,label\n{rows}", encoding="utf-8")
    (folder / "run.jsonl").write_text(
        "".join(f'{{"group": "{name}", "item": "d{item}", "score": {item}}}\n' for name in names for item in range(3)),
        encoding="utf-8",
    )
    pq.write_table(pyarrow.csv.read_csv(folder / "run.csv"), folder / "run.parquet")
    n_kept, share = int(in_share(names, "1/10").sum()), ["--groups-share", "1/10"]
    ways = [["run.csv"], ["run.csv", "--stream", "--name", "streamed"], ["run.jsonl", "--name", "jsonl"]]
    for words in [*ways, ["run.parquet", "--name", "parquet"]]:
        printed = command("ingest", *words, "--labels", "labels.csv", *share)
        assert (printed.code, "only 1/10 of the groups are kept, chosen by a hash" in printed.err) == (0, True)
    runs = command.rows("runs", "list")
    assert {row["n_groups"] for row in runs} == {n_kept}
    assert len({command.rows("runs", "show", row["run"])["digest"] for row in runs}) == 1
    assert command.rows("runs", "show", "streamed")["groups_share"] == "1/10"
    (evaluated,) = command.rows("evaluate", "run.csv", "--labels", "labels.csv", *share)
    assert evaluated["n_groups"] == n_kept
    of_results = ["--metric", "external:cost", "--direction", "lower", "--range", "0,inf", "--name", "cost"]
    (folder / "cost.csv").write_text("group,value\n" + "".join(f"{name},1\n" for name in names), encoding="utf-8")
    (stored,) = command.rows("ingest", "--results", "cost.csv", *of_results, *share)
    assert stored["n_groups"] == n_kept


def test_what_replaces_sums_is_named(sqlite_command: CommandLine, files: None) -> None:
    assert sqlite_command.refused("ingest", "--summaries", "sums.jsonl") == (
        "--summaries is gone: a run keeps groups, all or a share of them; store a share with --groups-share 1/100"
    )
    for share in ("0", "3/2", "a tenth"):
        shown = share if share != "a tenth" else "'a tenth'"
        assert sqlite_command.refused("ingest", "bm25.csv", "--labels", "labels.csv", "--groups-share", share) == (
            f"--groups-share {shown} is not a share above 0 and at most 1; write, say, 1/100"
        )
    assert (
        sqlite_command.refused("ingest", "bm25.csv", "--labels", "labels.csv", "--groups-share", "1/1000000000")
        == "labels.csv: no group is in the share 1/1000000000; give a larger share"
    )


def test_runs_of_sums_keep_their_means(command: CommandLine, tracker: nt.Tracker) -> None:
    with tracker.store(create=True).write() as tx:
        for day, mean in ((1, 0.25), (2, 0.5)):
            store_sums(tx, f"night {day}", mean=mean, created_at=f"2026-01-0{day}T00:00:00.000000Z")
    assert [row["run"] for row in command.rows("runs", "list")] == ["night 1", "night 2"]
    assert command.rows("runs", "show", "night 2")["evaluations"][0]["mean"] == 0.5
    assert [row["mean"] for row in command.rows("history")] == [0.25, 0.5]
    told = (
        "run 'night 1' was stored as sums over its groups: the groups themselves are not here; to store a share of its "
        "groups, ingest its rows again with --groups-share 1/100"
    )
    for words in (["compare", "night 1", "night 2"], ["leaderboard", "night 1", "night 2"]):
        assert command.refused(*words) == told
    gate = ["gate", "night 2", "--baseline", "night 1", "--metric", "ndcg@10", "--margin", "0.1"]
    assert command.refused(*gate) == told
