"""How many SQL statements the two most asked questions run, those of opening the database included."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from command_line import CommandLine


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (["compare", "bm25", "dense"], 14),
        (["gate", "dense", "--baseline", "bm25", "--metric", "ndcg@10", "--margin", "0.9"], 30),
        (["gate", "dense", "--baseline", "@baseline", "--metric", "ndcg@10", "--margin", "0.9"], 32),
    ],
    ids=["compare", "gate", "gate with an alias"],
)
def test_a_question_asks_few(sqlite_command: CommandLine, folder: Path, words: list[str], most: int) -> None:
    """Runs that lack groups of the labels are asked which, too: a statement each; a gate asks in four transactions."""
    rows = [(f"q{group}", f"d{item}") for group in range(30) for item in range(4)]
    for name, column, number in (("bm25", "score", 7), ("dense", "score", 11), ("labels", "label", 2)):
        lines = [f"{group},{item},{place * number % 13 % 3}" for place, (group, item) in enumerate(rows)]
        (folder / f"{name}.csv").write_text("\n".join([f"group,item,{column}", *lines]))
    files = ("bm25.csv", "dense.csv", "--labels", "labels.csv")
    assert sqlite_command("ingest", *files, "--dataset", "shop").code == 0
    assert sqlite_command("alias", "set", "baseline", "bm25").code == 0
    seen: list[str] = []

    def hear(connection: object, cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", hear)
    try:
        assert sqlite_command(*words).code in (0, 4)
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", hear)
    assert 0 < len(seen) <= most, seen
