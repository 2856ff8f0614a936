"""The documentation page of the schema, which ``test_generated_pages`` keeps up to date."""

from schema_page import PAGE, views_of_the_page

from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.views import VIEWS


def test_the_page_names_everything() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for table in metadata.tables.values():
        assert table.comment
        assert all(column.comment for column in table.columns)
        assert f"- **{table.name}**: {table.comment}\n" in page


def test_the_page_says_what_each_view_and_each_of_its_columns_is() -> None:
    views = views_of_the_page()
    assert {name: list(columns) for name, (_, columns) in views.items()} == {
        name: list(columns) for name, columns in VIEWS.items()
    }
    assert all(rows.startswith("One row per ") and all(columns.values()) for rows, columns in views.values())


def test_the_page_is_well_formed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith("# Schema: views and tables\n")
    assert page.endswith(".\n")
    assert "\n\n\n" not in page
