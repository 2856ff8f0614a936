"""Writes the generated parts of the docs: the schema page, and the table of axes on the metrics page.

python docs/generate.py            # writes them
python docs/generate.py --check    # writes nothing; exit code 1 where one is out of date
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from ndcg_tracker.metrics.axes import AXES
from ndcg_tracker.metrics.measures import MEASURES
from ndcg_tracker.storage.schema_page import schema_page

DOCS = Path(__file__).resolve().parent
BEGIN, END = "<!-- generated: axes -->\n", "<!-- end of generated: axes -->\n"


def pages() -> dict[Path, str]:
    """Return every generated page with what it should hold."""
    metrics = DOCS / "metrics.md"
    before, _, rest = metrics.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return {
        DOCS / "schema.md": schema_page(),
        metrics: before + BEGIN + "\n" + "".join(f"{line}\n" for line in axes_table()) + "\n" + END + after,
    }


def axes_table() -> Iterator[str]:
    """Yield the lines of the tables of measures and axes."""
    yield "| measure | meaning |"
    yield "|---|---|"
    for name, meaning in MEASURES.items():
        yield f"| `{name}` | {meaning} |"
    yield ""
    yield "| axis | says | values (the first is the default) |"
    yield "|---|---|---|"
    for axis in AXES:
        values = [f"`{value}`: {_cell(meaning)}" for value, meaning in axis.values.items()]
        if axis.pattern_example:
            values.append(f"any of the form `{axis.pattern_example}`")
        yield f"| `{axis.name}` | {_cell(axis.meaning)} | {'; '.join(values)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the pages, or with --check compare them; return the exit code."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if arguments == ["--check"]:
        for path in stale:
            sys.stderr.write(f"docs/{path.name} is out of date: python docs/generate.py\n")
        return int(bool(stale))
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
