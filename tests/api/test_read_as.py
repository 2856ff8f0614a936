"""``--read``: how to read files that stand where runs are named."""

from __future__ import annotations

import pytest
from refused import refusal_of

from ndcg_tracker.api.reading import Reading, evaluate, read_as
from ndcg_tracker.asked import declared
from ndcg_tracker.errors import InputError


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("", Reading()),
        (
            "group=qid item=doc score=s label=rel reader=csv",
            Reading(group="qid", item="doc", score="s", label="rel", reader="csv"),
        ),
        (
            "group=uid,user item= score=-position label==1",
            Reading(group="uid,user", item="", score="-position", label="=1"),
        ),
        ("columns=qid,pid,rank/qid,pid", Reading(columns="qid,pid,rank/qid,pid")),
        ("group='a query' weight=\"w t\"", Reading(group="a query", weight="w t")),
        (
            "item-to-document=#.* collapse=sum groups-share=1/10",
            Reading(item_to_document="#.*", collapse="sum", groups_share="1/10"),
        ),
        ("items=response.docs allow=failed,no-overlap", Reading(items="response.docs", allow="failed,no-overlap")),
    ],
)
def test_what_a_text_says(text: str, reading: Reading) -> None:
    assert read_as(text) == reading


def test_a_mapping_says_the_same() -> None:
    assert read_as({"group": "qid", "item": False, "columns": ["qid", "pid"]}) == Reading(
        group="qid", item=False, columns=["qid", "pid"]
    )


def test_every_option_of_evaluate_for_reading_may_be_named() -> None:
    others = {"metrics", "labels", "judge", "stream"}
    names = [one.name for one in declared(evaluate) if one.name not in others]
    for given in ("zzz=a", {"stream": True}):
        name = next(iter(given)) if isinstance(given, dict) else "zzz"
        assert refusal_of(InputError, read_as, given) == f"read= has no {name!r}; give one of {', '.join(names)}"


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ("group", "'group' in read='group' is not of the form NAME=VALUE; write read='group=qid item=doc'"),
        ("group=a group=b", "read= gives group twice; keep one of the two"),
        ('group="a', "read='group=\"a' has a quote that is never closed; close it"),
        ("item-to-document=#.* collapse=best", "collapse='best' is not known; give one of max, first, sum"),
        ({"group": 7}, "group= is the name of a column, and 7 is not text; give its name"),
    ],
)
def test_what_is_refused(given: object, refusal: str) -> None:
    assert refusal_of(InputError, read_as, given) == refusal
