"""The budget of a policy: what counts as a look, what begins anew, the levels that decide, and what is refused."""

import csv
import io
import itertools
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from command_line import CommandLine
from gated import BASE, N_GROUPS, decisions, refusal, worse
from ranked_runs import frame_of_ranks, labels_of_ranks
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.ingest.frames import read_label_frame
from ndcg_tracker.integrations.pytest_plugin import NdcgGate
from ndcg_tracker.questions.gate.decide_bounds import look_level
from ndcg_tracker.runs.check import check_database

pq = pytest.importorskip("pyarrow.parquet")
_numbers = itertools.count()
POLICY: dict[str, Any] = {"margin": 0.06, "budget": 0.05, "looks": 40, "set_by": "ada"}


@pytest.fixture
def owned(pinned: nt.Tracker) -> nt.Tracker:
    """The candidates, and a policy of @prod with a budget for 40 looks."""
    pinned.set_policy("@prod", **POLICY)
    return pinned


def look(tracker: nt.Tracker, candidate: str = "noisy", **asked: Any) -> int:
    """Return which look it is to ask what was not asked before: with a margin that is smaller in the ninth digit."""
    found = tracker.gate(
        candidate, **{"baseline": "@prod", "margin": 0.06 - next(_numbers) * 1e-9, **asked}
    ).gated.basis.look
    assert found is not None
    return found.number


def renamed(tracker: nt.Tracker) -> None:
    tracker.rename_run("base", "base-2025")


def set_again(tracker: nt.Tracker) -> None:
    tracker.set_alias("prod", "base")


def newer_labels(tracker: nt.Tracker) -> None:
    labels = labels_of_ranks(N_GROUPS)
    labels["label"][0] = 0
    tracker.add_labels(read_label_frame(labels), dataset="shop", rescore=True)


def other_policy(tracker: nt.Tracker) -> None:
    tracker.set_policy("prod", **POLICY | {"max_harm": ".9:90%"})


def deleted(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of_ranks(worse(60, 60)), name="copy", dataset="shop")
    tracker.delete_runs(["noisy"])
    tracker.rename_run("copy", "noisy")


def replaced(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of_ranks(worse(1)), name="base", dataset="shop", replace=True)


def other_metric(tracker: nt.Tracker) -> None:
    tracker.rescore(metrics=["ndcg@11"])
    tracker.set_policy("prod", **POLICY | {"metric": "ndcg@11"})


STILL_COUNTS: dict[str, Callable[[nt.Tracker], None]] = {
    "the alias is set to the run that it names": set_again,
    "the run is renamed": renamed,
    "newer labels": newer_labels,
    "the policy has another rule": other_policy,
    "the policy has another metric": other_metric,
    "the candidate is deleted": deleted,
    "the lists of the baseline are replaced": replaced,
}


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("change", STILL_COUNTS)
def test_looks_still_count(owned: nt.Tracker, change: str) -> None:
    assert [look(owned), look(owned, "small")] == [1, 2]
    STILL_COUNTS[change](owned)
    assert look(owned) == 3
    assert decisions(owned)[-1].look == 3


def moved(tracker: nt.Tracker) -> None:
    tracker.set_alias("prod", "same", set_by="bob")


def there_and_back(tracker: nt.Tracker) -> None:
    tracker.set_alias("prod", "same", set_by="bob")
    tracker.set_alias("prod", "base", set_by="eve")


def made_again(tracker: nt.Tracker) -> None:
    tracker.delete_alias("prod", deleted_by="bob")
    tracker.set_alias("prod", "base", set_by="eve")


def reset(tracker: nt.Tracker) -> None:
    alias, n_looks = tracker.reset_gate("@prod", reason=" new \n season ", reset_by="eve")
    assert (alias.name, alias.dataset, n_looks) == ("prod", "shop", 2)


ANEW: dict[str, tuple[Callable[[nt.Tracker], None], list[tuple[str, str]]]] = {
    "moved": (moved, [("bob", "moved to same")]),
    "there and back": (there_and_back, [("bob", "moved to same"), ("eve", "moved to base")]),
    "made again": (made_again, [("bob", "deleted"), ("eve", "moved to base")]),
    "reset": (reset, [("eve", "new season")]),
}


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("change", ANEW)
def test_what_begins_anew_is_on_the_record_and_said(owned: nt.Tracker, change: str) -> None:
    assert [look(owned), look(owned)] == [1, 2]
    made, said = ANEW[change]
    made(owned)
    assert [(act.by, act.after) for act in owned.policy_history("prod") if act.rule == "restart"] == said
    result = owned.gate("noisy", baseline="@prod")
    assert result.gated.basis.look is not None
    assert result.gated.basis.look.number == 1
    by, why = said[-1]
    assert f"UTC: {why}, by {by}\n" in result.to_text(verbose=True)
    rows = owned.query("SELECT dataset, reason, reset_by FROM gate_resets").rows
    assert [tuple(row) for row in rows] == [("shop", why, by) for by, why in said]


def test_a_reset_is_of_looks_at_an_alias(owned: nt.Tracker) -> None:
    nothing = refusal_of(nt.InputError, owned.reset_gate, "@prod", reason="x")
    assert nothing == "no look at @prod counts; there is nothing to reset"
    empty = refusal_of(nt.InputError, owned.reset_gate, "@prod", reason=" \n")
    assert empty == "reason= is empty; say why earlier looks no longer count"
    unknown = refusal_of(nt.ReferenceNotFoundError, owned.reset_gate, "base", reason="x")
    assert unknown == "no alias '@base'; the aliases are: @prod"
    assert owned.query("SELECT COUNT(*) FROM gate_resets").rows[0][0] == 0


def test_a_gate_without_a_budget_is_no_look(pinned: nt.Tracker) -> None:
    plain = pinned.gate("noisy", baseline="@prod", margin=0.06)
    pinned.set_policy("prod", margin=0.06)
    assert plain.gated.basis.look is pinned.gate("noisy", baseline="@prod").gated.basis.look is None
    pinned.set_policy("prod", **POLICY)
    assert look(pinned) == 1
    pinned.gate("noisy", baseline="base", margin=0.2)
    assert look(pinned) == 2
    assert [one.look for one in decisions(pinned)] == [None, None, 1, None, 2]


@pytest.mark.nightly(but=2)
def test_an_export_brings_policies_looks_and_restarts(owned: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    assert [look(owned), look(owned)] == [1, 2]
    owned.reset_gate("@prod", reason="new season", reset_by="ada")
    assert look(owned) == 1
    owned.export_runs(tmp_path / "out")
    other.import_runs(tmp_path / "out")
    assert look(owned) == 2
    assert look(other) == 2
    assert [(of.alias, of.rules, of.set_by) for of in other.policies()] == [
        (of.alias, of.rules, of.set_by) for of in owned.policies()
    ]
    assert len(other.policy_history("prod")) == len(owned.policy_history("prod"))


LEVELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "slices": ({"by": "half", "slice_margin": 0.5}, {}),
    "harm": ({"max_harm": ".9:50%"}, {}),
    "clusters": ({"cluster": "user"}, {}),
    "arms": ({}, {"candidate": "tag:aa=noisy"}),
    "limits": ({"limits": {"latency_ms": "+10%"}}, {}),
}


@pytest.fixture
def sliced(pinned: nt.Tracker) -> nt.Tracker:
    """Candidates with slices, clusters of two groups, a repeat, and a measure."""
    groups = [f"q{number:04}" for number in range(N_GROUPS)]
    halves = ["odd" if number % 4 < 2 else "even" for number in range(N_GROUPS)]
    users = [f"u{number // 2}" for number in range(N_GROUPS)]
    pinned.set_groups({"group": groups, "half": halves, "user": users}, dataset="shop")
    pinned.ingest(frame_of_ranks([*BASE[:120], *worse(60, 60)[:120]]), name="noisy2", dataset="shop")
    for name in ("noisy", "noisy2"):
        pinned.tag_run(name, {"aa": "noisy"})
    for name in ("base", "noisy"):
        pinned.tag_run(name, {"latency_ms": "10"})
    return pinned


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("way", LEVELS)
def test_the_levels_decide(sliced: nt.Tracker, way: str) -> None:
    """What PASSes at 5% is INCONCLUSIVE at the level of a look where that is low enough; all ways to FAIL share it."""
    n_ways = 2 if way in ("slices", "harm") else 1
    rules, given = LEVELS[way]
    asked = {"candidate": "noisy", "baseline": "@prod"} | given
    sliced.set_policy("prod", margin=0.04, **rules)
    assert sliced.gate(**asked, dry_run=True).decision == "pass"
    sliced.set_policy("prod", margin=0.04, **rules, budget=0.05, looks=40)
    found = sliced.gate(**asked).to_dict()
    assert (found["pass_level"], found["fail_alpha"]) == (1 - 0.05 / 40, 0.05 / 40 / n_ways)
    assert found["look"] == {"number": 1, "budget": 0.05, "looks": 40, "level": 0.05 / 40}
    sliced.set_policy("prod", margin=0.04, **rules, budget=1e-9, looks=1000)
    found = sliced.gate(**asked).to_dict()
    assert (found["decision"], found["pass_level"]) == ("inconclusive", 1 - 1e-12)
    record = decisions(sliced)[-1]
    assert (record.alpha, record.budget, record.looks, record.look) == (1e-12 / n_ways, 1e-9, 1000, 2)


def test_levels_without_an_end(pinned: nt.Tracker) -> None:
    pinned.set_policy("prod", margin=0.06, budget=0.05)
    assert [look(pinned) for _ in range(4)] == [1, 2, 3, 4]
    assert [record.alpha for record in decisions(pinned)] == [look_level(number, 0.05) for number in range(1, 5)]


def test_after_the_last_look_every_decision_is_open(pinned: nt.Tracker, ready_url: str) -> None:
    pinned.set_policy("prod", margin=0.06, budget=0.05, looks=2, by="half", slice_margin=0.5, max_harm=".9:90%")
    halves = {"group": [f"q{number:04}" for number in range(N_GROUPS)], "half": ["a", "b"] * (N_GROUPS // 2)}
    pinned.set_groups(halves, dataset="shop")
    first = pinned.gate("same", baseline="@prod")
    assert (first.decision, look(pinned)) == ("pass", 2)
    for number, name in ((3, "drop"), (4, "small")):
        found = pinned.gate(name, baseline="@prod")
        assert (found.decision, found.reason) == ("inconclusive", "the budget is spent, so nothing is decided")
        assert found.to_dict()["look"] == {"number": number, "budget": 0.05, "looks": 2, "level": 0.0}
        assert (found.to_dict()["lower"], found.to_dict()["upper"]) == (None, None)
        anew = "ndcg-track policy reset prod --dataset shop --reason REASON"
        assert f"look {number}: the budget of 2 looks is spent; its owner restarts it with: {anew}" in " ".join(
            str(found).split()
        )
    assert check_database(ready_url).damage == []
    assert pinned.gate("same", baseline="@prod").gated.decided_before  # what was decided stays
    pinned.reset_gate("@prod", reason="a new year")
    again = pinned.gate("drop", baseline="@prod")
    assert (again.decision, again.gated.basis.look.number if again.gated.basis.look else 0) == ("fail", 1)
    engine = sa.create_engine(ready_url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE decisions SET decision = 'pass' WHERE look > looks"))
    engine.dispose()
    assert all(told.endswith(" has a look that cannot be") for told in check_database(ready_url).damage)
    assert len(check_database(ready_url).damage) == 2


DRY = (
    "dry_run= does not go with the budget of a policy: each decision is a look that counts; leave it out, or see the "
    "difference with: ndcg-track compare"
)


def test_a_dry_run_is_refused(owned: nt.Tracker, ready_url: str) -> None:
    assert refusal(owned, "noisy", dry_run=True) == DRY
    unrecorded, recorded = NdcgGate(ready_url, []), NdcgGate(ready_url, [], record=True)
    with pytest.raises(pytest.fail.Exception, match=r"^dry_run= does not go with the budget of a policy"):
        unrecorded.check("same", baseline="@prod")
    assert decisions(owned) == []
    found = recorded.check("same", baseline="@prod").gated.basis.look
    assert found is not None
    assert (found.number, len(decisions(owned))) == (1, 1)


POSITIVE = "give for example 0.05"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"looks": 0}, "a budget has 1 to 1,000,000,000 looks, not 0"),
    ({"looks": -3}, "a budget has 1 to 1,000,000,000 looks, not -3"),
    ({"budget": 1}, f"a budget must lie between 0 and 0.5, not at 1; {POSITIVE}"),
    ({"budget": 0.5}, f"a budget must lie between 0 and 0.5, not at 0.5; {POSITIVE}"),
    ({"budget": 0}, f"a budget must lie between 0 and 0.5, not at 0; {POSITIVE}"),
    ({"budget": float("nan")}, f"a budget must lie between 0 and 0.5, not at nan; {POSITIVE}"),
    ({"budget": None}, "looks= needs budget=: they share it; give budget=, or leave out looks="),
]


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(("given", "told"), WRONG)
def test_what_is_no_budget(pinned: nt.Tracker, given: dict[str, Any], told: str) -> None:
    assert refusal_of(nt.InputError, pinned.set_policy, "prod", **POLICY | given) == told
    assert pinned.policies() == []


@pytest.mark.nightly(but=2)
@pytest.mark.both_engines
def test_gates_at_the_same_time_are_different_looks(owned: nt.Tracker, ready_url: str) -> None:
    def number(_: int) -> int:
        with nt.Tracker(ready_url) as tracker:
            return look(tracker)

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(number, range(12))) == list(range(1, 13))
    assert [one.look for one in decisions(owned)] == list(range(1, 13))


PROGRAM = """
import sys, ndcg_tracker as nt
with nt.Tracker(sys.argv[1]) as tracker:
    for number in range(3):
        margin = 0.05 + (int(sys.argv[2]) * 3 + number) * 1e-9
        print(tracker.gate("noisy", baseline="@prod", margin=margin).gated.basis.look.level > 0)
"""


@pytest.mark.nightly(but=2)
@pytest.mark.both_engines
def test_processes_at_the_same_time_do_not_overspend(
    pinned: nt.Tracker, ready_url: str, preloaded_programs: Path
) -> None:
    pinned.set_policy("prod", margin=0.06, budget=0.05, looks=5)
    words = [preloaded_programs / "preloaded-python", "-c", PROGRAM, ready_url]
    programs = [subprocess.Popen([*words, str(number)], stdout=subprocess.PIPE, text=True) for number in range(3)]
    spent = [line for program in programs for line in program.communicate()[0].split()]
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert sorted(spent) == ["False"] * 4 + ["True"] * 5
    assert [one.look for one in decisions(pinned)] == list(range(1, 10))


GATE = ("gate", "noisy", "--baseline", "@prod")


@pytest.fixture
def typed(pinned: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path) -> CommandLine:
    """The command line on the database with the candidates."""
    return CommandLine(ready_url, capsys)


def test_what_the_commands_print(typed: CommandLine) -> None:
    assert typed("policy", "set", "prod", "--margin", ".06", "--budget", ".05", "--looks", "1").code == 0
    found = typed.rows(*GATE)
    assert found["look"] == {"number": 1, "budget": 0.05, "looks": 1, "level": 0.05}
    (row,) = csv.DictReader(io.StringIO(typed(*GATE, "--format", "csv").out))
    assert (row["budget"], row["looks"], row["look"], row["policy"]) == ("0.05", "1", "1", "prod")  # decided before
    assert "1 of 1, level 0.05 of a budget of 0.05\n" in typed(*GATE).out
    spent = typed(*GATE, "--margin", ".05")
    assert (spent.code, "the budget of 1 look is spent" in " ".join(spent.out.split())) == (4, True)
    assert typed.refused(*GATE, "--dry-run").startswith("--dry-run does not go with the budget of a policy: each ")
    reset = ("policy", "reset", "@prod")
    assert typed.refused(*reset).startswith("missing: --reason; for example: ndcg-track policy reset prod --reason ")
    assert typed.refused(*reset, "--reason", " ") == "--reason is empty; say why earlier looks no longer count"
    told = typed.said(*reset, "--reason", "new season")
    assert told == "the budget of @prod on 'shop' starts again; 2 looks no longer count\n"
    again = typed.refused(*reset, "--reason", "new season")
    assert again == "no look at @prod counts; there is nothing to reset"
    assert typed.refused("gate", "reset", "--baseline", "@prod", "--reason", "x") == (
        "--reason is gone: a budget is restarted with: ndcg-track policy reset ALIAS --reason REASON"
    )


GONE = (
    "is gone: a budget belongs to the policy of an alias: ndcg-track policy set ALIAS --margin X --budget A --looks N"
)


@pytest.mark.parametrize("option", ["--budget", "--looks", "--alpha-budget"])
def test_an_option_that_is_gone_names_the_new_way(typed: CommandLine, option: str) -> None:
    for words in ((*GATE, "--margin", ".06"), ("alias", "set", "prod", "base")):
        assert typed.refused(*words, option, "4") == f"{option} {GONE}"
        assert option not in typed(*words[:2], "--help").out
