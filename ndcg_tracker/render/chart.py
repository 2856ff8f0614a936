"""A chart as an object: notebooks show it, and it can be saved as SVG, PNG, PDF or HTML or passed to Altair."""

from __future__ import annotations

import base64
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndcg_tracker.errors import InputError, NdcgTrackerError, argument
from ndcg_tracker.render.html import Spec, Theme, themed
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.whole_file import whole_file

if TYPE_CHECKING:
    import altair

FORMATS = (".svg", ".png", ".pdf", ".html")
WIDTH = 640.0
"""The default width of a picture in pixels; a pixel is 1/96 inch."""
_PER_UNIT = {"": 1.0, "px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72}
_WIDTH = re.compile(r"(\d+(?:\.\d+)?)(px|in|cm|mm|pt|)", re.ASCII)
_NARROWEST, _WIDEST = 120.0, 10_000.0
_PER_SIGN = 7.0  # pixels of a subtitle's letter, about
_VERSION = "6.4"
_PNG_SCALE = 2.0
Converted = Callable[[str, dict[str, Any]], bytes]
"""Calls a function of vl-convert by its name, with these arguments."""
_SIZE = re.compile(r'(<svg\b[^>]*?) width="([\d.]+)" height="([\d.]+)"')


@dataclass(frozen=True)
class Chart:
    """A chart; notebooks show it, ``save`` writes it, ``to_altair`` converts it to an Altair chart.

    ``spec``: its Vega-Lite specification, without a theme.

    >>> from ndcg_tracker.render.html import chart
    >>> layers = [{"mark": "point", "encoding": {"x": {"field": "n", "type": "quantitative"}}}]
    >>> Chart(chart("A point", layers, [{"n": 1}])).svg()[:4]
    '<svg'
    """

    spec: Spec

    def themed(self, theme: Theme = "light", width: float | str | None = None) -> Spec:
        """Return the specification with a theme and a width, for any renderer of Vega-Lite.

        Parameters: ``width``: of the whole picture, in pixels or with a unit ("84mm", "3.3in", "240pt").
        """
        pixels = WIDTH if width is None else pixels_of(width)
        spec = themed(self.spec, theme) | {"width": pixels, "autosize": {"type": "fit-x", "contains": "padding"}}
        title = dict(spec["title"])
        for part in ("text", "subtitle"):
            lines = textwrap.wrap(
                title.get(part, ""), max(16, int(pixels / _PER_SIGN * (0.85 if part == "text" else 1)))
            )
            title.pop(part, None)
            if lines:
                title[part] = lines
        return {**spec, "title": title}

    def svg(self, *, theme: Theme = "light", width: float | str | None = None) -> str:
        """Return the picture as SVG; its text stays text. Raises: InputError if the extra ``plot`` is missing."""
        return self.content(".svg", theme=theme, width=width).decode("utf-8")

    def save(self, path: str | os.PathLike[str], *, theme: Theme = "light", width: float | str | None = None) -> None:
        """Write the picture to a file, in the format of its ending: .svg, .png, .pdf (fonts embedded) or .html.

        Parameters: ``theme``: "light" or "dark". ``width``: see ``themed``. Raises: InputError for another ending, an
        invalid width, a place that cannot be written to, and, except for .html, if the extra ``plot`` is missing.
        """
        content = self.content(checked_ending(path), theme=theme, width=width)
        with whole_file(os.fspath(path), "path") as write:
            write(content)

    def content(
        self,
        ending: str,
        *,
        theme: Theme = "light",
        width: float | str | None = None,
        converted: Converted | None = None,
    ) -> bytes:
        """Return the picture in the format of an ending (see ``save``); ``converted``: the converter of ``drawing``."""
        if ending == ".html":
            from ndcg_tracker.render.html import chart_page

            return chart_page(self.spec).encode("utf-8")
        spec = {"vl_spec": json_text(self.themed(theme, width)), "vl_version": _VERSION}
        if ending == ".png":
            return (converted or _converted_here)("vegalite_to_png", {**spec, "scale": _PNG_SCALE})
        svg = (converted or _converted_here)("vegalite_to_svg", spec)
        if ending == ".svg":
            return svg
        pdf: bytes = _converter().svg_to_pdf(_SIZE.sub(_in_points, svg.decode("utf-8"), count=1))
        return pdf

    def to_altair(self) -> altair.Chart:
        """Return the chart as an Altair chart. Raises: InputError if the extra ``plot`` is missing."""
        try:
            import altair
        except ImportError as error:
            raise _missing("altair") from error
        return altair.Chart.from_dict(self.themed())

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        if find_spec("vl_convert") is None:
            return {"text/plain": repr(self)}
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        title = self.spec["title"]
        return f"Chart({title['text']!r})"


def _converted_here(call: str, arguments: dict[str, Any]) -> bytes:
    drawn = getattr(_converter(), call)(**arguments)
    return drawn if isinstance(drawn, bytes) else drawn.encode("utf-8")


_ELSEWHERE = """
import json, sys
sys.path.append({folder!r})
import vl_convert
vl_convert.vegalite_to_vega({nothing!r}, vl_version={version!r})
call, arguments = json.load(sys.stdin.buffer)
drawn = getattr(vl_convert, call)(**arguments)
sys.stdout.buffer.write(drawn if isinstance(drawn, bytes) else drawn.encode("utf-8"))
"""
_NOTHING = '{"data": {"values": []}, "mark": "point"}'


@contextmanager
def drawing(ending: str) -> Iterator[Converted]:
    """Start a second process that draws pictures of an ending: it starts while the numbers are computed.

    Yields the converter that ``Chart.content`` takes, for one use; this process draws if the other one cannot. Raises:
    InputError if the extra ``plot`` is missing.
    """
    if ending == ".html":
        yield _converted_here
        return
    import subprocess

    program = _ELSEWHERE.format(folder=str(Path(_converter().__file__).parents[1]), nothing=_NOTHING, version=_VERSION)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-S", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        yield _converted_here
        return

    def converted(call: str, arguments: dict[str, Any]) -> bytes:
        drawn, _ = process.communicate(json_text([call, arguments]).encode("utf-8"))
        return drawn if process.returncode == 0 else _converted_here(call, arguments)

    with process:
        try:
            yield converted
        finally:
            process.kill()


def picture_element(chart_of: Callable[[], Chart]) -> str:
    """Return a chart as an element of HTML for notebooks.

    Return nothing if the extra ``plot`` is not installed, or if the database is gone or has changed; tables still show.
    """
    if find_spec("vl_convert") is None:
        return ""
    try:
        chart = chart_of()
    except NdcgTrackerError:
        return ""
    picture = base64.b64encode(chart.svg().encode("utf-8")).decode("ascii")
    title = escape(" ".join(chart.spec["title"].values()))
    return f'<img alt="{title}" src="data:image/svg+xml;base64,{picture}">'


def pixels_of(width: float | str) -> float:
    """Return a width in pixels of 1/96 inch. Raises: InputError for an invalid width.

    >>> pixels_of(600), round(pixels_of("84mm"), 1), pixels_of("3in")
    (600.0, 317.5, 288.0)
    """
    match = _WIDTH.fullmatch(str(width))
    pixels = float(match[1]) * _PER_UNIT[match[2]] if match else 0.0
    if not _NARROWEST <= pixels <= _WIDEST:
        raise InputError(
            f"{width!r} is not a width",
            advice=(
                f"give {argument('width')} in pixels, or with a unit, such as 84mm or 3.3in; at least {_NARROWEST:g} "
                "pixels"
            ),
        )
    return pixels


def checked_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a picture's file, lower case. Raises: InputError for another file's ending."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise InputError(
            f"cannot tell a format from {os.fspath(path)!r}",
            advice="give a name that ends in .svg, .png, .pdf or .html",
        )
    return ending


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise _missing("vl-convert") from error
    return vl_convert


def _missing(what: str) -> InputError:
    return InputError(
        f"pictures need {what}",
        advice="install it with: pip install 'ndcg-tracker[plot]', or write .html, which needs nothing",
    )


def _in_points(size: re.Match[str]) -> str:
    """Return the start of an SVG with its size in points, the unit of PDF; the drawing scales with it."""
    width, height = (float(number) * 72 / 96 for number in size.group(2, 3))
    return f'{size[1]} width="{width:g}" height="{height:g}"'
