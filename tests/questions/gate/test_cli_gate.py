"""``ndcg-track gate``: what it prints, writes and records, and its exit codes through the real program."""

import csv
import io
import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import CommandLine, Program
from ranked_runs import frame_of_ranks, labels_of_ranks
from small_shop import write_csv

from ndcg_tracker.api.tracker import Tracker

pytestmark = pytest.mark.usefixtures("folder")


N_GROUPS = 240
BASE = [1, 2] * (N_GROUPS // 2)
RUNS = {
    "base": BASE,
    "same": BASE,
    "drop": [2] * N_GROUPS,
    "noisy": [2, 1] * 60 + BASE[120:],
    "gain": [1] * N_GROUPS,
}
ASKED = ["--baseline", "@prod", "--margin", "0.01"]


@pytest.fixture
def run_files(folder: Path) -> list[str]:
    """One file per run, and the labels, in the folder."""
    write_csv(folder / "labels.csv", labels_of_ranks(N_GROUPS))
    return [write_csv(folder / f"{name}.csv", frame_of_ranks(ranks)) for name, ranks in RUNS.items()]


@pytest.fixture
def gate(
    fill_as: Callable[[Callable[[str], object]], None],
    command: CommandLine,
    run_files: list[str],
    capsys: pytest.CaptureFixture[str],
) -> CommandLine:
    """The command line on a database with the runs and a pinned baseline."""

    def fill(url: str) -> None:
        filling = CommandLine(url, capsys)
        filling.rows("ingest", *run_files, "--labels", "labels.csv", "--dataset", "shop")
        filling.said("alias", "set", "prod", "base")

    fill_as(fill)
    return command


@pytest.fixture
def started(program: Program, run_files: list[str]) -> Program:
    """The real program with the same database, on SQLite."""
    assert program("ingest", *run_files, "--labels", "labels.csv", "--dataset", "shop").code == 0
    assert program("alias", "set", "prod", "base").code == 0
    return program


def n_decisions(command: CommandLine) -> int:
    with Tracker(command.url) as tracker, tracker.store().read() as tx:
        return sum(len(tx.decisions.all(dataset.id)) for dataset in tx.datasets.all())


def test_the_exit_codes_of_the_real_program(started: Program) -> None:
    verdicts = {0: "PASS", 3: "FAIL", 4: "INCONCLUSIVE"}
    for code, candidate in {0: "gain", 3: "drop", 4: "noisy"}.items():
        program = started.cold if code == 3 else started  # the start itself is one for all
        printed = program("gate", candidate, *ASKED)
        assert (printed.code, printed.err) == (code, "")
        assert printed.out.startswith(f"{verdicts[code]}: ")
    with Tracker(str(started.folder / "ndcg-track.db")) as tracker, tracker.store().read() as tx:
        recorded = [one.decision for dataset in tx.datasets.all() for one in tx.decisions.all(dataset.id)]
    assert recorded == [verdict.lower() for verdict in verdicts.values()]  # whatever the program ended with
    assert started("gate", "drop", *ASKED, "--acknowledge", "known").code == 0
    assert started("gate", "drop", *ASKED, "--metric", "AP").code == 5
    assert started("gate", "nope", *ASKED).code == 2
    assert started("gate", "drop", "--baseline", "@prod").code == 2


def test_a_reader_that_goes_away_does_not_turn_fail_into_pass(started: Program) -> None:
    read, write = os.pipe()
    os.close(read)
    process = started.cold.start("gate", "drop", *ASKED, "--format", "json", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, err = process.communicate()
    assert (process.returncode, err) == (3, b"")


def test_the_text_has_the_verdict_first(gate: CommandLine) -> None:
    printed = gate("gate", "drop", *ASKED, "-v")
    lines = printed.out.splitlines()
    assert (printed.code, printed.err) == (3, "")
    assert lines[0] == "FAIL: drop must not replace base on shop (ndcg@10, margin 0.01)"
    assert lines[2] == "  why: all of that is below 0"
    assert any(line.startswith("margin      0.0100") for line in lines)
    assert any(line.startswith("drift       @prod has been base since 20") for line in lines)
    assert "  recorded as decision 1" in lines
    assert max(map(len, lines)) <= 100


def test_the_four_formats(gate: CommandLine) -> None:
    found = json.loads(gate("gate", "drop", *ASKED, "--format", "json", "--dry-run").out)
    assert (found["decision"], found["margin"], found["candidate"]["name"]) == ("fail", 0.01, "drop")
    with Tracker(gate.url) as tracker:
        asked = tracker.gate("drop", baseline="@prod", margin=0.01, dry_run=True)
    assert found == json.loads(json.dumps(asked.to_dict()))
    (row,) = csv.DictReader(io.StringIO(gate("gate", "drop", *ASKED, "--format", "csv", "--dry-run").out))
    assert (row["decision"], float(row["delta"])) == ("fail", found["delta"])
    markdown = gate("gate", "drop", *ASKED, "--format", "markdown", "--dry-run").out
    assert markdown.startswith("### FAIL: drop must not replace base on shop (ndcg@10, margin 0.01)\n")
    assert n_decisions(gate) == 0


def test_an_override_names_the_git_user_or_the_user(
    gate: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = folder / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("USER", "grace")
    printed = gate("gate", "drop", *ASKED, "--acknowledge", "the index was rebuilt")
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith(
        "FAIL: drop must not replace base on shop (ndcg@10, margin 0.01), but it was overridden\n"
    )
    assert "; overridden by grace: the index was rebuilt" in printed.out
    config.write_text("[user]\nname = Ada\nemail = ada@example.org\n", encoding="utf-8")
    found = gate.rows("gate", "noisy", *ASKED, "--acknowledge", "more labels are on their way")
    assert found["acknowledged"] == {"reason": "more labels are on their way", "by": "Ada <ada@example.org>"}
    passed = gate("gate", "gain", *ASKED, "--acknowledge", "x")
    assert (passed.code, passed.err) == (0, "note: PASS needs no --acknowledge; nothing was overridden\n")
    assert n_decisions(gate) == 3


def test_small_slices_that_fell_are_named_in_every_format(
    gate: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    falls = [2] * 12 + [1] * (N_GROUPS - 12)
    write_csv(folder / "falls.csv", frame_of_ranks(falls))
    gate.rows("ingest", "falls.csv", "--dataset", "shop")
    kinds = ["rare" if number < 12 else str(number) for number in range(N_GROUPS)]
    groups = list(dict.fromkeys(frame_of_ranks(BASE)["group"]))
    write_csv(folder / "kinds.csv", {"group": groups, "kind": kinds})
    write_csv(folder / "first.csv", frame_of_ranks([1] * 12 + BASE[12:]))
    gate.rows("ingest", "first.csv", "--dataset", "shop")
    gate.said("groups", "set", "kinds.csv", "--dataset", "shop")
    by = ["--by", "kind", "--slice-margin", "0.05"]
    asked = ["gate", "falls", "--baseline", "first", "--margin", "0.05", *by]
    small = "regressed by compare's test: kind='rare' (-0.37, 12 queries)"
    for format in ("text", "markdown", "json", "csv"):
        printed = gate(*asked, "--format", format, "--junit", "junit.xml")
        assert printed.code == 4
        assert small in " ".join(printed.out.replace("\\", "").split()), format
    for written in ("junit.xml", "summary.md"):
        assert small in " ".join((folder / written).read_text(encoding="utf-8").replace("\\", "").split()), written
    found = json.loads(gate(*asked, "--format", "json").out)
    assert found["decision"] == "inconclusive"
    assert [row["value"] for row in found["parts"] if row["p_adjusted"] is not None] == ["rare"]


def test_groups_are_shown_where_asked(gate: CommandLine, folder: Path) -> None:
    asked = ["gate", "drop", *ASKED, "--dry-run"]
    assert "worst queries" not in gate(*asked).out
    for format in ("text", "markdown"):
        shown = gate(*asked, "-v", "--format", format, "--junit", "junit.xml").out
        assert "worst queries in ndcg@10" in shown
        assert shown.count("-0.3691") >= 10  # groups
        assert "best groups" not in shown  # none got better
    assert "worst queries in ndcg@10" in (folder / "junit.xml").read_text(encoding="utf-8")
    assert len(json.loads(gate(*asked, "--format", "json").out)["worst"]) == 10


def test_a_fixed_set(gate: CommandLine) -> None:
    assert gate("gate", "drop", "--baseline", "@prod", "--scope", "set").code == 3
    printed = gate("gate", "drop", "--baseline", "@prod", "--scope", "set", "--margin", "0.2")
    assert (printed.code, printed.out.splitlines()[0]) == (
        0,
        "PASS: drop may replace base on shop (ndcg@10, margin 0.2)",
    )
    assert "p-value" not in printed.out


def test_a_learned_margin(gate: CommandLine, folder: Path) -> None:
    for number in range(3):
        ranks = [1] * number + BASE[number:]
        write_csv(folder / f"again{number}.csv", frame_of_ranks(ranks))
    files = [f"again{number}.csv" for number in range(3)]
    gate.rows("ingest", *files, "--dataset", "shop", "--tag", "aa=base")
    auto = ["--baseline", "@prod", "--margin", "auto"]
    found = gate.rows("gate", "gain", *auto, "--repeat", "tag:aa=base")
    assert found["margin"] == found["learned_margin"]["margin"]
    assert found["learned_margin"]["runs"] == ["again0", "again1", "again2"]
    repeats = [word for number in range(3) for word in ("--repeat", f"again{number}")]
    assert gate.rows("gate", "gain", *auto, *repeats)["margin"] == found["margin"]
    assert "(again0, again1, again2;" in " ".join(gate("gate", "gain", *auto, *repeats, "-v").out.split())
    message = gate.refused("gate", "gain", *auto)
    assert message.startswith(
        "--margin auto needs at least 3 runs of one unchanged system, and baseline 'base' has no tag aa: name them "
        "with --repeat RUN, or "
    )
    gate.said("runs", "tag", "base", "aa=base")
    assert gate.rows("gate", "gain", *auto)["learned_margin"]["runs"] == ["base", "again0", "again1", "again2"]


def test_what_is_refused(gate: CommandLine) -> None:
    assert gate.refused("gate", "drop", "--baseline", "@prod") == (
        "the gate needs --margin: the allowed drop of ndcg@10, in absolute points, such as --margin 0.01; "
        "or learn it from repeats of the baseline with --margin auto; or give --scope set "
        "to decide for these groups only"
    )
    assert gate.refused("gate", "drop", "--baseline", "@prod", "--margin", "1%") == (
        "--margin '1%' is not a number; give one in absolute points, such as 0.01, or auto"
    )
    for margin in ("nan", "inf", "-0.5"):
        assert gate.refused("gate", "drop", "--baseline", "@prod", "--margin", margin) == (
            f"the margin must be a number 0 or more, not {margin}; give it in absolute points, such as 0.01"
        )
    assert "has no" not in gate.refused("gate", "drop", *ASKED, "--metric", "AP", code=5)
    assert gate.refused("gate", "drop", *ASKED, "--acknowledge", " ").startswith("--acknowledge needs a reason")
    assert n_decisions(gate) == 0


def test_the_files(gate: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = folder / "summary.md"
    summary.write_text("# Job", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    files = ["--junit", "gate.xml"]
    assert gate("gate", "drop", *ASKED, *files).code == 3
    root = ElementTree.parse(folder / "gate.xml").getroot()
    assert root.get("failures") == "1"
    gate("gate", "gain", *ASKED)
    lines = summary.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Job",
        "### FAIL: drop must not replace base on shop (ndcg@10, margin 0.01)",
        "### PASS: gain may replace base on shop (ndcg@10, margin 0.01)",
    ]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("candidate", "options", "tag"),
    [
        ("noisy", [], "failure"),
        ("drop", [], "failure"),
        ("drop", ["--acknowledge", "known"], None),
        ("gain", [], None),
    ],
)
def test_junit_agrees_with_the_exit_code(
    sqlite_command: CommandLine, run_files: list[str], folder: Path, candidate: str, options: list[str], tag: str | None
) -> None:
    sqlite_command.rows("ingest", *run_files, "--labels", "labels.csv", "--dataset", "shop")
    code = sqlite_command(
        "gate", candidate, "--baseline", "base", "--margin", "0.01", *options, "--junit", "g.xml"
    ).code
    case = ElementTree.parse(folder / "g.xml").getroot().find("testsuite/testcase")
    assert case is not None
    assert [child.tag for child in case] == ([tag] if tag else []) + ["system-out"]
    assert (code != 0) == (tag == "failure")


def test_files_that_cannot_be_written_are_refused_before_anything_is_recorded(
    gate: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gate.refused("gate", "drop", *ASKED, "--junit", "no/such/gate.xml") == (
        "--junit: cannot write 'no/such/gate.xml': its folder does not exist; create the folder, or give another path"
    )
    assert gate.refused("gate", "drop", *ASKED, "--junit", ".") == (
        "--junit: cannot write '.': it is a folder; give another path"
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/summary.md")
    assert gate.refused("gate", "drop", *ASKED) == (
        "GITHUB_STEP_SUMMARY: cannot write 'no/such/summary.md': its folder does not exist; "
        "create the folder, or give another path"
    )
    assert n_decisions(gate) == 0


def test_no_file_is_left_where_the_gate_could_not_decide(gate: CommandLine, folder: Path) -> None:
    (folder / "old.xml").write_text("old", encoding="utf-8")
    before = sorted(path.name for path in folder.iterdir())
    files = ["--junit", "old.xml", "--report", "new.html"]
    gate.refused("gate", "drop", *ASKED, "--metric", "AP", *files, code=5)
    gate.refused("gate", "nope", *ASKED, *files)
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (folder / "old.xml").read_text(encoding="utf-8") == "old"


def test_a_file_that_is_no_regular_file_is_written_to(gate: CommandLine, folder: Path) -> None:
    assert gate("gate", "gain", *ASKED, "--junit", os.devnull).code == 0
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    assert gate("gate", "gain", *ASKED, "--junit", str(pipe)).code == 0
    reader.join(60)
    assert read[0].startswith("<?xml")


def test_what_a_file_was_is_kept_beside_its_content(gate: CommandLine, folder: Path) -> None:
    target, link = folder / "real.xml", folder / "link.xml"
    target.write_text("<a/>", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    assert gate("gate", "gain", *ASKED, "--junit", "link.xml").code == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("<?xml")
    assert target.stat().st_mode & 0o777 == 0o640


def test_the_report_page_of_a_decision(gate: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = gate("gate", "drop", *ASKED, "--report", "page.html", "--format", "markdown")
    assert (printed.code, printed.err) == (3, "")
    page = (folder / "page.html").read_text("utf-8")
    assert "<title>Is drop better than base?</title>" in page
    assert "Gate on ndcg@10: FAIL" in page
    picture, link = printed.out.split("```mermaid\n")[1].split("\n```\n")
    assert '    x-axis "240 queries: 0 better, 120 the same, 120 worse" 1 --> 60' in picture.splitlines()
    assert link == "\nThe report: page.html\n"
    variables = {
        "SERVER_URL": "https://github.com",
        "REPOSITORY": "shop/search",
        "RUN_ID": "77",
        "STEP_SUMMARY": "s.md",
    }
    for name, value in variables.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    text = gate("gate", "gain", *ASKED, "--report", "page.html").out
    assert "mermaid" not in text
    summary = (folder / "s.md").read_text("utf-8")
    assert picture.splitlines()[0] in summary
    assert "[every query, and why it changed](https://github.com/shop/search/actions/runs/77#artifacts)" in summary


def test_a_report_that_cannot_be_written_decides_nothing(gate: CommandLine) -> None:
    assert gate.refused("gate", "drop", *ASKED, "--report", "no/such.html") == (
        "--report: cannot write 'no/such.html': its folder does not exist; create the folder, or give another path"
    )
    assert gate.rows("sql", "SELECT * FROM gate_decisions") == []
