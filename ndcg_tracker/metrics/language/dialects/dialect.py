"""A dialect: another tool's texts for metrics, and what that tool computes for them."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import AXIS_OF
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import Metric, cutoff_from


@dataclass(frozen=True, slots=True)
class Dialect:
    """One tool's way to write metrics.

    ``name``: the text before the colon. ``tool``: the tool and the version that was checked. ``parse``: converts
    options (the text in brackets after the name) and native text to a metric, or raises MetricError. ``at``: returns
    the native text of plain NDCG at a cutoff. ``tolerance``: how far the tool's values may differ from ours.
    ``agreement``: the same in words, with its conditions. ``examples``: valid texts.
    ``unstable_from``: the number of items in a list from which the tool's sort orders equal scores at random, None if
    it never does; nobody promises values for such ties. ``is_by_rank``: whether the tool uses the ranks of a list,
    whatever its scores. ``refused``: its metrics that are not computed here, with the reason and our nearest metric.
    """

    name: str
    tool: str
    parse: Callable[[str, str], Metric]
    at: Callable[[int], str]
    examples: tuple[str, ...]
    tolerance: float = 1e-12
    agreement: str = "1e-12"
    unstable_from: int | None = None
    is_by_rank: bool = False
    refused: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def text(self, cutoff: int) -> str:
        """Return the full text of plain NDCG at a cutoff."""
        return f"{self.name}:{self.at(cutoff)}"

    def metric(self, options: str, native: str) -> Metric:
        """Return the metric that a native text means; raise MetricError, with a valid text, for any other text."""
        if name_of(native) in self.refused:
            why, nearest = self.refused[name_of(native)]
            raise MetricError(f"{name_of(native)} {why}", where=self.name, advice=f"the nearest here is {nearest}")
        try:
            return self.parse(options, native.strip())
        except MetricError as error:
            same = [text for text in self.examples if name_of(text.partition(":")[2]) == name_of(native)]
            near = difflib.get_close_matches(f"{self.name}:{native}", same or self.examples, n=1, cutoff=0.0)
            alone = "only its NDCG is known here; " if self._is_of_ndcg() and "dcg" not in native.lower() else ""
            raise error.at(self.name, f"{alone}write it like {self._with_cutoff(options, native) or near[0]}") from None

    @property
    def names(self) -> set[str]:
        """The names of the tool's metrics."""
        return {name_of(text.partition(":")[2]) for text in self.examples}

    def _is_of_ndcg(self) -> bool:
        """Return whether the dialect knows only the tool's NDCG."""
        parts = (example.removeprefix(self.name).partition(":") for example in self.examples)
        return {self.parse(options.strip("()"), native).measure for options, _, native in parts} == {"ndcg"}

    def _with_cutoff(self, options: str, native: str) -> str | None:
        """Return the text for ``name@10`` in a tool that writes cutoffs differently, None if there is none."""
        name, _, cutoff = native.strip().partition("@")
        if not cutoff or any("@" in example for example in self.examples):
            return None
        for text in (f"{name}_{cutoff}", f"{name}_cut_{cutoff}"):
            try:
                self.parse(options, text)
            except MetricError:
                continue
            return f"{self.name}:{text}"
        return None


def name_of(native: str) -> str:
    """Return the name that a tool's text begins with.

    >>> name_of("precision(k=10)"), name_of("ERR-IA@10"), name_of("NDCG:top=10")
    ('precision', 'ERR-IA', 'NDCG')
    """
    return re.split("[@(:]", native.strip())[0]


@dataclass(frozen=True, slots=True)
class Call:
    """A text of the form ``name(value, key=value, ...)``, parsed as Python."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def settle(self, names: tuple[str, ...], allowed: dict[str, Any]) -> dict[str, Any]:
        """Return every allowed option: positional options named by ``names``, absent options from ``allowed``."""
        if len(self.arguments) > len(names):
            raise MetricError(f"{self.name} takes {len(names)} unnamed values, not {len(self.arguments)}")
        given = dict(zip(names, self.arguments, strict=False)) | self.options
        for name in given:
            if name not in allowed:
                raise MetricError(f"{self.name} has no option {name}; it has {', '.join(allowed) or 'none'}")
        return allowed | given


LONGEST_CALL = 3000
"""The longest text that is parsed; no meaningful call is longer, and Python prints no number of over 4300 digits."""


def parse_call(text: str, *names: str) -> Call:
    """Return the call that a text spells; its name must be one of ``names``, if any are given.

    The values are literals: no code runs.

    >>> parse_call("NDCG(k=10, divide_by_achievable=True)").options
    {'k': 10, 'divide_by_achievable': True}
    """
    call = _call(text)
    if call is None:
        raise MetricError(f"cannot read {text!r}")
    if names and call.name not in names:
        raise MetricError(f"{call.name} is not known; the dialect has {', '.join(names)}")
    return call


def _call(text: str) -> Call | None:
    try:
        tree = ast.parse(text, mode="eval").body if len(text) <= LONGEST_CALL else None
        if isinstance(tree, ast.Name):
            return Call(tree.id, (), {})
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            options = {keyword.arg or "**": ast.literal_eval(keyword.value) for keyword in tree.keywords}
            return Call(tree.func.id, tuple(ast.literal_eval(value) for value in tree.args), options)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        pass
    return None


def cutoff_of(value: Any, name: str) -> int | None:
    """Return a cutoff given as an option: None, or a whole number from 1."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise MetricError(f"{name}={value!r} is not a cutoff", advice="give a whole number from 1")


def choice_of(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """Return the value of an option that takes one of a few values."""
    if any(value is choice or (value == choice and type(value) is type(choice)) for choice in choices):
        return value
    raise MetricError(f"{name}={value!r} is not known; it is one of {', '.join(map(repr, choices))}")


def without_options(parse: Callable[[str], Metric]) -> Callable[[str, str], Metric]:
    """Return the parser of a dialect that refuses options in brackets."""

    def parsed(options: str, native: str) -> Metric:
        if options:
            raise MetricError(f"it has no options in brackets, but ({options}) was given")
        return parse(native)

    return parsed


def native_cutoff(text: str) -> tuple[str, int | None]:
    """Return the name and the cutoff of a text of the form ``name@10``."""
    name, at, digits = text.partition("@")
    if not at:
        return name, None
    if not (digits.isascii() and digits.isdigit() and cutoff_from(digits) >= 1):
        raise MetricError(f"{digits!r} is not a cutoff", advice="give a whole number from 1")
    return name, cutoff_from(digits)


Option = tuple[Any, Callable[[Any, str], str]]
"""An option of a tool's metric: its default, and a function that returns what a value sets; it is given the name."""


def one_of(values: Mapping[Any, str]) -> Option:
    """Return the option that takes one of some values, the default first; each has the text of what it sets."""
    return next(iter(values)), lambda value, name: values[choice_of(value, name, tuple(values))]


@dataclass(frozen=True, slots=True)
class Row:
    """A metric of a tool, in our words.

    ``ours``: its measure and settings here, ``whole``: those without a cutoff, if they differ. ``options``: the options
    by name; they may set the ``measure``. Settings that the measure does not have are ignored. ``is_whole``: whether
    the tool's metric is of whole lists.
    """

    ours: str
    whole: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    is_whole: bool = False


def called(native: str) -> tuple[Call, int | None]:
    """Return what ``NAME@10`` or ``NAME(option=value)`` spells.

    >>> called("MAP@10")[1], called("MAP(k=10)")[0].options
    (10, {'k': 10})
    """
    head, cutoff = native_cutoff(native)
    return parse_call(head), cutoff


@dataclass(frozen=True)
class Table:
    """A tool whose metrics are rows: these by name, NDCG first, and what else a dialect needs.

    ``shared``: settings of all rows, which a row may change. ``cut``: the option with the cutoff, if there is one,
    ``default``: its default. ``is_cut``: whether every metric needs one. ``written``: how the tool writes a name with a
    cutoff; ``read``: returns the call and the cutoff that a text of the tool spells. ``more``: further examples,
    between semicolons. The others: see ``Dialect``.
    """

    name: str
    tool: str
    rows: Mapping[str, str | Row]
    _: KW_ONLY
    shared: str
    cut: str = ""
    default: int | None = None
    is_cut: bool = False
    written: str = ""
    read: Callable[[str], tuple[Call, int | None]] = called
    more: str = ""
    tolerance: float = 1e-12
    agreement: str = "1e-12"
    unstable_from: int | None = None
    is_by_rank: bool = False
    refused: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def known(self) -> dict[str, Row]:
        """The rows by name."""
        return {text: Row(row) if isinstance(row, str) else row for text, row in self.rows.items()}

    def metric(self, native: str) -> Metric:
        """Return the metric that a native text means."""
        call, at = self.read(native)
        name = next((known for known in self.known if known.lower() == call.name.lower()), None)
        if name is None:
            raise MetricError(f"metric {call.name!r} is not known; it is one of {', '.join(self.rows)}")
        row, own = self.known[name], {self.cut: self.default} if self.cut else {}
        given = call.settle(tuple(own), own | {option: default for option, (default, _) in row.options.items()})
        value = at or given.get(self.cut)
        cutoff = None if value == self.default == -1 else cutoff_of(value, self.cut)
        measure, _, settings = (row.ours if cutoff is not None or not row.whole else row.whole).partition("(")
        axes = _settings(self.shared) | _settings(settings.rstrip(")"))
        for option, (_, sets) in row.options.items():
            axes |= _settings(sets(given[option], option))
        measure = axes.pop("measure", measure)
        if cutoff is None and (self.is_cut or MEASURES[measure].cutoff == "required"):
            raise MetricError(f"{name} needs {self.cut or 'a cutoff'}")
        if cutoff is not None and (row.is_whole or MEASURES[measure].cutoff == "none"):
            raise MetricError(f"{name} takes no cutoff")
        if cutoff is not None and axes.get("ideal_cut") == "retrieved":
            axes["depth"] = str(cutoff)
        owned = {axis: value for axis, value in axes.items() if measure in AXIS_OF[axis].measures}
        return Metric.of(measure, cutoff=cutoff, **owned)

    def dialect(self) -> Dialect:
        """Return the dialect of the tool."""
        form = self.written or ("{}(%s={})" % self.cut if self.cut else "{}@{}")  # noqa: UP031 - braces stay
        examples = [
            text if row.is_whole or MEASURES[row.ours.partition("(")[0]].cutoff == "none" else form.format(text, 10)
            for text, row in self.known.items()
        ]
        return Dialect(
            self.name,
            self.tool,
            without_options(self.metric),
            lambda cutoff: form.format(next(iter(self.rows)), cutoff),
            tuple(f"{self.name}:{text}" for text in [*examples, *filter(None, self.more.split("; "))]),
            self.tolerance,
            self.agreement,
            self.unstable_from,
            is_by_rank=self.is_by_rank,
            refused=self.refused,
        )


def _settings(text: str) -> dict[str, str]:
    return {axis: value for axis, _, value in (part.partition("=") for part in text.split(", ") if part)}
