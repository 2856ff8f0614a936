"""The documentation page of the schema."""

from pathlib import Path

from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.upkeep.schema_page import schema_page
from ndcg_tracker.storage.views import VIEWS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "schema.md"


def test_the_page_names_everything() -> None:
    page = schema_page()
    for table in metadata.tables.values():
        assert f"### {table.name}\n\n{table.comment}\n" in page
        for column in table.columns:
            assert f"| `{column.name}` |" in page
            assert (column.comment or "?") in page
    for view in VIEWS:
        assert f"### {view.name}\n\n{view.sentence}\n" in page
        assert "\n".join(f"| `{name}` | {sentence} |" for name, sentence in view.columns.items()) in page


def test_the_page_is_well_formed() -> None:
    page = schema_page()
    assert page.startswith("# The database\n")
    assert page.endswith("|\n")
    assert "\n\n\n" not in page
