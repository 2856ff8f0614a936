"""What using a store imports: each of these libraries costs more time than a small command has."""

from pathlib import Path

import pytest
from stored_samples import outputs_of, started

from ndcg_tracker.storage.store import Store

SLOW = ["alembic", "mako", "pandas", "psycopg", "pyarrow", "scipy", "sqlalchemy.dialects.postgresql", "sqlalchemy.orm"]
USE = """
import sys
from ndcg_tracker.storage.store import Store
with Store.open(sys.argv[1], create=True) as store:
    with store.write() as tx:
        tx.write.datasets.ensure("shop")
    with store.read() as rx:
        assert [dataset.name for dataset in rx.datasets.all()] == ["shop"]
print([name for name in sys.argv[2:] if name in sys.modules])
"""
LARGE = """
import sys
import numpy as np
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import Ranking
from ndcg_tracker.storage.store import Store
numbers = np.arange(200_000.0)[::-1]
ranking = Ranking(
    Keys.from_strings(["a", "b"]), np.array([0, 100_000, 200_000]), Keys.from_numbers(np.arange(200_000)), numbers
)
with Store.open(sys.argv[1]) as store:
    with store.write() as tx:
        run = tx.write.runs.insert(tx.write.datasets.ensure("shop").id, "large", ranking)
    with store.read() as rx:
        assert rx.runs.ranking(run.id).digest() == run.digest
print([name for name in sys.argv[2:] if name in sys.modules])
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """The path of an empty store."""
    path = str(tmp_path / "shop.db")
    with Store.open(path, create=True):
        pass
    return path


def test_an_open_store_imports_none_of_the_slow_libraries(path: str) -> None:
    assert outputs_of([started(USE, path, *SLOW)]) == ["[]\n"]


def test_a_new_store_imports_none_of_them_either(tmp_path: Path) -> None:
    assert outputs_of([started(USE, str(tmp_path / "new.db"), *SLOW)]) == ["[]\n"]


def test_a_large_run_imports_arrow_but_not_pandas(path: str) -> None:
    assert outputs_of([started(LARGE, path, *SLOW)]) == ["['pyarrow']\n"]
