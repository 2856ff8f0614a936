"""The action and the pre-commit hook at the top level: their YAML is read, and their steps run as GitHub would."""

import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import CommandLine

REPOSITORY = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
GH = """#!/bin/sh
case "$*" in *--paginate*) cat "$GH_OLD"; exit;; esac
[ -n "$GH_FAILS" ] && exit 1
printf '%s ' "$@" > posted.txt
for word; do case "$word" in body=@*) cp "${word#body=@}" posted.md;; esac; done
"""
"""The program `gh` of GitHub: it lists the ids of old comments, and notes what it was asked to post."""
CHECK = "check pull-request.jsonl --labels golden.json --against baseline.jsonl"


@dataclass
class Step:
    """The step of the action that runs the program, in a folder with a golden set."""

    folder: Path

    def __call__(self, args: str, **variables: str) -> tuple[int, str]:
        """Run the step and return its exit code and what it printed."""
        run = ACTION["runs"]["steps"][-1]
        given = dict.fromkeys(run["env"], "") | {"ARGS": args, "COMMENT": "true", "REPOSITORY": "o/r"} | variables
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run["run"]],
            cwd=self.folder,
            env={"PATH": f"{self.folder}:/usr/bin:/bin", "RUNNER_TEMP": str(self.folder), "GH_OLD": "old.txt", **given},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    @property
    def posted(self) -> tuple[list[str], str]:
        """How and what it posted."""
        return [(self.folder / name).read_text(encoding="utf-8") for name in ("posted.txt", "posted.md")]


@pytest.fixture
def step(tmp_path: Path, preloaded_programs: Path) -> Step:
    for path in (REPOSITORY / "examples" / "golden_set").iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "ndcg-track" / "bin").mkdir(parents=True)
    for name, program in (("ndcg-track", preloaded_programs / "ndcg-track"), ("python", Path(sys.executable))):
        (tmp_path / "ndcg-track" / "bin" / name).symlink_to(program)
    (tmp_path / "gh").write_text(GH, encoding="utf-8")
    (tmp_path / "gh").chmod(0o755)
    (tmp_path / "old.txt").write_text("", encoding="utf-8")
    return Step(tmp_path)


def test_the_action_prints_posts_and_ends_as_the_check_does(step: Step) -> None:
    code, printed = step(CHECK, NUMBER="5")
    assert (code, printed.splitlines()[0]) == (
        3,
        "### red: 16 of 20 queries as before, 4 changed: RR@10 0.754 -&gt; 0.723, hit@5 0.950 -&gt; 0.800",
    )
    how, body = step.posted
    assert how == f"api --silent --method POST repos/o/r/issues/5/comments --field body=@{step.folder}/ndcg-track.md "
    mark, _, said = body.partition("\n\n")
    assert (mark.startswith("<!-- ndcg-track "), said) == (True, printed)
    assert "- if this is what you want" in said
    assert "<details><summary>details</summary>" in said
    (step.folder / "old.txt").write_text("77\n99\n", encoding="utf-8")
    assert step(CHECK.replace("pull-request", "results"), NUMBER="5")[0] == 0
    assert "--method PATCH repos/o/r/issues/comments/77 " in step.posted[0]


def test_the_action_says_where_it_cannot_answer_or_post(step: Step) -> None:
    code, printed = step("check no.jsonl --labels 'golden set.json'", NUMBER="5")
    told = "### ndcg-track could not answer (exit code 2): the log of the job says why\n"
    assert (code, printed) == (2, told)
    assert step.posted[1].endswith(f"\n\n{told}")
    code, printed = step(CHECK, NUMBER="5", GH_FAILS="1")
    assert (code, printed.splitlines()[-1][:32]) == (3, "::warning::No comment was posted")
    (step.folder / "posted.txt").unlink()
    for without in ({"NUMBER": ""}, {"NUMBER": "5", "COMMENT": "false"}):
        assert step(CHECK, **without)[0] == 3
        assert not (step.folder / "posted.txt").exists()


def test_the_action_takes_no_text_of_others_as_code() -> None:
    steps = ACTION["runs"]["steps"]
    assert [step["uses"] for step in steps if "uses" in step] == ["actions/setup-python@v5"]
    assert not any("${{" in step.get("run", "") for step in steps)


def test_the_hook_runs_what_its_arguments_say(sqlite_command: CommandLine) -> None:
    [hook] = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *words = shlex.split(hook["entry"])
    folder = REPOSITORY / "examples" / "golden_set"
    files = [str(folder / "results.jsonl"), "--labels", str(folder / "golden.json")]
    printed = sqlite_command(*words, *files, "--against", str(folder / "baseline.jsonl"), "--format", "json")
    assert (program, hook["language"], hook["pass_filenames"]) == ("ndcg-track", "python", False)
    assert (printed.code, json.loads(printed.out)["decision"]) == (0, "green")
