"""``ndcg-track check``: screens, exit codes and the baseline file."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from command_line import CommandLine, Printed
from golden_files import QUERIES, UNANSWERED, Lists, golden, renamed, results, write_results

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError

READ = (
    "golden.json: read 41 queries from 'question' (its text is the id); relevant ids from 'expected_chunk_ids'; "
    "attribute category; 1 without an answer\n"
    "results.jsonl: read 41 queries from 'question' (its text is the id); ranked ids from 'retrieved_ids'\n"
)
MOVED = {"rotate signing key": 9, "webhook retries": 10, "rate limits": 10, "usage alerts": 1}


class Check:
    """Checks results in a folder with a golden set and a baseline."""

    def __init__(self, command: CommandLine, folder: Path) -> None:
        self.command, self.folder = command, folder
        self.golden(golden())
        assert self(results(), "--accept").code == 0

    def golden(self, records: list[dict[str, object]]) -> None:
        """Write the golden set."""
        (self.folder / "golden.json").write_text(json.dumps(records))

    def __call__(self, lists: Lists, *arguments: str) -> Printed:
        """Check results."""
        write_results(self.folder / "results.jsonl", lists)
        return self.command(
            "check", "results.jsonl", "--labels", "golden.json", "--against", "baseline.jsonl", *arguments
        )

    @property
    def baseline(self) -> list[str]:
        """The lines of the baseline."""
        return (self.folder / "baseline.jsonl").read_text().splitlines()

    def rewrite(self, lines: list[str]) -> None:
        """Edit the baseline by hand."""
        (self.folder / "baseline.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture
def check(sqlite_command: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return Check(sqlite_command, tmp_path)


def test_all_well(check: Check) -> None:
    printed = check(results())
    assert (printed.code, printed.err) == (0, READ)
    assert printed.out == (
        "green: 40 of 40 queries as before: RR@10 0.621 -> 0.621, hit@5 1.000 -> 1.000\n"
        "these 40 queries: RR@10 +0.000, within the tolerance of 0.02\n"
        "no answer: 1 of 1 queries without an answer return nothing\n"
    )
    assert check(results(), "-q").out == printed.out.partition("\n")[0] + "\n"


def test_flips_by_the_first_metric(check: Check) -> None:
    printed = check(results(MOVED), "--metric", "hit@5,ndcg@10")
    assert (printed.code, printed.err) == (3, READ)
    assert printed.out == (
        "red: 37 of 40 queries as before, 3 changed: hit@5 1.000 -> 0.925, ndcg@10 0.718 -> 0.695\n"
        "change  query               item     rank\n"
        "worse   webhook retries     kb-1#c1  2 -> 10\n"
        "worse   rotate signing key  kb-2#c1  3 -> 9\n"
        "worse   rate limits         kb-3#c1  1 -> 10\n"
        "these 40 queries: hit@5 -0.075, below the tolerance of 0.025 (1 query)\n"
        "other queries: the drop could be up to 0.21 (95%). In a set of 40, drops of 0.08 are stopped 4 times in 5.\n"
        "no answer: 1 of 1 queries without an answer return nothing\n"
        "lost, net: b (category) 2\n"
        "if this is what you want, repeat it with --accept and commit the file\n"
    )
    assert check(results({"rate limits": 10}), "-m", "hit@5").code == 0  # one of hits may always be lost


def test_renamed_chunks_are_not_a_drop(check: Check) -> None:
    printed = check(renamed(results()))
    assert printed.code == 5
    assert printed.out == (
        "not compared: 40 of the 40 labelled items in the baseline's first three occur in no result any more, and 40 "
        "of them have an id in their place that the baseline never had\n"
        "Were documents cut into other chunks, or renamed? Every metric falls then, whatever the ranking does.\n"
        "  kb-0#c1  now kb-0#new-c1\n"
        "If so, write the new ids into golden.json, or label documents: --item-to-document '#.*'\n"
        "If the ids are the old ones and the ranking is worse: --ids-are-stable\n"
    )
    assert check(renamed(results()), "--item-to-document", "#.*").code == 0
    stable = check(renamed(results()), "--ids-are-stable")
    assert stable.code == 3
    assert "40 of the 40 labelled items in the baseline's first three occur in no result any more" in stable.out


def test_an_absent_query_is_not_an_empty_list(check: Check) -> None:
    lists = results()
    del lists[UNANSWERED], lists["rate limits"]
    printed = check(lists)
    assert printed.code == 5
    assert printed.out == (
        "not compared: no list in results.jsonl for 2 queries of golden.json: 'rate limits', 'weather on mars'\n"
        "An absent query is not an empty list. If nothing is found for it, write [], in CSV a row without an id\n"
    )
    assert check.command.refused(
        "check", "results.jsonl", "--labels", "golden.json", "--against", "baseline.jsonl", "--accept"
    ).startswith("no list in results.jsonl for 2 queries of golden.json: ")
    empty = check({query: [] for query in [*QUERIES, UNANSWERED]})
    assert (empty.code, "RR@10 0.621 -> 0.000" in empty.out) == (3, True)


def test_without_a_baseline(check: Check) -> None:
    (check.folder / "baseline.jsonl").unlink()
    assert check.command.refused(
        "check", "results.jsonl", "--labels", "golden.json", "--against", "baseline.jsonl"
    ) == (
        "baseline.jsonl: there is no such file; write it with: ndcg-track check results.jsonl --labels golden.json "
        "--against baseline.jsonl --accept"
    )
    printed = check.command("check", "results.jsonl", "--labels", "golden.json")
    assert (printed.code, printed.out) == (
        0,
        "40 queries: RR@10 0.621, hit@5 1.000\n"
        "against a baseline: in a set of 40, drops of 0.04 are stopped 4 times in 5\n"
        "no answer: 1 of 1 queries without an answer return nothing\n",
    )
    write_results(check.folder / "other.jsonl", renamed(results()))
    assert check.command.refused("check", "other.jsonl", "--labels", "golden.json") == (
        "no id of golden.json is in other.jsonl: one has ids such as 'kb-0#c1', the other 'kb-0#new-c1'; give the "
        "golden set of these results, or name its key with --relevant KEY"
    )


def test_the_baseline_is_a_file_for_reviews(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    header, first, *_ = check.baseline
    [last] = [line for line in check.baseline if UNANSWERED in line]
    assert header == (
        '{"ndcg-track check": 1, "queries": 41, "mean": {"RR@10": 0.6208, "hit@5": 1.0}, '
        '"best": {"RR@10": 0.6208, "hit@5": 1.0}, "depth": 20}'
    )
    assert first.startswith('{"query": "api pagination", "RR@10": 1.0, "hit@5": 1.0, "ranked": ["kb-0#c1", "kb-0#x0", ')
    assert last == '{"query": "weather on mars", "no answer": 1.0, "ranked": [], "labels": "74234e98afe7"}'
    before = check.baseline
    assert check(results(), "--accept", "-q").out == (
        "accepted: 40 of 40 queries as before: RR@10 0.621 -> 0.621, hit@5 1.000 -> 1.000\n"
    )
    assert check.baseline == before
    accepted = check(results(MOVED), "--accept")
    assert accepted.code == 0
    assert accepted.out.startswith("accepted: 36 of 40 queries as before, 4 changed: RR@10 0.621 -> 0.595")
    assert accepted.out.endswith("\ncommit baseline.jsonl\n")
    assert '"best": {"RR@10": 0.6208, "hit@5": 1.0}' in check.baseline[0]
    monkeypatch.setenv("CI", "true")
    assert check(results(), "--accept").err == (
        "error: --accept is for people, and CI is set; accept the results on your own machine, and commit the file\n"
    )


def test_it_starts_without_the_heavy_libraries(check: Check) -> None:
    script = (
        "import sys; from ndcg_tracker.cli.app import run\n"
        "code = run(['check', 'results.jsonl', '--labels', 'golden.json', '--against', 'baseline.jsonl'])\n"
        "print(code, [name for name in ('pandas', 'pyarrow', 'sqlalchemy', 'sqlite3', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("green: ")
    assert done.stdout.endswith("\n0 []\n")
    assert not [path.name for path in check.folder.iterdir() if path.suffix == ".db"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says how much memory a process took")
def test_it_takes_little_memory(check: Check) -> None:
    queries = [f"question {number}" for number in range(100)]
    check.golden([{"question": query, "expected_ids": [f"{query}-3"]} for query in queries])
    lists = {query: [f"{query}-{item}" for item in range(20)] for query in queries}
    assert check(lists, "--accept").code == 0
    script = (
        "from ndcg_tracker.cli.app import run\n"
        "run(['check', 'results.jsonl', '--labels', 'golden.json', '--against', 'baseline.jsonl'])\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM:')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-2]) < 80_000  # kB


def test_the_golden_set_may_change(check: Check) -> None:
    records = golden([*QUERIES[1:], "what is new"][:-1])
    records[0]["expected_chunk_ids"] = ["kb-1#c1", "kb-7#x0"]
    records.append({"question": "what is new", "expected_chunk_ids": ["kb-9#c1"], "category": "a"})
    check.golden(records)
    printed = check({**results(), "what is new": ["kb-9#c1"]})
    assert (printed.code, printed.out.splitlines()) == (
        0,
        [
            "green: 39 of 39 queries as before: RR@10 0.624 -> 0.624, hit@5 1.000 -> 1.000",
            "golden set: 1 query new, 1 query gone, labels of 1 changed; gone: 'api pagination' (was 1.000)",
            "these 39 queries: RR@10 +0.000, within the tolerance of 0.02",
            "no answer: 1 of 1 queries without an answer return nothing",
        ],
    )
    assert check({**results(), "what is new": []}, "--accept").code == 0
    assert '"best": {"RR@10": 0.6083, "hit@5": 0.975}' in check.baseline[0]  # it restarts with another golden set


def test_a_golden_set_with_new_ids_needs_a_new_baseline(check: Check) -> None:
    text = (check.folder / "golden.json").read_text()
    (check.folder / "golden.json").write_text(text.replace("#", "#new-"))
    printed = check(renamed(results()))
    assert (printed.code, printed.out) == (
        5,
        "not compared: 40 of the 40 labelled items in the first three occur in no list of baseline.jsonl\n"
        "If golden.json was rewritten to new ids, write the baseline anew with --accept\n",
    )
    assert check(renamed(results()), "--accept").code == 0
    assert check(renamed(results())).code == 0


def test_another_metric_needs_no_new_baseline(check: Check) -> None:
    assert check(results(), "--metric", "ndcg@20").code == 0
    assert check(results(), "--metric", "R@50").err == (
        "error: baseline.jsonl: it keeps the first 20 items of a list, and R@50 reads more; accept results anew with "
        "--metric R@50 and --accept\n"
    )
    assert check(results(), "--metric", "R@50", "--accept").code == 0
    assert '"depth": 50}' in check.baseline[0]
    assert check(results(), "--metric", "map", "--accept").code == 0
    assert '"depth": null}' in check.baseline[0]
    assert check(results()).out.startswith("green: 40 of 40 queries as before: map 0.621 -> 0.621\n")


def test_a_baseline_edited_by_hand_is_told(check: Check) -> None:
    kept = check.baseline
    edits = {
        1: ('"RR@10": 1.0', '"RR@10": 0.5', "the values of 'api pagination' are not those of their lists"),
        0: ('"mean": {"RR@10": 0.6208', '"mean": {"RR@10": 0.5208', "its means are not those of its lines"),
    }
    place = next(number for number, line in enumerate(kept) if "no answer" in line)
    no_answer = "the values of 'weather on mars' are not those of their lists"
    edits[place] = ('"no answer": 1.0', '"no answer": 0.0', no_answer)
    for line, (old, new, what) in edits.items():
        assert old in kept[line]
        check.rewrite([*kept[:line], kept[line].replace(old, new), *kept[line + 1 :]])
        printed = check(results())
        assert printed.code == 5
        assert printed.out == (
            f"not compared: baseline.jsonl was edited by hand: {what}\n"
            "Restore the file, or write it anew with --accept\n"
        )
    check.rewrite([kept[0].replace('"queries": 41', '"queries": 42'), *kept[1:]])
    assert "edited by hand: its means are not those of its lines\n" in check(results()).out
    check.rewrite([*kept[:3], "{}", *kept[4:]])
    assert check(results()).err == (
        "error: baseline.jsonl:4: is not a line of a baseline: '{}'; restore it from git, or delete it "
        "and write it anew with --accept\n"
    )
    check.rewrite([*kept, kept[4]])
    assert check(results()).err.startswith("error: baseline.jsonl: has query 'topic 10' twice; ")
    check.rewrite([])
    assert check(results()).err.startswith("error: baseline.jsonl:1: is not a line of a baseline: ''; ")


def test_a_query_may_hold_what_ends_lines_elsewhere(check: Check) -> None:
    query = "rate\u2028limits\x85now"
    check.golden([*golden(), {"question": query, "expected_chunk_ids": ["kb-3#c1"], "category": "a"}])
    assert check({**results(), query: ["kb-3#c1"]}, "--accept").code == 0
    assert check({**results(), query: ["kb-3#c1"]}).out.startswith("green: 41 of 41 queries as before: ")


def test_queries_without_an_answer_have_a_line_of_their_own(check: Check) -> None:
    names = ["q-a", "q-b", "q-c", "q-d", "q-e"]
    check.golden(golden(unanswered=names))
    lists = {**results(), **{name: [] for name in names}}
    assert check(lists, "--accept").code == 0
    one = check({**lists, "q-a": ["kb-1#c1"]})
    assert (one.code, "no answer: 4 of 5 queries without an answer return nothing, 5 before\n" in one.out) == (0, True)
    assert check({**lists, "q-a": ["kb-1#c1"], "q-b": ["kb-1#c1"]}).code == 3
    full = {**lists, **{name: ["kb-1#c1"] for name in names}}
    assert check(full, "--accept").code == 0
    always = "no answer: 0 of 5 queries without an answer return nothing; both sides always return something"
    assert f"{always}: --empty-below SCORE leaves weak items out\n" in check(full).out


def test_weak_items_are_not_returned(check: Check) -> None:
    check.golden([{"query": "a", "expected_ids": ["d1"]}, {"query": "b", "expected_ids": [], "answerable": False}])
    hits = {"a": [{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.2}], "b": [{"id": "d3", "score": 0.3}]}
    lines = [json.dumps({"query": query, "hits": of}) for query, of in hits.items()]
    rows = ["query,doc_id,score", *(f"{query},{hit['id']},{hit['score']}" for query, of in hits.items() for hit in of)]
    for name, text in (("hits.jsonl", lines), ("hits.csv", rows)):
        (check.folder / name).write_text("\n".join(text))
        for below, n in (("0.1", 0), ("0.5", 1)):
            printed = check.command("check", name, "--labels", "golden.json", "--empty-below", below)
            assert f"no answer: {n} of 1 queries without an answer return nothing\n" in printed.out
    words = [{"query": query, "hits": [{**hit, "score": "high"} for hit in of]} for query, of in hits.items()]
    (check.folder / "words.jsonl").write_text("\n".join(map(json.dumps, words)))
    (check.folder / "ids.jsonl").write_text(
        '{"query": "a", "retrieved_ids": ["d1"]}\n{"query": "b", "retrieved_ids": []}'
    )
    (check.folder / "part.jsonl").write_text("\n".join([json.dumps({"query": "a", "hits": [{"id": "d1"}]}), lines[1]]))
    for name in ("words.jsonl", "ids.jsonl", "part.jsonl"):
        refused = check.command("check", name, "--labels", "golden.json", "--empty-below", "0.5")
        assert refused.err.endswith(
            f"error: {name}: query 'a' has an item without a score, so --empty-below 0.5 does not tell whether to "
            "leave it out; write the score of each item, or return an empty list\n"
        )


def test_of_an_item_that_comes_twice_the_first_score_counts(check: Check) -> None:
    check.golden([{"query": "a", "expected_ids": ["d1"]}])
    hits = [{"id": item, "score": score} for item, score in (("d1", 0.9), ("d2", 0.6), ("d1", 0.1))]
    (check.folder / "twice.jsonl").write_text(json.dumps({"query": "a", "hits": hits}))
    printed = check.command("check", "twice.jsonl", "--labels", "golden.json", "--empty-below", "0.5", "-m", "RR@10")
    assert printed.out.startswith("1 query: RR@10 1.000\n")


def test_a_list_by_query_may_be_empty(check: Check) -> None:
    lists = {**results(), "rate limits": []}
    (check.folder / "lists.json").write_text(json.dumps(lists))
    printed = check.command("check", "lists.json", "--labels", "golden.json")
    assert printed.out.startswith("40 queries: RR@10 0.596, hit@5 0.975\n")
    assert nt.check(lists, labels=golden()).check.metrics[1].candidate == 0.975


def test_twenty_of_the_queries(check: Check) -> None:
    printed = check(dict([*results().items()][:20]))
    assert (printed.code, printed.out.splitlines()[0]) == (
        5,
        "not compared: no list in results.jsonl for 21 queries of golden.json: 'topic 19', 'topic 20', "
        "'topic 21' and 18 more",
    )


def test_a_strict_check_lets_no_query_be_worse(check: Check) -> None:
    printed = check(results({"webhook retries": 3}), "--strict")
    assert printed.code == 3
    assert "within the tolerance of 0.02; strict: 1 query worse\n" in printed.out
    assert check(results({"webhook retries": 1}), "--strict").code == 0


def test_a_margin_is_about_other_queries(check: Check) -> None:
    few = results({"webhook retries": 9, "usage alerts": 1})
    assert (
        "\nother queries: no list changed, so they keep the margin of 0.01\n"
        in check(results(), "--margin", "0.01").out
    )
    printed = check(few, "--margin", "0.08")
    others, _, verdict = printed.out.splitlines()[-3:]
    assert (printed.code, others) == (
        4,
        "other queries: the drop could be up to 0.085 (95%); the margin is 0.08. In a set of 40, drops of 0.04 are "
        "stopped 4 times in 5.",
    )
    assert re.fullmatch(
        r"it is open whether other queries keep the margin: answer about [\d,]+ queries like these, or leave out "
        r"--margin",
        verdict,
    )
    assert check(few, "--margin", "0.1").code == 0
    assert check(few, "--margin", "0.08", "--strict").code == 3  # these queries decide first
    worse = dict.fromkeys(QUERIES, 9)
    assert check(results(worse), "--tolerance", "1", "--margin", "0.1").code == 3
    assert check.command.refused("check", "results.jsonl", "--labels", "golden.json", "--margin", "0.1") == (
        "--margin needs --against: it bounds the drop from that file; give --against, or leave out --margin"
    )


def test_the_rules_of_a_project_hold(check: Check) -> None:
    project = check.folder / "pyproject.toml"
    project.write_text('[tool.ndcg-track.check]\nmetric = ["hit@5", "RR@10"]\ntolerance = 0.1\n')
    assert "these 40 queries: hit@5 -0.075, within the tolerance of 0.1 (4 queries)\n" in check(results(MOVED)).out
    assert check(results(MOVED), "--tolerance", "0.05").code == 3
    assert check(results(MOVED), "--tolerance", "0.2").err == (
        "error: pyproject.toml: [tool.ndcg-track.check] says tolerance = 0.1, and only a stricter rule replaces it; "
        "change it there, where a review sees it\n"
    )
    assert check(results(MOVED), "--metric", "RR@10").err.startswith(
        "error: pyproject.toml: [tool.ndcg-track.check] says 'hit@5' decides, and only a stricter rule replaces it; "
    )
    assert check(results(MOVED), "--metric", "hit@5,ndcg@10").code == 0
    project.write_text("[tool.ndcg-track.check]\nstrict = true\ntolerance = 0\n")
    assert "within the tolerance of 0; strict: 0 queries worse\n" in check(results()).out
    assert check(results({"webhook retries": 3})).code == 3
    for line, told in {"strict = 1": "strict = 1", "margin = 0.1": "margin = 0.1", "tolerance = -1": "-1"}.items():
        project.write_text(f"[tool.ndcg-track.check]\n{line}\n")
        printed = check(results())
        assert (printed.code, told in printed.err) == (2, True)


def test_the_ids_of_the_index_settle_what_was_renamed(check: Check) -> None:
    index = check.folder / "ids.txt"
    index.write_text("\n".join(f"kb-{number}#c1" for number in range(40)))
    assert check(renamed(results()), "--corpus-ids", "ids.txt").code == 3  # all are there, and rank badly
    index.write_text("\n".join(f"kb-{number}#c1" for number in range(5, 40)))
    printed = check(results(), "--corpus-ids", "ids.txt")
    assert printed.code == 5
    assert printed.out.startswith(
        "not compared: 5 of the 40 labelled items in the baseline's first three are not in the index\n"
    )


def test_ids_that_are_stable_stay_so(check: Check) -> None:
    assert check(renamed(results()), "--ids-are-stable", "--accept").code == 0
    assert '"ids_are_stable": true' in check.baseline[0]
    assert check(results()).code == 0


def test_a_job_of_github_gets_the_screen_and_a_report(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = check.folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert check(results(MOVED), "--junit", "report.xml").code == 3
    lines = summary.read_text().splitlines()
    assert (
        lines[0] == "### red: 36 of 40 queries as before, 4 changed: RR@10 0.621 -&gt; 0.595, hit@5 1.000 -&gt; 0.925"
    )
    assert "- if this is what you want, repeat it with --accept and commit the file" in lines
    assert "<details><summary>details</summary>" in lines
    suite = ElementTree.parse(check.folder / "report.xml").getroot()[0]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib == {"type": "RED", "message": lines[0].removeprefix("### ").replace("&gt;", ">")}


def test_a_screen_has_14_lines_and_none_of_our_words(check: Check) -> None:
    far = dict.fromkeys(QUERIES[::2], 15)
    lists = {**results(far), UNANSWERED: ["kb-1#c1"]}
    check.golden([*golden(), {"question": "new", "expected_chunk_ids": ["kb-3#c1"], "category": "b"}])
    printed = check({**lists, "new": []}, "-m", "RR@10,hit@5,ndcg@10")
    lines = printed.out.splitlines()
    assert len(lines) <= 14
    assert "+15 more (-v)" in lines
    for word in ("group", "run", "dataset", "INCONCLUSIVE"):
        assert word not in printed.out
    every = check({**lists, "new": []}, "-m", "RR@10,hit@5,ndcg@10", "-v")
    assert sum(line.startswith("worse") for line in every.out.splitlines()) == 25


def test_the_order_of_sets_of_python_changes_nothing(check: Check) -> None:
    printed = set()
    for seed in ("1", "2"):
        arguments = ["check", "results.jsonl", "--labels", "golden.json", "--against", "baseline.jsonl"]
        script = f"from ndcg_tracker.cli.app import run; run({arguments}); run({[*arguments, '--accept']})"
        write_results(check.folder / "results.jsonl", results(MOVED))
        check.rewrite(check.baseline)
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        printed.add((done.stdout, tuple(check.baseline)))
        assert check(results(), "--accept").code == 0
    assert len(printed) == 1


def test_a_baseline_is_a_run_of_a_store(check: Check) -> None:
    assert check.command("labels", "add", "golden.json", "--dataset", "kb").code == 0
    stored = check.command("ingest", "baseline.jsonl", "--dataset", "kb", "--metric", "RR@10", "--format", "json")
    assert stored.code == 0, stored.err
    assert "baseline.jsonl: read 41 queries from 'query' (its text is the id); ranked ids from 'ranked'" in stored.err
    [row] = json.loads(stored.out)
    assert (row["n_groups"], round(row["mean"], 4)) == (40, 0.6208)


def test_python_takes_frames_and_records(check: Check) -> None:
    against = str(check.folder / "baseline.jsonl")
    records = [{"question": query, "retrieved_ids": ids} for query, ids in results(MOVED).items()]
    for kind in (list, pd.DataFrame):
        checked = nt.check(kind(records), labels=kind(golden()), against=against, metrics="hit@5")
        assert (checked.decision, checked.exit_code, checked.check.n) == ("red", 3, 40)
        assert list(checked.to_frame()["query"]) == ["webhook retries", "rotate signing key", "rate limits"]
        assert checked.to_dict()["changed"][0]["rank_candidate"] == 10
        assert str(checked).endswith("repeat it with accept=True and commit the file\n")
    with pytest.raises(InputError, match=r"^no/such\.jsonl: there is no such file; write it with: accept=True$"):
        nt.check(records, labels=golden(), against="no/such.jsonl")


def test_lists_of_trec_are_ordered_as_the_metric_does(check: Check) -> None:
    (check.folder / "a.run").write_text("q1 Q0 a 1 2.0 x\nq1 Q0 b 2 2.0 x\nq2 Q0 c 1 1.0 x\n")
    (check.folder / "qrels.txt").write_text("q1 0 a 1\nq2 0 c 1\n")
    for metric in ("RR@10", "ndcg@10"):
        printed = check.command("check", "a.run", "--labels", "qrels.txt", "-m", metric)
        assert printed.err.startswith("qrels.txt: read 2 queries\na.run: read 2 queries\n")
        evaluated = nt.evaluate("a.run", metric, labels="qrels.txt").mean[metric]
        checked = nt.check("a.run", labels="qrels.txt", metrics=metric)
        assert checked.check.metrics[0].candidate == pytest.approx(evaluated)
