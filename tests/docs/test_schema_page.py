"""The documentation page of the schema, which ``test_generated_pages`` keeps up to date."""

import re
from pathlib import Path

from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.views import VIEWS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "schema.md"


def test_the_page_names_everything() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for table in metadata.tables.values():
        assert f"### {table.name}\n\n{table.comment}\n" in page
        for column in table.columns:
            assert f"| `{column.name}` |" in page
            assert (column.comment or "?") in page


def test_the_page_says_what_each_view_and_each_of_its_columns_is() -> None:
    views = PAGE.read_text(encoding="utf-8").partition("\n## How")[0].split("\n### ")[1:]
    described = {text.splitlines()[0]: re.findall(r"^\| `(\w+)` \| \S.* \|$", text, re.MULTILINE) for text in views}
    assert described == {name: list(columns) for name, columns in VIEWS.items()}
    assert all(text.splitlines()[2].startswith("One row per ") for text in views)


def test_the_page_is_well_formed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith("# Schema: views and tables\n")
    assert page.endswith("|\n")
    assert "\n\n\n" not in page
