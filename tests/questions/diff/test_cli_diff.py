"""``ndcg-track diff``: formats and exit codes."""

from __future__ import annotations

import json

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.usefixtures("folder")


def test_lists_that_differ(shop: CommandLine) -> None:
    text = shop.done("diff", "bm25", "dense")
    assert text.startswith("bm25 and dense on shop: identical lists in ")
    assert "Kendall's tau" in text
    assert shop("diff", "bm25", "dense", "--exit-code").code == 6
    found = json.loads(shop.done("diff", "bm25", "dense", "--format", "json", "--top", "1"))
    assert len(found["most_changed"]) == 1
    rows = shop.rows("diff", "bm25", "dense", "--top", "2")["most_changed"]
    assert [list(row) for row in rows] == [["group", "overlap", "rbo", "tau", "n_shared", "first_change"]] * 2
    csv = shop.done("diff", "bm25", "dense", "--format", "csv")
    assert csv.splitlines()[0] == "group,overlap,rbo,tau,n_shared,first_change"


def test_the_same_lists(shop: CommandLine) -> None:
    printed = shop("diff", "bm25", "bm25", "--exit-code")
    assert printed.code == 0
    assert printed.out.startswith("IDENTICAL: bm25 and bm25 on shop have the same lists in all ")


def test_what_is_refused(shop: CommandLine) -> None:
    assert (
        shop.refused("diff", "bm25", "dense", "--rbo-p", "2")
        == "--rbo-p 2.0 is not between 0 and 1; give for example 0.9"
    )
