"""The documentation page of the schema, which ``test_generated_pages`` keeps up to date."""

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
    for view in VIEWS:
        assert f"### {view.name}\n\n{view.sentence}\n" in page
        assert "\n".join(f"| `{name}` | {sentence} |" for name, sentence in view.columns.items()) in page


def test_the_page_is_well_formed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith("# Schema: views and tables\n")
    assert page.endswith("|\n")
    assert "\n\n\n" not in page
