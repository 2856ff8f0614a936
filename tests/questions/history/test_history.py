"""The history in four formats, and its sparkline."""

import json
import math
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg_tracker.questions.history.gather import History, new_steps_of
from ndcg_tracker.questions.history.say import HistoryRow, history_said, new_steps_said
from ndcg_tracker.render.report import Detail
from ndcg_tracker.words.texts import means_of_blocks, sparkline


def row(run: str, mean: float | None, metric: str = "ndcg@10", **rest: bool) -> HistoryRow:
    ci = None if mean is None else (mean - 0.01, mean + 0.01)
    return HistoryRow(
        run=run, run_id=len(run), created_at_utc="2025-01-31T09:30:59Z", metric=metric, mean=mean, ci=ci, **rest
    )


ROWS = [row("r1", 0.6), row("r22", 0.61), row("r333", None), row("r4444", 0.7, step=True), row("r1", 0.25, "P@1")]


def test_text() -> None:
    assert history_said(ROWS).in_format("text") == (
        "ndcg@10  ▁▁ █  stepped at r4444\n"
        "\n"
        "run    created (UTC)          mean      95% interval   change\n"
        "r1     2025-01-31 09:30:59  0.6000  [0.5900, 0.6100]        -\n"
        "r22    2025-01-31 09:30:59  0.6100  [0.6000, 0.6200]  +0.0100\n"
        "r333   2025-01-31 09:30:59       -                 -        -\n"
        "r4444  2025-01-31 09:30:59  0.7000  [0.6900, 0.7100]        -  step\n"
        "\n"
        "P@1  ▄\n"
        "\n"
        "run  created (UTC)          mean      95% interval\n"
        "r1   2025-01-31 09:30:59  0.2500  [0.2400, 0.2600]\n"
    )


def test_markdown() -> None:
    assert history_said(ROWS[:2]).in_format("markdown") == (
        "### ndcg@10 ▁█\n"
        "\n"
        "| run | created (UTC) | mean | 95% interval | change |\n"
        "| --- | --- | ---: | ---: | ---: |\n"
        "| r1 | 2025-01-31 09:30:59 | 0.6000 | \\[0.5900, 0.6100\\] | - |\n"
        "| r22 | 2025-01-31 09:30:59 | 0.6100 | \\[0.6000, 0.6200\\] | +0.0100 |\n"
    )


def history_with(n_runs: int, **marks: dict[str, object]) -> History:
    rows = [HistoryRow(run=name, **marks.get(name, {})) for name in (f"r{at}" for at in range(1, n_runs + 1))]  # type: ignore[typeddict-item]
    return History(tuple(rows), (), n_runs, n_runs)


def test_a_step_is_new_in_the_first_history_that_shows_it() -> None:
    step = {"step": True, "step_between": ("r3", "r5")}
    of_runs = {n: history_with(n) for n in range(1, 9)}
    of_runs |= {
        5: history_with(5, r4=step),
        7: history_with(7, r4={**step, "step_between": ("r4", "r7")}, r2={"step": True}),
    }
    of_runs[8] = history_with(8, r4=step, r8={"step": True})
    read = list[int]()

    def new_of(n: int, n_known: int) -> list[str]:
        read.clear()

        def without(later: Sequence[str]) -> History:
            read.append(n - len(later))
            return of_runs[n - len(later)]

        return [row["run"] for row in new_steps_of(of_runs[n], n_known, without)]

    assert (new_of(5, 4), read) == (["r4"], [4, 3])  # with two runs no step between r3 and r5 can show
    assert new_of(6, 5) == []
    assert (new_of(7, 6), read) == (["r2"], [6, 5, 4, 3, 2])  # that at r4 was shown by five runs
    assert (new_of(8, 7), read) == (["r8"], [7])
    assert new_of(8, 4) == ["r4", "r8"]
    of_runs[4] = history_with(4, r4={"drift_between": ("r1", "r4")})
    assert new_of(5, 4) == []
    assert new_of(8, 5) == ["r8"]


def test_new_steps() -> None:
    newest = ROWS[3]
    assert new_steps_said([], newest).in_format("text") == "ndcg@10: no new step at r4444 (run 5)\n"
    assert new_steps_said([], newest).in_format("markdown") == "### ndcg@10: no new step at r4444 (run 5)\n"
    assert new_steps_said([], newest).in_format("json") == "[]\n"
    assert "ndcg@10: stepped down at r17 (run 3" in new_steps_said([STEP], newest).in_format("text")
    assert [one["run"] for one in json.loads(new_steps_said([STEP], newest).in_format("json"))] == ["r17"]
    assert new_steps_said([STEP], newest).in_format("csv") == history_said([STEP]).in_format("csv")


def test_json_and_csv_carry_the_rows_as_they_are() -> None:
    printed = json.loads(history_said(ROWS).in_format("json"))
    assert printed == [{**one, "ci": None if one["ci"] is None else list(one["ci"])} for one in ROWS]
    assert history_said(ROWS[2:4]).in_format("csv") == (
        "run,run_id,created_at_utc,metric,mean,ci_low,ci_high,step,delta,p_adjusted,git_commit,label_set_version,tags,"
        "parameters,step_change,step_ci_low,step_ci_high,step_first,step_last,step_before,step_parameters,step_possible,"
        "requested_as,drift_change,drift_ci_low,drift_ci_high,drift_first,drift_last,drift_runs,direction,judged,judged_before,judge,"
        "step_or_drift,n_vanished,labels_change,ranking_change,verdict,step_compare\n"
        "r333,4,2025-01-31T09:30:59Z,ndcg@10,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n"
        "r4444,5,2025-01-31T09:30:59Z,ndcg@10,0.7,0.69,0.71,true,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n"
    )
    came = history_said([{**STEP, "n_vanished": -20}]).in_format("csv")
    assert came.splitlines()[1].endswith(",-20,,,regressed,")
    assert history_said([{**STEP, "requested_as": "map"}]).in_format("csv").splitlines()[1] == (
        "r17,3,2025-01-31T09:30:59Z,ndcg@10,0.5,0.49,0.51,true,-0.0123,1e-09,abc1234def,2,branch=main,"
        "lr=0.3 layers=2,-0.0123,-0.0156,-0.009,r17,r17,r16,lr=0.1->0.3 layers=->2,false,map,,,,,,,,,,,,,,,regressed,"
    )


def test_what_was_asked_for_is_said_where_it_is_another_name() -> None:
    as_map: list[HistoryRow] = [{**one, "metric": "AP", "requested_as": "map"} for one in ROWS[:2]]
    assert history_said(as_map).in_format("text").splitlines()[0].endswith("  (requested as map)")
    mixed: list[HistoryRow] = [as_map[0], {**as_map[1], "requested_as": "AP"}]
    assert history_said(mixed).in_format("markdown").splitlines()[0].endswith(" (requested as map, AP)")
    same: list[HistoryRow] = [{**one, "requested_as": "AP"} for one in as_map]
    assert "asked for" not in history_said(same).in_format("text")


def test_no_rows() -> None:
    assert history_said([]).in_format("text") == history_said([]).in_format("markdown") == ""
    assert history_said([]).in_format("json") == "[]\n"


STEP: HistoryRow = {
    **row("r17", 0.5, step=True),
    "delta": -0.0123,
    "p_adjusted": 1e-9,
    "git_commit": "abc1234def",
    "label_set_version": 2,
    "tags": {"branch": "main"},
    "parameters": {"lr": "0.3", "layers": "2"},
    "step_change": -0.0123,
    "step_ci": (-0.0156, -0.009),
    "step_between": ("r17", "r17"),
    "step_before": "r16",
    "step_parameters": {"lr": ("0.1", "0.3"), "layers": (None, "2")},
    "step_possible": False,
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {},
            "stepped down at r17 (run 3, commit abc1234, lr 0.1 → 0.3, layers not given → 2): -0.0123 "
            "[-0.0156, -0.0090], p <1e-4",
        ),
        (
            {"step_change": 0.0123, "step_ci": None, "p_adjusted": 0.0123, "step_parameters": {}, "git_commit": None},
            "stepped up at r17 (run 3, parameters as in r16): +0.0123, p = 0.0123",
        ),
        (
            {"step_between": ("r15", "r20"), "step_parameters": {}, "parameters": {}, "git_commit": None},
            "stepped down at r17 (run 3): -0.0123 [-0.0156, -0.0090], p <1e-4; the step lies somewhere between r15 and "
            "r20",
        ),
        (
            {"step_between": ("r15", "r20"), "step_parameters": {}, "git_commit": None, "step_or_drift": True},
            "stepped down at r17 (run 3, parameters as in r16): -0.0123 [-0.0156, -0.0090], p <1e-4; the step lies "
            "somewhere between r15 and r20; a slow drift explains it at least as "
            "well",
        ),
        (
            {"step": False, "step_possible": True, "step_ci": None, "git_commit": None, "step_parameters": None},
            "perhaps stepped down at r17 (run 3): -0.0123; too few groups, or too few that moved, to be sure",
        ),
        (
            {"n_vanished": 20, "step_parameters": None},
            "20 groups vanished: stepped down at r17 (run 3, commit abc1234): -0.0123 [-0.0156, -0.0090]",
        ),
        (
            {
                "step": False,
                "step_possible": True,
                "step_between": ("r15", "r20"),
                "n_vanished": -1,
                "step_parameters": None,
                "git_commit": None,
            },
            "1 group came: perhaps stepped down at r17 (run 3): -0.0123 [-0.0156, "
            "-0.0090]; the step lies somewhere between r15 and r20; too few "
            "groups, or too few that moved, to be sure",
        ),
        (
            {"step_parameters": {f"p{n}": ("x" * 99, None) for n in range(9)}, "step_ci": None},
            "stepped down at r17 (run 3, commit abc1234, "
            + ", ".join(f"p{n} {'x' * 20}…{'x' * 19} → not given" for n in range(6))
            + ", 3 more parameters): -0.0123, p <1e-4",
        ),
        (
            {"step_before": "\x1b[2J", "step_parameters": {"a": ("\n", "\u202e")}, "step_ci": None, "git_commit": None},
            "stepped down at r17 (run 3, a \\n → \\u202e): -0.0123, p <1e-4",
        ),
    ],
)
def test_the_sentence_of_a_step(changes: HistoryRow, sentence: str) -> None:
    one: HistoryRow = {**STEP, **changes}
    _, _, found = history_said([one]).in_format("text").partition("\n\n")[0].partition("\n")
    assert " ".join(found.split()) == sentence
    listed = history_said([one]).in_format("markdown").split("\n\n")[1]
    assert [line for line in listed.splitlines() if "stepped" in line] == listed.splitlines()[:1]
    assert listed.startswith(sentence.split(":")[0].split(",")[0])


def test_new_labels_break_the_line_and_are_named() -> None:
    rows: list[HistoryRow] = [
        {**row(f"r{n}", mean), "label_set_version": version}
        for n, (mean, version) in enumerate([(0.1, 1), (0.2, 1), (0.8, 2), (0.7, 2), (0.15, 1)])
    ]
    lines = history_said(rows).in_format("text").split("\n")
    assert lines[0] == "ndcg@10  ▁▂┊█▇┊▁  ┊ labels 2 from r2, labels 1 from r4"
    signs = [" ".join(line.split("]")[1].split()[1:]) for line in lines[3:8]]
    assert signs == ["", "", "labels 2", "", "labels 1"]
    of_suite: list[HistoryRow] = [
        {**one, "suite": "all", "label_set_versions": (n // 3, 4)} for n, one in enumerate(rows)
    ]
    assert history_said(of_suite).in_format("text").split("\n")[0].endswith("▁▂█┊▇▁  ┊ labels 1 4 from r3")


def test_a_block_of_a_long_history_has_runs_under_the_same_labels() -> None:
    rows: list[HistoryRow] = [
        {**row(f"r{n}", 0.5 + (n >= 100) / 10), "label_set_version": 1 + (n >= 100)} for n in range(200)
    ]
    first = history_said(rows).in_format("text").split("\n")[0]
    assert first == f"ndcg@10  {'▁' * 25}┊{'█' * 25}  200 runs, 4 per block  ┊ labels 2 from r100"


def test_a_step_is_told_before_the_table() -> None:
    assert (
        history_said([STEP])
        .in_format("text")
        .startswith(
            "ndcg@10  ▄  stepped at r17\n"
            "stepped down at r17 (run 3, commit abc1234, lr 0.1 → 0.3, layers not given → 2): -0.0123 [-0.0156,\n"
            "-0.0090], p <1e-4\n"
            "\n"
            "run "
        )
    )


def test_a_long_history_shows_its_newest_runs_and_every_step() -> None:
    rows: list[HistoryRow] = [{**row(f"r{n}", n / 1000), "label_set_version": 2} for n in range(500)]
    rows[17] = {**STEP, "run": "r17"}
    lines = history_said(rows).in_format("text", more="-v").split("\n")
    blocks, width = means_of_blocks([one["mean"] for one in rows], 60)
    assert lines[0] == f"ndcg@10  {sparkline(blocks)}  500 runs, {width} per block  stepped at r17"
    assert lines[1].startswith("stepped down at r17 (")
    assert [line.split(" ")[0] for line in lines[5:20]] == [f"r{n}" for n in range(485, 500)]
    assert lines[5].endswith("  +0.0010")
    assert lines[20:] == ["the latest 15 of 500 rows", "", "more: -v details", ""]
    everything = history_said(rows).in_format("text", detail="all")
    assert len(re.findall("^r[0-9]+ ", everything, re.MULTILINE)) == 500
    assert (
        len(json.loads(history_said(rows).in_format("json")))
        == len(history_said(rows).in_format("csv").splitlines()) - 1
        == 500
    )


DRIFT: HistoryRow = {
    **row("r9", 0.5),
    "drift_change": 0.031,
    "drift_ci": (0.0275, 0.0345),
    "drift_between": ("r1", "r9"),
    "drift_runs": 400,
}


def test_a_drift_is_told_in_one_sentence() -> None:
    text = history_said([DRIFT]).in_format("text")
    assert text.splitlines()[4].split()[-1] == "drift"
    assert text.splitlines()[1] == (
        "rises by 0.0310 [0.0275, 0.0345] over 400 runs, from r1 to r9, slowly rather than in steps"
    )
    both = history_said(
        [{**STEP, **DRIFT, "step": True, "drift_change": -0.031, "drift_ci": (-0.0345, -0.0275)}]
    ).in_format("text")
    assert "falls by 0.0310 [0.0275, 0.0345] over 400 runs" in both
    assert "stepped down at r9" in both
    assert [line.split()[-1] for line in both.splitlines() if line.startswith("r9 ")] == ["step"]
    line = history_said([DRIFT]).in_format("csv").splitlines()[1]
    assert line.endswith(",0.031,0.0275,0.0345,r1,r9,400,,,,,,,,,improved,")


def test_the_largest_steps_come_first_and_a_screen_tells_five() -> None:
    """What is only possible comes after what is sure; time decides on request."""
    sizes = [0.01 * n * (-1) ** n for n in range(1, 13)]
    rows: list[HistoryRow] = [
        {**STEP, "run": f"r{place}", "step_change": size, "step_between": (f"r{place}", f"r{place}"), "step_ci": None}
        for place, size in enumerate(sizes)
    ]
    rows[11] = {**rows[11], "step": False, "step_possible": True}
    rows[3] = {**rows[3], "step": False, "step_between": None, **{key: DRIFT[key] for key in DRIFT if "drift" in key}}

    def told(newest_first: bool = False, detail: Detail = "all") -> list[str]:
        text = history_said(rows, newest_first=newest_first).in_format("text", detail=detail)
        lines = [line.removeprefix("also").strip() for line in text.splitlines()]
        return [line for line in lines if line.startswith(("stepped ", "rises ", "perhaps stepped "))]

    assert [line.split(" (")[0] for line in told()[:8]] == [
        *(f"stepped {way} at r{place}" for place, way in zip(range(10, 3, -1), ["down", "up"] * 4, strict=False)),
        "rises by 0.0310 [0.0275, 0.0345] over 400 runs, from r1 to r9, slowly rather than in steps",
    ]
    assert len(told()) == 12
    assert told(detail="screen") == told()[:5]
    assert [line.split(" (")[0] for line in told(newest_first=True)[:3]] == [
        "perhaps stepped up at r11",
        "stepped down at r10",
        "stepped up at r9",
    ]


@given(st.lists(st.none() | st.floats(0, 1), max_size=300), st.integers(1, 70))
def test_means_of_blocks(values: list[float | None], most: int) -> None:
    means, width = means_of_blocks(values, most)
    assert len(means) <= most
    assert (len(means) - 1) * width < max(1, len(values)) <= max(1, len(means) * width)
    for place, mean in enumerate(means):
        known = [value for value in values[place * width : (place + 1) * width] if value is not None]
        assert mean == (pytest.approx(sum(known) / len(known)) if known else None)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([None], " "),
        ([0.5], "▄"),
        ([0.5, 0.5], "▄▄"),
        ([1, 2, 3, 4, 5, 6, 7, 8], "▁▂▃▄▅▆▇█"),
        ([0.0, math.nan, None, 1.0], "▁  █"),
    ],
)
def test_sparkline(values: list[float | None], line: str) -> None:
    assert sparkline(values) == line


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(-1e9, 1e9)))
def test_a_sparkline_never_falls_where_its_series_rises(values: list[float | None]) -> None:
    line = sparkline(values)
    assert len(line) == len(values)
    assert [block == " " for block in line] == [value is None for value in values]
    known = sorted((value, block) for value, block in zip(values, line, strict=True) if value is not None)
    assert [block for _, block in known] == sorted(block for _, block in known)
