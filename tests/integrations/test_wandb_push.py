"""Runs to Weights & Biases, offline: what its own file says that it would send."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.integrations.stored_run import run_identity

BLOCK = 32768  # of LevelDB's log format, in which W&B writes
HEADER = 7
PUSH = ["-c", "from ndcg_tracker.cli.app import main; main()", "push", "wandb"]


def records(path: Path) -> Iterator[Any]:
    """Yield the records of a W&B file: a header, then chunks of checksum, length and kind; 1 and 4 end a record."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, whole = path.read_bytes(), HEADER, b""
    while at < len(data):
        if BLOCK - at % BLOCK < HEADER:
            at += BLOCK - at % BLOCK
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + HEADER : at + HEADER + length]
        at += HEADER + length
        if kind in (1, 4):
            yield Record.FromString(whole)
            whole = b""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables of a machine that has no account at W&B."""
    folders = {f"WANDB_{name}_DIR": str(tmp_path / name) for name in ("DATA", "CACHE", "CONFIG")}
    given = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    return {
        **given,
        **folders,
        "NETRC": str(tmp_path / "none"),
        "NDCG_TRACK_DB": "shop.db",
        "WANDB_ERROR_REPORTING": "false",
    }


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a database of two runs; bm25 is the baseline."""
    with nt.Tracker(tmp_path / "shop.db") as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(
                frame_of(run), labels=labels_frame(), name=name, dataset="shop", metrics=["ndcg@10", "lightgbm:ndcg@5"],
                parameters={"depth": "6"}, tags={"branch": "main", "long": "x" * 80}, git_commit="c0ffee",
            )  # fmt: skip
        tracker.set_alias("baseline", "bm25", "shop")
    return tmp_path


def pushed(shop: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *PUSH, *arguments], cwd=shop, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.nightly
def test_what_is_written_offline(shop: Path, environment: dict[str, str]) -> None:
    done = pushed(shop, environment, "dense", "--offline", "--format", "json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    with nt.Tracker(shop / "shop.db") as tracker:
        run, evaluations = tracker.run("dense", "shop")
        values = tracker.sql("SELECT group_key, value FROM group_history WHERE run = 'dense' AND metric = 'ndcg@10'")
    where = Path(found.pop("where"))
    assert done.stderr == f"send it with: wandb sync {where}\n"
    assert found == {
        "run": "dense", "dataset": "shop", "outcome": "written", "project": "shop", "n_metrics": 2,
        "wandb_run_id": run_identity("shop", "dense", run.digest),
    }  # fmt: skip
    for path in (shop / "wandb").rglob("*"):  # no argument of the program goes along
        assert not path.is_file() or b"--offline" not in path.read_bytes(), path
    (file,) = where.glob("*.wandb")
    sent: dict[str, list[Any]] = {}
    for record in records(file):
        kind = record.WhichOneof("record_type")
        sent.setdefault(kind, []).append(getattr(record, kind))
    (made,) = sent["run"]
    assert (made.run_id, made.display_name, made.project) == (found["wandb_run_id"], "dense", "shop")
    assert list(made.tags) == ["branch=main"]
    config = {one.key: json.loads(one.value_json) for one in made.config.update}
    assert config["depth"] == "6"
    assert config["ndcg_tracker"] == {
        "dataset": "shop", "label_set_version": 1, "git_commit": "c0ffee", "created_at_utc": run.created_at_utc,
        "tags": {"branch": "main", "long": "x" * 80},
        "metrics": {"ndcg_at_10": "ndcg@10", "lightgbm_ndcg_at_5": evaluations[1].metric},
    }  # fmt: skip
    summary = {one.key: json.loads(one.value_json) for part in sent["summary"] for one in part.update if one.key}
    means = {one.metric: one.mean for one in evaluations}
    assert summary["ndcg_at_10"] == means["ndcg@10"]
    assert summary["lightgbm_ndcg_at_5"] == means[evaluations[1].metric]
    (table,) = where.glob("files/media/table/*.json")
    rows = json.loads(table.read_text("utf-8"))
    assert rows["columns"] == ["group", "ndcg_at_10", "lightgbm_ndcg_at_5"]
    assert {row[0]: row[1] for row in rows["data"]} == dict(zip(values["group_key"], values["value"], strict=True))
    (report,) = (one for one in sent["artifact"] if one.type == "report")
    (entry,) = report.manifest.contents
    assert entry.path == "ndcg_tracker_report.html"
    page = Path(entry.local_path).read_text("utf-8")
    assert "bm25" in page
    assert "dense" in page
    assert "environment" not in {kind for kind, parts in sent.items() for part in parts if "shop.db" in str(part)}


@pytest.mark.nightly
def test_without_an_account(shop: Path, environment: dict[str, str]) -> None:
    done = pushed(shop, environment, "dense", "--project", "x")
    assert (done.returncode, done.stdout, done.stderr) == (
        2, "", "error: W&B has no API key here; log in with: wandb login; or give --offline\n",
    )  # fmt: skip


def test_without_wandb_installed(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ndcg_tracker.cli.app import run

    monkeypatch.setitem(sys.modules, "wandb", None)
    assert run(["--db", str(shop / "shop.db"), "push", "wandb", "dense"]) == 2
    assert capsys.readouterr().err == (
        "error: wandb is not installed; install it with: pip install 'ndcg-tracker[wandb]'\n"
    )
