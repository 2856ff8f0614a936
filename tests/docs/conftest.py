"""What ``ndcg-track demo`` leaves: most pages begin with it, and it is run once."""

import subprocess
from pathlib import Path

import pytest
from console_blocks import environment_of
from postgres_server import PostgresServer


def _run_demo(folder: Path, programs: Path, *words: str) -> Path:
    environment = environment_of(folder, None, programs)
    words = ("ndcg-track", *words, "demo")
    subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return folder


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, preloaded_programs: Path) -> Path:
    """A folder with its files and its database."""
    return _run_demo(tmp_path_factory.mktemp("demo"), preloaded_programs)


@pytest.fixture(scope="session")
def postgres_demo(
    tmp_path_factory: pytest.TempPathFactory,
    preloaded_programs: Path,
    postgres_server: PostgresServer,
    postgres_template: str,
) -> tuple[Path, str]:
    """A folder with its files, and the name of its database on Postgres."""
    name = "what the demo leaves"
    postgres_server.create_database(name, postgres_template)
    folder = tmp_path_factory.mktemp("postgres-demo")
    return _run_demo(folder, preloaded_programs, "--db", postgres_server.url(name)), name
