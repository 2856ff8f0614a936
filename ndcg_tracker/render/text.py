"""Reports and tables as text for a terminal: aligned, escaped, and in colour if the caller asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from ndcg_tracker.render.report import (
    SCREEN_ROWS,
    WIDTH,
    Detail,
    Line,
    Report,
    ReportPaper,
    Table,
    mark,
    shown_reports,
)
from ndcg_tracker.render.terminal import (
    Painted,
    Style,
    display_width,
    inert_lines,
    padded,
    painted,
    shortened,
    shortened_inside,
    visible,
    wrapped,
)
from ndcg_tracker.words.notes import Told
from ndcg_tracker.words.texts import counted

NARROWEST = 60
CELL_WIDTH = 60

_ENDLESS = 1 << 30
_LEAST_NAME = 12
_LONGER = 4  # times as much of a cell is shown where its text is broken into lines
_STYLES: dict[str, Style] = {"bad": "bad", "ok": "good"}


@dataclass(frozen=True, slots=True)
class _Page:
    """The output of a report: ``width`` columns, with ``color`` or not; ``is_terminal``: only people read it."""

    width: int
    color: bool
    is_terminal: bool = False

    def painted(self, text: str, style: Style | None) -> str:
        return painted(visible(text), style, color=self.color)

    def dim(self, sentences: Sequence[str]) -> list[str]:
        lines = [line for sentence in sentences for line in wrapped(visible(sentence), self.width)]
        return [painted(line, "dim", color=self.color) for line in lines]


def reports_text(reports: Sequence[Report], paper: ReportPaper, blank_lines: int = 2) -> str:
    """Return reports one after the other, with a line end; everything that came from outside is escaped.

    If the first report sums up the others, only it says how to read the tables. ``blank_lines``: between two reports.
    """
    detail, more, n_asked = paper.detail, paper.more, paper.n_asked
    if detail == "line":
        page = _Page(_ENDLESS, paper.color)
        return inert_lines("\n".join(_headline(report, page)[0] for report in reports[:1] if report.headline)) + "\n"
    is_log = not paper.is_terminal and any(report.is_dense for report in reports)
    width = _ENDLESS if is_log else max(paper.width or WIDTH, NARROWEST)
    page = _Page(width, paper.color, paper.is_terminal)
    blocks = []
    shown_alone = shown_reports(reports, detail)
    for number, report in enumerate(shown_alone):
        parts = [part for part in _parts(report, page, detail, number > 0 and reports[0].is_overview, n_asked) if part]
        between = "\n" if report.is_dense else "\n\n"
        blocks.append(between.join("\n".join(part) for part in parts))
    text = ("\n" * (blank_lines + 1)).join(blocks)
    if detail == "screen" and more and any(not of.is_dense and of.has_rest(n_asked) for of in reports):
        first, is_verdict = reports[0], bool(reports[0].under) and "\n\n" not in text
        rest = f"more: {'   '.join(filter(None, [f'{more} {first.rest}', first.also]))}"
        text += f"   ({more}: {first.rest})" if is_verdict else ("\n" if shown_alone[-1].notes else "\n\n") + rest
    return inert_lines(text) + "\n" if blocks else ""


def _parts(report: Report, page: _Page, detail: Detail, is_legend_known: bool, n_asked: int) -> list[list[str]]:
    """Return the parts of a report; the caller puts a blank line between them."""
    is_screen = detail == "screen"
    report = report.screen(n_asked) if is_screen else report.whole
    head = _headline(report, page)
    head += [line for told in report.under for line in _line(told, page)]
    head += [line for sentence in report.sentences for line in wrapped(visible(sentence), page.width)]
    tables = [_table(table.for_people, page, is_screen=is_screen) for table in report.tables]
    lines = [line for told in report.lines for line in _line(told, page)]
    is_told = is_screen or is_legend_known
    legend = [] if is_told else page.dim([*report.legends, *(report.styles if page.color else ())])
    rest = [legend, _facts(report.facts, page), _notes(report.minor, page)]
    details = [_table(table.for_people, page) for table in report.details]
    return [head, *tables, lines, _notes(report.notes, page), *rest, *details]


def _line(line: Line, page: _Page) -> list[str]:
    """Return a line of a screen; on a terminal that is too narrow, its command has a line of its own."""
    lines = wrapped(visible(line.text), page.width, line.start)
    if not line.command:
        return lines
    command = visible(line.command)
    last = f"{lines[-1]}{'  ' if lines[-1].endswith(':') else '   '}{command}"
    if page.is_terminal and display_width(last) > page.width:
        return [*lines, f"      {command}"]
    return [*lines[:-1], last]


def _headline(report: Report, page: _Page) -> list[str]:
    if report.headline is None:
        return []
    if report.verdict is not None:
        start = f"{visible(report.verdict.text)}: "
        first, *further = wrapped(visible(report.headline), page.width, start, indent=0)
        return [page.painted(report.verdict.text, report.verdict.style) + ": " + first[len(start) :], *further]
    if not report.asides:
        return [painted(line, "bold", color=page.color) for line in wrapped(visible(report.headline), page.width)]
    return ["  ".join([page.painted(report.headline, "bold"), *map(visible, report.asides)]).rstrip(" ")]


def _table(table: Table, page: _Page, *, is_screen: bool = False) -> list[str]:
    """Return a table with its title, its footnotes and how to read it."""
    lines = [page.painted(table.title, "bold")] if table.title else []
    lines += _rows(table, page) if table.rows else []
    for number, note in enumerate(table.footnotes, 1):
        lines += wrapped(visible(note), page.width, f"{mark(number)} ")
    lines += wrapped(visible(table.after), page.width if page.is_terminal else _ENDLESS) if table.after else []
    return lines if is_screen else lines + page.dim(table.legend)


def _rows(table: Table, page: _Page) -> list[str]:
    """Return the lines of a table, whose names are cut so that its numbers stay within the width."""
    table, cell_width = _narrowed(table, page.width) if page.is_terminal else table, max(page.width, WIDTH)
    widths = _widths(_columns(table, cell_width))
    room = page.width - sum(widths) - 2 * (len(widths) - 1)
    of_names = [widths[place] for place in table.names]
    shares = dict(zip(table.names, _shares(room + sum(of_names), of_names), strict=True))
    how = {place: shortened if place in table.titles else shortened_inside for place in table.names}
    rows = [
        [
            replace(cell, text=how[place](visible(cell.text), shares[place])) if place in shares else cell
            for place, cell in enumerate(row)
        ]
        for row in table.cells
    ]
    heads = [
        replace(of, title=how[place](of.heading, shares[place])) if place in shares else of
        for place, of in enumerate(table.columns)
    ]
    return _lines(replace(table, columns=heads, rows=rows), cell_width, color=page.color)


def _shares(room: int, widths: Sequence[int]) -> list[int]:
    """Return how wide each of up to two columns of names may be; one column may use what the other does not need."""
    if sum(widths) <= room:
        return list(widths)
    if len(widths) == 1:
        return [max(_LEAST_NAME, room)]
    first = max(_LEAST_NAME, min(widths[0], max(room // 2, room - widths[1])))
    return [first, max(_LEAST_NAME, room - first)]


def _facts(facts: Sequence[tuple[str, str]], page: _Page) -> list[str]:
    """Return names and values side by side; a repeated name is shown once."""
    width = max((display_width(visible(name)) for name, _ in facts), default=0)
    lines, before = [], ""
    for name, value in facts:
        told = "" if name == before else visible(name)
        lines += wrapped(visible(value), page.width, padded(told, width) + "  ")
        before = name
    return lines


def _notes(notes: Sequence[Told], page: _Page) -> list[str]:
    """Return notes and warnings; a command is on its own line, unbroken, so that it can be copied."""
    lines = []
    for note in notes:
        if note.kind == "?":
            lines += _line(Line("? ", note.sentence + (":" if note.command else ""), note.command), page)
            continue
        lines += wrapped(visible(note.sentence) + (":" if note.command else ""), page.width, f"{note.kind}: ")
        lines += [f"      {visible(note.command)}"] if note.command else []
    return lines


def table_text(
    table: Table,
    *,
    color: bool = False,
    cell_width: int = CELL_WIDTH,
    width: int | None = None,
    detail: Detail = "all",
    by_time: bool = False,
    n_asked: int = 0,
) -> str:
    """Return the lines of a table alone, each with a line end; its cells are cut to ``cell_width`` columns.

    ``width``: of the terminal, None if there is none. To fit a terminal, a table leaves out spare columns and breaks
    texts into lines, as far as words allow. ``detail``: "line" for how many things its first column names, "screen" for
    as many rows as one has, the last of them if ``by_time``, and at least ``n_asked``.
    """
    if detail == "line":
        return counted(len({row[0] for row in table.rows}), table.for_people.columns[0].heading) + "\n"
    if detail == "screen":
        table = replace(table, by_time=by_time).first_rows(max(SCREEN_ROWS, n_asked))
    table = table.for_people
    if width is not None:
        table = _narrowed(table, width, cell_width)
        if _line_width(table, cell_width) > width:
            cell_width *= _LONGER
            table = _broken(table, width, cell_width)
    lines = _lines(table, cell_width, color=color)
    lines += [f"{table.after}; -v shows all"] * bool(table.after)
    return inert_lines("".join(line + "\n" for line in lines))


def _narrowed(table: Table, width: int, cell_width: int = WIDTH) -> Table:
    """Return a table with as many of its spare columns as there is room for."""
    while (less := table.with_less) is not None and _line_width(table, cell_width) > width:
        table = less
    return table


def _columns(table: Table, cell_width: int) -> list[Sequence[str]]:
    """Return the texts of each column, the heading first, safe to print and cut."""
    texts = [[of.heading for of in table.columns], *([cell.text for cell in row] for row in table.cells)]
    return [_safe(column, cell_width) for column in zip(*texts, strict=True)]


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(display_width, column)) for column in columns]


def _line_width(table: Table, cell_width: int) -> int:
    """Return how many columns of a terminal the lines of a table take."""
    widths = _widths(_columns(table, cell_width))
    return sum(widths) + 2 * (len(widths) - 1)


def _lines(table: Table, cell_width: int, *, color: bool) -> list[str]:
    headings, right = [of.heading for of in table.columns], [bool(of.right) for of in table.columns]
    return text_table(headings, table.cells, right, color=color, cell_width=cell_width)


def _broken(table: Table, width: int, cell_width: int) -> Table:
    """Return a table whose longest texts are broken at spaces into further lines."""
    columns = _columns(table, cell_width)
    widths = _widths(columns)
    least = [
        widest if of.right else max(map(display_width, " ".join(texts).split(" ")))
        for widest, of, texts in zip(widths, table.columns, columns, strict=True)
    ]
    too_wide = sum(widths) + 2 * (len(widths) - 1) - width
    while too_wide > 0 and any(of > smallest for of, smallest in zip(widths, least, strict=True)):
        place = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[place] -= 1
        too_wide -= 1
    rows = [
        [Painted(text, cell.style) for text, cell in zip(line, row, strict=True)]
        for row, texts in zip(table.cells, list(zip(*columns, strict=True))[1:], strict=True)
        for line in zip_longest(*map(wrapped, texts, widths), fillvalue="")
    ]
    return replace(table, rows=rows)


def text_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Painted]],
    right: Sequence[bool],
    *,
    color: bool = False,
    cell_width: int = CELL_WIDTH,
) -> list[str]:
    """Return the lines of an aligned table.

    Parameters: ``headings`` and ``rows``: text, escaped here and cut to ``cell_width`` columns. ``right``: which
    columns hold numbers and are aligned right. ``color``: whether styles are written.

    >>> print(*text_table(["run", "mean"], [["bm25", "0.65"], ["検索", "0.7"]], [False, True]), sep=chr(10))
    run   mean
    bm25  0.65
    検索   0.7
    """
    texts = [headings, *([cell.text if isinstance(cell, Painted) else cell for cell in row] for row in rows)]
    safe = [_safe(column, cell_width) for column in zip(*texts, strict=True)]
    safe[:1] = [
        [inert_lines(text) for text in column] for column in safe[:1]
    ]  # where a line begins, before it is filled
    columns = [_filled(column, right=is_right) for column, is_right in zip(safe, right, strict=True)]
    filled = list(zip(*columns, strict=True)) or [() for _ in texts]
    if not color:
        return ["  ".join(cells).rstrip(" ") for cells in filled]
    styles: list[list[Style | None]] = [["dim"] * len(headings)]
    styles += [[cell.style if isinstance(cell, Painted) else None for cell in row] for row in rows]
    return [_painted_line(cells, of_row) for cells, of_row in zip(filled, styles, strict=True)]


def _safe(column: Sequence[str], cell_width: int) -> Sequence[str]:
    """Return a column's texts escaped and cut; most texts are plain and need neither."""
    joined = "".join(column)
    if joined.isascii() and joined.isprintable() and "##" not in joined and max(map(len, column)) <= cell_width:
        return column
    return [shortened(visible(text), cell_width) for text in column]


def _filled(column: Sequence[str], *, right: bool) -> list[str]:
    """Return a column's texts filled with spaces to the width of the widest."""
    if "".join(column).isascii():
        width = max(map(len, column))
        return [text.rjust(width) if right else text.ljust(width) for text in column]
    width = max(map(display_width, column))
    return [padded(text, width, right=right) for text in column]


def _painted_line(cells: Sequence[str], styles: Sequence[Style | None]) -> str:
    """Return a row's cells side by side, each in its style, with unstyled spaces between."""
    line, blanks = "", 0
    for filled, style in zip(cells, styles, strict=True):
        body = filled.rstrip(" ")
        line += " " * blanks + painted(body, style, color=True)
        blanks = len(filled) - len(body) + 2
    return line.rstrip(" ")


def findings_text(rows: Sequence[tuple[str, str, str, str]], *, color: bool = False, width: int | None = None) -> str:
    """Return the findings of an examination: a line per check with its state (ok, note or bad), and what to do below.

    >>> print(findings_text([("room", "bad", "1.0 GB free", "make room")]))
    room  bad   1.0 GB free
                → make room
    """
    width = width or WIDTH
    widest = max(len(check) for check, _, _, _ in rows)
    lines = []
    for check, state, finding, advice in rows:
        start = f"{padded(check, widest)}  {padded(state, 4)}  "
        first, *further = wrapped(visible(finding), width, start)
        styled = f"{padded(check, widest)}  {painted(padded(state, 4), _STYLES.get(state), color=color)}  "
        lines += [styled + first[len(start) :], *further]
        if advice:
            lines += wrapped(visible(advice), width, " " * len(start) + "→ ")
    return inert_lines("\n".join(lines))
