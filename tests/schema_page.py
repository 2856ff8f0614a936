"""What the page of the schema says of the views."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "schema.md"
_COLUMN = re.compile(r"^- `(\w+)`: (\S.*)$", re.MULTILINE)


def views_of_the_page() -> dict[str, tuple[str, dict[str, str]]]:
    """Return each view with what its rows are, and its columns in order with what they are, "" for those not said."""
    shared, *views = (
        PAGE.read_text(encoding="utf-8").partition("\n## How")[0].partition("\n## Views\n")[2].split("\n### ")
    )
    found = {}
    for view in views:
        said = dict(_COLUMN.findall(shared)) | dict(_COLUMN.findall(view))
        name, _, rows, _, columns, *_ = view.splitlines()
        found[name] = (rows, {column: said.get(column, "") for column in re.findall(r"\w+", columns)[1:]})
    return found
