"""Numbers, ids and other texts in the form that people see."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain, count, groupby
from operator import itemgetter
from typing import Self

UNDEFINED = "-"
_SMALL_P = 1e-4
_NEAR_ALPHA = (0.045, 0.055)
_LARGE = 0.01  # differences that two digits show
_BLOCKS = "▁▂▃▄▅▆▇█"


def points(value: float | None, *, signed: bool = False, digits: int = 4, is_aligned: bool = False) -> str:
    """Return a metric's value or a difference in absolute points.

    A number that is too small for ``digits`` is written with a power of ten. ``is_aligned``: never do that, because
    the number is one of many with the same digits.

    >>> points(0.65), points(-0.0123, signed=True), points(-0.00002, signed=True), points(None)
    ('0.6500', '-0.0123', '-2.0e-05', '-')
    >>> points(0.00002, signed=True, is_aligned=True)
    '+0.0000'
    """
    if value is None:
        return UNDEFINED
    small = 0 < abs(value) < 0.5 * 10**-digits and not is_aligned
    if small and signed:
        return f"{value:+.1e}"
    if small:
        return f"{value:.1e}"
    return f"{value:+z.{digits}f}" if signed else f"{value:z.{digits}f}"


def interval(ci: Sequence[float] | None, *, signed: bool = False) -> str:
    """Return a confidence interval.

    >>> interval((-0.0201, 0.0045), signed=True), interval(None)
    ('[-0.0201, +0.0045]', '-')
    """
    return UNDEFINED if ci is None else f"[{points(ci[0], signed=signed)}, {points(ci[1], signed=signed)}]"


def between(ends: Sequence[float | None] | None, *, digits: int = 4) -> str:
    """Return a range of differences; with few digits only if these show both ends.

    >>> between((-0.0201, 0.0045)), between((-0.0395, 0.07), digits=2), between((-0.0003, 0.0017), digits=2)
    ('-0.0201 to +0.0045', '-0.04 to +0.07', '-0.0003 to +0.0017')
    """
    if ends is None or None in ends:
        return UNDEFINED
    low, high = ends
    few = digits if max(abs(low or 0.0), abs(high or 0.0)) >= _LARGE else 4
    return f"{points(low, signed=True, digits=few, is_aligned=few < 4)} to {points(high, signed=True, digits=few)}"


def short(difference: float) -> str:
    """Return a difference in as few digits as possible.

    >>> short(-0.1111), short(0.0008)
    ('-0.11', '+0.0008')
    """
    return points(difference, signed=True, digits=2 if abs(difference) >= _LARGE else 4)


_WORD = ContextVar[list[str] | None]("the word for a group, which may change; None for no word", default=None)


class DatasetName(str):
    """The name of a dataset with the word for its groups, so that every sentence about it can say that word."""

    word: str

    def __new__(cls, name: str, word: str | None = None) -> Self:
        """Return a name; ``word``: by default query."""
        self = super().__new__(cls, name)
        self.word = word or "query"
        return self

    @classmethod
    def over(cls, suite: str, datasets: Iterable[str]) -> Self:
        """Return the name of a suite with the word that its datasets share.

        >>> DatasetName.over("all", [DatasetName("films", "user"), DatasetName("books", "user")]).word
        'user'
        """
        words = {getattr(dataset, "word", None) for dataset in datasets}
        return cls(suite, words.pop() if len(words) == 1 else None)


@contextmanager
def about(dataset: str = "") -> Iterator[None]:
    """Let sentences call the groups of a dataset by its word, if its name has one.

    >>> with about(DatasetName("films", "user")):
    ...     units(), queries(1200), counted(1, "group")
    ('users', '1,200 users', '1 user')
    """
    token = _WORD.set([getattr(dataset, "word", "")])
    try:
        yield
    finally:
        _WORD.reset(token)


def now_about(dataset: str) -> None:
    """Within ``about``, let the sentences that follow call groups by the word of another dataset: the one just read.

    >>> with about():
    ...     now_about(DatasetName("films", "user"))
    ...     units()
    'users'
    """
    if within := _WORD.get():
        within[0] = getattr(dataset, "word", "")


def group_word(column: str) -> str | None:
    """Return what the name of a column says of the groups in it; None for nothing.

    >>> [group_word(name) for name in ("userID", "session_id", "qid", "topic", "group")]
    ['user', 'session', 'query', 'query', None]
    """
    begins = {"user": "user", "uid": "user", "session": "session", "q": "query", "topic": "query"}
    return next((word for begin, word in begins.items() if column.lower().startswith(begin)), None)


def unit(without: str = "group") -> str:
    """Return the word for a group of the dataset, another one ``without`` a dataset that has a word."""
    return "".join(_WORD.get() or ()) or without


def units(without: str = "group") -> str:
    """Return the word for several groups of the dataset."""
    return counted(0, unit(without)).removeprefix("0 ")


def queries(n: int) -> str:
    """Return a number of queries, or of what the groups are.

    >>> queries(1), queries(1200)
    ('1 query', '1,200 queries')
    """
    return counted(n, unit("query"))


def rounded_up(n: int) -> int:
    """Return an estimated number, rounded up to three digits, from 100 on to tens.

    >>> rounded_up(83), rounded_up(251), rounded_up(16_264)
    (83, 260, 16300)
    """
    step = 1 if n < 100 else 10 ** max(len(str(n)) - 3, 1)
    return -(-n // step) * step


def about_queries(n: int) -> str:
    """Return an estimated number of queries.

    >>> about_queries(251)
    'about 260 queries'
    """
    return f"about {queries(rounded_up(n))}"


def p_short(p_value: float | None) -> str:
    """Return a p-value with two digits, and with more of them near the level of a verdict.

    >>> p_short(0.9792), p_short(0.0024), p_short(0.0496), p_short(1e-30)
    ('0.98', '0.0024', '0.0496', '<1e-4')
    """
    if p_value is None or p_value < _SMALL_P or _NEAR_ALPHA[0] < p_value < _NEAR_ALPHA[1]:
        return p_text(p_value)
    digits = max(2, 1 - math.floor(math.log10(p_value)))
    return f"{p_value:.{digits}f}"


def p_text(p_value: float | None) -> str:
    """Return a p-value with four decimals, but never as 0.

    >>> p_text(0.0213), p_text(1e-30), p_text(None)
    ('0.0213', '<1e-4', '-')
    """
    if p_value is None:
        return UNDEFINED
    return "<1e-4" if p_value < _SMALL_P else f"{p_value:.4f}"


def p_equation(p_value: float | None) -> str:
    """Return a p-value as an equation or an inequality.

    >>> p_equation(0.0213), p_equation(1e-30)
    ('p = 0.0213', 'p <1e-4')
    """
    is_small = p_value is not None and p_value < _SMALL_P
    return f"p {'' if is_small else '= '}{p_text(p_value)}"


def commit_text(commit: str) -> str:
    """Return the first digits of a commit, as many as git prints."""
    return commit[:7]


def percent(share: float | None) -> str:
    """Return a share of 1 in percent.

    >>> percent(0.9813), percent(None)
    ('98.1%', '-')
    """
    return UNDEFINED if share is None else f"{share:.1%}"


def percent_of(level: float) -> str:
    """Return a level in percent, with up to four decimals.

    >>> percent_of(0.95), percent_of(0.9997)
    ('95%', '99.97%')
    """
    return f"{level:.4%}".rstrip("%").rstrip("0").rstrip(".") + "%"


def short_name(person: str) -> str:
    """Return a person's name without the address that git has.

    >>> short_name("Ada L <ada@example.org>"), short_name("ada")
    ('Ada L', 'ada')
    """
    return person.partition(" <")[0]


def counted(n: int, noun: str) -> str:
    """Return a count with its noun; for a group, it is the word for it (see ``about``).

    >>> counted(1, "group"), counted(12000, "group"), counted(2, "query"), counted(2, "alias")
    ('1 group', '12,000 groups', '2 queries', '2 aliases')
    """
    noun = unit() if noun == "group" else noun
    ends = {"y": "ies", "s": "ses"}
    return f"{n:,} {noun if n == 1 else noun[:-1] + ends.get(noun[-1:], noun[-1:] + 's')}"


def plural(noun: str) -> str:
    """Return the plural of a noun, or "values of ..." if it is not a plain word.

    >>> plural("product"), plural("country"), plural("has_filter")
    ('products', 'countries', 'values of has_filter')
    """
    if not (noun.isascii() and noun.isalpha() and noun.islower()) or noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"values of {noun}"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in ("", *"aeiou") else f"{noun}s"


def shown_margin(margin: float) -> str:
    """Return a margin with the digits that were given, and no more.

    >>> shown_margin(0.01), shown_margin(0.0125)
    ('0.01', '0.0125')
    """
    return f"{margin:.6g}"


BREAK = "┊"
"""Stands in a sparkline between values that cannot be compared."""


def sparkline(*lines: Sequence[float | None]) -> str:
    """Return one block per value: the smallest block for the lowest value, the largest for the highest.

    None and NaN leave a gap; a constant series is drawn at half height. A dotted line separates two lines.

    >>> sparkline([0.1, 0.2, None, 0.4], [0.3])
    '▁▃ █┊▆'
    """
    finite = [value for line in lines for value in line if value is not None and math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return BREAK.join(_line(line, low, high) for line in lines)


def _line(values: Sequence[float | None], low: float, high: float) -> str:
    blocks = []
    for value in values:
        if value is None or not math.isfinite(value):
            blocks.append(" ")
        elif high == low:
            blocks.append(_BLOCKS[3])
        else:
            blocks.append(_BLOCKS[min(int((value - low) / (high - low) * len(_BLOCKS)), len(_BLOCKS) - 1)])
    return "".join(blocks)


def means_of_blocks(values: Sequence[float | None], most: int) -> tuple[list[float | None], int]:
    """Return the means of at most ``most`` blocks of neighbouring values, and how many values a block has.

    None and NaN do not count; a block with nothing else has the mean None. The last block may be smaller.

    >>> means_of_blocks([1.0, 3.0, None, 4.0, 6.0], 3)
    ([2.0, 4.0, 6.0], 2)
    """
    width = max(1, -(-len(values) // most))
    means: list[float | None] = []
    for first in range(0, len(values), width):
        finite = [value for value in values[first : first + width] if value is not None and math.isfinite(value)]
        means.append(math.fsum(finite) / len(finite) if finite else None)
    return means, width


def lines_of_blocks(
    values: Sequence[float | None], kinds: Sequence[object], most: int
) -> tuple[list[list[float | None]], int]:
    """Return the blocks (see ``means_of_blocks``) of each stretch of one kind, and how many values a block has at most.

    >>> lines_of_blocks([1.0, 3.0, None, 4.0, 6.0], [1, 1, 1, 2, 2], 3)
    ([[2.0, None], [5.0]], 2)
    """
    width = max(1, -(-len(values) // most))
    stretches = [[value for value, _ in one] for _, one in groupby(zip(values, kinds, strict=True), itemgetter(1))]
    return [means_of_blocks(stretch, -(-len(stretch) // width))[0] for stretch in stretches], width


_LONGEST_SHOWN = 60


def shown(text: str | bytes) -> str:
    """Return a piece of input in a form safe for a message: quoted, on one line, no control bytes, not too long.

    >>> print(shown("tab\\there"), shown(b"d7"))
    'tab\\there' 'd7'
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")


def ordinal(number: int) -> str:
    """Return a number as an ordinal.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def in_a_row(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    >>> in_a_row(["a"]), in_a_row(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def distinct(names: Iterable[str]) -> list[str]:
    """Return names, repeated ones with a number appended.

    >>> distinct(["run", "mean", "run"])
    ['run', 'mean', 'run_2']
    """
    taken = list[str]()
    for name in names:
        numbered = chain([name], (f"{name}_{number}" for number in count(2)))
        taken.append(next(one for one in numbered if one not in taken))
    return taken


def did_you_mean(text: str, names: Sequence[str], *, before: str = "") -> str:
    """Return a question that suggests the closest names, "" if none is close; ``before``: a prefix of each.

    >>> did_you_mean("shpo", ["shop", "books"]), did_you_mean("x", ["shop"])
    ("did you mean 'shop'?", '')
    """
    import difflib  # only errors need it

    close = difflib.get_close_matches(text, names, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(repr(before + name) for name in close)}?" if close else ""


def shown_name(path: str) -> str:
    """Return a file's name in a form safe for a message: unchanged if it is printable."""
    return path if path and path.isprintable() else repr(path)[1:-1] or "''"


@dataclass(frozen=True, slots=True)
class Text:
    """The texts of a group or an item, None where none was given.

    >>> Text(title="Tent, green").or_else(Text("a tent", "Tent", "https://shop.example/1"))
    Text(text='a tent', title='Tent, green', url='https://shop.example/1')
    """

    text: str | None = None
    title: str | None = None
    url: str | None = None

    def or_else(self, other: Text) -> Text:
        """Return this text, with the other's fields where it has none."""
        return Text(self.text or other.text, self.title or other.title, self.url or other.url)


@dataclass(frozen=True, slots=True)
class GroupTexts:
    """The texts of a group, None if there are none, and those of its items by id."""

    query: Text | None = None
    items: Mapping[str, Text] = field(default_factory=dict)


def percent_span(least: float, greatest: float) -> str:
    """Return a range of shares, or one share if both look the same.

    >>> percent_span(0.918, 0.926), percent_span(1.0, 1.0)
    ('91.8% to 92.6%', '100.0%')
    """
    return " to ".join(dict.fromkeys(map(percent, (least, greatest))))


def judge_words(judge: str) -> str:
    """Return how a sentence names a judge.

    >>> judge_words(""), judge_words("gpt")
    ('the unnamed judge', "judge 'gpt'")
    """
    return f"judge {judge!r}" if judge else "the unnamed judge"


def sample_command(
    runs: Sequence[str], judge: str, dataset: str = "", *, metric: str = "", budget: int | str = "N"
) -> tuple[str, ...]:
    """Return the command that draws the items that people grade to check a judge, or to fill holes.

    >>> " ".join(sample_command(["A", "B"], "llama"))
    'ndcg-track labels sample A B --judge llama --budget N'
    """
    options = {"--judge": judge, "--budget": str(budget), "--metric": metric, "--dataset": dataset}
    given = (word for option, value in options.items() if value for word in (option, value))
    return ("ndcg-track", "labels", "sample", *runs, *given)


OF_CLUSTERS = "(groups clustered by "
"""How the clusters of a recorded decision begin in its reason; code that looks for them there depends on it."""


def clustered_by(attribute: str) -> str:
    """Return the words for clusters in the reason of a recorded decision."""
    return f"{OF_CLUSTERS}{attribute})"
