"""The queries of README and the docs: the same on both engines, and a run that was rescored counts once in them."""

import ast
import itertools
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console_blocks import POSTGRES_URL, REPOSITORY, UNSEEN_DEMO, Step, matches, run_steps, steps_of
from postgres_server import PostgresServer
from relabelled import check_nothing_counts_twice
from sqlalchemy import make_url

import ndcg_tracker as nt

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
ONLY_READS = re.compile(
    r"ndcg-track (?:compare|diff|doctor|evaluate|explain|history|leaderboard|metrics|plot|report|show)\b[^>|;&]*"
)
OF_LABELS = re.compile(
    r"\b(?:FROM|JOIN)\s+(?:run_summary|group_history|group_diff|run_regressions|label_coverage|labels)\b"
)


def query_of(step: Step) -> str | None:
    """Return the query that a command of a page asks, None if it asks none."""
    words = shlex.split(step.command) if step.command.startswith("ndcg-track sql ") else []
    asked = [word for word in words if re.match(r"\s*(SELECT|WITH)\b", word)]
    return asked[0] if asked and "--explain" not in words and not step.fails else None


WITH_QUERIES = [path for path in PAGES if any(map(query_of, steps_of(path.read_text())))]
BY_DAY = {"README.md", "getting-started.md"}  # for others much is stored for a query or two
PARAMETERS = [
    pytest.param(path, id=path.name, marks=[] if path.name in BY_DAY else [pytest.mark.nightly])
    for path in WITH_QUERIES
]


@pytest.mark.parametrize("page", PARAMETERS)
def test_postgres_prints_the_same_and_a_relabelling_changes_no_row(
    page: Path,
    postgres_server: PostgresServer,
    postgres_demo: tuple[Path, str],
    postgres_schema: None,
    postgres_url: str,
    tmp_path: Path,
    preloaded_programs: Path,
) -> None:
    """What a page writes and its queries are run on Postgres; that SQLite prints what it shows is tested beside."""
    steps = [step for step in steps_of(page.read_text(encoding="utf-8")) if not ONLY_READS.fullmatch(step.command)]
    folder = tmp_path / "work"
    folder.mkdir()
    demo = None
    names_one = any(POSTGRES_URL.search(step.command) for step in steps)
    if not names_one and UNSEEN_DEMO.search(steps[0].command):
        demo, name = postgres_demo
        own = str(make_url(postgres_url).database)
        postgres_server.drop_database(own)
        postgres_server.create_database(own, name)
    database = Step("true" if names_one else f"export NDCG_TRACK_DB={shlex.quote(postgres_url)}", [], 0)
    outcomes = run_steps([database, *steps], folder, postgres_url, programs=preloaded_programs, demo=demo)[1:]
    queries = {}
    for step, outcome in zip(steps, outcomes, strict=True):
        query = query_of(step)
        if query is not None:
            assert outcome.status == 0, f"{page.name}:{step.line}: {step.command}\n{outcome.output}"
            assert matches(step.expected, outcome.output), f"{page.name}:{step.line}: {step.command}\n{outcome.output}"
            queries[query] = step.line
    with nt.Tracker(postgres_url) as tracker:

        def answers() -> dict[str, list[dict[str, Any]]]:
            found = {query: tracker.query(query) for query in queries}
            return {
                query: [dict(zip(one.columns, row, strict=True)) for row in one.rows] for query, one in found.items()
            }

        check_nothing_counts_twice(tracker, answers)


def texts() -> Iterator[tuple[str, str]]:
    """Yield what may hold queries: commands and blocks of SQL on pages, texts in Python, and files of dashboards."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        yield from ((f"{page.name}:{step.line}", step.command) for step in steps_of(text))
        for language, block in re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
            if language == "python":
                yield from ((page.name, found) for found in strings_of(block))
            elif language != "console":
                yield page.name, block
    for path in sorted((REPOSITORY / "examples").rglob("*.*")):
        if path.suffix == ".py":
            yield from ((path.name, found) for found in strings_of(path.read_text(encoding="utf-8")))
        elif path.suffix == ".ipynb":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
            yield from ((path.name, found) for source in sources for found in strings_of(source))
        elif path.suffix == ".json":
            yield from ((path.name, found) for found in texts_in(json.loads(path.read_text(encoding="utf-8"))))
        elif path.suffix in (".sql", ".yaml"):
            yield path.name, path.read_text(encoding="utf-8")


def strings_of(code: str) -> Iterator[str]:
    """Yield the texts in Python code."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts in what a JSON file holds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        yield from itertools.chain.from_iterable(map(texts_in, inner))


def test_every_query_says_which_labels_it_means() -> None:
    asked = [(where, text) for where, text in texts() if OF_LABELS.search(text) and re.search(r"\bSELECT\b", text)]
    assert {
        "README.md",
        "questions.md",
        "recipes.md",
        "mean_over_time.sql",
        "ranking_quality.json",
        "notebook.ipynb",
    } <= {where.split(":")[0] for where, _ in asked}
    assert [(where, text) for where, text in asked if "is_newest_labels" not in text] == []
