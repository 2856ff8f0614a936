"""The examples that train models run with the real libraries, and print what their databases hold."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import ndcg_tracker as nt
from ndcg_tracker.questions.leaderboard import ranked_runs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def means(folder: Path) -> dict[str, float]:
    """Return the means of the runs that an example has stored, oldest first."""
    with nt.Tracker(folder / "ndcg-track.db") as tracker:
        mean_of = {ranked.run.id: ranked.mean for ranked in ranked_runs(tracker, "ndcg@10")[0]}
        return {run.name: mean_of[run.id] or 0.0 for run in tracker.runs()}


@pytest.mark.parametrize(
    "name", ["lightgbm_training.py", "xgboost_training.py", "catboost_training.py", "sklearn_search.py"]
)
def test_an_example_is_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.nightly
def test_lightgbm(tmp_path: Path, printed: Callable[..., str]) -> None:
    text = printed("lightgbm_training.py")
    stored = means(tmp_path)
    curve = re.findall(r"^(trees/iter-\d+) +(0\.\d+)$", text, re.MULTILINE)
    assert [run for run, _ in curve] == [run for run in stored if run.startswith("trees/")]
    assert [float(mean) for _, mean in curve] == [round(stored[run], 4) for run, _ in curve]
    assert len(curve) >= 2
    gain = stored["trees"] - stored["stumps"]
    assert gain > 0.05
    assert f": ndcg@10 better by {gain:.4f}" in text


@pytest.mark.nightly
def test_xgboost(tmp_path: Path, printed: Callable[..., str]) -> None:
    text = printed("xgboost_training.py")
    stored = means(tmp_path)
    assert list(stored) == [*(f"ranker/iter-00{number}" for number in (10, 20, 30, 40)), "ranker"]
    curve = [(int(iteration), float(mean)) for iteration, mean in re.findall(r"^ +(\d+) (0\.\d+)$", text, re.MULTILINE)]
    assert curve == [(number, round(stored[f"ranker/iter-00{number}"], 4)) for number in (10, 20, 30, 40)]
    gain = stored["ranker"] - stored["ranker/iter-0010"]
    assert f": ndcg@10 better by {gain:.4f}" in text


@pytest.mark.nightly
def test_catboost(tmp_path: Path, printed: Callable[..., str]) -> None:
    text = printed("catboost_training.py")
    *iterations, final = means(tmp_path).items()
    curve = re.findall(r"^ *(ranker/iter-\d+) +(0\.\d+)", text, re.MULTILINE)
    assert curve == [(run, f"{round(mean, 4)}") for run, mean in iterations]
    assert len(curve) >= 2
    last = re.search(r"^ranker: (0\.\d{4}) with (\d+) iterations$", text, re.MULTILINE)
    assert last is not None
    assert last[1] == f"{final[1]:.4f}"
    assert int(last[2]) // 20 == len(curve)


@pytest.mark.nightly
def test_scikit_learn(tmp_path: Path, printed: Callable[..., str]) -> None:
    text = printed("sklearn_search.py")
    stored = means(tmp_path)
    found = re.findall(r"max_leaf_nodes': (\d+)} +(0\.\d+)$", text, re.MULTILINE)
    assert [leaves for leaves, _ in found] == ["2", "8", "16"]
    assert list(stored) == ["ridge", "trees"]
    # folds of nearly equal size: the mean of their means is close to the mean over all queries
    assert max(float(mean) for _, mean in found) == pytest.approx(stored["trees"], abs=0.005)
    assert f"ndcg@10 better by {stored['trees'] - stored['ridge']:.4f}" in text


@pytest.mark.nightly
def test_many_candidates(printed: Callable[..., str]) -> None:
    text = printed("many_candidates.py", "3")
    found = re.findall(r"^(at 5% each|a budget of 5%|sealed, 5%) +(\d) of 3 harmful variants PASS$", text, re.MULTILINE)
    assert [gate for gate, _ in found] == ["at 5% each", "a budget of 5%", "sealed, 5%"]
    assert [number for _, number in found[1:]] == ["0", "0"]
    assert re.match(r"\d{3} queries are open, \d{3} sealed\n", text)


@pytest.mark.nightly
def test_retrained_models(printed: Callable[..., str]) -> None:
    text = printed("retrained_models.py", "12")
    assert re.search(r"^12 trainings: mean ndcg@10 0\.\d{4}, sd 0\.00\d\d$", text, re.MULTILINE)
    assert "repeated trainings vary by a standard deviation of 0.00" in text
    assert "compare of arms of four: a difference in 0 of 1 pairs\n" in text
    decided = re.findall(r"^gate with margin (\S+): \{(.*)\}$", text, re.MULTILINE)
    assert [margin for margin, _ in decided] == ["0.005", "auto"]
    assert "fail" not in decided[1][1]
