"""The real dvc reads what the commands write: metrics of two commits, and plots of a history and of every group."""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ranked_runs import frame_of_ranks, labels_of_ranks
from small_shop import write_csv

import ndcg_tracker as nt
from ndcg_tracker.cli.app import run

N_GROUPS = 120
BASE = [1, 2] * (N_GROUPS // 2)
BETTER = [1] * N_GROUPS


class Repository:
    """A folder under git and dvc that phones nobody, with the labels and a first run, ``base``, in a database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NDCG_", "DVC_", "GIT_"))}
        people = {f"GIT_{who}_{what}": "you@x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        own = ("HOME", "XDG_CONFIG_HOME", "DVC_SITE_CACHE_DIR", "DVC_GLOBAL_CONFIG_DIR", "DVC_SYSTEM_CONFIG_DIR")
        self.environment = {**kept, **people, **{name: str(folder) for name in own}, "DVC_NO_ANALYTICS": "1"}
        self("git", "init", "-q")
        self.dvc("init", "-q")
        (self.folder / ".dvc" / "config").write_text("[core]\n    analytics = false\n    check_update = false\n")
        write_csv(self.folder / "labels.csv", labels_of_ranks(N_GROUPS))
        self.store("base", BASE)
        self.track("alias set prod base")

    def __call__(self, *words: str) -> str:
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def dvc(self, *words: str) -> str:
        return self(sys.executable, "-m", "dvc", *words)

    def track(self, words: str) -> str:
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            assert run(["--db", "ndcg-track.db", *shlex.split(words)]) == 0
        return printed.getvalue()

    def store(self, name: str, ranks: list[int], options: str = "") -> None:
        write_csv(self.folder / f"{name}.csv", frame_of_ranks(ranks))
        self.track(f"ingest {name}.csv --labels labels.csv {options}")

    def commit(self) -> None:
        self("git", "add", "-A")
        self("git", "commit", "-q", "-m", "a state")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.mark.nightly
def test_metrics_diff_shows_the_delta_between_commits(repository: Repository) -> None:
    (repository.folder / "dvc.yaml").write_text("metrics: [by-evaluate.json]\n")
    metrics = "--metric ndcg@10 --metric 'ndcg(gain=exp2)@3'"
    for name, ranks in (("old", BASE), ("new", BETTER)):
        repository.store(name, ranks, metrics)
        repository.track(f"evaluate {name}.csv --labels labels.csv {metrics} --metrics-json by-evaluate.json")
        repository.commit()
    with nt.Tracker(repository.folder / "ndcg-track.db") as tracker:
        frame = tracker.sql("SELECT run, metric, mean FROM run_summary")
        means = frame.pivot(index="metric", columns="run", values="mean")
    expected = {
        key: {
            "old": means["old"][metric],
            "new": means["new"][metric],
            "diff": means["new"][metric] - means["old"][metric],
        }
        for key, metric in {"ndcg_at_10": "ndcg@10", "ndcg_gain_exp2_at_3": "ndcg(gain=exp2)@3"}.items()
    }
    found = json.loads(repository.dvc("metrics", "diff", "HEAD~1", "HEAD", "--json"))
    assert found == {"by-evaluate.json": expected}
    lines = repository.dvc("metrics", "diff", "HEAD~1", "HEAD").splitlines()
    delta = expected["ndcg_at_10"]["diff"]
    assert lines[0].split() == ["Path", "Metric", "HEAD~1", "HEAD", "Change"]
    assert f"{delta:.5f}".rstrip("0") == lines[1].split()[-1]


def plots_of(repository: Repository) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that dvc plots of the workspace and of the last commit, by plot."""
    found = json.loads(repository.dvc("plots", "diff", "HEAD", "--json"))
    assert list(found) == ["data"]  # and no errors
    return {name: plots[0]["content"]["data"]["values"] for name, plots in found["data"].items()}


@pytest.mark.nightly
def test_plots_show_a_history_and_the_values_of_every_group(repository: Repository) -> None:
    (repository.folder / "dvc.yaml").write_text(
        "plots:\n"
        "- history: {template: linear, x: run_id, y: {history.csv: mean}}\n"
        "- history as json: {template: linear, x: run_id, y: {history.json: mean}}\n"
        "- groups: {template: scatter, x: group, y: {groups.csv: ndcg@10}}\n"
    )

    def write() -> None:
        for format in ("csv", "json"):
            text = repository.track(f"history --format {format}")
            (repository.folder / f"history.{format}").write_text(text, encoding="utf-8")
        text = repository.track("evaluate base.csv --labels labels.csv --per-group --format csv")
        (repository.folder / "groups.csv").write_text(text, encoding="utf-8")

    write()
    repository.commit()
    repository.store("better", BETTER)
    write()
    plots = plots_of(repository)
    with nt.Tracker(repository.folder / "ndcg-track.db") as tracker:
        means = dict(tracker.history()[["run", "mean"]].values.tolist())
        values = tracker.sql("SELECT group_key, value FROM group_history WHERE run = 'base'").values.tolist()
    for name in ("history", "history as json"):
        now = {row["run"]: float(row["mean"]) for row in plots[name] if row["rev"] == "workspace"}
        before = {row["run"]: float(row["mean"]) for row in plots[name] if row["rev"] == "HEAD"}
        assert (now, before) == (means, {"base": means["base"]})
    now = [[row["group"], float(row["ndcg@10"])] for row in plots["groups"] if row["rev"] == "workspace"]
    assert sorted(now) == sorted(values)
