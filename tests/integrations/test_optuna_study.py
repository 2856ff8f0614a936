"""Trials of Optuna in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
import scipy.stats

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError, NdcgTrackerWarning
from ndcg_tracker.integrations.optuna import StudyRuns

LABELS = {f"q{number}": {"a": 1, "b": number % 2} for number in range(6)}


def ranked(weight: float) -> dict[str, dict[str, float]]:
    return {f"q{number}": {"a": weight * number, "b": 2.0, "c": 1.0} for number in range(6)}


@pytest.fixture(autouse=True)
def quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def studied(folder: Path, weights: list[float], **options: Any) -> tuple[StudyRuns, optuna.Study]:
    """Return a study of some weights."""
    runs = StudyRuns("fusion", labels=LABELS, dataset="shop", database=folder / "db", **options)
    study = optuna.create_study(direction="maximize")

    def objective(trial: optuna.Trial) -> float:
        return runs.store(trial, ranked(trial.suggest_float("weight", -1, 1)))

    for weight in weights:
        study.enqueue_trial({"weight": weight})
    study.optimize(objective, len(weights))
    return runs, study


def test_each_trial_is_a_run_of_its_study(tmp_path: Path) -> None:
    _, study = studied(tmp_path, [0.5, -0.5], tags={"by": "me"})
    with nt.Tracker(tmp_path / "db") as tracker:
        for number, weight in enumerate((0.5, -0.5)):
            run, (evaluation,) = tracker.run(f"fusion/trial-000{number}", "shop")
            assert run.parameters == {"weight": str(weight)}
            assert run.tags == {"by": "me", "study": "fusion", "trial": str(number)}
            assert study.trials[number].value == evaluation.mean
            values = nt.evaluate(ranked(weight), "ndcg@10", labels=LABELS).per_group["ndcg@10"]
            interval = scipy.stats.t.interval(0.95, 5, values.mean(), scipy.stats.sem(values))
            assert study.trials[number].user_attrs["ndcg_tracker.lower"] == pytest.approx(interval[0], abs=1e-12)


def test_the_best_by_its_lower_end_need_not_be_the_best_by_its_mean(tmp_path: Path) -> None:
    runs, study = studied(tmp_path, [0.5, -0.5])
    first, second = study.trials
    assert runs.best_trial(study, by="mean").number == 0
    study.add_trial(
        optuna.trial.create_trial(value=1.0, user_attrs={"ndcg_tracker.run": "x", "ndcg_tracker.lower": -1.0})
    )
    assert runs.best_trial(study, by="mean").number == 2
    assert first.user_attrs["ndcg_tracker.lower"] > second.user_attrs["ndcg_tracker.lower"]
    assert runs.best_trial(study).number == 0


def test_a_study_of_the_same_name(tmp_path: Path) -> None:
    studied(tmp_path, [0.5])
    with pytest.raises(ConflictError, match=r"run 'fusion/trial-0000' of dataset 'shop' is already stored"):
        studied(tmp_path, [0.9])
    studied(tmp_path, [0.9], replace=True)
    with nt.Tracker(tmp_path / "db") as tracker:
        assert tracker.run("fusion/trial-0000", "shop")[0].parameters == {"weight": "0.9"}


def test_what_is_refused(tmp_path: Path) -> None:
    runs = StudyRuns("fusion", labels={"q0": {"a": 0}}, database=tmp_path / "db", metrics="ndcg(empty=skip)@10")
    study = optuna.create_study(direction="maximize")
    with pytest.raises(InputError) as refused:
        runs.best_trial(study)
    assert str(refused.value) == "no trial of this study was stored; return StudyRuns.store in the objective"
    with pytest.raises(InputError) as refused:
        runs.best_trial(study, by="median")  # type: ignore[arg-type]
    assert str(refused.value) == "by='median' is unknown; give by='lower' or by='mean'"
    with pytest.raises(InputError) as refused:
        runs.store(study.ask(), {"q0": {"a": 1.0}})
    assert str(refused.value) == (
        "ndcg(empty=skip)@10 of run 'fusion/trial-0000' is not defined for any group; check the labels"
    )


def test_one_group_has_no_interval(tmp_path: Path) -> None:
    runs = StudyRuns("one", labels={"q0": {"a": 1}}, database=tmp_path / "db")
    study = optuna.create_study(direction="maximize")
    study.optimize(lambda trial: runs.store(trial, {"q0": {"a": 1.0, "b": 2.0 * trial.number}}), 2)
    assert study.trials[0].user_attrs["ndcg_tracker.lower"] is None
    assert runs.best_trial(study).number == 0
    assert np.isclose(study.best_value, 1.0)


def test_a_study_that_looks_for_the_worst_is_told(tmp_path: Path) -> None:
    runs = StudyRuns("fusion", labels=LABELS, database=tmp_path / "db")
    study = optuna.create_study()  # Optuna minimizes unless it is told otherwise
    with pytest.warns(NdcgTrackerWarning) as told:
        value = runs.store(study.ask({"weight": optuna.distributions.FloatDistribution(0.5, 0.5)}), ranked(0.5))
    assert [str(one.message) for one in told] == [
        "the study will minimize its value, but ndcg@10 is better the higher it is; create it with "
        "direction='maximize', or return the negative of what store returns"
    ]
    assert told[0].filename == __file__
    assert value > 0
    several = optuna.create_study(directions=["minimize", "maximize"])
    StudyRuns("several", labels=LABELS, database=tmp_path / "db").store(several.ask(), ranked(0.5))
    fixed = optuna.trial.FixedTrial({"weight": 0.5}, number=7)
    StudyRuns("fixed", labels=LABELS, database=tmp_path / "db").store(fixed, ranked(0.5))


@pytest.mark.filterwarnings("ignore:the study will minimize")
def test_the_best_trial_is_the_best_where_the_negative_is_returned(tmp_path: Path) -> None:
    runs = StudyRuns("fusion", labels=LABELS, database=tmp_path / "db")
    study = optuna.create_study()
    for weight in (0.5, -0.5):
        study.enqueue_trial({"weight": weight})
    study.optimize(lambda trial: -runs.store(trial, ranked(trial.suggest_float("weight", -1, 1))), 2)
    assert [runs.best_trial(study, by=by).number for by in ("mean", "lower")] == [study.best_trial.number] * 2
