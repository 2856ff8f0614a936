"""The digest of a history: what is new since a run."""

from __future__ import annotations

from typing import Any

import pytest
from command_line import CommandLine

import ndcg_tracker as nt
from ndcg_tracker.errors import ReferenceNotFoundError

N = 200


def night(number: int) -> dict[str, list[Any]]:
    """One night: from the fourth on, every fifth query is wrong; a few others scatter."""
    bad = [(number > 3 and query % 5 == 0) or query % 40 == number for query in range(N)]
    score = [value for is_bad in bad for value in ([1.0, 2.0, 3.0] if is_bad else [2.0, 1.0, 0.0])]
    groups = [f"q{query:03}" for query in range(N) for _ in range(3)]
    return {"group": groups, "item": ["a", "b", f"new{number}"] * N, "score": score}


LABELS = {
    "group": [f"q{query:03}" for query in range(N) for _ in range(2)],
    "item": ["a", "b"] * N,
    "label": [1, 0] * N,
}


@pytest.fixture
def nights(tracker: nt.Tracker) -> nt.Tracker:
    for number in range(1, 7):
        tracker.ingest(
            night(number), labels=LABELS, name=f"night-{number}", dataset="shop", tags={"odd": str(number % 2)}
        )
    keys = LABELS["group"][::2]
    tracker.set_groups({"group": keys, "locale": ["ja" if at % 5 == 0 else "de" for at in range(N)]}, dataset="shop")
    tracker.add_texts({"group": keys, "text": [f"near oslo {at}" for at in range(N)]}, dataset="shop")
    return tracker


def test_a_digest_has_what_is_new_since_a_run(nights: nt.Tracker) -> None:
    more = {"group": ["q000"], "item": ["new6"], "label": [0]}
    nights.add_labels(more, dataset="shop", extend=True)
    found = nights.history_digest("night-3", dataset="shop").to_dict()
    assert list(found) == ["dataset", "metric", "since", "runs", "steps", "worst", "labels", "needed", "notes"]
    assert (found["since"]["run"], [row["run"] for row in found["runs"]]) == (
        "night-3",
        ["night-4", "night-5", "night-6"],
    )
    (step,) = found["steps"]
    assert (step["run"], step["step_where"]["found"][0]["value"]) == ("night-4", "ja")
    lost = nights.compare("night-3", "night-6", dataset="shop", metrics=["ndcg@10"], top=5).comparisons[0].worst
    told = [(of["group"], of["delta"], of["text"]) for of in found["worst"]]
    assert told == [(of.group, of.delta, f"near oslo {int(of.group[1:])}") for of in lost]
    (added,) = found["labels"]
    assert (added["version"], added["extends"], added["n_labels"]) == (2, 1, 2 * N + 1)
    needed = nights.labels_needed("night-3", "night-6", dataset="shop", metric="ndcg@10").needed
    assert (found["needed"]["n_unjudged"], len(found["needed"]["items"])) == (needed.n_unjudged, 5)


def test_labels_are_new_after_the_run_was_stored_whatever_its_date(tracker: nt.Tracker) -> None:
    for number in range(1, 4):
        of_night = {"name": f"night-{number}", "dataset": "shop", "created_at": f"2020-01-0{number}"}
        tracker.ingest(night(number), labels=LABELS if number == 1 else None, **of_night)
        if number == 2:
            tracker.add_labels({"group": ["q000"], "item": ["new1"], "label": [0]}, dataset="shop", extend=True)
    added = {
        after: [of["version"] for of in tracker.history_digest(after, dataset="shop").labels]
        for after in ("night-1", "night-2", "night-3")
    }
    assert added == {"night-1": [2], "night-2": [2], "night-3": []}


def test_a_digest_tells_a_step_once(nights: nt.Tracker) -> None:
    steps = {
        after: [row["run"] for row in nights.history_digest(after, dataset="shop").steps]
        for after in ("night-2", "night-4", "night-6")
    }
    assert steps == {"night-2": ["night-4"], "night-4": [], "night-6": []}


def test_a_digest_of_chosen_runs_begins_after_the_last_old_one_of_them(nights: nt.Tracker) -> None:
    digest = nights.history_digest("night-4", dataset="shop", tags={"odd": "1"})
    assert (digest.since["run"], [row["run"] for row in digest.runs]) == ("night-3", ["night-5"])
    with pytest.raises(ReferenceNotFoundError) as raised:
        nights.history_digest("night-4", dataset="shop", last=1)
    assert str(raised.value) == (
        "none of the runs that are asked for is as old as 'night-4'; name an older run, or use fewer filters"
    )
    with pytest.raises(ReferenceNotFoundError) as raised:
        nights.history_digest("night-4", dataset="shop", branch="main")
    assert str(raised.value).startswith("none of the 6 runs of dataset 'shop' with ndcg@10 has tag branch=main; ")


def test_a_digest_without_a_shared_version_says_what_to_type(nights: nt.Tracker) -> None:
    nights.add_labels({**LABELS, "label": [2, 0] * N}, dataset="shop", replace=True)
    nights.ingest(night(7), name="night-7", dataset="shop")
    digest = nights.history_digest("night-6", dataset="shop")
    (problem,) = digest.problems
    assert "ndcg-track rescore" in problem
    assert (digest.comparison, digest.needed, [row["run"] for row in digest.runs]) == (None, None, ["night-7"])
    assert problem.partition(":")[0] in " ".join(str(digest).split())


def test_a_digest_fits_a_screen_and_ends_with_the_exit_code_of_a_step(nights: nt.Tracker, command: CommandLine) -> None:
    command.said("alias", "set", "told", "night-3", "--dataset", "shop")
    asked = ("history", "--dataset", "shop", "--digest", "@told")
    shown = command(*asked, "--exit-code")
    assert (shown.code, shown.err) == (6, "")
    text = shown.out.splitlines()
    assert text[0].startswith("ndcg@10 on shop since night-3 (")
    assert text[0].endswith("): 3 new runs, 1 new step")
    assert len(text) <= 24
    assert "near oslo 0" in shown.out
    assert "ndcg-track labels needed night-3 night-6 --dataset shop --metric ndcg@10" in shown.out
    assert command.done(*asked, "--format", "markdown").startswith("### ndcg@10 on shop since night-3 (")
    assert command.done(*asked, "--format", "csv").count("\n") == 4
    command.said("alias", "set", "told", "night-6", "--dataset", "shop")
    again = command(*asked, "--exit-code")
    assert (again.code, again.out.splitlines()[0].rpartition(": ")[2]) == (0, "no new run")


def test_a_digest_refuses_what_it_does_not_show(command: CommandLine) -> None:
    message = command.refused("history", "--digest", "latest", "--new-steps")
    assert message == (
        "--new-steps does not go with --digest: a digest has the new steps, the latest last; leave one out"
    )
    message = command.refused("history", "--digest", "latest", "--suite", "all")
    assert message == "--digest does not go with --suite: a suite has several datasets; leave one out"
