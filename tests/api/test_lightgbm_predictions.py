"""LightGBM's own validation metric, reproduced from the predictions that it makes."""

from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.cli.app import run

N_GROUPS, SIZE = 60, 15


def write_rankings(path: Path, seed: int) -> None:
    """Write a label/qid file in LightGBM's form, with its group sizes next to it."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(N_GROUPS * SIZE):
        features = rng.normal(size=4)
        label = int(np.clip(features[0] + features[1] + rng.normal(0, 1), 0, 4))
        lines.append(f"{label} " + " ".join(f"{number}:{value:.4f}" for number, value in enumerate(features, 1)))
    path.write_text("\n".join(lines) + "\n")
    Path(f"{path}.query").write_text(f"{SIZE}\n" * N_GROUPS)


def test_two_rankers_from_python_and_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rankings(tmp_path / "rank.train", 1)
    write_rankings(tmp_path / "rank.test", 2)
    train = lgb.Dataset(str(tmp_path / "rank.train"))
    test = lgb.Dataset(str(tmp_path / "rank.test"), reference=train)
    labels = [float(line.split()[0]) for line in (tmp_path / "rank.test").read_text().splitlines()]
    group = np.repeat(np.arange(1, N_GROUPS + 1), SIZE)
    database = str(tmp_path / "rankers.db")
    for name, leaves in (("small", 3), ("large", 31)):
        seen: dict[str, dict[str, list[float]]] = {}
        model = lgb.train(
            {"objective": "lambdarank", "eval_at": [5], "num_leaves": leaves, "verbose": -1, "num_threads": 1},
            train,
            20,
            valid_sets=[test],
            callbacks=[lgb.record_evaluation(seen)],
        )
        predictions = model.predict(str(tmp_path / "rank.test"))
        with nt.Tracker(database) as tracker:
            stored = tracker.ingest(
                {"group": group, "score": predictions, "label": labels}, name=name, metrics="lightgbm:ndcg@5"
            )
        assert stored.metrics[0].mean == pytest.approx(seen["valid_0"]["ndcg@5"][-1], abs=1e-12)
        np.savetxt(tmp_path / f"{name}.scores", predictions, fmt="%.17g")
        arguments = ["--scores", str(tmp_path / f"{name}.scores"), "--name", name, "--metric", "lightgbm:ndcg@5"]
        assert run(["--db", database, "ingest", str(tmp_path / "rank.test"), *arguments]) == 0
        assert "already stored" in capsys.readouterr().out
    with nt.Tracker(database) as tracker:
        assert tracker.compare("small", "large").to_dict()["groups"]["paired"] == N_GROUPS
