"""Files that are known by shape alone and may mean something else."""

from __future__ import annotations

from collections.abc import Iterable

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.cells import is_number
from ndcg_tracker.words.texts import in_a_row

_LINES = 10_000
_QRELS = ("group", "iteration", "item", "label")
_FEWEST, _MOST_RATINGS = 3, 100
_TIMES = ((3e8, 5e9), (3e11, 5e12), (3e14, 5e15), (3e17, 5e18))  # seconds, and thousandths of each, since 1970


def other_meaning_of_qrels(first_bytes: bytes, *, is_beside_run: bool) -> tuple[str, str]:
    """Return why the four fields of lines may not be group, iteration, item and label, and what to do; "" if they are.

    Ratings and interactions have four fields too: user, item, rating and time.

    >>> other_meaning_of_qrels(b"1 50 5 881250949\\n2 172 4 881250950\\n", is_beside_run=False)[0]
    'the fourth fields are as large as times, so the lines may be user, item, rating and time'
    >>> other_meaning_of_qrels(b"1 0 d50 2\\n1 0 d172 1\\n", is_beside_run=False)
    ('', '')
    """
    lines = first_bytes.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:_LINES]
    fields = [line.split() for line in lines[:-1] or lines]  # the last one may be cut
    rows = [row for row in fields if len(row) == len(_QRELS) and not row[0].startswith(b"#")]
    if not rows:
        return "", ""
    _, second, third, fourth = (set(column) for column in zip(*rows, strict=True))
    if _are_times(fourth) and _are_ratings(second) and len(third) > len(second) > 1:
        why, meant = "the fourth fields are as large as times", ("user", "rating", "item", "time")
    elif _are_times(fourth):
        why, meant = "the fourth fields are as large as times", ("user", "item", "rating", "time")
    elif _are_times(third) and len(second) > 1:
        why, meant = "the third fields are as large as times", ("user", "item", "time", "rating")
    elif len(second) >= max(_FEWEST, len(third)) and _are_ratings(third):
        why, meant = (
            "the second fields vary like ids, and the third are a few numbers",
            ("user", "item", "rating", "other"),
        )
    else:
        return "", ""
    header = ",".join({"user": "group", "rating": "label"}.get(name, name) for name in meant)
    named = argument("columns", f"/{header}" if is_beside_run else header)
    tabs = "" if b"\t" in lines[0] else "separate them with tabs and "
    as_qrels = argument("reader", ",trec" if is_beside_run else "trec")
    advice = f"if they are, {tabs}give {named}; if they are {in_a_row(_QRELS)}, give {as_qrels}"
    return f"{why}, so the lines may be {in_a_row(meant)}", advice


def _are_times(texts: set[bytes]) -> bool:
    return all(map(is_number, texts)) and are_times(map(float, texts))


def are_times(numbers: Iterable[float]) -> bool:
    """Return whether all numbers are as large as times since 1970, which grades never are."""
    return all(any(low <= number < high for low, high in _TIMES) for number in numbers)


def _are_ratings(texts: set[bytes]) -> bool:
    return all(is_number(text) and 0 <= float(text) <= _MOST_RATINGS for text in texts)
