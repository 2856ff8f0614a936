"""Ray Data and Dask call the same function on groups that they sorted: what docs/spark.md shows, to the last bit."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ndcg_tracker as nt

PAGE = Path(__file__).resolve().parents[2] / "docs" / "spark.md"
METRICS = ["ndcg@10", "RR"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.nightly  # .ci/nightly installs them; they weigh 200 MB
@pytest.mark.parametrize(("heading", "package"), [("Dask", "dask.dataframe"), ("Ray Data", "ray.data")])
def test_the_page_computes_the_same_values(
    heading: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    rng = np.random.default_rng(4)
    n = 4_000
    frame = pd.DataFrame(
        {
            "group": [f"q{number}" for number in rng.permutation(np.repeat(np.arange(200), 20))],
            "item": [f"d{number}" for number in rng.permutation(n)],
            "score": rng.normal(size=n).round(1),
            "label": np.where(rng.random(n) < 0.7, rng.integers(0, 4, n).astype(float), np.nan),
        }
    )
    monkeypatch.chdir(tmp_path)
    frame.to_parquet("run.parquet")
    (example,) = re.findall(rf"^### {heading}\n.*?^```py\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, pd.DataFrame] = {}
    exec(compile(example, heading, "exec"), names)
    found = names["values"].pivot(index="group", columns="metric", values="value")[METRICS].astype(float)
    wanted = nt.evaluate(frame, METRICS).per_group.loc[found.index, METRICS]
    assert len(found) == 200
    assert np.array_equal(found.to_numpy(), wanted.to_numpy(), equal_nan=True)
