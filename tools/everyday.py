"""Measure how much of the program everyday jobs execute: ``python tools/everyday.py DATA``; needs coverage.

It runs some 80 commands as people type them every day, and a short Python program, on the demo and on DATA: a folder
with ``trec-covid-round1`` (three runs and ``qrels.txt``, ``qrels-complete.txt``) and ``lightgbm-lambdarank``. It prints
the share of the statements of each room that they execute, and of all: splitting files cannot raise it. ``--jobs``
prints each command with its exit code, too.
"""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
MEASURED = """
import os
import shlex
import coverage
measured = coverage.Coverage(source=["ndcg_tracker"], data_suffix=True, concurrency="thread")
measured.start()
leave = os._exit
def end(code):
    measured.stop()
    measured.save()
    leave(code)
os._exit = end  # the program may leave by it
from ndcg_tracker.cli.app import main
try:
    main()
finally:
    measured.stop()
    measured.save()
"""
FORMATS = ("text", "json", "csv", "markdown")
COVID = "{data}/trec-covid-round1"
JOBS = (
    "demo",
    *(
        f"{job} --format {form}"
        for form in FORMATS
        for job in (
            "compare bm25 bm25-synonyms dense",
            "leaderboard",
            "gate bm25-synonyms --baseline bm25 --margin .01",
        )
    ),
    "compare bm25 dense --by product --metric ndcg@10",
    "compare bm25 dense --format latex",
    "explain @baseline dense --group 'light bike light'",
    "explain @baseline dense",
    "report @baseline dense --dataset shop",
    "history --dataset shop --metric ndcg@10",
    "history --dataset shop --metric ndcg@10 --format json",
    "diff bm25 dense",
    "show dense",
    "runs list",
    "runs list --format json",
    "runs tag dense owner=me",
    "runs rename dense-int8 int8",
    "runs delete int8 --yes",
    "alias list",
    "alias set prod dense",
    "gate dense --baseline @prod --margin .02 --junit j.xml",
    "gate dense --baseline bm25 --margin .01 --dry-run",
    "evaluate ndcg-track-demo/dense.csv --labels ndcg-track-demo/labels.csv -m ndcg@10 -m map -m mrr",
    "doctor conventions dense",
    "doctor",
    "metrics list",
    "metrics explain 'ndcg(gain=exp2)@20'",
    "sql 'SELECT run, metric, mean FROM run_summary LIMIT 5'",
    "labels list --dataset shop",
    "labels needed bm25 dense --dataset shop",
    "db check",
    "export --all --output out-folder",
    "groups list --dataset shop",
    "plot compare bm25 dense -o p.html",
    "rescore --all --dataset shop -m recall@100 -m map",
    f"ingest {COVID}/irc_entrez.run {COVID}/irc_pmc.run {COVID}/irc_pubmed.run --labels {COVID}/qrels.txt "
    "--dataset covid -m ndcg@10 -m map -m P@5 -m bpref",
    "compare irc_entrez irc_pubmed --dataset covid",
    "leaderboard --dataset covid",
    "gate irc_entrez --baseline irc_pubmed --dataset covid --margin .02",
    f"labels add {COVID}/qrels-complete.txt --dataset covid --rescore",
    "compare irc_entrez irc_pubmed --dataset covid",
    "explain irc_pubmed irc_entrez --dataset covid",
    "reproduce irc_entrez irc_pubmed --dataset covid",
    "ingest d.jsonl --name j --dataset shop",
    "ingest d.parquet --name p --dataset shop",
    "ingest d.json --name dj --dataset shop",
    "ingest nothing.csv",
    "compare bm25 nothing",
    "--help",
    "compare --help",
    f"compare {COVID}/irc_pubmed.run {COVID}/irc_entrez.run --labels {COVID}/qrels.txt -m ndcg@10",
    "compare bm25 dense --by all",
    "compare bm25 dense -v",
    "history --dataset shop --digest",
    "check before.jsonl --labels golden.json --against base.jsonl --accept",
    "check after.jsonl --labels golden.json --against base.jsonl",
    "plan --metric hit@5 --queries 40",
    "labels sample irc_pubmed irc_entrez --dataset covid --budget 60 -o ask.csv",
)
"""What is not there yet is refused in one line, which is measured, too."""
PROGRAM = """
import warnings
warnings.simplefilter("ignore")
import pandas as pd
import ndcg_tracker as nt
found = nt.evaluate("ndcg-track-demo/dense.csv", ["ndcg@10", "map"], labels="ndcg-track-demo/labels.csv")
print(found.mean, found.per_group.shape)
columns = {"qid": ["q1", "q1", "q2"], "docno": ["a", "b", "a"], "score": [0.9, 0.4, 0.7], "rel": [0, 1, 2]}
frame = pd.DataFrame(columns)
nt.evaluate(frame, "ndcg@10")
nt.evaluate({"q1": {"a": 0.9, "b": 0.4}}, "ndcg@10", labels={"q1": {"b": 1}})
with nt.Tracker("runs.db") as tracker:
    tracker.ingest(frame, name="bm25")
    tracker.ingest(frame.assign(score=[0.1, 0.4, 0.7]), name="dense")
    compared = tracker.compare("bm25", "dense")
    print(compared, compared.to_frame(), compared.to_dict(), compared._repr_html_())
    print(tracker.gate("dense", baseline="bm25", margin=0.05).decision)
    print(tracker.history(), tracker.leaderboard().to_frame(), tracker.explain("bm25", "dense"))
    tracker.sql("select * from run_summary")
"""


def write_inputs(folder: Path) -> None:
    """Write the files that the jobs after the demo read: a run in three formats, a golden set, two results."""
    import pandas as pd

    with (folder / "ndcg-track-demo" / "dense.csv").open(encoding="utf-8") as file:
        rows = [{**row, "score": float(row["score"])} for row in csv.DictReader(file)]
    group, item, *_ = rows[0]
    (folder / "d.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows[:2000]), encoding="utf-8")
    pd.DataFrame(rows).to_parquet(folder / "d.parquet")
    lists: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        lists[row[group]][row[item]] = row["score"]
    (folder / "d.json").write_text(json.dumps(lists), encoding="utf-8")
    queries = [f"how do I {number}" for number in range(40)]
    golden = [
        {"question": query, "expected_doc_ids": [f"d{number}"], "category": "ab"[number % 2]}
        for number, query in enumerate(queries)
    ]
    (folder / "golden.json").write_text(json.dumps(golden), encoding="utf-8")
    for name, worse in (("before", ()), ("after", (0, 3, 7))):
        records = []
        for number, query in enumerate(queries):
            others = [f"x{number}_{place}" for place in range(9)]
            found = [*others, f"d{number}"] if number in worse else [f"d{number}", *others]
            records.append(json.dumps({"question": query, "results": [{"id": each} for each in found]}))
        (folder / f"{name}.jsonl").write_text("\n".join(records), encoding="utf-8")


def run(folder: Path, data: Path, tell: bool) -> None:
    """Run all jobs in a folder, each in a process of its own."""

    for program, text in (("measured.py", MEASURED), ("program.py", PROGRAM)):
        (folder / program).write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    environment.pop("NDCG_TRACK_DB", None)
    for number, job in enumerate(JOBS):
        command = [sys.executable, "measured.py", *shlex.split(job.format(data=shlex.quote(str(data))))]
        code = subprocess.run(command, cwd=folder, env=environment, capture_output=True).returncode
        if tell:
            print(f"{code}  {job}")
        if number == 0:
            write_inputs(folder)
    measured = [sys.executable, "-m", "coverage", "run", "-p", "--source=ndcg_tracker", "program.py"]
    subprocess.run(measured, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    for action in (["combine", "-q"], ["json", "-q", "-o", "share.json"]):
        subprocess.run([sys.executable, "-m", "coverage", *action], cwd=folder, env=environment, check=True)


def shares(found: dict[str, dict[str, dict[str, int]]]) -> list[tuple[str, int, int]]:
    """Return the name, the executed statements and all statements of each room, the largest first, and of all."""
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, file in found.items():
        parts = Path(path).parts
        within = parts[len(parts) - 1 - parts[::-1].index("ndcg_tracker") + 1 :]
        room = "/".join(within[:2]) if within[0] == "questions" and len(within) > 2 else within[0]
        for name in (room, "all"):
            rooms[name][0] += file["summary"]["covered_lines"]
            rooms[name][1] += file["summary"]["num_statements"]
    counts = [(name, executed, statements) for name, (executed, statements) in rooms.items() if statements]
    return sorted(counts, key=lambda room: room[2])


def main(arguments: list[str]) -> None:
    """Measure and print."""
    folders = [argument for argument in arguments if argument != "--jobs"]
    if len(folders) != 1 or not Path(folders[0], "trec-covid-round1").is_dir():
        sys.exit("give the folder that holds trec-covid-round1 and lightgbm-lambdarank: python tools/everyday.py DATA")
    with tempfile.TemporaryDirectory() as made:
        run(Path(made), Path(folders[0]).resolve(), "--jobs" in arguments)
        found = json.loads(Path(made, "share.json").read_text(encoding="utf-8"))["files"]
    print(f"{'room':<24}{'statements':>11}{'executed':>10}")
    for name, executed, statements in shares(found):
        print(f"{name:<24}{statements:>11,}{executed / statements:>10.0%}")


if __name__ == "__main__":
    main(sys.argv[1:])
