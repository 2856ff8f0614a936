"""Comparisons for the reports, and ids that nobody wishes for."""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any
from zlib import crc32

import pytest
from thorough import LONG

from ndcg_tracker.compare.results import (
    About,
    Comparison,
    Estimate,
    GroupCounts,
    GroupDelta,
    GroupTieBounds,
    ItemMove,
    JudgedShare,
    LabelSetRef,
    RunRef,
    TieBounds,
    TieEffect,
    ties_note,
)
from ndcg_tracker.statistics.t_test import Equivalence, TTest
from ndcg_tracker.words.notes import Note


def changed(found: Estimate, **new: Any) -> Estimate:
    """Return an estimate with other values of fields, of what it is about, and of its test; ``verdict`` too."""
    about = {name: new.pop(name) for name in list(new) if name in About.__slots__}
    test = {{"delta": "mean"}.get(name, name): new.pop(name) for name in list(new) if name in ("delta", "n")}
    if (verdict := new.pop("verdict", None)) is not None:
        is_settled = verdict in ("identical", "not_comparable")
        new |= {"settled": verdict if is_settled else None, "p_adjusted": 0.9 if "no_" in verdict else 0.001}
        if not is_settled and "no_" not in verdict:
            test["mean"] = abs(test.get("mean", found.delta)) * (1 if verdict == "improved" else -1)
    return replace(found, about=replace(found.about, **about), t=replace(found.t, **test), **new)


@pytest.fixture
def comparison() -> Comparison:
    """A comparison with every verdict and every kind of missing number."""
    counts = GroupCounts(paired=400, undefined=3, missing_in_candidate=12)
    regressed = Estimate(
        about=About(metric="ndcg@10", groups=counts),
        t=TTest(400, -0.0123, 0.0969, -2.54, 1e-30),
        means=(0.65, 0.6377),
        wins=101,
        losses=141,
        ci=(-0.0201, -0.0045),
        p_value=1e-30,
        p_adjusted=3e-30,
        detectable_delta=0.0105,
    )
    few = GroupCounts(paired=396, only_in_baseline=1, undefined=3, missing="intersect")
    undetected = replace(
        regressed,
        about=About(metric="ndcg(gain=exp2, missing=skip)@10", groups=few),
        t=TTest(396, 0.0004, 0.016, 0.5, 0.6194),
        means=(0.505, 0.5054),
        ci=(-0.0014, 0.0024),
        p_value=0.6194,
        p_adjusted=0.6194,
        wins=11,
        losses=8,
        detectable_delta=0.0027,
        warnings=(Note("low_information", {"n": 396, "n_nonzero": 19, "enough": 25}),),
    )
    identical = Estimate(
        about=About(metric="P@1", groups=counts),
        t=TTest(400, 0.0, 0.0),
        means=(0.65, 0.65),
        wins=0,
        losses=0,
        settled="identical",
    )
    incomparable = Estimate(
        about=About(metric="AP", groups=GroupCounts(paired=0, only_in_candidate=2, missing="intersect")),
        t=TTest(0, None, None),
        wins=0,
        losses=0,
        settled="not_comparable",
        warnings=(Note("no_group"),),
    )
    return Comparison(
        RunRef("bm25", 1),
        RunRef("dense", 2),
        "shop",
        LabelSetRef(2, "3f2a91c0d4e5f60718293a4b5c6d7e8f"),
        counts,
        (regressed, undetected, identical, incomparable),
        worst=(GroupDelta("red shoes", 0.748, 0.383, -0.365), GroupDelta("検索", 0.211, 0.0, -0.211)),
        best=(GroupDelta("q29", 0.655, 0.846, 0.191),),
        notes=(Note("same_run"),),
        coverage=(JudgedShare(10, 0.981, 0.873), JudgedShare(None, 0.5, None)),
    )


@pytest.fixture
def full_comparison(comparison: Comparison) -> Comparison:
    """A comparison of one metric with everything that can be asked for, and low information."""
    first = comparison.metrics[0]
    effect = TieEffect(TieBounds(0.64, 0.66), TieBounds(0.6377, 0.6377))
    metric = replace(
        first,
        about=replace(first.about, groups=GroupCounts(paired=400), tie_effect=effect),
        warnings=(Note("low_information", {"n": 400, "n_nonzero": 19, "enough": 25}),),
        wins=5,
        losses=14,
        equivalence=Equivalence(0.01, 0.7231, (-0.0189, -0.0057), False),
        others={"worst ties": replace(first, p_adjusted=0.5), "best ties": first},
    )

    def row(value: str | None, n: int, delta: float, **further: Any) -> Estimate:
        means = {"means": (0.65, 0.6), "wins": 20, "losses": 150 if n == 250 else 0}
        return Estimate(about=About(attribute="device", value=value), t=TTest(n, delta, None), **means | further)

    slices = (
        row("phone", 250, -0.05, ci=(-0.07, -0.03), p_value=1e-9, q_value=4e-9, p_adjusted=3e-9),
        row("watch", 1, -0.01, settled="not_comparable", warnings=(Note("one_group"),)),
        row(None, 49, 0.0, settled="identical"),
        row("desktop", 100, 0.02, ci=(-0.01, 0.05), p_value=0.1, q_value=0.1, p_adjusted=0.1,
            warnings=(Note("low_information", {"n": 100, "n_nonzero": 20, "enough": 25}),)),
    )  # fmt: skip
    worst = (
        replace(
            comparison.worst[0],
            moves=(
                ItemMove("sku-1", 3.0, 1, 7, 0.5, 0.2, -0.3),
                ItemMove("sku-2", None, None, 1, 0.0, 0.0, 0.0),
            ),
        ),
        replace(comparison.worst[1], moves=()),
    )
    return replace(
        comparison,
        metrics=(metric,),
        worst=worst,
        slices=slices,
        tie_groups=(GroupTieBounds("red shoes", "baseline", 0.7, 0.748, 0.8),),
        notes=(
            Note(
                "newer_labels",
                {"newest": 3, "version": 2},
                ("ndcg-track", "rescore", "bm25", "dense", "--dataset", "shop"),
            ),
            ties_note(TieEffect(TieBounds(0.64, 0.66), TieBounds(0.6377, 0.6377)), metric.metric),
        ),
    )


@pytest.fixture
def hostile_comparison(comparison: Comparison, full_comparison: Comparison) -> Callable[[str], Comparison]:
    """Return the comparison with one id in every place that takes text from outside."""

    def with_id(text: str) -> Comparison:
        return replace(
            comparison,
            baseline=RunRef(text, 1),
            candidate=RunRef(text, 2),
            dataset=text,
            metrics=tuple(
                replace(
                    metric,
                    about=replace(metric.about, metric=text),
                    warnings=(Note("no_group"),),
                    equivalence=Equivalence(0.01, 0.5, (-0.1, 0.1), False),
                )
                for metric in comparison.metrics
            ),
            worst=(GroupDelta(text, 1.0, 0.5, -0.5, (ItemMove(text, 1.0, 1, 2, 0.5, 0.25, -0.25),)),),
            best=(GroupDelta(text, 0.5, 1.0, 0.5),),
            notes=(Note("worst_group", command=("ndcg-track", "explain", text)),),
            slices=tuple(
                replace(row, about=replace(row.about, attribute=text, value=text))
                for row in full_comparison.slices or ()
            ),
            tie_groups=(GroupTieBounds(text, "baseline", 0.0, 0.5, 1.0),),
        )

    return with_id


def _hostile_ids() -> list[str]:
    controls = [chr(code) for code in [*range(1, 32), *range(127, 160)]]
    invisible = [
        chr(code) for code in (0x61C, 0xAD, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070))
    ]
    invisible += [chr(0xFEFF), *map(chr, range(0xFFF9, 0xFFFC)), chr(0xE0001), chr(0xE0041)]
    ansi = [
        "[2J",
        "[31mred",
        "]0;title\x07",
        "]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
        "c",
        "P$q\x1b\\",
        "[?1049h",
        "_x\x1b\\",
    ]
    formulas = [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "=cmd|' /C calc'!A0",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1+1",
        "＝1",
        '"=1',
        "-x",
        "=",
        "+",
    ]
    markdown = [
        "|",
        "a|b",
        "||",
        "\\|",
        "`a`",
        "*a*",
        "**a**",
        "_a_",
        "__a__",
        "~~a~~",
        "[a](javascript:x)",
        "![a](http://x)",
    ]
    markdown += [
        "# a",
        "- a",
        "> a",
        "1. a",
        "```",
        "---",
        "===",
        "$x$",
        "@torvalds",
        "<http://x>",
        "&lt;",
        "&#60;",
        "a\\",
        "\\",
    ]
    html = [
        "<script>alert(1)</script>",
        "</summary><img src=x onerror=alert(1)>",
        "<b>",
        "</details>",
        "<!--",
        "-->",
        "&",
        "&amp;",
    ]
    html += [
        "<img src=x onerror=alert(1)>",
        "</table>",
        '"',
        "'",
        "<svg/onload=alert(1)>",
        "<a href='javascript:x'>x</a>",
    ]
    markup = ["[/nope]", "[bold]", "[/]", "[link=http://x]y", ":smile:", "%s", "{0}", "{run}", "%(x)s", "$(id)", "`id`"]
    plain = [
        "007",
        "NA",
        "null",
        "nan",
        "None",
        "true",
        "1e400",
        "9" * 30,
        "",
        " ",
        "  a  ",
        "a,b",
        'a"b',
        "a;b",
        "x" * 3000,
    ]
    letters = [
        "検索",
        "👩‍👩‍👧",
        "🔥",
        "e\u0301",
        "Z\u0351\u036b\u0343",
        "שלום",
        "مرحبا",
        "می‌خواهم",
        "ｆｕｌｌ",
        "\u3000",
        "\xa0",
        "ﷺ" * 50,
    ]
    lines = ["a\nb", "a\r\nb", "a\n\n# b", "a\x85b", "a\x0bb", "\n", "a\n| b | c |\n", "a\n\n<script>alert(1)</script>"]
    return [
        *(f"q{character}x" for character in controls + invisible),
        *(f"\x1b{sequence}" for sequence in ansi),
        *(f"\x9b{sequence}" for sequence in ansi),
        *formulas,
        *markdown,
        *html,
        *markup,
        *plain,
        *letters,
        *lines,
    ]


HOSTILE_IDS = _hostile_ids()


@pytest.fixture
def hostile_id() -> str:
    """An id that somebody will sooner or later store: what asks for it is called with one after the other."""
    return HOSTILE_IDS[0]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test that asks for ``hostile_id`` with all of them: as thousands of tests they would take twice as long.

    In the suite every third of them, as the sum of its name says: each id is met by a third of the tests. Its failure
    is that of the first id that fails, and names all of them.
    """
    if "hostile_id" not in pyfuncitem.fixturenames:
        return None
    asked_for = {name: pyfuncitem.funcargs[name] for name in signature(pyfuncitem.obj).parameters}
    failures: dict[str, Exception] = {}
    ids = HOSTILE_IDS if LONG else HOSTILE_IDS[crc32(pyfuncitem.nodeid.encode()) % 3 :: 3]
    for text in ids:
        try:
            pyfuncitem.obj(**asked_for | {"hostile_id": text})
        except Exception as failure:
            failures[text] = failure
    if failures:
        error = next(iter(failures.values()))
        error.add_note(f"with {len(failures)} of {len(ids)} hostile ids: {', '.join(map(repr, failures))}")
        raise error
    return True


@pytest.fixture
def n_hostile_ids() -> int:
    """How many hostile ids there are."""
    return len(set(HOSTILE_IDS))
