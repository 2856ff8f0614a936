"""The program that the documents call, with its start behind it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from preloaded import Preloaded


@pytest.fixture(scope="session")
def preloaded_programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a program ``ndcg-track`` that need not start."""
    folder = tmp_path_factory.mktemp("programs")
    with Preloaded(folder):
        yield folder
