"""A run and labels with nothing in common, and labels that fit those before badly, are refused unless allowed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from refused import refusal_of
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.integrations.training import ValidationRows

MEANT = "; if that is meant, give allow='no-overlap'"
NO_GROUP = (
    "no group of the run has labels: the run has '1', '2', '3' and others, the labels have 'q0', 'q1', 'q2' and "
    "others; give labels of the same groups, with ids written the same way"
)
ELSEWHERE = (
    "its labels have no group in common with version 1 of the dataset's labels: they have '1', '2', '3' and others, "
    "version 1 has 'q0', 'q1', 'q2' and others"
)
NO_ITEM = (
    "none of its items has a label, so every result is 0 or undefined: the run has '10', but the labels have 'u10'; "
    "the ids of the labels start with 'u' (ndcg@10 is 1.0000 if 'u' is left out); write both the same way"
)
CARRY = ", or map the ids with: ndcg-track labels carry --pattern '^u' --dataset "
N = 25


def queries(n: int = N) -> list[str]:
    return [f"q{number}" for number in range(n)]


def numbered(n: int = N) -> list[str]:
    return [str(number + 1) for number in range(n)]


def rows(groups: Sequence[str], item: str = "1", **columns: float) -> dict[str, Any]:
    """Return two items per group, with these values for the first; the second has 0."""
    table: dict[str, Any] = {"group": [group for group in groups for _ in range(2)]}
    table["item"] = [f"{item}{place}" for _ in groups for place in range(2)]
    return table | {name: [value, 0.0] * len(groups) for name, value in columns.items()}


def tags(tracker: nt.Tracker, run: str) -> dict[str, Any]:
    return dict(tracker.run(run)[0].tags)


def test_row_groups_with_labels_of_their_own_do_not_join_the_labels_of_queries(
    tracker: nt.Tracker, ready_url: str
) -> None:
    tracker.ingest(rows(queries(), score=1.0, label=1.0), name="a")
    before = row_counts(ready_url)
    by_row = rows(numbered(), score=1.0, label=1.0)
    told = refusal_of(nt.InputError, tracker.ingest, by_row, name="b")
    assert told == f"b: {ELSEWHERE}; write the ids the same way, or use another dataset={MEANT}"
    assert row_counts(ready_url) == before
    assert tracker.rescore() == tracker.rescore("a")
    assert tracker.compare("a", "a").comparisons[0].metrics[0].baseline == 1.0
    stored = tracker.ingest(by_row, name="b", allow="no-overlap")
    assert stored.label_set_version == 2
    assert ELSEWHERE in stored.notes
    assert (tags(tracker, "a"), tags(tracker, "b")) == ({}, {"allowed": "no-overlap"})


def test_labels_apart_of_other_groups_do_not_become_the_newest(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(rows(queries(), score=1.0), name="a", labels=rows(queries(), label=1.0))
    before = row_counts(ready_url)
    told = refusal_of(
        nt.InputError, tracker.ingest, rows(numbered(), score=1.0), name="b", labels=rows(numbered(), label=1.0)
    )
    assert told.startswith(f"b: {ELSEWHERE}; ")
    assert row_counts(ready_url) == before
    some = [*numbered(), "q3"]
    assert tracker.ingest(rows(some, score=1.0), name="b", labels=rows(some, label=1.0)).label_set_version == 2


def test_a_group_in_common_is_enough(tracker: nt.Tracker) -> None:
    tracker.ingest(rows(queries(), score=1.0, label=1.0), name="a")
    stored = tracker.ingest(rows([*numbered(), "q0"], score=1.0, label=1.0), name="b")
    assert stored.label_set_version == 2
    assert tags(tracker, "b") == {}


@pytest.mark.parametrize("n", [1, 19, 20])
def test_no_group_in_common_is_refused_however_few_there_are(tracker: nt.Tracker, n: int) -> None:
    tracker.add_labels(rows(queries(n), label=1.0))
    told = refusal_of(nt.InputError, tracker.ingest, rows(numbered(n), score=1.0), name="b")
    assert told.startswith("b: no group of the run has labels: the run has '1'")
    assert told.endswith(MEANT)
    stored = tracker.ingest(rows(numbered(n), score=1.0), name="b", allow=["no-overlap"])
    assert (stored.metrics[0].mean, stored.notes[0]) == (0.0, told.removeprefix("b: ").removesuffix(MEANT))
    assert tags(tracker, "b") == {"allowed": "no-overlap"}


@pytest.mark.parametrize("way", ["apart", "stored"])
def test_no_labelled_item_is_refused_from_20_groups_on(tracker: nt.Tracker, way: str) -> None:
    for n, dataset in ((19, "few"), (20, "many")):
        labels = rows(queries(n), "u1", label=1.0)
        if way == "stored":
            tracker.add_labels(labels, dataset=dataset)
        given = {"name": "run", "dataset": dataset, "tags": {"by": "me"}, "labels": labels if way == "apart" else None}
        run = rows(queries(n), score=1.0)
        if n == 19:
            assert tracker.ingest(run, **given).notes[0] == f"{NO_ITEM}{CARRY}few"  # type: ignore[arg-type]
            continue
        assert refusal_of(nt.InputError, tracker.ingest, run, **given) == f"run: {NO_ITEM}{CARRY}many{MEANT}"
        stored = tracker.ingest(run, **given, allow="no-overlap,")  # type: ignore[arg-type]
        assert (stored.metrics[0].mean, stored.notes[0]) == (0.0, f"{NO_ITEM}{CARRY}many")
        (found,) = (found for found in tracker.runs("many") if found.name == "run")
        assert found.tags == {"by": "me", "allowed": "no-overlap"}
        assert tracker.ingest(run, **given).outcome == "already stored"  # type: ignore[arg-type]


def test_what_is_allowed_and_does_not_come_is_not_told(tracker: nt.Tracker) -> None:
    stored = tracker.ingest(rows(queries(), score=-1.0, label=1.0), name="a", allow="no-overlap")
    assert (stored.notes, tags(tracker, "a")) == ((), {})


def test_an_unknown_name_is_refused(tracker: nt.Tracker) -> None:
    table = rows(queries(), score=1.0, label=1.0)
    told = (
        "allow='overlap' is unknown; give failed or no-overlap or duplicates:first or duplicates:best or "
        "duplicates:same or duplicates:mean or bad-grades or changed-texts"
    )
    assert refusal_of(nt.InputError, tracker.ingest, table, name="a", allow="no-overlap,overlap") == told
    assert refusal_of(nt.InputError, nt.evaluate, table, allow=["overlap"]) == told


def test_evaluate_refuses_the_same() -> None:
    run = rows(queries(), score=1.0)
    for labels, what in ((rows(queries(), "u1", label=1.0), NO_ITEM), (rows(queries(), label=1.0), NO_GROUP)):
        frame = run if what is NO_ITEM else rows(numbered(), score=1.0)
        assert refusal_of(nt.InputError, nt.evaluate, frame, labels=labels) == what + MEANT
        with pytest.warns(UserWarning, match=what[:30]):
            allowed = nt.evaluate(frame, labels=labels, allow="no-overlap")
        assert (allowed["ndcg@10"], allowed.notes) == (0.0, (what,))


@pytest.mark.parametrize("differing", [2, 3])
def test_labels_that_contradict_a_tenth_of_the_newest_are_another_judge_dataset_or_correction(
    tracker: nt.Tracker, ready_url: str, tmp_path: Path, differing: int
) -> None:
    """Of 20 pairs in both versions, two may differ."""
    tracker.ingest(rows(queries(10), score=1.0), name="a", labels=rows(queries(10), label=4.0))
    newer = rows(queries(11), label=4.0)
    newer["label"][: 2 * differing : 2] = [1.0] * differing
    path = tmp_path / "clicks.csv"
    path.write_text("group,item,label\n" + "".join(f"{g},{i},{v}\n" for g, i, v in zip(*newer.values(), strict=True)))
    before = row_counts(ready_url)
    if differing == 2:
        assert tracker.ingest(rows(queries(10), score=2.0), name="b", labels=path).label_set_version == 2
        return
    assert refusal_of(nt.ConflictError, tracker.ingest, rows(queries(10), score=2.0), name="b", labels=path) == (
        "15% of grades differ, 0-4 became 0-4: another judge (judge='clicks'), another dataset=, or a correction "
        f"(ndcg-track labels add {path} --dataset default)?"
    )
    assert row_counts(ready_url) == before
    run = rows(queries(10), score=2.0)
    assert tracker.ingest(run, name="b", labels=path, judge="clicks").label_set_version == 2
    tracker.add_labels(path)
    assert tracker.ingest(run, name="c", labels=path).label_set_version == 3


def test_grades_that_became_binary(tracker: nt.Tracker) -> None:
    graded = rows(queries(), label=4.0)
    tracker.ingest(rows(queries(), score=1.0), name="a", labels=graded)
    binary = graded | {"label": [min(grade, 1.0) for grade in graded["label"]]}
    told = refusal_of(nt.ConflictError, tracker.ingest, rows(queries(), score=2.0), name="b", labels=binary)
    assert told.startswith("50% of grades differ, 0-4 became 0-1: another judge")


def test_a_sealed_dataset_says_nothing_about_overlap(tracker: nt.Tracker, held: str) -> None:
    """A refusal would tell which items have labels."""
    tracker.add_labels(rows(queries(60), "u1", label=1.0))
    tracker.split_dataset("default", seal=0.5, metric="ndcg@10", margin=0.01)
    for allow in ("", "no-overlap"):
        stored = tracker.ingest(rows(queries(60), score=2.0), name=f"run{allow}", dataset="default-sealed", allow=allow)
        assert (stored.outcome, stored.notes, stored.is_sealed) == ("stored", (), True)
    with tracker.store(dataset="default-sealed").read() as tx:
        assert [run.tags for run in tx.runs.all()] == [{}, {}]


EMPTY: list[tuple[str, dict[str, Any]]] = [
    ('{"responses":[{"hits":{"hits":[]},"status":200},{"hits":{"hits":[]},"status":200}]}', {"group": "@ids.txt"}),
    ('{"query_id": "q0", "results": []}\n{"query_id": "q1", "results": []}\n', {"items": "results"}),
    ('[{"query_id": "q0", "results": []}, {"query_id": "q1", "results": []}]', {"items": "results"}),
]


@pytest.mark.parametrize(("text", "named"), EMPTY)
def test_a_run_of_which_every_list_is_empty_is_stored_with_0(
    tracker: nt.Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, named: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ids.txt").write_text("q0\nq1\n")
    Path("found.json" if text.startswith("[") or "responses" in text else "found.jsonl").write_text(text)
    (path,) = (path for path in tmp_path.iterdir() if path.stem == "found")
    labels = rows(queries(30), label=1.5)
    with pytest.warns(UserWarning, match="all its lists are empty"):
        found = nt.evaluate(path, ["ndcg@10", "AP"], labels=labels, **named)
    assert found.to_dict() == {"ndcg@10": 0.0, "AP": 0.0}
    tracker.ingest(rows(queries(30), score=1.0), name="a", labels=labels)
    stored = tracker.ingest(path, **named)
    assert (stored.metrics[0].mean, stored.n_items, stored.notes) == (0.0, 0, ("all its lists are empty",))
    assert tracker.ingest(path, **named).outcome == "already stored"
    compared = tracker.compare("a", "found").comparisons[0].metrics[0]
    assert (compared.baseline, compared.candidate, compared.losses) == (1.0, 0.0, 30)


@pytest.mark.parametrize("text", ["", "[]"])
def test_a_file_without_a_record_is_refused(tracker: nt.Tracker, tmp_path: Path, text: str) -> None:
    tracker.add_labels(rows(queries(), label=1.0))
    (tmp_path / "found.json").write_text(text)
    with pytest.raises(nt.InputError, match=r"is empty; give a file|there are no rows; give at least one"):
        tracker.ingest(tmp_path / "found.json")


def test_a_version_that_empties_a_tenth_of_the_groups_has_to_say_so(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.add_labels(rows(queries(20), label=1.0))
    tracker.ingest(rows(queries(20), score=1.0), name="a")
    before = row_counts(ready_url)
    one = {"group": ["q0"], "item": ["10"], "label": [2.0]}
    told = "19 of the 20 groups of version 1 would have no labels left; add to that version with extend=True, or "
    told += "replace it with replace=True"
    for rescore in (False, True):
        assert refusal_of(nt.ConflictError, tracker.add_labels, one, rescore=rescore) == told
    both = refusal_of(nt.InputError, tracker.add_labels, one, extend=True, replace=True)
    assert (
        both
        == "extend= does not go with replace=: one adds to the latest version, the other replaces it; leave one out"
    )
    assert row_counts(ready_url) == before
    assert tracker.add_labels(rows(queries(18), label=1.0)) == (2, True)  # a tenth less
    new = {"group": ["q0"], "item": ["19"], "label": [2.0]}
    assert tracker.add_labels(new, extend=True) == (3, True)
    assert tracker.add_labels(one, judge="ann") == (4, True)  # the first of this judge
    assert tracker.add_labels(one, replace=True) == (5, True)
    assert [version.n_groups for version in tracker.label_versions()] == [20, 18, 18, 1, 1]
    assert tracker.add_labels(rows(queries(20), label=1.0)) == (1, False)  # changes nothing


def test_the_labels_of_validation_rows_belong_to_one_dataset(tracker: nt.Tracker) -> None:
    """All that ``TrainingRuns`` of any library stores has the rows' own labels."""
    ranked = ValidationRows([1, 0] * N, group=[group for group in queries() for _ in range(2)]).ranked([2.0, 1.0] * N)
    tracker.ingest(ranked, name="one")
    other = ValidationRows([1, 0] * N, group=[group for group in numbered() for _ in range(2)]).ranked([2.0, 1.0] * N)
    assert refusal_of(nt.InputError, tracker.ingest, other, name="two").startswith(f"two: {ELSEWHERE}; ")
