"""Pages of the ui from their templates, and the parameters of their addresses."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ndcg_tracker.asked import declared
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.render.html import CLASSES, asset, environment, people_html, script_json
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.words.texts import counted, interval, lines_of_blocks, percent, points

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from ndcg_tracker.render.report import Table
    from ndcg_tracker.storage.records import DatasetRecord, MetricUse
    from ndcg_tracker.storage.store import ReadTransaction

_LARGEST_ID = 2**63 - 1
_WIDTH, _HEIGHT = 120, 26
_SPARKS = 120

MISSING = {
    "error": "all runs must have the same",
    "zero": "count 0 where a run lacks them",
    "intersect": "without those that only some runs have",
    "skip": "only those that all runs have",
}
"""How to treat groups that a run lacks, in the words of the pages."""


class Question:
    """The parameters of an address; those that no database can hold are refused. ``person``: who may judge here."""

    def __init__(self, parameters: Sequence[tuple[str, str]], person: str = "") -> None:
        self._parameters = list(parameters)
        self.person = person

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """All parameters that are not empty."""
        return [(name, value) for name, value in self._parameters if value]

    def has(self, name: str) -> bool:
        """Return whether a parameter is given, perhaps empty."""
        return any(key == name for key, _ in self._parameters)

    def without(self, *names: str) -> Question:
        """Return the same question without some parameters."""
        return Question([(name, value) for name, value in self._parameters if name not in names], self.person)

    def link(self, path: str, *without: str, **parameters: str) -> str:
        """Return the address of this question, without some parameters and with others; NUL characters are removed."""
        kept = [each for each in self._parameters if each[0] not in (*without, *parameters)]
        given = [(name, value.replace("\0", "")) for name, value in (*kept, *parameters.items())]
        return f"{path}?{urlencode(given, errors='replace')}" if given else path

    def text(self, name: str) -> str | None:
        """Return the value of a parameter, None where it is missing or empty."""
        return next(iter(self.texts(name)), None)

    def texts(self, name: str) -> list[str]:
        """Return the values of a parameter that may be given several times, without empty ones."""
        values = [value for key, value in self._parameters if key == name and value]
        if any("\0" in value for value in values):
            raise InputError(f"{name} has a NUL character, which nothing in a database has")
        return values

    def number(self, name: str, otherwise: int) -> int:
        """Return a whole number from 1."""
        given = self.text(name)
        return otherwise if given is None else _number(name, given)

    def ids(self, name: str) -> list[int]:
        """Return the distinct numbers of a parameter, in the order in which they were given."""
        return list(dict.fromkeys(_number(name, value) for value in self.texts(name)))

    def keywords(self, question: type[Any], but: Collection[str]) -> dict[str, Any]:
        """Return the fields of a question that the address gives, without those that a page chooses otherwise."""
        asked = [(one, self.text(one.name)) for one in declared(question) if one.name not in but]
        return {one.name: one.of_text(text) for one, text in asked if text is not None}

    def dataset(self, tx: ReadTransaction) -> DatasetRecord:
        """Return the dataset that the address names, or the only one if it names none."""
        name, every = self.text("dataset"), tx.datasets.all()
        if name is None and len(every) == 1:
            return every[0]
        for record in every:
            if record.name == name:
                return record
        raise ReferenceNotFoundError("choose a dataset" if name is None else f"no dataset {name!r}")


def of_form(question: type[Any], but: Collection[str], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a question as a form asks for them, with the values that are given."""
    return [
        {
            "name": one.name,
            "help": re.sub("--([a-z-]+)", lambda found: found[1].replace("-", " "), one.option.help),
            "choices": {choice: MISSING.get(choice, choice) for choice in one.choices},
            "is_switch": one.type is bool,
            "default": one.default,
            "is_given": one.name in given,
            "value": given.get(one.name, one.default),
        }
        for one in declared(question)
        if one.name not in but
    ]


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20 and 1 <= int(text) <= _LARGEST_ID):
        raise InputError(f"{name} must be a number from 1, not {text[:40]!r}")
    return int(text)


def link(path: str, **parameters: object) -> str:
    """Return an address with the parameters that are not None; a list gives a parameter several times.

    >>> link("/run", run=3, metric="ndcg@10", q=None)
    '/run?run=3&metric=ndcg%4010'
    """
    given = {name: value for name, value in parameters.items() if value is not None and value != ""}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def rendered(template: str, *, data: object = None, **values: object) -> str:
    """Return a page; ``data``: the data for its scripts, None if it draws nothing."""
    from markupsafe import Markup

    shown = {
        "dataset": None,
        "metric": None,
        "here": "",
        "person": "",
        "at": link,
        "kept": (),
        "choices": (),
        "data_links": (),
        "metrics": (),
        **values,
    }
    return (
        environment_of_pages()
        .get_template(template)
        .render(data=None if data is None else Markup(script_json(data)), **shown)
    )


def table_on_page(table: Table, **links: Sequence[tuple[str, str]]) -> Markup:
    """Return a table with links in the cells of some columns, by key, or by title for a column without a key.

    Each link has words after the cell's own, and an address, "" for none.
    """
    from markupsafe import Markup

    people = table.for_people
    places = {of.key or of.title: place for place, of in enumerate(people.columns)}
    rows = [list(row) for row in people.cells]
    for key, of_rows in links.items():
        for row, (words, address) in zip(rows, of_rows if key in places else (), strict=key in places):
            cell = row[places[key]]
            row[places[key]] = replace(cell, text=cell.text + words, link=address) if cell.text else cell
    return Markup(people_html(replace(people, rows=rows), CLASSES))


def metric_name(metric: MetricUse) -> str:
    """Return a metric by the name that people know."""
    return familiar_name(metric.metric, metric.requested_as)


def sparkline(means: Sequence[float | None], versions: Sequence[int | None]) -> Markup:
    """Return a small line of means, oldest first, with a dot at the latest; None and new labels leave a gap.

    If there are many means, each point of the line stands for several. ``versions``: of the labels of each.
    """
    from markupsafe import Markup

    lines, _ = lines_of_blocks(means, versions, _SPARKS)
    shown = [value for line in lines for value in (*line, None)][:-1]
    defined = [value for value in shown if value is not None]
    if not defined:
        return Markup("")
    low, span = min(defined), (max(defined) - min(defined)) or 1.0
    step = (_WIDTH - 8) / max(1, len(shown) - 1)
    spots = [
        None if value is None else (4 + place * step, _HEIGHT - 4 - (value - low) / span * (_HEIGHT - 8))
        for place, value in enumerate(shown)
    ]
    path, is_down = "", False
    for spot in spots:
        path += "" if spot is None else f"{'L' if is_down else 'M'}{spot[0]:.1f} {spot[1]:.1f}"
        is_down = spot is not None
    x, y = [spot for spot in spots if spot is not None][-1]
    words = (
        f"{counted(len(means), 'run')}, from {points(low)} to {points(max(defined))}, the latest {points(defined[-1])}"
    )
    if len(lines) > 1:
        words += f"; the line breaks where the labels change, the latest are version {versions[-1]}"
    return Markup(
        f'<svg class="spark" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{words}"><title>{words}</title><path d="{path}"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/></svg>'
    )


def position(value: float | None, low: float, high: float) -> Markup:
    """Return the position of a value between two others, as a dot on a line."""
    from markupsafe import Markup

    if value is None:
        return Markup("")
    x = 4 + ((value - low) / (high - low) if high > low else 0.5) * 72
    return Markup(
        '<svg class="spark" viewBox="0 0 80 12" width="80" height="12" aria-hidden="true">'
        f'<path d="M4 6H76"/><circle cx="{x:.1f}" cy="6" r="3.5"/></svg>'
    )


ASSETS = ("page.css", "ui.css", "vega.js", "draw.js", "report.js", "ui.js")
"""The files that pages load."""


def asset_of_pages(name: str) -> str:
    """Return a file that pages load."""
    if not name.startswith("ui."):
        return asset(name)
    return resources.files("ndcg_tracker.ui").joinpath("assets", name).read_text("utf-8")


@cache
def environment_of_pages() -> Environment:
    """Return the environment of pages: the report's templates are among them, and everything is escaped as there."""
    from jinja2 import ChoiceLoader, PackageLoader
    from markupsafe import Markup, escape

    overlay = environment().overlay(
        loader=ChoiceLoader(
            [PackageLoader("ndcg_tracker.ui", "templates"), PackageLoader("ndcg_tracker.render", "pages/templates")]
        )
    )
    overlay.filters = {
        **overlay.filters,
        "points": points,
        "signed": lambda value: points(value, signed=True, is_aligned=True),  # in a column of such figures
        "percent": percent,
        "interval": interval,
        "time": lambda text: text[:16].replace("T", " "),
        "raw": lambda text: Markup(escape(text)),  # forms must send back the exact id
    }
    overlay.globals = {**overlay.globals, "link": link, "visible": visible, "counted": counted}
    overlay.globals |= {"sparkline": sparkline, "position": position, "metric_name": metric_name}
    return overlay
