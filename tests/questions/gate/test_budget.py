"""A budget of looks: what counts as one, what begins anew, the levels that decide, and what is refused."""

import csv
import io
import itertools
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from gated import BASE, N_GROUPS, decisions, refusal, worse
from ranked_runs import frame_of_ranks, labels_of_ranks
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.ingest.frames import read_label_frame
from ndcg_tracker.integrations.pytest_plugin import NdcgGate
from ndcg_tracker.questions.gate.decide_bounds import look_level

pq = pytest.importorskip("pyarrow.parquet")
_numbers = itertools.count()
ASKED: dict[str, Any] = {"baseline": "@prod", "margin": 0.06, "budget": 0.05, "looks": 40}


def another(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a question that was not asked before: its margin differs in the ninth digit."""
    return {**asked, "margin": asked["margin"] + next(_numbers) * 1e-9}


def look(tracker: nt.Tracker, candidate: str = "noisy", **asked: Any) -> int:
    """Return which look a gate under a budget is."""
    found = tracker.gate(candidate, **another({**ASKED, **asked})).gated.look
    assert found is not None
    return found.number


def renamed(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.rename_run("base", "base-2025")
    return {}


def twin(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.ingest(frame_of_ranks(BASE), name="twin", dataset="shop")
    return {"baseline": "twin"}


def other_dataset(tracker: nt.Tracker, ranks: list[int], n_groups: int = N_GROUPS) -> dict[str, Any]:
    tracker.ingest(frame_of_ranks(ranks), name="base2", labels=labels_of_ranks(n_groups), dataset="shop2")
    tracker.ingest(frame_of_ranks(worse(60, 60)[:n_groups]), name="noisy2", dataset="shop2")
    return {"candidate": "noisy2", "baseline": "base2", "dataset": "shop2"}


def fewer_in_the_same(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.ingest(frame_of_ranks(BASE[:-1]), name="shorter", dataset="shop")
    return {"baseline": "shorter", "missing": "intersect"}


def second_alias(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.set_alias("live", "base")
    return {"baseline": "@live"}


def no_alias(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.delete_alias("prod")
    return {"baseline": "base"}


def moved_away(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.set_alias("prod", "small")
    tracker.set_alias("prod", "base")
    return {}


def newer_labels(tracker: nt.Tracker) -> dict[str, Any]:
    labels = labels_of_ranks(N_GROUPS)
    labels["label"][0] = 0
    tracker.add_labels(read_label_frame(labels), dataset="shop", rescore=True)
    return {}


def other_judge(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset="shop", judge="llm", rescore=True)
    return {"judge": "llm"}


def other_metric(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.rescore(metrics=["ndcg@11"])
    return {"metric": "ndcg@11"}


def pruned(tracker: nt.Tracker) -> dict[str, Any]:
    tracker.delete_alias("prod")
    with tracker.store().write() as tx:  # prune itself keeps what gates decided on
        tx.write.runs.prune(tx.runs.resolve("base").id, summaries_only=False)
    return {"baseline": "base"}


Change = Callable[[nt.Tracker], dict[str, Any]]
STILL_COUNTS: dict[str, Change] = {
    "the run by its name": lambda _: {"baseline": "base"},
    "a second alias": second_alias,
    "the alias is deleted": no_alias,
    "the alias went and came back": moved_away,
    "the run is renamed": renamed,
    "the same lists under another name": twin,
    "the same lists in another dataset": lambda tracker: other_dataset(tracker, BASE),
    "fewer groups in another dataset": lambda tracker: other_dataset(tracker, BASE[:150], 150),
    "fewer groups in the same dataset": fewer_in_the_same,
    "another metric": other_metric,
    "another margin": lambda _: {"margin": 0.2},
    "newer labels": newer_labels,
    "another judge": other_judge,
    "the baseline is pruned": pruned,
    "another candidate": lambda _: {"candidate": "small"},
}


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("change", STILL_COUNTS)
def test_a_look_counts_whatever_the_baseline_is_called(pinned: nt.Tracker, change: str) -> None:
    assert [look(pinned), look(pinned)] == [1, 2]
    asked = STILL_COUNTS[change](pinned)
    assert look(pinned, **asked) == 3
    assert decisions(pinned)[-1].look == 3


def other_groups(tracker: nt.Tracker) -> dict[str, Any]:
    def of_shop2(frame: dict[str, list[object]]) -> dict[str, list[object]]:
        return frame | {"group": [f"other-{group}" for group in frame["group"]]}

    labels = of_shop2(labels_of_ranks(N_GROUPS))
    tracker.ingest(of_shop2(frame_of_ranks(BASE)), name="base2", labels=labels, dataset="shop2")
    tracker.ingest(of_shop2(frame_of_ranks(worse(60, 60))), name="noisy2", dataset="shop2")
    return {"candidate": "noisy2", "baseline": "base2", "dataset": "shop2"}


COUNTS_APART: dict[str, Change] = {
    "another baseline": lambda _: {"baseline": "small"},
    "a dataset that shares no group": other_groups,
}


@pytest.mark.parametrize("change", COUNTS_APART)
def test_other_lists_are_counted_apart(pinned: nt.Tracker, change: str) -> None:
    assert [look(pinned), look(pinned)] == [1, 2]
    assert look(pinned, **COUNTS_APART[change](pinned)) == 1
    assert look(pinned) == 3


def test_a_gate_without_a_budget_is_no_look(pinned: nt.Tracker) -> None:
    plain = pinned.gate("noisy", baseline="@prod", margin=0.06)
    pinned.gate("noisy", baseline="@prod", margin=0.06, alpha_budget=0.05)
    pinned.gate("noisy", baseline="@prod", scope="set")
    assert plain.gated.look is None
    assert look(pinned) == 1
    assert [one.look for one in decisions(pinned)] == [None, None, None, 1]


def test_the_first_look_sets_the_budget(pinned: nt.Tracker) -> None:
    """Who leaves the budget out, deletes its alias or names a larger one goes on with that of the first look."""
    assert look(pinned) == 1
    found = pinned.gate("noisy", baseline="base", margin=0.06).to_dict()["look"]
    assert (found["number"], found["budget"], found["looks"]) == (2, 0.05, 40)
    anew = "restart it, on the record: ndcg-track gate reset --baseline @prod --dataset shop --reason REASON"
    for asked in ({"budget": 0.2}, {"budget": 0.05, "looks": 1000}):
        told = refusal(pinned, "noisy", margin=0.06, **asked)
        shared = "looks at the lists of '@prod' already share a budget of 0.05 for 40 looks"
        assert told == f"{shared}; leave budget= out, or {anew}"
    for name, asked in (("alpha_budget", {"alpha_budget": 0.05}), ("dry_run", {"dry_run": True})):
        assert refusal(pinned, "noisy", margin=0.06, **asked).startswith(
            f"{name}= does not go with the budget of 0.05 "
        )
    assert refusal(pinned, "noisy", scope="set").startswith("scope= does not go with the budget of 0.05 for 40 looks")
    assert len(decisions(pinned)) == 2


def test_few_changed_lists_and_longer_ones_are_no_new_baseline(pinned: nt.Tracker) -> None:
    assert look(pinned) == 1
    pinned.ingest(frame_of_ranks([*worse(1)[:1], *BASE[1:]]), name="one list", dataset="shop")
    assert look(pinned, baseline="one list") == 2


def test_a_reset_of_other_lists_resets_nothing(pinned: nt.Tracker) -> None:
    """Where one list is the same in another dataset looks count together, but who resets one resets no other."""
    assert look(pinned) == 1
    groups = [f"q{number:04}" for number in range(N_GROUPS)]
    other = [*BASE[:1], *[rank % 4 + 2 for rank in BASE[1:]]]
    pinned.ingest(frame_of_ranks(other), name="mixed", dataset="elsewhere", labels=labels_of_ranks(len(groups)))
    pinned.ingest(frame_of_ranks(BASE), name="noisy", dataset="elsewhere")
    pinned.reset_gate("mixed", dataset="elsewhere", reason="other lists")
    assert look(pinned, dataset="shop") == 2


def test_a_deleted_run_takes_no_look_with_it(pinned: nt.Tracker) -> None:
    assert [look(pinned), look(pinned, "small")] == [1, 2]
    pinned.delete_alias("prod")
    pinned.delete_runs(["base", "noisy", "small"])
    pinned.ingest(frame_of_ranks(BASE), name="again", dataset="shop")
    assert look(pinned, "same", baseline="again") == 3


def test_a_replaced_run_is_another_baseline_and_comes_back(pinned: nt.Tracker) -> None:
    assert look(pinned) == 1
    pinned.ingest(frame_of_ranks(worse(60)), name="base", dataset="shop", replace=True)
    assert look(pinned, baseline="base") == 1
    pinned.ingest(frame_of_ranks(BASE), name="base", dataset="shop", replace=True)
    assert look(pinned, baseline="base") == 2


def test_a_copy_of_the_database_has_the_looks(pinned: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    assert [look(pinned), look(pinned)] == [1, 2]
    pinned.export_runs(tmp_path / "out")
    other.import_runs(tmp_path / "out")
    assert (look(pinned), look(other)) == (3, 3)
    assert [row.budget for row in decisions(other)] == [0.05] * 3


@pytest.mark.nightly(but=2)
def test_a_reset_travels(pinned: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    assert [look(pinned), look(pinned)] == [1, 2]
    pinned.reset_gate("@prod", reason="new season", reset_by="ada")
    assert look(pinned) == 1
    pinned.export_runs(tmp_path / "out")
    other.import_runs(tmp_path / "out")
    assert look(other) == 2
    rows = other.query("SELECT dataset, baseline, reason, reset_by FROM gate_resets").rows
    assert [tuple(row) for row in rows] == [("shop", "base", "new season", "ada")]


def test_a_reset_is_on_the_record(pinned: nt.Tracker) -> None:
    assert [look(pinned), look(pinned), look(pinned, baseline="small")] == [1, 2, 1]
    done = pinned.reset_gate("base", reason=" new \n season ")
    assert (done.baseline, done.dataset, done.n_looks) == ("base", "shop", 2)
    rows = pinned.query("SELECT dataset, baseline, reason, reset_by FROM gate_resets").rows
    assert [tuple(row) for row in rows] == [("shop", "base", "new season", "unknown")]
    assert [look(pinned), look(pinned), look(pinned, baseline="small")] == [1, 2, 2]
    nothing = refusal_of(nt.InputError, pinned.reset_gate, "drop", reason="x")
    assert nothing == "no look at the lists of 'drop' counts; there is nothing to reset"
    empty = refusal_of(nt.InputError, pinned.reset_gate, "base", reason=" \n")
    assert empty == "reason= is empty; say why earlier looks no longer count"
    assert pinned.query("SELECT COUNT(*) FROM gate_resets").rows[0][0] == 1


def test_the_reset_of_another_spelling_covers_the_same_looks(pinned: nt.Tracker) -> None:
    assert [look(pinned), look(pinned)] == [1, 2]
    asked = twin(pinned)
    assert pinned.reset_gate("twin", reason="r").n_looks == 2
    assert [look(pinned), look(pinned, **asked)] == [1, 2]


LEVELS: dict[str, dict[str, Any]] = {
    "plain": {},
    "slices": {"by": "half", "slice_margin": 0.5, "strict_slices": True},
    "harm": {"max_harm": ".9:50%"},
    "clusters": {"cluster": "user"},
    "arms": {"candidate": "tag:aa=noisy"},
    "limits": {"limits": {"latency_ms": "+10%"}},
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
    asked = {"candidate": "noisy", "baseline": "@prod", "margin": 0.04} | LEVELS[way]
    assert sliced.gate(**asked, dry_run=True).decision == "pass"
    found = sliced.gate(**asked, budget=0.05, looks=40).to_dict()
    assert (found["pass_level"], found["fail_alpha"]) == (1 - 0.05 / 40, 0.05 / 40 / n_ways)
    assert found["look"] == {"number": 1, "budget": 0.05, "looks": 40, "level": 0.05 / 40}
    sliced.reset_gate("@prod", reason="another budget")
    found = sliced.gate(**asked, budget=1e-9, looks=1000).to_dict()
    assert (found["decision"], found["pass_level"]) == ("inconclusive", 1 - 1e-12)
    record = decisions(sliced)[-1]
    assert (record.alpha, record.budget, record.looks, record.look) == (1e-12 / n_ways, 1e-9, 1000, 1)


def test_slices_take_the_level_as_well(sliced: nt.Tracker) -> None:
    asked: dict[str, Any] = {"baseline": "@prod", "margin": 0.5, "by": "half", "strict_slices": True}
    asked["slice_margin"] = 0.07
    assert sliced.gate("noisy", **asked, dry_run=True).decision == "pass"
    found = sliced.gate("noisy", **asked, budget=1e-9, looks=1000).to_dict()
    assert found["decision"] == "inconclusive"


def test_a_learned_margin_takes_the_level(pinned: nt.Tracker) -> None:
    for number, n_worse in enumerate((1, 3, 6, 2)):
        pinned.ingest(frame_of_ranks(worse(n_worse)), name=f"r{number}", dataset="shop", tags={"aa": "base"})
    found = pinned.gate("noisy", baseline="@prod", margin="auto", aa="base", budget=0.05, looks=20).to_dict()
    assert (found["pass_level"], found["fail_alpha"]) == (1 - 0.0025, 0.0025)


def test_levels_without_an_end(pinned: nt.Tracker) -> None:
    levels = [pinned.gate("noisy", **another(ASKED | {"looks": None})).to_dict()["look"]["level"] for _ in range(4)]
    assert levels == [look_level(number, 0.05) for number in range(1, 5)]
    assert [record.alpha for record in decisions(pinned)] == levels


def test_the_budget_is_spent(pinned: nt.Tracker) -> None:
    asked = ASKED | {"looks": 3}
    for number in (1, 2, 3):
        assert pinned.gate("noisy", **another(asked)).to_dict()["look"]["number"] == number
    spent = (
        "the budget of 0.05 for 3 looks at the lists of {!r} is spent; gate on other groups, or restart it, on the "
        "record: ndcg-track gate reset --baseline {} --dataset shop --reason REASON"
    )
    assert refusal(pinned, "same", **asked) == spent.format("@prod", "@prod")
    assert refusal(pinned, "same", **asked | {"baseline": "base"}) == spent.format("base", "base")
    assert len(decisions(pinned)) == 3
    pinned.reset_gate("@prod", reason="a new year")
    assert look(pinned, looks=3) == 1


def test_the_budget_of_an_alias_holds_for_its_lists(pinned: nt.Tracker) -> None:
    pinned.set_alias("prod", "base", budget=0.05, looks=2)
    for asked in ({"baseline": "@prod"}, {"baseline": "base", "budget": 0.05, "looks": 2}):
        found = pinned.gate("noisy", **another({"margin": 0.06, **asked})).to_dict()
        assert (found["look"]["level"], found["look"]["looks"]) == (0.025, 2)
    twin(pinned)
    for baseline in ("@prod", "base", "twin"):
        spent = refusal(pinned, "noisy", baseline=baseline, margin=0.06)
        assert spent.startswith(f"the budget of 0.05 for 2 looks at the lists of {baseline!r} is spent; ")
    change = "leave it out, or change it with: ndcg-track alias set prod base --budget A --looks 2"
    for asked in ({"budget": 0.1}, {"budget": 0.05}, {"budget": 0.05, "looks": 40}):
        told = refusal(pinned, "noisy", margin=0.06, **asked)
        assert told == f"budget= does not go with @prod, whose budget is 0.05 for 2 looks; {change}"
    told = refusal(pinned, "noisy", margin=0.06, alpha_budget=0.01, baseline="base")
    assert told.startswith("alpha_budget= does not go with the budget of 0.05 for 2 looks at the lists of 'base': ")
    assert len(decisions(pinned)) == 2
    assert refusal(pinned, "noisy", scope="set").startswith("scope= does not go with the budget of 0.05 for 2 looks")
    pinned.set_alias("prod", "small")  # the budget stays with the alias, and counts the looks at other lists
    assert pinned.gate("noisy", baseline="@prod", margin=0.06).to_dict()["look"]["number"] == 1


DRY = (
    "dry_run= does not go with the budget of 0.05 at the lists of {!r}: each decision is a look that counts; leave it "
    "out, or see the difference with: ndcg-track compare"
)


def test_a_dry_run_is_refused(pinned: nt.Tracker) -> None:
    assert refusal(pinned, "noisy", margin=0.06, budget=0.05, dry_run=True) == DRY.format("@prod")
    pinned.set_alias("prod", "base", budget=0.05)
    assert refusal(pinned, "noisy", margin=0.06, dry_run=True) == DRY.format("@prod")
    assert refusal(pinned, "noisy", baseline="base", margin=0.06, dry_run=True) == DRY.format("base")
    assert decisions(pinned) == []


def test_the_fixture_of_pytest_takes_no_budget_unrecorded(pinned: nt.Tracker, ready_url: str) -> None:
    asked: dict[str, Any] = {"baseline": "@prod", "margin": 0.2}
    unrecorded, recorded = NdcgGate(ready_url, []), NdcgGate(ready_url, [], record=True)
    with pytest.raises(pytest.fail.Exception, match=r"^dry_run= does not go with the budget of 0.05 "):
        unrecorded.check("noisy", **asked, budget=0.05)
    pinned.set_alias("prod", "base", budget=0.05)
    with pytest.raises(pytest.fail.Exception, match=r"^dry_run= does not go with the budget of 0.05 "):
        unrecorded.check("noisy", **asked)
    found = recorded.check("noisy", **asked).gated.look
    assert found is not None
    assert (found.number, len(decisions(pinned))) == (1, 1)


EXTERNAL = {"metric": "value", "direction": "higher", "range": (0, 1)}


def test_runs_without_lists_are_known_by_their_content(tracker: nt.Tracker) -> None:
    groups = [f"q{number:03}" for number in range(200)]
    for name, value in (("a", 0.5), ("b", 0.6), ("c", 0.5)):
        values = {group: value + number % 7 / 100 * (name != "c") for number, group in enumerate(groups)}
        tracker.log_results(values, name=name, **EXTERNAL)
    asked: dict[str, Any] = {"metric": "external:value", "margin": 0.1, "budget": 0.05, "looks": 10}
    assert [look(tracker, "b", **asked, baseline="a") for _ in range(2)] == [1, 2]
    assert look(tracker, "b", **asked, baseline="c") == 1
    tracker.rename_run("a", "z")
    assert look(tracker, "c", **asked, baseline="z") == 3


POSITIVE = "give for example 0.05"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"looks": 0}, "a budget needs 1 look or more, not 0"),
    ({"looks": -3}, "a budget needs 1 look or more, not -3"),
    ({"budget": 1}, f"a budget must lie between 0 and 0.5, not at 1; {POSITIVE}"),
    ({"budget": 0.5}, f"a budget must lie between 0 and 0.5, not at 0.5; {POSITIVE}"),
    ({"budget": 0}, f"a budget must lie between 0 and 0.5, not at 0; {POSITIVE}"),
    ({"budget": float("nan")}, f"a budget must lie between 0 and 0.5, not at nan; {POSITIVE}"),
    ({"budget": None}, "looks= says how many looks share budget=; give both"),
    (
        {"alpha_budget": 0.05},
        "budget= covers a false FAIL as well, so alpha_budget= does not go with it; leave one out",
    ),
    (
        {"scope": "set", "margin": None},
        "budget= needs scope='population', because scope='set' compares two means without a test; "
        "give tolerance= instead",
    ),
]


@pytest.mark.parametrize(("asked", "told"), WRONG)
def test_what_does_not_go_together(pinned: nt.Tracker, asked: dict[str, Any], told: str) -> None:
    assert refusal(pinned, "noisy", **ASKED | asked) == told
    assert decisions(pinned) == []


@pytest.mark.nightly(but=2)
@pytest.mark.both_engines
def test_gates_at_the_same_time_are_different_looks(pinned: nt.Tracker, ready_url: str) -> None:
    def number(_: int) -> int:
        with nt.Tracker(ready_url) as tracker:
            return look(tracker)

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(number, range(8))) == list(range(1, 9))
    assert [one.look for one in decisions(pinned)] == list(range(1, 9))


PROGRAM = """
import sys, ndcg_tracker as nt
with nt.Tracker(sys.argv[1]) as tracker:
    for number in range(3):
        margin = 0.06 + (int(sys.argv[2]) * 3 + number) * 1e-9
        try:
            print(tracker.gate("noisy", baseline="@prod", margin=margin, budget=0.05, looks=5).gated.look.number)
        except nt.InputError as error:
            assert "is spent" in str(error)
"""


@pytest.mark.nightly(but=2)
@pytest.mark.both_engines
def test_processes_at_the_same_time_do_not_overspend(
    pinned: nt.Tracker, ready_url: str, preloaded_programs: Path
) -> None:
    words = [preloaded_programs / "preloaded-python", "-c", PROGRAM, ready_url]
    programs = [subprocess.Popen([*words, str(number)], stdout=subprocess.PIPE, text=True) for number in range(3)]
    numbers = [int(line) for program in programs for line in program.communicate()[0].split()]
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert sorted(numbers) == [1, 2, 3, 4, 5]
    assert [one.look for one in decisions(pinned)] == [1, 2, 3, 4, 5]


GATE = ("gate", "noisy", "--baseline", "@prod", "--margin", ".06")


@pytest.fixture
def typed(pinned: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path) -> CommandLine:
    """The command line on the database with the candidates."""
    return CommandLine(ready_url, capsys)


def test_what_the_command_prints(typed: CommandLine) -> None:
    found = typed.rows(*GATE, "--budget", ".05", "--looks", "40")
    assert found["look"] == {"number": 1, "budget": 0.05, "looks": 40, "level": 0.00125}
    assert found["groups_to_pass"].keys() == {"n", "method", "n_of_one_look"}
    assert found["groups_to_pass"]["n"] > found["groups_to_pass"]["n_of_one_look"]
    (row,) = csv.DictReader(io.StringIO(typed(*GATE, "--budget", ".05", "--looks", "40", "--format", "csv").out))
    assert (row["budget"], row["looks"], row["look"]) == ("0.05", "40", "1")  # decided before
    text = typed(*GATE[:-1], ".07").out
    assert "2 of 40, level 0.00125 of a budget of 0.05; at this level " in " ".join(text.split())


def test_the_command_keeps_and_resets_the_budget_of_an_alias(typed: CommandLine) -> None:
    assert typed("alias", "set", "prod", "base", "--budget", ".05", "--looks", "1").code == 0
    assert typed(*GATE).code in (0, 4)
    spent = typed.refused(*GATE[:-1], ".07")
    assert spent.endswith("ndcg-track gate reset --baseline @prod --dataset shop --reason REASON")
    assert typed.refused(*GATE, "--dry-run").startswith("--dry-run does not go with the budget of 0.05 for 1 look")
    reset = ("gate", "reset", "--baseline", "@prod")
    assert typed.refused(*reset) == "gate reset needs --reason REASON; say why earlier looks no longer count"
    assert typed.refused(*reset, "--reason", " ") == "--reason is empty; say why earlier looks no longer count"
    told = typed.said(*reset, "--reason", "new season")
    assert told == "the budget of 'base' on 'shop' starts again; 1 look no longer counts\n"
    again = typed.refused(*reset, "--reason", "new season")
    assert again == "no look at the lists of '@prod' counts; there is nothing to reset"
    assert typed(*GATE).code in (0, 4)
    assert typed.refused("gate", "noisy", "--baseline", "@prod", "--reason", "x").startswith("--reason belongs to: ")


def test_the_command_refuses_what_is_no_budget(typed: CommandLine) -> None:
    for words, told in (
        (("--budget", "1"), "a budget must lie between 0 and 0.5, not at 1.0; give for example 0.05"),
        (("--budget", ".05", "--looks", "0"), "a budget needs 1 look or more, not 0"),
        (("--looks", "4"), "--looks says how many looks share --budget; give both"),
        (
            ("--budget", ".05", "--alpha-budget", ".05"),
            "--budget covers a false FAIL as well, so --alpha-budget does not go with it; leave one out",
        ),
    ):
        assert typed.refused(*GATE, *words) == told
    for words in (("--budget", "0"), ("--budget", ".05", "--looks", "0"), ("--looks", "5")):
        typed.refused("alias", "set", "prod", "base", *words)
    assert typed("suite", "create", "all", "shop").code == 0
    refused = typed.refused(*GATE, "--suite", "all", "--budget", ".05")
    assert "--budget" in refused
