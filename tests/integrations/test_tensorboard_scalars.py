"""The scalars that a training writes for TensorBoard, read from its own file."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ranker_data import VALID

from ndcg_tracker.errors import InputError
from ndcg_tracker.integrations.lightgbm import TrainingRuns
from ndcg_tracker.integrations.stored_run import metric_name


def scalars(folder: Path) -> Iterator[tuple[str, int, float]]:
    """Yield name, step and value: each record is a length, a checksum, an event and a checksum."""
    from tensorboardX.proto.event_pb2 import Event

    data = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        event = Event.FromString(data[12 : 12 + length])
        yield from ((value.tag, event.step, value.simple_value) for value in event.summary.value)
        data = data[16 + length :]


def test_each_stored_mean_is_a_scalar(tmp_path: Path) -> None:
    from test_lightgbm_callback import trained

    metrics = ["ndcg@10", "lightgbm:ndcg@5"]
    runs = TrainingRuns(
        VALID.features, VALID.labels, group=VALID.group, name="ranker", metrics=metrics, every=2,
        database=tmp_path / "db", tensorboard=tmp_path / "board",
    )  # fmt: skip
    trained([runs], 4)
    stored = [
        (metric_name(name), 2 * number, pytest.approx(one.mean, abs=1e-6))
        for number, result in enumerate(runs.stored, 1)
        for name, one in zip(metrics, result.metrics, strict=True)
    ]
    assert len(stored) == 4
    assert list(scalars(tmp_path / "board")) == stored


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(InputError) as refused:
        TrainingRuns(
            VALID.features, VALID.labels, group=VALID.group, name="x", database=tmp_path / "db", tensorboard=tmp_path
        )
    assert str(refused.value) == (
        "tensorboardX is not installed; install it with: pip install 'ndcg-tracker[tensorboard]'"
    )
