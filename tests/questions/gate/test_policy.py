"""A policy of an alias: what a gate takes of it, what may be stricter, what is refused, and what is said."""

import json
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

RULES: dict[str, Any] = {
    "margin": 0.05, "max_harm": ".9:50%", "by": "half", "slice_margin": 0.2, "limits": {"ms": "+10%"},
    "unjudged": "zero", "set_by": " ada \n l ",
}  # fmt: skip


@pytest.fixture
def owned(pinned: nt.Tracker) -> nt.Tracker:
    """The candidates, with slices and a measure, and a policy of @prod."""
    groups = [f"q{number:04}" for number in range(N_GROUPS)]
    halves = ["odd" if number % 4 < 2 else "even" for number in range(N_GROUPS)]
    pinned.set_groups({"group": groups, "half": halves, "part": halves}, dataset="shop")
    for run in pinned.runs():
        pinned.tag_run(run.name, {"ms": "10", "cost": "1"})
    pinned.set_policy("@prod", **RULES)
    return pinned


def test_a_gate_takes_all_of_the_policy(owned: nt.Tracker) -> None:
    by_policy = owned.gate("noisy", baseline="@prod").to_dict()
    given = {name: value for name, value in RULES.items() if name != "set_by"}
    by_hand = owned.gate("noisy", baseline="base", **given).to_dict()
    same = ("decision", "margin", "delta", "lower", "upper", "rules", "parts", "limits", "unjudged")
    assert {name: by_policy[name] for name in same} == {name: by_hand[name] for name in same}
    assert by_policy["policy"] == {
        "alias": "prod",
        "rules": {
            "by": "half", "limits": ["ms=+10%"], "margin": 0.05, "max_harm": ".9:50%", "metric": "ndcg@10",
            "slice_margin": 0.2, "unjudged": "zero",
        },
        "set_by": "ada l",
        "set_at_utc": by_policy["policy"]["set_at_utc"],
    }  # fmt: skip
    assert owned.gate("noisy", baseline="@prod", **given, metric="ndcg@10").gated.decided_before  # the same said again


def test_a_pass_names_the_rules(owned: nt.Tracker) -> None:
    result = owned.gate("noisy", baseline="@prod")
    verdict = "PASS at margin 0.05 of ndcg@10, max harm 0.9:50%, 0.2 of each half, ms +10% (policy of @prod)"
    assert " ".join(str(result).split()).startswith(f"{verdict}: noisy may replace base on shop ")
    assert decisions(owned)[-1].reason.endswith(" (policy of @prod)")
    assert str(owned.gate("drop", baseline="@prod")).startswith(
        "FAIL: drop must not replace base on shop (ndcg@10, margin 0.05)\n"
    )


STRICTER: dict[str, tuple[dict[str, Any], str, Any]] = {
    "margin": ({"margin": 0.04}, "margin", 0.04),
    "slice_margin": ({"slice_margin": 0.1}, "rules", 0.1),
    "max_harm": ({"max_harm": ".8:40%"}, "max_harm", "0.8:40%"),
    "limits": ({"limits": ["cost=+1%"]}, "limits", ["ms", "cost"]),
    "unjudged": ({"unjudged": "range"}, "unjudged", "range"),
    "top": ({"top": 3}, "margin", 0.05),
}


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("rule", STRICTER)
def test_what_is_stricter_may_be_given(owned: nt.Tracker, rule: str) -> None:
    given, name, wanted = STRICTER[rule]
    found = owned.gate("noisy", baseline="@prod", **given).to_dict()[name]
    shown = {"rules": lambda: found["margin"]}
    shown["unjudged"] = lambda: found["worth"]
    shown["limits"] = lambda: [one["name"] for one in found]
    assert shown.get(name, lambda: found)() == wanted


def test_slices_and_harm_may_be_added(owned: nt.Tracker) -> None:
    owned.set_policy("prod", margin=0.05)
    found = owned.gate("noisy", baseline="@prod", by="part", slice_margin=0.1, max_harm=".9:50%").to_dict()
    assert (found["rules"]["by"], found["rules"]["margin"], found["max_harm"]) == ("part", 0.1, "0.9:50%")


LOOSER: dict[str, tuple[dict[str, Any], str]] = {
    "margin": ({"margin": 0.06}, "margin=0.06 is not the policy of @prod, which says: 0.05"),
    "auto": ({"margin": "auto"}, "margin='auto' is not the policy of @prod, which says: 0.05"),
    "slice_margin": ({"slice_margin": 0.3}, "slice_margin=0.3 is not the policy of @prod, which says: 0.2"),
    "share": ({"max_harm": ".8:60%"}, "max_harm='0.8:60%' is not the policy of @prod, which says: .9:50%"),
    "loss": ({"max_harm": ".95:40%"}, "max_harm='0.95:40%' is not the policy of @prod, which says: .9:50%"),
    "by": ({"by": "part"}, "by='part' is not the policy of @prod, which says: half"),
    "ids": ({"ids_are_stable": True}, "ids_are_stable=True is not the policy of @prod, which says: no, the default"),
    "metric": ({"metric": "ndcg@5"}, "metric='ndcg@5' is not the policy of @prod, which says: ndcg@10"),
    "scope": ({"scope": "set"}, "scope='set' is not the policy of @prod, which says: population, the default"),
    "missing": ({"missing": "zero"}, "missing='zero' is not the policy of @prod, which says: error, the default"),
    "judge": ({"judge": "llm"}, "judge='llm' is not the policy of @prod, which says: none, the default"),
    "labels": ({"labels": 1}, "labels=1 is not the policy of @prod, which says: none, the default"),
    "cluster": ({"cluster": "half"}, "cluster='half' is not the policy of @prod, which says: none, the default"),
}


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("rule", LOOSER)
def test_what_is_looser_or_other_is_refused(owned: nt.Tracker, rule: str) -> None:
    given, told = LOOSER[rule]
    assert refusal(owned, "noisy", **given) == (
        f"{told}; leave it out; only the policy's owner (set by ada l) changes it, with: ndcg-track policy set prod "
        "--metric METRIC --margin X --dataset shop"
    )
    assert decisions(owned) == []


def test_a_default_that_is_given_is_a_rule(owned: nt.Tracker) -> None:
    owned.set_policy("prod", margin=0.05, metric="P@1", missing="zero")
    owned.rescore(["base", "noisy"], metrics="P@1", dataset="shop")
    assert owned.gate("noisy", baseline="@prod").gated.comparison.metrics[0].metric == "P@1"
    for given, says in (({"metric": "ndcg@10"}, "P@1"), ({"missing": "error"}, "zero")):
        [(name, value)] = given.items()
        told = f"{name}={value!r} is not the policy of @prod, which says: {says}; "
        assert refusal(owned, "noisy", **given).startswith(told)


def test_a_stricter_zero_is_no_zero(owned: nt.Tracker) -> None:
    owned.set_policy("prod", margin=0.05)
    assert refusal(owned, "noisy", unjudged="zero").startswith(
        "unjudged='zero' is not the policy of @prod, which says: range, the default; "
    )


@pytest.mark.both_engines
def test_outside_of_the_policy_is_said_and_recorded(
    owned: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    owned.set_alias("mine", "base")
    for baseline in ("base", "@mine"):
        found = owned.gate("noisy", baseline=baseline, margin=0.5 - len(baseline) / 100)
        assert str(found).startswith("PASS outside the policy of @prod: noisy may replace base on shop (ndcg@10, ")
        assert decisions(owned)[-1].reason.endswith(" (outside the policy of @prod)")
        assert (found.to_dict()["outside"], found.to_dict()["policy"]) == ("prod", None)
    assert owned.gate("noisy", baseline="small", margin=0.5).to_dict()["outside"] == ""
    typed = CommandLine(ready_url, capsys)
    words = ("gate", "noisy", "--baseline", "base", "--margin", ".4")
    assert (
        "### PASS outside the policy of @&#8203;prod: "
        in typed(*words, "--junit", "gate.xml", "--format", "markdown").out
    )
    assert "PASS outside the policy of @prod" in Path("gate.xml").read_text(encoding="utf-8")


def test_labels_and_judges_of_a_policy(owned: nt.Tracker) -> None:
    owned.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset="shop", judge="llm", rescore=True)
    owned.set_policy("prod", margin=0.05, judge="llm")
    assert owned.gate("noisy", baseline="@prod").to_dict()["label_set"]["judge"] == "llm"


def test_no_margin_that_would_pass_is_printed(owned: nt.Tracker) -> None:
    """Not under a policy; and without one, none above a tenth of the baseline's mean."""
    owned.set_policy("prod", margin=0.001)
    result = owned.gate("noisy", baseline="@prod")
    assert (result.decision, result.to_dict()["margin_needed"]) == ("inconclusive", None)
    assert "a margin above" not in str(result)
    close = owned.gate("noisy", baseline="base", margin=0.001).to_dict()
    assert "a margin above" in close["to_decide"]
    assert close["margin_needed"] <= close["metrics"][0]["baseline"] / 10


def test_a_test_names_the_policy(owned: nt.Tracker, ready_url: str) -> None:
    gate = NdcgGate(ready_url, [], record=True)
    assert gate.check("noisy", baseline="@prod").gated.decision.margin == 0.05
    with pytest.raises(pytest.fail.Exception, match=r"^margin=0\.2 is not the policy of @prod, which says: 0\.05; "):
        gate.check("noisy", baseline="@prod", margin=0.2)


def test_the_history_says_who_when_and_what(owned: nt.Tracker) -> None:
    owned.set_policy("prod", margin=0.02, missing="zero", by="half", slice_margin=0.2, set_by="bob")
    owned.set_alias("prod", "same", set_by="eve")
    acts = [(act.by, act.rule, act.before, act.after) for act in owned.policy_history("@prod")]
    assert acts == [
        ("ada l", "metric", "", "ndcg@10"),
        ("ada l", "margin", "", "0.05"),
        ("ada l", "by", "", "half"),
        ("ada l", "slice_margin", "", "0.2"),
        ("ada l", "max_harm", "", ".9:50%"),
        ("ada l", "limits", "", "ms=+10%"),
        ("ada l", "unjudged", "", "zero"),
        ("bob", "margin", "0.05", "0.02"),
        ("bob", "max_harm", ".9:50%", ""),
        ("bob", "limits", "ms=+10%", ""),
        ("bob", "unjudged", "zero", ""),
        ("bob", "missing", "", "zero"),
        ("eve", "restart", "", "moved to same"),
    ]
    assert [act.at_utc for act in owned.policy_history("prod")] == sorted(
        act.at_utc for act in owned.policy_history("prod")
    )


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"margin": -1.0}, "the margin must be a number 0 or more, not -1.0"),
    ({"by": "half"}, "by= needs slice_margin=: the allowed drop of a slice"),
    ({"slice_margin": 0.1}, "slice_margin= needs by=: the attribute makes the slices"),
    ({"max_harm": "2%"}, "max_harm='2%' is not LOSS:SHARE%"),
    ({"limits": ["ms"]}, "limit='ms' is not a limit"),
    ({"unjudged": "none"}, "unjudged='none' is unknown; give range or zero"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_rules_that_no_gate_has_are_refused(pinned: nt.Tracker, given: dict[str, Any], told: str) -> None:
    assert refusal_of(nt.InputError, pinned.set_policy, "prod", **{"margin": 0.01, **given}).startswith(told)
    assert pinned.policies() == []


def test_a_policy_is_of_an_alias(pinned: nt.Tracker) -> None:
    told = refusal_of(nt.ReferenceNotFoundError, pinned.set_policy, "base", margin=0.01)
    assert told == "no alias '@base'; the aliases are: @prod"
    told = refusal_of(nt.InputError, pinned.policy_history, "@prod")
    assert told == (
        "@prod has no policy; its owner sets one with: ndcg-track policy set prod --metric METRIC --margin X"
    )


def test_the_commands(owned: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    typed = CommandLine(ready_url, capsys)
    words = ("policy", "set", "prod", "--margin", ".02", "--limit", "ms=+5%", "--labels", "newest", "--dataset", "shop")
    assert typed.said(*words) == (
        "@prod of dataset 'shop' has the policy: metric ndcg@10, margin 0.02, limits ms=+5%, labels newest\n"
    )
    (shown,) = typed.rows("policy", "show", "prod")
    assert shown["rules"] == {"metric": "ndcg@10", "margin": 0.02, "limits": ["ms=+5%"], "labels": "newest"}
    assert "metric ndcg@10, margin 0.02, limits ms=+5%, labels newest" in typed("policy", "show").out
    changed = json.loads(typed("policy", "history", "prod", "--format", "json").out)[7:]
    assert ("labels", "", "newest") in [(row["rule"], row["before"], row["after"]) for row in changed]
    refused = typed.refused("gate", "noisy", "--baseline", "@prod", "--margin", ".03")
    assert refused.startswith("--margin 0.03 is not the policy of @prod, which says: 0.02; leave it out; only ")
    assert typed.refused("policy", "show", "other").startswith("@other has no policy; its owner sets one with: ")
    assert typed.refused("policy", "set", "prod").startswith("missing: --margin; for example: ndcg-track policy set ")


@pytest.fixture
def in_suite(owned: nt.Tracker) -> nt.Tracker:
    """The candidates in a suite of two datasets, with a policy on one of them."""
    owned.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset="other")
    for name, ranks in (("base", BASE), ("noisy", worse(60, 60))):
        owned.ingest(frame_of_ranks(ranks), name=name, dataset="other")
    owned.set_alias("prod", "base", dataset="other")
    owned.create_suite("all", ["shop", "other"])
    return owned


def test_a_policy_is_not_for_suites(in_suite: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = (
        "the policy of @prod on 'shop' is for that dataset alone, not for suite 'all'; gate each dataset, with: "
        "ndcg-track gate noisy --baseline @prod --dataset shop"
    )
    assert refusal_of(nt.InputError, in_suite.gate, "noisy", suite="all", baseline="@prod", margin=0.05) == told
    typed = CommandLine(ready_url, capsys)
    gate = ("gate", "noisy", "--suite", "all", "--margin", ".05", "--baseline")
    assert typed.refused(*gate, "@prod", "--dry-run") == told


def test_a_suite_outside_of_a_policy_says_so(
    in_suite: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    result = in_suite.gate("noisy", suite="all", baseline="base", margin=0.05)
    assert str(result).startswith("PASS outside the policy of @prod: noisy may replace base on suite all")
    assert result.to_dict()["outside"] == "prod"
    typed = CommandLine(ready_url, capsys)
    again = typed.done("gate", "noisy", "--suite", "all", "--margin", ".05", "--baseline", "base", "--junit", "j.xml")
    assert "decided before as decision " in again
    assert "PASS outside the policy of @prod: " in (folder / "j.xml").read_text()
    (row,) = typed.rows("sql", "SELECT reason FROM suite_gate_decisions")
    assert row["reason"].endswith(" (outside the policy of @prod)")
    in_suite.delete_alias("prod", "shop")
    inside = in_suite.gate("noisy", suite="all", baseline="base", margin=0.04)
    assert str(inside).startswith("PASS: ")


def test_people_see_names_and_programs_whole_identities(
    pinned: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = "Ada L <ada@example.org>"
    pinned.set_policy("prod", margin=0.05, set_by=whole)
    typed = CommandLine(ready_url, capsys)
    shown = [typed.done("policy", what, "prod") for what in ("show", "history")]
    shown.append(typed.done("gate", "noisy", "--baseline", "@prod", "-v"))
    assert all("Ada L" in text and "@example.org" not in text for text in shown)
    assert typed.refused("gate", "noisy", "--baseline", "@prod", "--margin", ".06").count("(set by Ada L)") == 1
    assert typed.rows("policy", "show")[0]["set_by"] == typed.rows("policy", "history", "prod")[0]["by"] == whole
