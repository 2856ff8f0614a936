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
from ndcg_tracker.questions.gate.decide_bounds import look_level

GOOD = [1, 1] * 60 + BASE[120:]
SEALED = "shop-sealed"
ASKED: dict[str, Any] = {"baseline": "base", "dataset": SEALED}
COLUMNS = ["decision", "candidate", "baseline", "dataset", "metric", "margin", "look", "level"]
SPLIT: dict[str, Any] = {"seal": 0.9, "metric": "ndcg@10", "margin": 0.05, "seed": "1"}
RUNS = {"base": BASE, "good": GOOD, "drop": worse(110), "better": [1] * N_GROUPS, "bad": worse(119)}


def unjudged() -> dict[str, list[object]]:
    frame = frame_of_ranks(BASE)
    return frame | {"item": [f"un{item}" for item in frame["item"]]}


def split_shop(tracker: nt.Tracker, **rules: Any) -> None:
    tracker.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset="shop")
    tracker.split_dataset("shop", **SPLIT | rules)


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        split_shop(tracker)
        for name, ranks in (RUNS | {"short": BASE[:-40]}).items():
            tracker.ingest(frame_of_ranks(ranks), name=name, dataset=SEALED)
        tracker.ingest(unjudged(), name="unjudged", dataset=SEALED)
        tracker.ingest(frame_of_ranks(BASE), name="of-mrr", dataset=SEALED, metrics="mrr")
        tracker.ingest(frame_of_ranks(BASE), name="open-run", dataset="shop")


@pytest.fixture
def sealed(fill_as: Callable[..., None], tracker: nt.Tracker, held: str) -> nt.Tracker:
    """A sealed database with a baseline, candidates, and runs that cannot be compared; the tracker of the open one."""
    fill_as(fill, held)
    return tracker


@pytest.fixture
def typed(
    sealed: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path, held: str
) -> CommandLine:
    """The command line on the open database."""
    return CommandLine(ready_url, capsys)


def rows(url: str) -> list[dict[str, Any]]:
    """Return the decisions as they are in the table."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = connection.execute(sa.text("SELECT * FROM decisions ORDER BY id")).mappings()
        stored = [dict(row) for row in found]
    engine.dispose()
    return stored


def test_one_bit_and_its_level(sealed: nt.Tracker, held: str) -> None:
    n_passed = 0
    for number, name in enumerate(("drop", "good", "unjudged", "better", "bad"), 1):
        result = sealed.gate_sealed(name, **ASKED)
        level = look_level(number, 0.05, 40, n_passed)
        has_passed = name in ("good", "better")
        assert (result.decision, result.is_accepted) == (("pass", True) if has_passed else ("not_passed", False))
        look = {"number": number, "budget": 0.05, "looks": 40, "level": level}
        asked = {"candidate": name, "baseline": "base", "dataset": SEALED, "metric": "ndcg@10", "margin": 0.05}
        told = {"decision": result.decision, **asked, "look": look, "decided_before": False}
        assert result.to_dict() == told
        assert sealed.gate_sealed(name, **ASKED).to_dict() == told | {"decided_before": True}
        n_passed += has_passed
    assert [row["alpha"] for row in rows(held)] == [
        look_level(i, 0.05, 40, j) for i, j in zip((1, 2, 3, 4, 5), (0, 0, 1, 1, 2), strict=True)
    ]


@pytest.mark.parametrize(("looks", "decision"), [(1, "pass"), (1_000_000_000, "not_passed")])
def test_the_level_decides(tracker: nt.Tracker, held: str, looks: int, decision: str) -> None:
    """What PASSes at 5% does not at the level of a look of very many."""
    split_shop(tracker, looks=looks)
    for name, ranks in (("base", BASE), ("noisy", worse(60, 60))):
        tracker.ingest(frame_of_ranks(ranks), name=name, dataset=SEALED)
    assert tracker.gate_sealed("noisy", **ASKED).decision == decision


def test_fail_and_inconclusive_look_the_same(typed: CommandLine) -> None:
    gate = ("gate", "--baseline", "base", "--dataset", SEALED)
    said = [typed(*gate, name) for name in ("drop", "unjudged")]
    assert [printed.code for printed in said] == [4, 4]
    assert {printed.err for printed in said} == {""}
    for printed in said:
        assert "NOT PASSED" in printed.out
        assert not re.search(r"FAIL|INCONCLUSIVE|\bjudged|delta|group", printed.out)
    passed = typed(*gate, "good")
    assert (passed.code, passed.err) == (0, "")
    assert passed.out.startswith("PASS: good against base on sealed dataset shop-sealed\n")


def test_the_formats(typed: CommandLine) -> None:
    gate = ("gate", "drop", "--baseline", "base", "--dataset", SEALED, "--format")
    found = json.loads(typed(*gate, "json").out)
    assert list(found) == [*COLUMNS[:-1], "decided_before"]
    assert found["look"] == {
        "number": 1,
        "budget": 0.05,
        "looks": 40,
        "level": look_level(1, 0.05, 40, 0),
    }
    (row,) = csv.DictReader(io.StringIO(typed(*gate, "csv").out))
    assert list(row) == COLUMNS
    assert (row["decision"], row["look"], float(row["level"])) == ("not_passed", "1", look_level(1, 0.05, 40, 0))
    markdown = typed(*gate, "markdown")
    assert (markdown.code, markdown.err) == (4, "")
    assert "NOT PASSED" in markdown.out
    level = f"{look_level(1, 0.05, 40, 0):.3g}"
    assert typed(*gate, "text").out == (
        "NOT PASSED: drop against base on sealed dataset shop-sealed\n"
        "  ndcg@10, margin 0.0500\n"
        f"  look 1 of 40, level {level} of a budget of 0.05\n"
        "  decided before: the same question again spends no look\n"
    )


def test_the_baseline_of_the_split(
    tracker: nt.Tracker, held: str, ready_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    split_shop(tracker, baseline="base")
    for name in ("base", "good"):
        tracker.ingest(frame_of_ranks(RUNS[name]), name=name, dataset=SEALED)
    assert tracker.gate_sealed("good", dataset=SEALED).baseline == "base"
    command = CommandLine(ready_url, capsys)
    assert "PASS: good against base" in command.done("gate", "good", "--dataset", SEALED)
    assert command.refused("gate", "good", "--baseline", "base", "--dataset", SEALED) == (
        "--baseline does not go with a sealed dataset whose split named a baseline: its gates have one baseline; "
        "leave it out"
    )
    assert len(rows(held)) == 1


def test_without_a_baseline(typed: CommandLine) -> None:
    needed = "gate needs --baseline: it is the run to compare against; name one"
    assert typed.refused("gate", "good", "--dataset", SEALED) == needed
    assert typed.refused("gate", "open-run", "--margin", ".1", "--dataset", "shop") == needed


ALLOWED = {"baseline", "dataset", "format"}
VALUES = {
    "scope": "set", "acknowledge": "r",
    "slice_margin": ".1", "max_harm": ".3:2%", "limits": "ms=+1", "labels": "1", "unjudged": "zero",
    "by_tag": "k", "repeats": "base", "by": "half",
    "judge": "llm", "check_with": "ada", "suite": "all", "junit": "j.xml",
    "report": "r.html", "metric": "ndcg@5", "margin": ".05", "missing": "zero", "cluster": "user",
}  # fmt: skip
SPELLED_ELSEWHERE = {"brief", "db", "help"}


def gate_options() -> dict[str, list[str]]:
    """Return how each option of the gate that is no allowed one is typed, from the program itself."""
    found: Any = all_commands()
    typed = {}
    for option in found.commands["gate"].params:
        if option.param_type_name != "option" or option.name in ALLOWED | SPELLED_ELSEWHERE | {
            "quiet",
            "verbose",
            "brief",
        }:
            continue
        is_flag = getattr(option, "is_flag", False)
        typed[option.name] = [max(option.opts, key=len), *([] if is_flag else [VALUES.get(option.name, "1")])]
    return typed


def test_every_other_option_is_refused_before_a_look(typed: CommandLine, held: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    options = gate_options()
    assert len(options) > 20
    for name, words in options.items():
        refused = typed.refused("gate", "good", "--baseline", "base", "--dataset", SEALED, *words)
        if name not in ("by_tag", "suite", "read"):  # which need --suite, --margin and files
            assert refused == (
                f"{words[0]} does not go with sealed dataset 'shop-sealed': the split has fixed the rules of its "
                "gates; leave it out"
            )
        assert rows(held) == [], name
        assert sorted(folder.iterdir()) == before, name


def test_a_run_that_lacks_groups_or_is_unknown_spends_no_look(sealed: nt.Tracker, held: str) -> None:
    """A run must not pass by leaving out the groups that it would lose."""
    for one, other in (("short", "base"), ("base", "short")):
        told = refusal_of(nt.NotComparableError, sealed.gate_sealed, one, baseline=other, dataset=SEALED)
        assert told == (
            "run 'short' lacks ndcg@10 or groups; no look was spent; ingest it completely with: ndcg-track ingest FILE "
            "--dataset shop-sealed"
        )
    for unknown in ("nope", "open-run", "@prod"):
        refusal_of(nt.ReferenceNotFoundError, sealed.gate_sealed, unknown, **ASKED)
    assert rows(held) == []


def test_what_stops_the_arithmetic_is_not_passed(sealed: nt.Tracker, held: str) -> None:
    assert (sealed.gate_sealed("unjudged", **ASKED).decision, len(rows(held))) == ("not_passed", 1)


def test_a_spent_seal(tracker: nt.Tracker, held: str) -> None:
    split_shop(tracker, looks=2)
    for name in RUNS:
        tracker.ingest(frame_of_ranks(RUNS[name]), name=name, dataset=SEALED)
    for name in ("good", "drop"):
        tracker.gate_sealed(name, **ASKED)
    assert tracker.gate_sealed("good", **ASKED).decided_before
    spent = tracker.gate_sealed("better", **ASKED)
    assert (spent.decision, spent.look.number, spent.look.level) == ("not_passed", 3, 0.0)
    assert "  look 3: the budget of 2 looks is spent; split fresh data\n" in str(spent)


def test_open_data_is_not_sealed(sealed: nt.Tracker) -> None:
    told = refusal_of(nt.InputError, sealed.gate_sealed, "open-run", baseline="open-run", dataset="shop")
    assert told == "dataset 'shop' is not sealed; use gate, which takes open data"
    refusal_of(nt.ReferenceNotFoundError, sealed.gate_sealed, "good", **ASKED | {"dataset": "nope"})
    told = refusal_of(nt.InputError, sealed.gate, "good", **ASKED)
    assert told == CLOSED


CLOSED = (
    "dataset 'shop-sealed' is sealed, in a database of its own: only ingest and gate (in Python gate_sealed) may use "
    "it; for these, NDCG_TRACK_SEALED_DB names it; else use dataset='shop'"
)


def test_without_the_variable(sealed: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NDCG_TRACK_SEALED_DB")
    for ask in (
        lambda: sealed.gate_sealed("good", **ASKED),
        lambda: sealed.ingest(frame_of_ranks(GOOD), name="again", dataset=SEALED),
    ):
        assert refusal_of(nt.InputError, ask) == CLOSED


def test_the_sealed_database_itself(sealed: nt.Tracker, held: str) -> None:
    """Its location opens nothing, neither here nor for ingest and gate."""
    with nt.Tracker(held) as other:
        for ask in (other.runs, lambda: other.ingest(frame_of_ranks(GOOD), name="new", dataset="shop")):
            assert refusal_of(nt.InputError, ask).endswith(
                ": the database is sealed: only ingest, gate and db may use it; for ingest and gate, name it with "
                "NDCG_TRACK_SEALED_DB, and an open one with location="
            )
        assert other.gate_sealed("good", **ASKED).decision == "pass"  # by the variable


@pytest.mark.both_engines
def test_the_record_holds_no_number_that_labels_make(sealed: nt.Tracker, held: str) -> None:
    for name in ("good", "drop", "unjudged"):
        sealed.gate_sealed(name, **ASKED)
    for row, name in zip(rows(held), ("good", "drop", "unjudged"), strict=True):
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
    def number(name: str) -> int:
        with nt.Tracker(ready_url) as tracker:
            return tracker.gate_sealed(name, **ASKED).look.number

    with ThreadPoolExecutor(4) as threads:
        found = threads.map(number, ("good", "drop", "better", "bad", "unjudged"))
        assert sorted(found) == [1, 2, 3, 4, 5]


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


def test_no_metric_asks_a_label_at_ingest(tracker: nt.Tracker, held: str) -> None:
    """Whether a run of one item is stored would tell whether it is relevant, and spend no look."""
    for metric in TELLING:
        told = refusal_of(nt.InputError, split_shop, tracker, metric=metric)
        assert " may refuse a run because of its labels, which would reveal sealed labels; leave " in told, metric


def test_a_run_gets_the_metric_of_the_split_alone(sealed: nt.Tracker, held: str) -> None:
    for name, ranks in (("all", BASE), ("all-good", GOOD)):
        usual = ["map", "ndcg(empty=error)@10"]
        assert sealed.ingest(frame_of_ranks(ranks), name=name, dataset=SEALED, metrics=usual).outcome == "stored"
    assert sealed.gate_sealed("all-good", **ASKED | {"baseline": "all"}).decision == "pass"
    engine = sa.create_engine(held)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT text FROM metrics")).scalars().all() == ["ndcg@10"]
    engine.dispose()


def test_ingest_tells_no_stored_weight(sealed: nt.Tracker) -> None:
    weighted = frame_of_ranks(BASE)
    weighted["weight"] = [2.0] * len(weighted["group"])
    assert sealed.ingest(weighted, name="weighted", dataset=SEALED).outcome == "stored"
    weighted["weight"] = [3.0] * len(weighted["group"])
    told = refusal_of(nt.InputError, sealed.ingest, weighted, name="heavier", dataset=SEALED)
    assert told == (
        "the run cannot be stored on sealed dataset 'shop-sealed'; the reason is not shown; ingest a run like it on "
        "open data to see the reason"
    )


def test_ingest_says_stored_and_nothing_else(typed: CommandLine, folder: Path) -> None:
    paths = [write_csv(folder / f"{name}.csv", frame_of_ranks(GOOD)) for name in ("again", "more")]
    for words in (paths, paths[:1], [paths[0], "--format", "json"]):
        assert typed.done("ingest", *words, "--dataset", SEALED) == "stored\n"
