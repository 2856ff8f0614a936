"""The documentation page of the schema, generated from the comments of the tables."""

from __future__ import annotations

from sqlalchemy import Column, Table
from sqlalchemy.dialects import postgresql, sqlite

from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.views import VIEWS, View

_INTRODUCTION = """\
# The database

One database, SQLite or Postgres, keeps everything. The **views** are the public SQL: they keep their names and
columns, and give the same rows on both engines. The tables below them may change from release to release.

```console
$ ndcg-track sql "SELECT run, metric, mean FROM run_summary ORDER BY run_id"
```
"""
_PICTURE = """\
## How the tables are related

```text
datasets ──< groups
datasets ──< label_sets ··< label_lists >·· groups
datasets ──< runs ··< ranked_lists >·· groups
             runs ──< evaluations >── label_sets, metrics
                      evaluations ··< group_results >·· groups
             runs ──< coverages >── label_sets
datasets ──< aliases >── runs
datasets ──< decisions >── runs, label_sets
datasets ──< texts >·· groups

──<  one to many, by a foreign key      ··<  one to many, checked once per transaction
```

Label lists, ranked lists and group results have one row per group. Checking a foreign key for each of millions of rows
would take most of the time of storing a run, so these references are checked set by set before the commit, and by
`ndcg-track db check`.
"""


def schema_page() -> str:
    """Return the page as Markdown: the views, a picture of the tables, and every table and column with its comment."""
    parts = [_INTRODUCTION, "## Views", *(_view(view) for view in VIEWS), _PICTURE, "## Tables"]
    parts += [_table(table) for table in metadata.tables.values()]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _view(view: View) -> str:
    rows = [f"| `{name}` | {sentence} |" for name, sentence in view.columns.items()]
    return "\n".join([f"### {view.name}", "", view.sentence, "", "| column | |", "|---|---|", *rows, ""])


def _table(table: Table) -> str:
    rows = [f"| `{column.name}` | {_types(column)} | {_notes(column)} |" for column in table.columns]
    head = ["| column | SQLite / Postgres | |", "|---|---|---|"]
    return "\n".join([f"### {table.name}", "", table.comment or "", "", *head, *rows, ""])


def _types(column: Column[object]) -> str:
    spelled = [column.type.compile(dialect=engine.dialect()) for engine in (sqlite, postgresql)]
    return " / ".join(dict.fromkeys(text.replace(' COLLATE "C"', "") for text in spelled))


def _notes(column: Column[object]) -> str:
    key = ["Key."] if column.primary_key else []
    references = [f"References `{key.target_fullname}`." for key in column.foreign_keys]
    null = ["May be NULL."] if column.nullable and "NULL" not in (column.comment or "") else []
    return " ".join([column.comment or "", *key, *references, *null])
