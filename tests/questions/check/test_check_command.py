"""``ndcg-track check``: screens, exit codes and the baseline file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine, Printed
from golden_files import QUERIES, UNANSWERED, Lists, golden, renamed, results, write_results

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
        "40 of 40 queries as before: RR@10 0.621 -> 0.621, hit@5 1.000 -> 1.000\n"
        "these 40 queries: RR@10 +0.000, within the tolerance of 0.02\n"
        "no answer: 1 of 1 queries without an answer return nothing\n"
        "green\n"
    )


def test_flips_by_the_first_metric(check: Check) -> None:
    printed = check(results(MOVED), "--metric", "hit@5,ndcg@10")
    assert (printed.code, printed.err) == (3, READ)
    assert printed.out == (
        "37 of 40 queries as before, 3 changed: hit@5 1.000 -> 0.925, ndcg@10 0.718 -> 0.695\n"
        "change  query               item     rank\n"
        "worse   webhook retries     kb-1#c1  2 -> 10\n"
        "worse   rotate signing key  kb-2#c1  3 -> 9\n"
        "worse   rate limits         kb-3#c1  1 -> 10\n"
        "these 40 queries: hit@5 -0.075, below the tolerance of 0.025 (1 query)\n"
        "other queries: the drop could be up to 0.21 (95%). In a set of 40, drops of 0.08 are stopped 4 times in 5.\n"
        "no answer: 1 of 1 queries without an answer return nothing\n"
        "lost, net: b (category) 2\n"
        "red: if this is what you want, repeat it with --accept and commit the file\n"
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
        "not compared: results.jsonl lacks 2 queries of golden.json: 'rate limits', 'weather on mars'\n"
        "An absent query is not an empty list: write [] for one that finds nothing\n"
    )
    assert check.command.refused(
        "check", "results.jsonl", "--labels", "golden.json", "--against", "baseline.jsonl", "--accept"
    ).startswith("results.jsonl lacks 2 queries of golden.json: ")
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
    assert check(results(), "--accept").out.endswith("accepted: RR@10 0.621 -> 0.621; commit baseline.jsonl\n")
    assert check.baseline == before
    accepted = check(results(MOVED), "--accept")
    assert accepted.code == 0
    assert accepted.out.endswith("accepted: RR@10 0.621 -> 0.595; commit baseline.jsonl\n")
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
    assert done.stdout.endswith("green\n0 []\n")
    assert not [path.name for path in check.folder.iterdir() if path.suffix == ".db"]
