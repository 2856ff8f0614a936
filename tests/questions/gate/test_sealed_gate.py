"""A gate on sealed data: one bit, its levels, what is refused before a look, and what is neither said nor stored."""

import csv
import io
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from all_commands import all_commands
from command_line import CommandLine
from gated import BASE, N_GROUPS, worse
from ranked_runs import frame_of_ranks, labels_of_ranks
from refused import refusal_of
from small_shop import write_csv

import ndcg_tracker as nt
from ndcg_tracker.ingest.frames import read_label_frame
from ndcg_tracker.questions.gate.decide_bounds import sealed_level

GOOD = [1, 1] * 60 + BASE[120:]
ASKED: dict[str, Any] = {"baseline": "base", "dataset": "held", "margin": 0.05}
COLUMNS = ["decision", "candidate", "baseline", "dataset", "metric", "margin", "missing", "look", "level"]


def unjudged() -> dict[str, list[object]]:
    frame = frame_of_ranks(BASE)
    return frame | {"item": [f"un{item}" for item in frame["item"]]}


def fill_sealed(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset="held")
        tracker.seal_dataset("held", budget=0.05, looks=40)
        runs = {"base": BASE, "good": GOOD, "drop": worse(110), "short": BASE[:-9]}
        for name, ranks in runs.items():
            tracker.ingest(frame_of_ranks(ranks), name=name, dataset="held")
        tracker.ingest(unjudged(), name="unjudged", dataset="held")
        tracker.ingest(frame_of_ranks(BASE), name="of-mrr", dataset="held", metrics="mrr")
        tracker.ingest(frame_of_ranks(BASE), name="open-run", labels=labels_of_ranks(N_GROUPS), dataset="open")


@pytest.fixture
def sealed(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A sealed dataset with a baseline, candidates, and runs that cannot be compared."""
    fill_as(fill_sealed)
    return tracker


@pytest.fixture
def typed(sealed: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path) -> CommandLine:
    """The command line on the database with the sealed dataset."""
    return CommandLine(ready_url, capsys)


def rows(tracker: nt.Tracker) -> list[dict[str, Any]]:
    """Return the decisions as they are in the table."""
    engine = sa.create_engine(tracker.location)
    with engine.connect() as connection:
        found = connection.execute(sa.text("SELECT * FROM decisions ORDER BY id")).mappings()
        stored = [dict(row) for row in found]
    engine.dispose()
    return stored


def test_one_bit_and_its_level(sealed: nt.Tracker) -> None:
    n_passed = 0
    for number, name in enumerate(("drop", "good", "drop", "good", "drop"), 1):
        margin = 0.05 + number * 1e-9
        result = sealed.gate_sealed(name, **ASKED | {"margin": margin})
        level = sealed_level(number, n_passed, 0.05, 40)
        assert (result.decision, result.is_accepted) == (("pass", True) if name == "good" else ("not_passed", False))
        look = {"number": number, "budget": 0.05, "looks": 40, "level": level, "n_passed": n_passed}
        asked = {"candidate": name, "baseline": "base", "dataset": "held", "metric": "ndcg@10", "margin": margin}
        asked |= {"missing": "error"}
        told = {"decision": result.decision, **asked, "look": look, "decided_before": False}
        assert result.to_dict() == told
        n_passed += name == "good"
    assert [row["alpha"] for row in rows(sealed)] == [
        sealed_level(i, j, 0.05, 40) for i, j in zip((1, 2, 3, 4, 5), (0, 0, 1, 1, 2), strict=True)
    ]


def test_the_level_decides(tracker: nt.Tracker) -> None:
    """What PASSes on open data at 5% does not at the level of a look of very many."""
    for dataset, looks in (("few", 1), ("many", 1_000_000_000)):
        tracker.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset=dataset)
        tracker.seal_dataset(dataset, budget=0.05, looks=looks)
        for name, ranks in (("base", BASE), ("noisy", worse(60, 60))):
            tracker.ingest(frame_of_ranks(ranks), name=name, dataset=dataset)
    found = [
        tracker.gate_sealed("noisy", baseline="base", margin=0.05, dataset=name).decision for name in ("few", "many")
    ]
    assert found == ["pass", "not_passed"]


def test_fail_and_inconclusive_look_the_same(typed: CommandLine) -> None:
    gate = ("gate", "--baseline", "base", "--dataset", "held", "--margin")
    said = [typed(*gate, margin, name) for margin, name in ((".05", "drop"), (".0001", "drop"), (".05", "unjudged"))]
    assert [printed.code for printed in said] == [4, 4, 4]
    assert {printed.err for printed in said} == {""}
    for printed in said:
        assert "NOT PASSED" in printed.out
        assert not re.search(r"FAIL|INCONCLUSIVE|\bjudged|delta|group", printed.out)
    passed = typed(*gate, ".05", "good")
    assert (passed.code, passed.err) == (0, "")
    assert passed.out.startswith("PASS: good against base on sealed dataset held\n")


def test_the_formats(typed: CommandLine) -> None:
    gate = ("gate", "drop", "--baseline", "base", "--dataset", "held", "--margin", ".05", "--format")
    found = json.loads(typed(*gate, "json").out)
    assert list(found) == [*COLUMNS[:-1], "decided_before"]
    assert found["look"] == {
        "number": 1,
        "budget": 0.05,
        "looks": 40,
        "level": sealed_level(1, 0, 0.05, 40),
        "n_passed": 0,
    }
    (row,) = csv.DictReader(io.StringIO(typed(*gate, "csv").out))
    assert list(row) == COLUMNS
    assert (row["decision"], row["look"], float(row["level"])) == ("not_passed", "1", sealed_level(1, 0, 0.05, 40))
    markdown = typed(*gate, "markdown")
    assert (markdown.code, markdown.err) == (4, "")
    assert "NOT PASSED" in markdown.out
    level = f"{sealed_level(1, 0, 0.05, 40):.3g}"
    assert typed(*gate, "text").out == (
        "NOT PASSED: drop against base on sealed dataset held\n\n"
        "metric  ndcg@10\n"
        "margin  0.0500\n"
        f"look    1 of 40 after 0 PASSes, level {level} of a budget of 0.05\n\n"
        "note: decided before: the same question again spends no look\n"
    )


def test_after_two_passes_a_new_seal_is_advised(typed: CommandLine) -> None:
    gate = ("gate", "good", "--baseline", "base", "--dataset", "held", "--margin")
    assert [("seal fresh data" in typed(*gate, f".0{each}").out) for each in (5, 6, 7)] == [False, True, True]


ALLOWED = {"baseline", "metric", "margin", "dataset", "missing", "cluster", "format"}
VALUES = {
    "scope": "set", "tolerance": "0", "acknowledge": "r",
    "slice_margin": ".1", "max_harm": ".3:2%", "limits": "ms=+1", "labels": "1", "unjudged": "zero",
    "on_inconclusive": "pass", "top": "3", "by_tag": "k", "repeats": "base", "aa": "x", "by": "half",
    "judge": "llm", "check_with": "ada", "suite": "all", "junit": "j.xml", "metrics_json": "m.json",
    "report": "r.html", "reason": "because",
}  # fmt: skip
SPELLED_ELSEWHERE = {"db", "help", "of_policy"}


def gate_options() -> dict[str, list[str]]:
    """Return how each option of the gate that is no allowed one is typed, from the program itself."""
    found: Any = all_commands()
    typed = {}
    for option in found.commands["gate"].params:
        if option.param_type_name != "option" or option.name in ALLOWED | SPELLED_ELSEWHERE:
            continue
        is_flag = getattr(option, "is_flag", False)
        typed[option.name] = [max(option.opts, key=len), *([] if is_flag else [VALUES.get(option.name, "1")])]
    return typed


@pytest.mark.parametrize("name", gate_options())
def test_every_other_option_is_refused_before_a_look(
    typed: CommandLine, sealed: nt.Tracker, folder: Path, name: str
) -> None:
    before = sorted(folder.iterdir())
    words = gate_options()[name]
    refused = typed.refused("gate", "good", "--baseline", "base", "--dataset", "held", "--margin", ".05", *words)
    if name not in ("reason", "by_tag"):  # which belong to gate reset and to --suite
        assert refused == (
            f"{words[0]} does not go with sealed dataset 'held'; leave it out: a gate on sealed data says only PASS "
            "or NOT PASSED"
        )
    assert rows(sealed) == []
    assert sorted(folder.iterdir()) == before


def test_the_margin_is_a_number(typed: CommandLine, sealed: nt.Tracker) -> None:
    gate = ("gate", "good", "--baseline", "base", "--dataset", "held")
    needs = "a gate on sealed data needs --margin X: the allowed drop, in absolute points"
    assert typed.refused(*gate) == typed.refused(*gate, "--margin", "auto") == needs
    for margin in ("-1", "nan", "inf", "1"):
        typed.refused(*gate, "--margin", margin)
    assert rows(sealed) == []


@pytest.mark.parametrize("missing", ["error", "intersect", "skip"])
@pytest.mark.parametrize("candidate", ["short", "of-mrr"])
def test_what_lacks_groups_or_the_metric_spends_no_look(sealed: nt.Tracker, candidate: str, missing: str) -> None:
    """A run must not pass by leaving out the groups that it would lose."""
    for one, other in ((candidate, "base"), ("base", candidate)):
        asked = ASKED | {"baseline": other, "missing": missing}
        told = refusal_of(nt.NotComparableError, sealed.gate_sealed, one, **asked)
        assert told == (
            f"{one!r} and {other!r} do not both have ndcg@10 for all groups of sealed dataset 'held'; no look was "
            "spent; ingest both completely and with this metric, or give missing='zero'"
        )
    assert rows(sealed) == []


def test_what_is_no_run_spends_no_look(sealed: nt.Tracker) -> None:
    for one, other in (("nope", "base"), ("base", "nope"), ("open-run", "base"), ("bas", "nope"), ("@prod", "base")):
        told = refusal_of(nt.ReferenceNotFoundError, sealed.gate_sealed, one, **ASKED | {"baseline": other})
        assert told == (
            f"{one!r} and {other!r} are not both runs of sealed dataset 'held'; ingest them with: ndcg-track ingest "
            "FILE --dataset held"
        )
    assert rows(sealed) == []


@pytest.mark.parametrize(
    ("candidate", "asked"),
    [("unjudged", {}), ("short", {"missing": "zero"})],
)
def test_what_stops_the_arithmetic_is_not_passed(sealed: nt.Tracker, candidate: str, asked: dict[str, Any]) -> None:
    found = sealed.gate_sealed(candidate, **ASKED | {"margin": 0.001} | asked)
    assert (found.decision, len(rows(sealed))) == ("not_passed", 1)


def test_what_no_label_decides_spends_no_look(sealed: nt.Tracker) -> None:
    assert refusal_of(nt.InputError, sealed.gate_sealed, "good", **ASKED, cluster="x") == (
        "no group of sealed dataset 'held' has an attribute 'x'; correct cluster=; no look was spent"
    )
    assert refusal_of(nt.InputError, sealed.gate_sealed, "base", **ASKED) == (
        "'base' and 'base' have the same lists; no look was spent; gate a candidate that changes something"
    )
    assert rows(sealed) == []


def test_open_data_beside_a_sealed_look(sealed: nt.Tracker) -> None:
    sealed.gate_sealed("good", **ASKED)
    for name, ranks in (("base", BASE), ("good", GOOD)):
        sealed.ingest(frame_of_ranks(ranks), name=name, labels=labels_of_ranks(N_GROUPS), dataset="open")
    sealed.set_alias("prod", "base", "open")
    sealed.set_policy("prod", margin=0.1, budget=0.05)
    found = sealed.gate("good", baseline="@prod", dataset="open").gated.look
    assert found is not None
    assert found.number == 1


def test_a_spent_seal(tracker: nt.Tracker) -> None:
    tracker.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset="held")
    tracker.seal_dataset("held", looks=2)
    for name, ranks in (("base", BASE), ("good", GOOD)):
        tracker.ingest(frame_of_ranks(ranks), name=name, dataset="held")
    for margin in (0.05, 0.06):
        tracker.gate_sealed("good", **ASKED | {"margin": margin})
    assert tracker.gate_sealed("good", **ASKED).gated.decided_before
    assert refusal_of(nt.InputError, tracker.gate_sealed, "good", **ASKED | {"margin": 0.07}) == (
        "all 2 looks of the seal are spent; seal fresh data"
    )
    assert len(rows(tracker)) == 2


def test_open_data_is_not_sealed(sealed: nt.Tracker) -> None:
    told = refusal_of(
        nt.InputError, sealed.gate_sealed, "open-run", **ASKED | {"dataset": "open", "baseline": "open-run"}
    )
    assert told == "dataset 'open' is not sealed; use gate, which takes open data"
    refusal_of(nt.ReferenceNotFoundError, sealed.gate_sealed, "good", **ASKED | {"dataset": "nope"})
    told = refusal_of(nt.InputError, sealed.gate, "good", **ASKED)
    assert told == "dataset 'held' is sealed; use gate_sealed, which says only PASS or NOT PASSED"
    for ask in (
        lambda: sealed.reset_gate("base", reason="r", dataset="held"),
        lambda: sealed.set_alias("prod", "base", "held"),
        lambda: sealed.delete_runs(["base"], "held"),
        lambda: sealed.rename_run("base", "other", dataset="held"),
    ):
        told = refusal_of(nt.InputError, ask)
        assert told.startswith("dataset 'held' is sealed: only gate and ingest may use it; ")


@pytest.mark.both_engines
def test_the_record_holds_no_number_that_labels_make(sealed: nt.Tracker) -> None:
    for name in ("good", "drop", "unjudged"):
        sealed.gate_sealed(name, **ASKED)
    for row, name in zip(rows(sealed), ("good", "drop", "unjudged"), strict=True):
        has_passed = name == "good"
        kept = {column: value for column, value in row.items() if value is not None}
        for column in ("id", "dataset_id", "baseline_run_id", "candidate_run_id", "label_set_id", "created_at_utc"):
            kept.pop(column)
        assert len(kept.pop("question")) == 32
        assert kept.pop("alpha") == row["alpha"]
        assert kept == {
            "baseline_run": "base", "candidate_run": name, "metric": "ndcg@10", "scope": "population",
            "decision": "pass" if has_passed else "inconclusive", "reason": "PASS" if has_passed else "NOT PASSED",
            "margin": 0.05, "budget": 0.05, "looks": 40, "look": row["look"],
        }  # fmt: skip


@pytest.mark.nightly(but=2)
@pytest.mark.both_engines
def test_gates_at_the_same_time_are_different_looks(sealed: nt.Tracker, ready_url: str) -> None:
    def number(of: int) -> int:
        with nt.Tracker(ready_url) as tracker:
            return tracker.gate_sealed("drop", **ASKED | {"margin": 0.05 + of * 1e-9}).gated.look.number

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(number, range(6))) == [1, 2, 3, 4, 5, 6]


TELLING = (
    "ndcg(clip=error_above_1)@10",
    "ndcg(ideal=retrieved, missing=skip, empty=skip, all_skipped=error)@10",
    "ndcg(empty=error)@10",
    "ndcg(label_domain=int)@10",
    "ndcg(negative=error)@10",
    "ndcg(unjudged=drop, size1=error)@10",
    "ndcg(unjudged=1000000)@10",
    "ndcg(arithmetic=f32)@10",
    "map(missing=error)",
)


@pytest.mark.parametrize("metric", TELLING)
def test_no_metric_asks_a_label_at_ingest(sealed: nt.Tracker, metric: str) -> None:
    """Whether a run of one item is stored told whether it is relevant, and no look was spent."""
    told = set()
    for item in ("relevant", "other1"):
        one = {"group": ["q0000"], "item": [item], "score": [1.0]}
        told.add(refusal_of(nt.InputError, sealed.ingest, one, name="ask", dataset="held", metrics=metric))
    (said,) = told
    assert " may refuse a run because of its labels, which would reveal labels of sealed dataset 'held'; leave " in said


def test_usual_metrics_are_stored(sealed: nt.Tracker) -> None:
    usual = [
        "ndcg@10",
        "map",
        "mrr",
        "p@5",
        "ndcg(gain=exp2)@10",
        "dcg@3",
        "R(rel=2)@5",
        "ndcg(missing=skip)@10",
        "RBP(p=.8)",
    ]
    for name, ranks in (("all", BASE), ("all-good", GOOD)):
        assert sealed.ingest(frame_of_ranks(ranks), name=name, dataset="held", metrics=usual).outcome == "stored"
    assert sealed.gate_sealed("all-good", **ASKED | {"baseline": "all"}, metric="map").decision == "pass"


def test_ingest_tells_no_stored_weight(sealed: nt.Tracker) -> None:
    weighted = frame_of_ranks(BASE)
    weighted["weight"] = [2.0] * len(weighted["group"])
    assert sealed.ingest(weighted, name="weighted", dataset="held").outcome == "stored"
    weighted["weight"] = [3.0] * len(weighted["group"])
    told = refusal_of(nt.InputError, sealed.ingest, weighted, name="heavier", dataset="held")
    assert told == (
        "the run cannot be stored on sealed dataset 'held'; the reason is not shown; ingest a run like it on "
        "open data to see the reason"
    )


def test_ingest_writes_no_means(typed: CommandLine, folder: Path) -> None:
    path = write_csv(folder / "again.csv", frame_of_ranks(GOOD))
    printed = typed("ingest", path, "--dataset", "held", "--metrics-json", "m.json", "--format", "json")
    assert printed.code == 0, printed.err
    assert not re.search(r"0\.\d", printed.out + printed.err + (folder / "m.json").read_text())


def test_the_sealed_database_that_a_variable_names(
    tracker: nt.Tracker,
    ready_url: str,
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = f"sqlite:///{folder / 'held.db'}"
    fill_sealed(held)
    tracker.ingest(frame_of_ranks(BASE), name="base", labels=labels_of_ranks(N_GROUPS), dataset="shop")
    tracker.ingest(frame_of_ranks(GOOD), name="good", dataset="shop")
    typed = CommandLine(ready_url, capsys)
    gate = ("gate", "good", "--baseline", "base", "--margin", ".05", "--dataset")
    assert "held" in typed.refused(*gate, "held")
    monkeypatch.setenv("NDCG_TRACK_SEALED_DB", held)
    assert typed.done(*gate, "held").startswith("PASS: good against base on sealed dataset held\n")
    assert typed.rows(*gate, "shop")["decision"] == "pass"
    write_csv(folder / "new.csv", frame_of_ranks(GOOD))
    assert typed("ingest", "new.csv", "--dataset", "held").code == 0
    assert typed.done("gate", "new", *gate[2:], "held").startswith("PASS: new against base on sealed dataset held\n")
    with nt.Tracker(held) as other:
        assert len(rows(other)) == 2
    assert len(rows(tracker)) == 1
    assert "held" not in typed("runs", "list").out
