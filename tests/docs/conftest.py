"""What pages and their programs need: the demo, which most pages begin with and is run once, and modules of docs/."""

import importlib.util
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from console_blocks import REPOSITORY, environment_of
from postgres_server import PostgresServer


def _run_demo(folder: Path, programs: Path, *words: str) -> Path:
    environment = environment_of(folder, None, programs)
    words = ("ndcg-track", *words, "demo")
    subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return folder


@pytest.fixture(scope="session")
def docs_module() -> Callable[[str], ModuleType]:
    """Import a program of the folder docs, which is not a package, by its name."""

    def module_of(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"docs_{name}", REPOSITORY / "docs" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return module_of


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
