"""The examples for Optuna, TensorBoard and sentence-transformers store runs and print what the tools get."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import lightgbm as lgb
import pytest
from ranker_data import TRAIN, VALID

import ndcg_tracker as nt
from ndcg_tracker.integrations.lightgbm import TrainingRuns


@pytest.mark.nightly
def test_optuna(tmp_path: Path, printed: Callable[..., str]) -> None:
    text = printed("optuna_study.py")
    with nt.Tracker(tmp_path / "ndcg-track.db") as tracker:
        runs = {run.name: run for run in tracker.runs()}
        means = {name: tracker.run(name)[1][0].mean for name in runs}
    assert sorted(runs) == [f"fusion/trial-000{number}" for number in range(5)]
    assert all(0 <= float(run.parameters["weight"]) <= 1 for run in runs.values())
    best = max(means, key=lambda name: means[name] or 0.0)
    leads = f"5 runs on default (60 queries): {best} leads by ndcg@5"
    assert text.startswith(f"best mean: trial {best[-1]}, {means[best]:.4f}\n{leads}")


def scalars(folder: Path) -> Iterator[tuple[str, int, float]]:
    """Yield name, step and value: each record is a length, a checksum, an event and a checksum."""
    from tensorboardX.proto.event_pb2 import Event

    data = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        event = Event.FromString(data[12 : 12 + length])
        yield from ((value.tag, event.step, value.simple_value) for value in event.summary.value)
        data = data[16 + length :]


@pytest.mark.nightly
def test_tensorboard(tmp_path: Path, printed: Callable[..., str]) -> None:
    runs = TrainingRuns(
        VALID.features, VALID.labels, group=VALID.group, name="ranker", every=2, database=tmp_path / "ndcg-track.db"
    )
    rows = lgb.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.sizes)
    lgb.train({"objective": "lambdarank", "num_threads": 1, "verbosity": -1}, rows, 4, callbacks=[runs])
    text = printed("tensorboard_scalars.py", "ranker")
    steps = [int(step) for step in re.findall(r"^ndcg_at_10 at iteration (\d+): 0\.\d{4}$", text, re.MULTILINE)]
    stored = [("ndcg_at_10", 2 * number, one.metrics[0].mean) for number, one in enumerate(runs.stored, 1)]
    assert steps == [step for _, step, _ in stored]
    assert list(scalars(tmp_path / "board" / "ranker")) == [
        (name, step, pytest.approx(mean, abs=1e-6)) for name, step, mean in stored
    ]


def test_sentence_transformers(tmp_path: Path, printed: Callable[..., str]) -> None:
    text = printed("sentence_transformers_evaluator.py")
    assert text == "{'ndcg@10': 1.0, 'RR@10': 1.0, 'R@100': 1.0}\n" * 2
    with nt.Tracker(tmp_path / "ndcg-track.db") as tracker:
        assert {run.name: run.tags["stage"] for run in tracker.runs()} == {
            "letters": "final", "letters/epoch-1": "iteration",
        }  # fmt: skip
        ranked = tracker.sql("SELECT item_key FROM items WHERE run = 'letters' AND group_key = 'q2' ORDER BY rank")
    assert list(ranked["item_key"]) == ["d2", "d1", "d3"]
