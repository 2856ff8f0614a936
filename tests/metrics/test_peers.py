"""Our values against those that tools returned which live in an environment of their own: see peers/README.md."""

import json
import math
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from peers.cases import CASES
from rankings_of import joined

import ndcg_tracker as nt
from ndcg_tracker.errors import MetricError
from ndcg_tracker.ingest.columns import ColumnWarning
from ndcg_tracker.metrics.kernel.mean import GroupResults
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.text import parse_metric

PEERS = Path(__file__).parent / "peers"
TOOLS = sorted(path.stem for path in (PEERS / "values").glob("*.jsonl"))
JUDGED = {each.name: joined(each.run, each.labels) for case in CASES for each in (case, case.with_something_to_find())}


def kept(tool: str) -> list[dict[str, Any]]:
    """Return what a tool returned, a row per case and metric."""
    return [json.loads(line) for line in (PEERS / "values" / f"{tool}.jsonl").read_text("utf-8").splitlines()]


@cache
def ours(case: str, metric: str) -> GroupResults | None:
    """Return what we say of a case, None where we refuse it."""
    try:
        return group_results(JUDGED[case], [parse_metric(metric)])[0]
    except MetricError:
        return None


@pytest.mark.parametrize("tool", TOOLS)
def test_every_value_is_that_of_the_tool(tool: str) -> None:
    rows, tolerance = kept(tool), DIALECTS[tool].tolerance
    assert {row["case"] for row in rows} >= {case.name for case in CASES}
    for row in rows:
        what = f"{row['case']}: {row['metric']}"
        found = ours(row["case"], row["metric"])
        if row["mean"] == "NaN":
            assert found is None, what
            continue
        assert found is not None, what
        if row["mean"] is not None:
            assert found.mean == pytest.approx(row["mean"], rel=0, abs=tolerance), what
        values = dict(zip(found.group_keys.to_list(), found.values.tolist(), strict=True))
        for group, value in row.get("per_group", {}).items():
            if value is None:
                assert math.isnan(values.get(group, math.nan)), (what, group)
            else:
                assert values[group] == pytest.approx(value, rel=0, abs=tolerance), (what, group)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_example_of_the_dialect_was_computed(tool: str) -> None:
    texts = {row["metric"] for row in kept(tool)}
    assert {example for example in DIALECTS[tool].examples if example not in texts} == set()


@pytest.mark.nightly
@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_returns_today_what_is_kept(tool: str, tmp_path: Path) -> None:
    script = PEERS / f"{tool}_values.py"
    needs = script.read_text("utf-8").splitlines()[0].removeprefix("# needs: ").split()
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *needs], check=True)
    told = subprocess.run([python, script], check=True, capture_output=True, text=True).stdout
    assert [json.loads(line) for line in told.splitlines()] == kept(tool)


def test_the_frames_of_rectools_give_its_numbers_whatever_the_weights() -> None:
    rows = kept("rectools")
    texts = list(dict.fromkeys(row["metric"] for row in rows))
    for case in CASES:
        ranked = [(user, item, rank) for user, items in case.ranked() for rank, item in enumerate(items, 1)]
        liked = [(user, item, grade / 7) for user, pool in case.labels.items() for item, grade in pool.items() if grade]
        recommended = pd.DataFrame(ranked, columns=["user_id", "item_id", "rank"])
        interactions = pd.DataFrame(liked, columns=["user_id", "item_id", "weight"])
        with pytest.warns(ColumnWarning, match="column 'weight' is not read as the label"):
            found = nt.evaluate(recommended, texts, labels=interactions)
        means = {row["metric"]: row["mean"] for row in rows if row["case"] == case.name}
        assert found.mean.to_dict() == pytest.approx(means, rel=0, abs=1e-12)
