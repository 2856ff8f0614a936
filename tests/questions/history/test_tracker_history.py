"""``Tracker.history``: a metric over the runs of a dataset."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.compare.gather_results import NO_INFERENCE
from ndcg_tracker.questions.history import history_answer
from ndcg_tracker.questions.history.gather import HistoryFilter, HistoryResult
from ndcg_tracker.statistics.t_test import paired_t, t_interval
from ndcg_tracker.storage import evaluations as stored
from ndcg_tracker.words.notes import sentence

Fill = Callable[[Callable[[str], object]], None]
NEW_LABELS: Run = {**LABELS, "q2": {"a": 3, "d": 1}}


def test_one_row_per_run_oldest_first(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="b", labels=labels_frame(), dataset="shop")
    tracker.ingest(frame_of(DENSE), name="a", dataset="shop")
    tracker.ingest(frame_of(DENSE), name="without", dataset="shop", metrics="dcg@3")
    tracker.ingest(frame_of(BM25), name="elsewhere", labels=labels_frame())
    frame = tracker.history("ndcg(gain=linear)@10", dataset="shop")
    assert list(frame.columns) == [
        "run", "run_id", "created_at_utc", "metric", "mean", "ci_low", "ci_high", "step", "delta", "p_adjusted",
        "git_commit", "label_set_version", "tags", "parameters", "step_change", "step_ci", "step_between",
        "step_before", "step_parameters", "step_possible", "requested_as", "drift_change", "drift_ci", "drift_between",
        "drift_runs", "direction", "judged", "goes_with_judged", "cutoff", "judge", "step_or_drift", "n_vanished",
        "labels_or_ranking", "step_where", "step_compare",
    ]  # fmt: skip
    assert list(frame["run"]) == ["b", "a"]
    assert set(frame["metric"]) == {"ndcg@10"}
    for row, ranking in zip(frame.itertuples(), (BM25, DENSE), strict=True):
        expected = results("ndcg@10", ranking, LABELS)
        assert row.mean == expected.mean
        low, high = t_interval(expected.mean or 0.0, float(expected.values.std(ddof=1)), 5) or (0, 0)
        assert (row.ci_low, row.ci_high) == (pytest.approx(max(low, 0.0)), 1.0)
        assert high > 1  # which no mean of ndcg is
    unlimited = tracker.history("dcg@3", dataset="shop")
    assert unlimited["ci_high"].max() > 1


def test_a_run_stands_once_under_the_newest_labels_it_was_held_to(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    tracker.ingest(frame_of(DENSE), name="dense")
    tracker.add_labels(labels_of(NEW_LABELS))
    tracker.rescore(["bm25"])
    frame = tracker.history()
    assert list(frame["run"]) == ["bm25", "dense"]
    assert list(frame["mean"]) == [
        results("ndcg@10", BM25, NEW_LABELS).mean,
        results("ndcg@10", DENSE, LABELS).mean,
    ]


def test_what_has_no_interval_has_none(tracker: nt.Tracker) -> None:
    tracker.ingest({"group": ["q"], "item": ["a"], "score": [1.0], "label": [0]}, name="one", metrics=[
        "ndcg@10", "ndcg(empty=skip)@10",
    ])  # fmt: skip
    assert tracker.history_report("ndcg@10").rows[0]["ci"] is None
    assert tracker.history_report("ndcg(empty=skip)@10").rows[0]["mean"] is None
    frame = tracker.history("ndcg(empty=skip)@10")
    assert frame[["mean", "ci_low", "ci_high"]].isna().all(axis=None)


def test_a_metric_that_no_run_has_is_an_empty_frame(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    frame = tracker.history("dcg@3")
    assert isinstance(frame, pd.DataFrame)
    assert (len(frame), frame.columns[0]) == (0, "run")


def test_an_unknown_dataset_and_a_wrong_metric_are_refused(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop")
    with pytest.raises(
        nt.ReferenceNotFoundError, match=r"^no dataset 'default'; there is only 'shop': name it with dataset='shop'$"
    ):
        tracker.history(dataset="default")
    with pytest.raises(nt.MetricError):
        tracker.history("ndgc@10", dataset="shop")


N_QUERIES = 300
ITEMS = ["first", "second", "third"]


def shop_run(broken: bool, seed: int, n_queries: int = N_QUERIES) -> dict[str, list[object]]:
    """Three items per query of which the first is relevant: mostly on top, but never for tents once that broke."""
    rng = np.random.default_rng(seed)
    frame: dict[str, list[object]] = {"group": [], "item": [], "score": [], "label": []}
    for query in range(n_queries):
        is_tent = query % 10 == 0
        scores = [3.0, 2.0, 1.0] if rng.random() < 0.8 else [2.0, 3.0, 1.0]
        if broken and is_tent:
            scores = [0.0, 2.0, 1.0]
        frame["group"] += [f"{'tent' if is_tent else 'lamp'} {query}"] * 3
        frame["item"] += ITEMS
        frame["score"] += scores
        frame["label"] += [1, 0, 0]
    return frame


def ingest_forty(tracker: nt.Tracker, *, seeds: int) -> None:
    """Forty runs of which number 27 breaks the tents; ``seeds``: how many different harmless versions there are."""
    for number in range(1, 41):
        tracker.ingest(
            shop_run(number >= 27, number % seeds),
            name=f"build-{number:02d}",
            parameters={"k1": "0.9" if number >= 27 else "1.2"},
            tags={"branch": "main" if number % 2 else "topic"},
            git_commit=f"{number:02d}abcdef{number:032d}",
        )


def fill_with_forty(url: str) -> None:
    with nt.Tracker(url) as tracker:
        ingest_forty(tracker, seeds=1)


def fill_with_forty_seeds(url: str) -> None:
    with nt.Tracker(url) as tracker:
        ingest_forty(tracker, seeds=40)


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("seeds", [1, 40])
def test_of_forty_runs_the_one_that_breaks_a_slice_is_named(fill_as: Fill, tracker: nt.Tracker, seeds: int) -> None:
    fill_as(fill_with_forty if seeds == 1 else fill_with_forty_seeds)
    frame = tracker.history()
    (row,) = frame[frame["step"]].to_dict("records")
    assert (row["run"], row["run_id"], row["parameters"]) == ("build-27", 27, {"k1": "0.9"})
    assert row["git_commit"].startswith("27abcdef")
    assert row["p_adjusted"] < 1e-3
    first, last = row["step_between"]
    assert first <= "build-27" <= last
    assert row["step_ci"][0] < row["step_change"] < row["step_ci"][1] < 0
    if seeds == 1:
        assert (first, last) == ("build-27", "build-27")
        assert row["step_change"] == row["delta"]
        assert list(frame["delta"][1:26]) == [0.0] * 25
    else:
        one, other = tracker.run("build-01")[1][0], tracker.run("build-02")[1][0]
        assert frame["delta"][1] == pytest.approx((other.mean or 0.0) - (one.mean or 0.0))


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize(("seeds", "n_queries", "told_at"), [(1, 300, 27), (40, 160, 29), (40, 140, None)])
def test_a_step_is_new_once(tracker: nt.Tracker, seeds: int, n_queries: int, told_at: int | None) -> None:
    """Asked after every run, a clear step at its first run, a small one when enough runs have followed.

    That of 160 queries is found among 29 runs and 31, but not among 30. With 140 queries it is possible, never sure.
    """
    told = []
    for number in range(1, 41):
        tracker.ingest(shop_run(number >= 27, number % seeds, n_queries), name=f"build-{number:02d}")
        if number >= 26:
            report = tracker.history_report("ndcg@10", new_steps=True)
            assert report.new_steps is not None
            told += [(number, row["step_between"]) for row in report.new_steps]
    report = tracker.history_report("ndcg@10")
    assert report.new_steps is None
    assert any(row["step_possible"] for row in report.rows) == (seeds == 40)
    assert tracker.history(new_steps=True).empty
    assert [number for number, _ in told] == ([] if told_at is None else [told_at])
    for number, (first, last) in told:
        assert first <= "build-27" <= last
        until = tracker.runs()[number - 1].created_at_utc
        (row,) = tracker.history(until=until, new_steps=True).to_dict("records")
        assert row["step_between"] == (first, last)


@pytest.mark.nightly
def test_what_was_a_drift_is_no_new_step(tracker: nt.Tracker) -> None:
    """The drift ends where the mean falls by far more, and only that is new."""
    for number in range(1, 21):
        run = shop_run(False, 1)
        scores = np.array(run["score"], dtype=np.float64).reshape(-1, 3)
        scores[: 6 * number, 0] = 0.0
        scores[150:, 0] *= 0.0 if number == 20 else 1.0
        tracker.ingest({**run, "score": scores.ravel()}, name=f"r{number:02d}")
        if number == 19:
            before = tracker.history_report("ndcg@10", new_steps=True)
            assert [row["drift_between"] for row in before.rows if row["drift_between"]] == [("r01", "r19")]
            assert before.new_steps == ()
    assert list(tracker.history(new_steps=True)["run"]) == ["r20"]


def test_results_of_many_runs_are_read_some_at_a_time(tracker: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 8):
        tracker.ingest(shop_run(number >= 5, number), name=f"r{number}", git_commit="")
    at_once = tracker.history_report("ndcg@10").rows
    monkeypatch.setattr(stored, "FEW", 3)
    assert tracker.history_report("ndcg@10").rows == at_once
    assert any(row["step"] for row in at_once)


def test_what_changed_with_a_step_is_told(tracker: nt.Tracker) -> None:
    for number in range(1, 5):
        parameters = {"k1": "0.9" if number >= 3 else "1.2", "b": "0.4", **({"fields": "title"} if number >= 3 else {})}
        tracker.ingest(shop_run(number >= 3, 1), name=f"r{number}", parameters=parameters)
    rows = tracker.history_report("ndcg@10").rows
    assert [row["step_before"] for row in rows] == [None, None, "r2", None]
    assert [row["step_parameters"] for row in rows] == [
        None,
        None,
        {"fields": (None, "title"), "k1": ("1.2", "0.9")},
        None,
    ]


def test_one_run_and_runs_whose_mean_is_undefined(tracker: nt.Tracker) -> None:
    metric = "ndcg(empty=skip)@10"
    empty = {"group": ["q"], "item": ["a"], "score": [1.0], "label": [0]}
    tracker.ingest(empty, name="one", metrics=metric)
    (row,) = tracker.history_report(metric).rows
    assert (row["mean"], row["ci"], row["step"], row["delta"]) == (None, None, False, None)
    tracker.ingest({**empty, "score": [2.0]}, name="two", metrics=metric)
    report = tracker.history_report(metric)
    assert [(row["mean"], row["step"], row["delta"]) for row in report.rows] == [(None, False, None)] * 2
    assert report.notes == ()


def test_filters_choose_the_runs_among_which_steps_are_looked_for(fill_as: Fill, tracker: nt.Tracker) -> None:
    fill_as(fill_with_forty)
    names = [f"build-{number:02d}" for number in range(1, 41)]
    assert list(tracker.history(branch="main")["run"]) == names[::2]
    assert list(tracker.history(tags={"branch": "topic"}, last=3)["run"]) == names[35::2]
    assert list(tracker.history(commit="05ABC")["run"]) == ["build-05"]
    topic = tracker.history(branch="topic")
    assert list(topic["run"][topic["step"]]) == ["build-28"]
    assert not tracker.history(last=13)["step"].any()
    created = tracker.history()["created_at_utc"]
    assert list(tracker.history(since=created[38])["run"]) == names[38:]
    assert list(tracker.history(until=created[1])["run"]) == names[:2]
    assert list(tracker.history(since=created[3], until=created[3])["run"]) == [names[3]]
    day = created[0][:10]
    assert list(tracker.history(since=day, until=created[39][:10])["run"]) == names
    assert tracker.history(until="2001-12-31").empty
    assert tracker.history(since="2001-12-31T00:00+02:00", last=1)["run"].tolist() == ["build-40"]
    assert tracker.history(branch="main", tags={"branch": "topic"})["run"].tolist() == names[::2]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"since": "yesterday"}, "since 'yesterday' is not a date; write 2025-01-31 or 2025-01-31T09:30, in UTC"),
        ({"since": ""}, "since '' is not a date; write 2025-01-31 or 2025-01-31T09:30, in UTC"),
        ({"until": "2025-02-30"}, "until '2025-02-30' is not a date; write 2025-01-31 or 2025-01-31T09:30, in UTC"),
        (
            {"since": "2025-02-02", "until": "2025-02-01"},
            "since '2025-02-02' is later than until '2025-02-01'; swap them",
        ),
        ({"last": 0}, "last 0 leaves no run; write 1 or more"),
    ],
)
def test_filters_that_are_none(tracker: nt.Tracker, filters: dict[str, str], message: str) -> None:
    with pytest.raises(nt.InputError) as caught:
        tracker.history(**filters)
    assert str(caught.value) == message


def test_runs_are_paired_under_one_version_of_the_labels(tracker: nt.Tracker) -> None:
    """The run under other labels is passed over, and the next one is paired with the last comparable one."""
    means = []
    for number, seed in enumerate([1, 5, 3, 4], 1):
        run = shop_run(number == 4, seed)
        labels = {key: run[key] for key in ("group", "item", "label")}
        run.pop("label")
        stored = tracker.ingest(run, name=f"r{number}", labels=labels)
        means.append(stored.metrics[0].mean or 0.0)
    grades = {str(key): {"first": 1, "second": 0, "third": 0} for key in labels["group"]}
    tracker.add_labels(labels_of({**grades, "lamp 1": {"first": 1, "second": 1, "third": 0}}))
    tracker.rescore(["r2"])
    report = tracker.history_report("ndcg@10")
    assert [row["label_set_version"] for row in report.rows] == [1, 2, 1, 1]
    assert [row["delta"] for row in report.rows] == [
        None,
        None,
        pytest.approx(means[2] - means[0]),
        pytest.approx(means[3] - means[2]),
    ]
    assert means[1] != means[0]
    assert [row["step"] for row in report.rows] == [False, False, False, True]
    assert report.rows[3]["step_before"] == "r3"
    assert report.notes == (
        "runs under different labels are not compared (version 1: 3 runs, version 2: 1 run); to evaluate all under "
        "version 1 (or under the latest, --labels 2): ndcg-track rescore --all --dataset default --metric ndcg@10 "
        "--labels 1",
        "after that, ask again: ndcg-track history --dataset default --metric ndcg@10 --labels 1",
        FEW_RUNS.format(2),
    )
    tracker.rescore()
    report = tracker.history_report("ndcg@10")
    assert report.notes == (FEW_RUNS.format(3),)
    assert [row["label_set_version"] for row in report.rows] == [2] * 4
    assert report.rows[0]["delta"] is None
    deltas = [row["mean"] - before["mean"] for before, row in pairwise(report.rows)]
    assert [row["delta"] for row in report.rows[1:]] == pytest.approx(deltas)
    assert [row["step"] for row in report.rows] == [False, False, False, True]


FEW_RUNS = (
    "steps allow for chance in the queries, but not in training: to estimate that chance takes 8 runs that changed "
    "(so far {}), or repeats of one unchanged system: ndcg-track ingest FILE --dataset default --tag aa=NAME"
)


def training(seed: int, worse: float = 0.0) -> dict[str, list[object]]:
    """A model that differs in its seed: how often it has the relevant item on top differs from seed to seed."""
    rng = np.random.default_rng(seed)
    is_right = rng.random(N_QUERIES) < np.clip(rng.normal(0.7, 0.08), 0.3, 0.95) - worse
    scores = [score for right in is_right for score in ([3.0, 2.0, 1.0] if right else [2.0, 3.0, 1.0])]
    return {**shop_run(False, 1), "score": scores}


def test_trainings_of_one_recipe_have_no_step_but_a_note(tracker: nt.Tracker) -> None:
    for seed in range(16):
        tracker.ingest(training(seed, 0.6 if seed >= 10 else 0.0), name=f"seed-{seed}")
    rows = tracker.history_report("ndcg@10", wanted=HistoryFilter(until=tracker.runs()[9].created_at_utc)).rows
    assert [row["step"] or row["step_possible"] for row in rows] == [False] * 10
    deltas = [row["delta"] for row in rows[1:]]
    assert max(abs(delta) for delta in deltas) > 0.03
    report = tracker.history_report("ndcg@10")
    assert [row["run"] for row in report.rows if row["step"]] == ["seed-10"]
    (note,) = report.history.notes
    assert note.kind == "run_scatter"
    assert 0.01 < note.facts["sd"] < 0.06
    assert 0.005 < note.facts["own"] < 0.015
    assert report.notes[0].startswith("from run to run, the mean varies by a standard deviation of 0.0")


@pytest.mark.nightly
def test_runs_that_resemble_the_one_before_have_no_step_but_a_note(tracker: nt.Tracker) -> None:
    """Each model begins near where the one before ended: the share of queries that it answers wanders."""
    rng, wander = np.random.default_rng(98), 0.0
    for number in range(24):
        wander = 0.7 * wander + float(rng.normal(0, 0.06))
        is_right = rng.random(N_QUERIES) < min(0.95, max(0.05, 0.7 + wander))
        scores = [score for right in is_right for score in ([3.0, 2.0, 1.0] if right else [2.0, 3.0, 1.0])]
        tracker.ingest({**shop_run(False, 1), "score": scores}, name=f"model-{number}")
    report = tracker.history_report("ndcg@10")
    assert [row["run"] for row in report.rows if row["step"] or row["drift_change"]] == []
    assert [note.kind for note in report.history.notes] == ["run_scatter", "wandering"]
    assert report.history.notes[1].facts["n"] >= 1
    assert report.history.notes[1].facts["resemblance"] > 0.5


def test_repeats_tell_what_a_short_history_cannot(tracker: nt.Tracker) -> None:
    """Runs with the tag aa count, shown or not, if they have results for all groups."""
    for seed in range(35, 40):
        tracker.ingest(training(seed), name=f"seed-{seed}", tags={"branch": "main"})
    alone = tracker.history_report("ndcg@10", wanted=HistoryFilter(tags={"branch": "main"}))
    assert [row["step"] for row in alone.rows] != [False] * 5
    assert alone.notes == (FEW_RUNS.format(4),)
    few = {key: column[:30] for key, column in training(99).items()}
    tracker.ingest(few, name="few", tags={"aa": "v1"}, metrics="ndcg(missing=skip)@10")
    for seed in range(20, 28):
        tracker.ingest(training(seed), name=f"again-{seed}", tags={"aa": "v1" if seed < 24 else "v2"})
    told = tracker.history_report("ndcg@10", wanted=HistoryFilter(tags={"branch": "main"}))
    assert [row["step"] for row in told.rows] == [False] * 5
    assert [note.kind for note in told.history.notes] == ["run_scatter"]


def test_runs_made_from_other_data_are_no_repeats_whatever_their_tag(tracker: nt.Tracker) -> None:
    for seed in range(5):
        tracker.ingest(training(seed), name=f"seed-{seed}", tags={"branch": "main"})
    for seed in range(20, 28):
        is_plain = seed >= 24
        parameters = {"data_features": "1: price" if is_plain else "2: price, geo"}
        frame = training(seed, 0.6 * is_plain)
        tracker.ingest(frame, name=f"again-{seed}", tags={"aa": "v1"}, parameters=parameters)
    (note,) = tracker.history_report("ndcg@10", wanted=HistoryFilter(tags={"branch": "main"})).history.notes
    assert note.kind == "run_scatter"
    assert 0.01 < note.facts["sd"] < 0.06


def test_checkpoints_of_one_training_are_no_retrainings(tracker: nt.Tracker) -> None:
    for seed in range(4):
        tracker.ingest(
            training(seed, 0.3 * (seed > 1)), name=f"iter-{seed}", tags={"training": "t", "stage": "iteration"}
        )
    report = tracker.history_report("ndcg@10", wanted=HistoryFilter(tags={"stage": "iteration"}))
    assert any(row["step"] for row in report.rows)
    assert report.notes == ()
    everything = tracker.history_report("ndcg@10")
    assert everything.rows == ()
    assert everything.notes == (
        "left out: 4 checkpoints of trainings, such as iter-0: a checkpoint counts only by its name or with the tag "
        "stage=iteration",
    )


def test_the_latest_runs_are_counted_without_checkpoints(tracker: nt.Tracker) -> None:
    for number in range(6):
        tracker.ingest(shop_run(False, number), name=f"run-{number}", tags={"stage": "iteration"} if number % 2 else {})
    assert [row["run"] for row in tracker.history_report("ndcg@10", wanted=HistoryFilter(last=2)).rows] == [
        "run-2",
        "run-4",
    ]


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("n_trials", [3, 2])
def test_trials_of_a_search_are_better_compared(tracker: nt.Tracker, n_trials: int) -> None:
    for seed in range(4):
        tags = {"study": "grid 1" if seed < 3 else "other"} if seed < n_trials else {}
        tracker.ingest(shop_run(seed == 1, 1 + seed // 2), name=f"trial {seed}", tags=tags)
    means = {
        row["run"]: row["mean"] or 0.0 for row in tracker.history_report("ndcg@10").rows if row["run"] != "trial 3"
    }
    best, following = sorted(means, key=lambda run: -means[run])[:2]
    notes = [note for note in tracker.history_report("ndcg@10").notes if "study" in note]
    assert notes == [
        "3 of these 4 runs are trials of study 'grid 1', whose order says little; to see whether the best trial "
        "beats the next: "
        f"ndcg-track compare '{following}' '{best}' --dataset default --metric ndcg@10"
    ] * (n_trials == 3)


def test_a_slow_drift_is_one_row(tracker: nt.Tracker) -> None:
    for number in range(24):
        rng = np.random.default_rng(number)
        is_right = rng.random(N_QUERIES) < 0.9 - 0.025 * number
        scores = [score for right in is_right for score in ([3.0, 2.0, 1.0] if right else [2.0, 3.0, 1.0])]
        tracker.ingest({**shop_run(False, 1), "score": scores}, name=f"r{number}")
    frame = tracker.history()
    assert not frame["step"].any()
    (row,) = frame[frame["drift_runs"].notna()].to_dict("records")
    assert (row["run"], row["drift_between"], row["drift_runs"]) == ("r23", ("r0", "r23"), 24)
    assert row["drift_ci"][0] < row["drift_change"] < row["drift_ci"][1] < 0
    assert row["drift_change"] == pytest.approx(-0.025 * 23 * (1 - 1 / np.log2(3)), rel=0.2)


METRIC = "ndcg(missing=skip, empty=skip)@10"


def test_groups_that_not_all_runs_have(tracker: nt.Tracker) -> None:
    """A run that lacks a few groups takes those from all; one that lacks many is left out and said."""
    full = shop_run(False, 1, 100)
    for name, n_queries in (("a", 100), ("b", 98), ("few", 20), ("c", 100)):
        part = {key: column[: n_queries * 3] for key, column in shop_run(name == "c", 1, 100).items()}
        part.pop("label")
        labels = {key: full[key] for key in ("group", "item", "label")}
        tracker.ingest(part, name=name, metrics=METRIC, labels=labels)
    report = tracker.history_report(METRIC)
    assert report.notes == (
        "few has results for 20 groups, the runs before and after it for 98: not compared with them",
        "steps use the 98 queries, of up to 100, that have results in all runs",
    )
    assert [row["delta"] is None for row in report.rows] == [True, False, True, False]
    old, new = (nt.evaluate(shop_run(broken, 1, 98), METRIC).per_group[METRIC].to_numpy() for broken in (False, True))
    assert report.rows[3]["delta"] == pytest.approx(paired_t(new - old).mean)


def test_a_mean_that_no_test_covers_has_differences_and_no_steps(tracker: nt.Tracker) -> None:
    metric = "ndcg(empty=1, empty_weight=one, weights=group)"
    shop = {"group": ["q1", "q1", "q2"], "item": ["a", "b", "c"], "label": [0, 1, 0], "weight": [0.5, 0.5, 1.5]}
    means = [
        tracker.ingest({**shop, "score": score}, name=name, metrics=metric).metrics[0].mean or 0.0
        for name, score in (("a", [2.0, 1.0, 1.0]), ("b", [1.0, 2.0, 1.0]))
    ]
    report = tracker.history_report(metric)
    assert report.notes == (sentence(NO_INFERENCE),)
    assert [row["delta"] for row in report.rows] == [None, means[1] - means[0]]
    assert [row["step"] for row in report.rows] == [False, False]


def test_the_words_of_a_filter() -> None:
    full = HistoryFilter(tags={"branch": "main"}, commit="abc", since="2025-01-01", until="2025-01-02", last=5)
    assert full.words == "tag branch=main, commit abc, since 2025-01-01, until 2025-01-02, last 5"
    assert HistoryFilter().words == ""


def test_groups_that_a_run_lacks_and_that_count_are_told(tracker: nt.Tracker) -> None:
    groups = [f"q{number}" for number in range(30)]
    for name, n_kept in (("whole", 30), ("half", 15)):
        run = {"group": groups[:n_kept], "item": ["a"] * n_kept, "score": [1.0] * n_kept}
        labels = {"group": groups, "item": ["a"] * 30, "label": [1] * 30}
        tracker.ingest(run, name=name, labels=labels, dataset="shop", metrics=["ndcg@10", "trec_eval:map"])
    (found,) = [
        note
        for note in tracker.history_report("ndcg@10", dataset="shop").history.notes
        if note.kind == "history_lacking"
    ]
    assert found.facts == {"runs": [("half", 15)], "n_groups": 30, "metric": "ndcg@10"}
    assert found.command[3:] == (
        *("--dataset", "shop", "--metric", "ndcg(missing=skip)@10", "--labels", "1"),
    )  # the labels that the runs have
    tracker.rescore(metrics=found.command[-3], dataset="shop")
    for metric in (found.command[-3], "trec_eval:map"):
        notes = tracker.history_report(metric, dataset="shop").history.notes
        assert not any(note.kind == "history_lacking" for note in notes)


def lacking_run(seed: int, n_lacking: int, n_groups: int = 120) -> dict[str, list[object]]:
    """Return a run that ranks three items for each group but the first ones, the relevant one mostly on top."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{group:03}", item, float(score))
        for group in range(n_lacking, n_groups)
        for item, score in zip("abc", rng.permutation(3) + np.array([1.5, 0, 0]), strict=True)
    ]
    return dict(zip(("group", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))


def test_a_step_says_how_many_groups_vanished_or_came(tracker: nt.Tracker) -> None:
    """Also where it is only possible, and of a suite; a metric that leaves such groups out says nothing."""
    labels = {"group": [f"q{group:03}" for group in range(120)], "item": ["a"] * 120, "label": [1] * 120}
    n_lacking = [0, 0, 0, 0, 0, 0, 20, 20, 20, 20, 20, 20, 0, 0, 0, 0, 0, 0]
    for dataset in ("one", "two"):
        for night, n in enumerate(n_lacking):
            tracker.ingest(
                lacking_run(night, n),
                name=f"n{night:02}",
                dataset=dataset,
                labels=labels,
                metrics=["RR", "RR(missing=skip)"],
                created_at=f"2026-01-{night + 1:02}",
            )
    tracker.create_suite("both", ["one", "two"])
    report = tracker.history_report("RR", dataset="one")
    assert moved(report) == {"n06": 20, "n12": -20}
    steps = [(row["run"], row["step_between"], row["step_possible"]) for row in report.rows if row["step"]]
    assert steps == [("n06", ("n06", "n06"), False), ("n12", ("n12", "n12"), False)]
    text = history_answer(report, HistoryFilter()).in_format("text")
    assert "\n20 queries vanished: stepped down at n06 (run 7): -0.1604 [-0.2272, -0.0937]\n" in text
    assert "\n20 queries came: stepped up at n12 (run 13): +0.1206 [+0.0585, +0.1827]\n" in text
    news = [row["news"] for row in report.plot().spec["data"]["values"] if row["news"]]
    assert news == ["20 queries vanished", "20 queries came"]
    of_suite = tracker.history_report("RR", suite="both")
    assert moved(of_suite) == {"n06": 40, "n12": -40}
    assert [row["run"] for row in of_suite.rows if row["step"]] == ["n06"]  # the other is not found, but told
    assert "\n40 queries came at n12 (run 31): +0.1208\n" in history_answer(of_suite, HistoryFilter()).in_format("text")
    assert moved(tracker.history_report("RR(missing=skip)", dataset="one")) == {}


def moved(report: HistoryResult) -> dict[str, int]:
    return {row["run"]: row["n_vanished"] for row in report.rows if row["n_vanished"]}


def test_a_group_in_a_hundred_is_the_least_that_is_told(tracker: nt.Tracker) -> None:
    for night, n_lacking in enumerate([0, 1, 0, 2]):
        labels = {"group": [f"q{group:03}" for group in range(120)], "item": ["a"] * 120, "label": [1] * 120}
        tracker.ingest(lacking_run(night, n_lacking), name=f"n{night}", labels=labels, metrics="RR")
    assert moved(tracker.history_report("RR")) == {"n3": 2}


def test_the_line_of_a_chart_ends_where_other_labels_begin(tracker: nt.Tracker) -> None:
    """A version that comes back is another stretch: the line does not go on across the runs between."""
    labels = {"group": ["q000", "q001"], "item": ["a", "a"], "label": [1, 1]}
    for night in range(4):
        tracker.ingest(lacking_run(night, 0, 2), name=f"n{night}", labels=labels, metrics="RR")
    tracker.add_labels({"group": ["q000", "q001"], "item": ["b", "a"], "label": [1, 1]})
    tracker.rescore(["n1", "n2"])
    spec = tracker.history_report("RR").plot().spec
    assert [(row["labels"], row["stretch"], row["news"]) for row in spec["data"]["values"]] == [
        ("1", 0, ""),
        ("2", 1, "labels 2"),
        ("2", 1, ""),
        ("1", 2, "labels 1"),
    ]
    assert {layer["encoding"].get("detail", {}).get("field") for layer in spec["layer"][:2]} == {"stretch"}
