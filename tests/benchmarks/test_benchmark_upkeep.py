"""What ``benchmarks/upkeep.py`` measures, on tiny data; and the fit of ``benchmarks/sizes.py``."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_shop import BM25, frame_of, labels_frame

import ndcg_tracker as nt

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.nightly
def test_every_command_is_measured(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), created_at="2025-01-01")
    program = [sys.executable, str(BENCHMARKS / "upkeep.py"), str(tmp_path / "kept"), url]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split(" | ")[0] for line in done.stdout.splitlines()] == [
        "| sqlite", "|---|---|---|---|", "| db check", "| export", "| db backup", "| db restore", "| db upgrade, new",
        "| import", "| import again", "| runs prune", "| runs prune --apply", "| ... --summaries-only", "| db vacuum",
    ]  # fmt: skip


def test_what_a_run_a_group_and_an_item_take_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import sizes

    for rates in ((900.0, 70.0, 30.0), (0.0, 41.0, 0.0)):
        n_bytes = [
            int(rates[0] * runs + runs * groups * (rates[1] + rates[2] * items)) for runs, groups, items in sizes.SIZES
        ]
        assert np.allclose(sizes.fitted(list(sizes.SIZES), n_bytes), rates, atol=1e-3)
