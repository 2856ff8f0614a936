"""What each format of output must never hold, whatever the ids in it are."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from html.parser import HTMLParser

import markdown_it
from build_logs import commands_in

_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
_ALLOWED = "\n\u200c\u200d"
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_TAGS = {
    *("div", "p", "strong", "em", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "ol", "li", "br", "hr"),
    *("details", "summary", "span", "code", "pre", "h1", "h2", "h3", "h4", "small"),
}
_MARKUP = ("link_open", "image", "fence", "code_block", "code_inline", "s_open", "em_open")
_STYLE = re.compile(r"[a-z0-9:;#. \-]*")


def control_characters(printed: str) -> Iterator[str]:
    """Yield what a terminal would obey, hide or reorder."""
    found = {letter for letter in printed if unicodedata.category(letter) in _OBEYED and letter not in _ALLOWED}
    if found:
        yield f"control characters {sorted(found)!a:.100}"


def log_commands(printed: str) -> Iterator[str]:
    """Yield what the log of a build would obey."""
    yield from (f"a command to the log of a build {line[:60]!r}" for line in commands_in(printed))


def text_faults(printed: str) -> Iterator[str]:
    """Yield what is wrong with text for a terminal, which may be the log of a build."""
    yield from control_characters(printed)
    yield from log_commands(printed)


def csv_faults(printed: str) -> Iterator[str]:
    """Yield what is wrong with CSV: control characters, rows of unequal length, cells that a spreadsheet computes."""
    yield from text_faults(printed)
    rows = list(csv.reader(io.StringIO(printed, newline=""), strict=True))
    if len({len(row) for row in rows}) > 1:
        yield "rows of unequal length"
    for cell in (cell for row in rows for cell in row):
        if cell.strip().startswith(("=", "+", "-", "@")) and not _NUMBER.fullmatch(cell):
            yield f"a formula {cell[:60]!r}"


def markdown_faults(printed: str) -> Iterator[str]:
    """Yield what is wrong with Markdown: control characters, raw HTML, links, pictures, code, headings in a table."""
    yield from text_faults(printed.replace("\u200b", ""))
    parser = markdown_it.MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"])
    for token in parser.parse(printed):
        for one in [token, *(token.children or [])]:
            if one.type in _MARKUP:
                yield f"{one.type} {one.content[:60]!r}"
    yield from html_faults(parser.render(printed), are_lines_free=True)
    if re.search(r"(?<![\w)&;\\])@\w", re.sub(r"ndcg[^ |]*@\d+|`[^`]*`|@(10|5)\b", "", printed)):
        yield "a mention"


_PICTURE = re.compile(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img" and [name for name, _ in attrs] == ["alt", "src"] and _PICTURE.fullmatch(attrs[1][1] or ""):
            return  # a chart of ours, in which no script runs
        wrong = [
            name for name, value in attrs if name not in ("style", "start", "open") or not _STYLE.fullmatch(value or "")
        ]
        if tag not in _TAGS or wrong:
            self.faults.append(f"<{tag} {wrong}>")
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> out of place")

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"a comment {data[:40]!r}")

    def handle_decl(self, decl: str) -> None:
        self.faults.append(f"a declaration {decl[:40]!r}")

    def handle_pi(self, data: str) -> None:
        self.faults.append(f"an instruction {data[:40]!r}")

    def unknown_decl(self, data: str) -> None:
        self.faults.append(f"a section {data[:40]!r}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def html_faults(printed: str, *, are_lines_free: bool = False) -> Iterator[str]:
    """Yield what is wrong with HTML: control characters, elements and attributes that a report has none of."""
    if not are_lines_free:
        yield from text_faults(printed)
    tags = _Tags()
    tags.feed(printed)
    tags.close()
    yield from tags.faults
    if tags.open:
        yield f"left open: {tags.open}"


def json_faults(printed: str) -> Iterator[str]:
    """Yield what is wrong with JSON: what does not parse or encode, and control characters that are not escaped."""
    yield from log_commands(printed)
    if re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", printed):
        yield "a control character that is not escaped"
    try:
        json.loads(printed)
        printed.encode()
    except ValueError as error:
        yield f"no JSON: {error}"


def junit_faults(printed: str) -> Iterator[str]:
    """Yield what is wrong with a JUnit report."""
    yield from control_characters(printed)
    try:
        tree = ET.fromstring(printed)
    except ET.ParseError as error:
        yield f"no XML: {error}"
        return
    known = {"testsuites", "testsuite", "testcase", "failure", "skipped", "properties", "property", "system-out"}
    yield from (f"<{one.tag}>" for one in tree.iter() if one.tag not in known)


def latex_faults(printed: str) -> Iterator[str]:
    """Yield what is wrong with LaTeX: what is wrong with text, and commands that we do not write."""
    yield from text_faults(printed)
    ours = (
        r"usepackage|begin|end|centering|caption|smallskip|toprule|midrule|bottomrule|textbf|underline|textsuperscript|"
        r"par|footnotesize|Delta|cdot"
    )
    signs = r"textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar"
    for command in re.findall(r"\\([A-Za-z]+|.)", printed.replace("\\\\", "")):
        if not re.fullmatch(rf"{ours}|{signs}|[&%$#_{{}}]", command):
            yield f"a command of LaTeX {command!r}"


FAULTS: dict[str, Callable[[str], Iterator[str]]] = {
    "text": text_faults,
    "csv": csv_faults,
    "markdown": markdown_faults,
    "json": json_faults,
    "html": html_faults,
    "junit": junit_faults,
    "latex": latex_faults,
}
