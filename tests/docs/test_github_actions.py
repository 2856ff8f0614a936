"""The workflows on docs/github-actions.md: the YAML is read, and its steps run as Actions would run them."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from console_blocks import REPOSITORY, environment_of
from ranked_runs import frame_of_ranks, labels_of_ranks
from small_shop import write_csv

import ndcg_tracker as nt
from ndcg_tracker.storage.database import upgrade

PAGE = (REPOSITORY / "docs" / "github-actions.md").read_text(encoding="utf-8")
POSTGRES, SQLITE = [
    yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
]
N_GROUPS = 240
BASE = [1, 2] * (N_GROUPS // 2)
RUNS = {"gain": [1] * N_GROUPS, "drop": [2] * N_GROUPS, "noisy": [2, 1] * 60 + BASE[120:]}
VERDICTS = {"gain": "PASS", "drop": "FAIL", "noisy": "INCONCLUSIVE"}
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
# the program `gh` of GitHub, for these tests: it notes what it was asked to post
GH = '#!/bin/sh\nprintf "%s\\n" "$@" > gh-arguments.txt\ncp "$5" posted.md\n'


@dataclass
class Job:
    """A folder in which steps run, and how each that ran ended."""

    folder: Path
    values: dict[str, str]
    codes: dict[str, int] = field(default_factory=dict)
    printed: str = ""

    @property
    def has_failed(self) -> bool:
        return any(self.codes.values())

    def run(self, job: dict[str, Any]) -> None:
        """Run the steps of a job; only those whose conditions hold."""
        for number, step in enumerate(job["steps"]):
            if "run" not in step or step["run"].startswith("pip install"):
                assert step.get("uses", "actions/x@v1").startswith("actions/")
                continue
            if self._holds(step.get("if")):
                name = step.get("id") or step.get("name") or str(number)
                self.codes[name] = self._run(step["run"], {**job.get("env", {}), **step.get("env", {})})

    def _holds(self, condition: str | None) -> bool:
        held = {
            None: not self.has_failed,
            "${{ !cancelled() && steps.gate.outcome != 'skipped' }}": "gate" in self.codes,
            "github.event_name == 'pull_request'": self.values["github.event_name"] == "pull_request",
            "github.event_name == 'push'": self.values["github.event_name"] == "push",
        }
        return held[condition] and (condition is None or "cancelled" in condition or not self.has_failed)

    def _run(self, script: str, variables: dict[str, str]) -> int:
        assert not EXPRESSION.search(script)  # values of others would be code there
        given = {name: EXPRESSION.sub(lambda found: self.values[found[1]], text) for name, text in variables.items()}
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.folder,
            env=environment_of(self.folder, None, programs_of(self.folder))
            | given
            | {"GITHUB_STEP_SUMMARY": str(self.folder / "summary.md")},
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed += done.stdout + done.stderr
        return done.returncode


def programs_of(folder: Path) -> Path:
    """Return where a job finds programs other than the installed ones."""
    return folder.with_name(f"{folder.name}-bin")


def trec_of(ranks: list[int]) -> str:
    """Return a run as a TREC file has it."""
    columns = frame_of_ranks(ranks)
    rows = zip(columns["group"], columns["item"], columns["score"], strict=True)
    return "".join(f"{group} Q0 {item} 1 {score} system\n" for group, item, score in rows)


def job_in(folder: Path, programs: Path, ranks: list[int], event: str, **values: str) -> Job:
    """Return a job in a folder that has the program of the ranker, a `gh`, and our own of the folder ``programs``."""
    folder.mkdir(exist_ok=True)
    (folder / "ranked").write_text(trec_of(ranks), encoding="utf-8")
    write_csv(folder / "labels.csv", labels_of_ranks(N_GROUPS))
    job = Job(folder, {"github.event_name": event, "github.run_id": "77", "github.run_attempt": "1", **values})
    for path, text in (
        (folder / "rank-queries", "#!/bin/sh\ncat ranked\n"),
        (programs_of(folder) / "gh", GH),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    (programs_of(folder) / "ndcg-track").symlink_to(programs / "ndcg-track")
    return job


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("candidate", RUNS)
def test_a_pull_request_is_gated_and_gets_its_comment(
    postgres_schema: None, candidate: str, postgres_url: str, preloaded_programs: Path, tmp_path: Path
) -> None:
    upgrade(postgres_url)
    with nt.Tracker(postgres_url) as tracker:
        tracker.ingest(frame_of_ranks(BASE), labels=labels_of_ranks(N_GROUPS), name="released", dataset="shop")
        tracker.set_alias("prod", "released", dataset="shop")
    job = job_in(
        tmp_path / "work",
        preloaded_programs,
        RUNS[candidate],
        "pull_request",
        **{
            "secrets.NDCG_TRACK_DB": postgres_url,
            "github.event.number": "5",
            "github.event.pull_request.head.sha": "a07be52",
            "github.event.pull_request.html_url": "https://example.org/pull/5",
            "github.token": "token",
        },
    )
    job.run(POSTGRES["jobs"]["gate"])
    expected = {"gain": 0, "drop": 3, "noisy": 4}[candidate]
    assert {name: code for name, code in job.codes.items() if code} == ({"gate": expected} if expected else {})
    assert list(job.codes) == ["3", "Store the run", "gate", "Comment"], job.printed
    summary = (job.folder / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(f"### {VERDICTS[candidate]}: ")
    posted = (job.folder / "posted.md").read_text(encoding="utf-8")
    assert posted.startswith(f"### {VERDICTS[candidate]}: ")
    assert f"\n### pr-5-77-1 against released on shop ({N_GROUPS} queries): " in posted
    assert (job.folder / "gh-arguments.txt").read_text(encoding="utf-8").splitlines() == [
        *("pr", "comment", "https://example.org/pull/5", "--body-file", "comment.md"),
        *("--edit-last", "--create-if-none"),
    ]
    assert (job.folder / "gate.xml").is_file()
    with nt.Tracker(postgres_url) as tracker:
        decided = tracker.sql("SELECT candidate, baseline_alias, decision FROM gate_decisions").values.tolist()
        commits = tracker.sql("SELECT git_commit FROM run_details WHERE run = 'pr-5-77-1'").values.tolist()
    assert (decided, commits) == ([["pr-5-77-1", "prod", VERDICTS[candidate].lower()]], [["a07be52"]])


def test_main_writes_the_file_that_pull_requests_are_gated_against(tmp_path: Path, preloaded_programs: Path) -> None:
    gate = SQLITE["jobs"]["gate"]
    first = job_in(tmp_path / "first", preloaded_programs, BASE, "pull_request")
    first.run(gate)
    assert first.codes["Gate"] == 2  # no build of main has pinned a baseline yet
    main = job_in(tmp_path / "main", preloaded_programs, BASE, "push")
    main.run(gate)
    assert not main.has_failed, main.printed
    assert [path.name for path in main.folder.glob("*.db*")] == ["ndcg-track.db"]  # the cache takes this file alone
    for candidate, code in {"gain": 0, "drop": 3, "noisy": 4}.items():
        job = job_in(tmp_path / candidate, preloaded_programs, RUNS[candidate], "pull_request")
        job.values["github.run_id"] = "78"
        (job.folder / "ndcg-track.db").write_bytes((main.folder / "ndcg-track.db").read_bytes())
        job.run(gate)
        assert job.codes["Gate"] == code, job.printed
        assert (job.folder / "summary.md").read_text(encoding="utf-8").startswith(f"### {VERDICTS[candidate]}: ")


@pytest.mark.nightly
def test_the_setup_before_the_workflow(postgres_url: str, tmp_path: Path) -> None:
    setup, nightly = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "released.run").write_text(trec_of(BASE), encoding="utf-8")
    write_csv(folder / "labels.csv", labels_of_ranks(N_GROUPS))
    (folder / "nightly.run").write_text(trec_of(BASE), encoding="utf-8")
    script = re.sub(r"postgresql://\S+", f"'{postgres_url}'", f"{setup}GITHUB_SHA=abc123\n{nightly}")
    subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=environment_of(folder, None), check=True, capture_output=True
    )
    with nt.Tracker(postgres_url) as tracker:
        assert tracker.sql("SELECT alias, run FROM run_aliases").values.tolist() == [["prod", "released"]]
        assert [run.git_commit for run in tracker.runs("shop")][1:] == ["abc123"]


def test_every_action_is_pinned_to_a_version_and_no_more_is_permitted_than_needed() -> None:
    for workflow in (POSTGRES, SQLITE):
        steps = workflow["jobs"]["gate"]["steps"]
        uses = [step["uses"] for step in steps if "uses" in step]
        assert uses[0] == "actions/checkout@v4"
        assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", name) for name in uses)
    assert POSTGRES["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert SQLITE["permissions"] == {"contents": "read"}
