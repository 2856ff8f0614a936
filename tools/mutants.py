"""Measure how many planted errors the tests find: ``python tools/mutants.py [N] [SEED]``; needs cosmic-ray.

It tries a random sample of N mutants (100) of the arithmetic and the decisions in a copy of the checkout. A mutant
changes one operator, number or condition, and the tests of its folder, in the size of the suite, must fail. It prints
the share of mutants found, with its 95% interval (Wilson), and every mutant that survives.
"""

from __future__ import annotations

import ast
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
TESTS = {
    "ndcg_tracker/statistics": "tests/statistics tests/compare/test_compare.py tests/compare/test_oracles.py",
    "ndcg_tracker/metrics/kernel": "tests/metrics",
    "ndcg_tracker/compare": "tests/compare",
    "ndcg_tracker/questions/gate": "tests/questions/gate tests/compare/test_suite_options.py",
    "ndcg_tracker/questions/leaderboard": "tests/questions/leaderboard tests/compare/test_arms.py",
}
"""Where mutants are planted, folder by folder, and the tests that are to find them."""
MODULES = ("ndcg_tracker/statistics", "ndcg_tracker/metrics/kernel", "ndcg_tracker/compare", "ndcg_tracker/questions")
SECONDS = 300.0


def modules() -> list[str]:
    """Return the modules that mutants are planted in: the arithmetic whole, of the rest what decides."""
    found = []
    for folder in MODULES:
        of_folder = sorted((REPOSITORY / folder).rglob("*.py"))
        is_whole = folder in ("ndcg_tracker/statistics", "ndcg_tracker/metrics/kernel")
        found += [path for path in of_folder if is_whole or path.name.startswith("decide")]
    paths = [path.relative_to(REPOSITORY).as_posix() for path in found if path.name != "__init__.py"]
    return [path for path in paths if any(path.startswith(folder) for folder in TESTS)]


def run_tests() -> int:
    """Run the tests of the one module that differs from the checkout; the exit code is pytest's."""
    changed = subprocess.run(["git", "diff", "--name-only"], capture_output=True, text=True, check=True).stdout.split()
    tests = [tests for folder, tests in TESTS.items() if any(path.startswith(folder) for path in changed)]
    return subprocess.call([sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *" ".join(tests).split()])


def main(n: int, seed: int) -> None:
    """Try a sample of mutants and print what became of them."""
    with tempfile.TemporaryDirectory() as parent:
        copy = Path(parent, "checkout")
        subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(copy)], check=True)
        listed = ", ".join(f'"{path}"' for path in modules())
        command = f"{sys.executable} {copy / 'tools' / 'mutants.py'} --tests"
        config = (
            f"[cosmic-ray]\nmodule-path = [{listed}]\ntimeout = {SECONDS}\nexcluded-modules = []\n"
            f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n'
        )
        Path(parent, "config.toml").write_text(config, encoding="utf-8")
        program = [shutil.which("cosmic-ray") or str(Path(sys.executable).with_name("cosmic-ray"))]
        files = [str(Path(parent, "config.toml")), str(Path(parent, "session.sqlite"))]
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        subprocess.run([*program, "init", *files], cwd=copy, env=environment, check=True)
        with sqlite3.connect(files[1]) as session:
            where = session.execute(
                "SELECT job_id, module_path, start_pos_row, start_pos_col FROM mutation_specs ORDER BY job_id"
            ).fetchall()
            typed = {module: annotations(copy / module) for module in {row[1] for row in where}}
            left_out = [(job,) for job, module, *at in where if is_within(tuple(at), typed[module])]
            session.executemany("DELETE FROM mutation_specs WHERE job_id = ?", left_out)
            session.executemany("DELETE FROM work_items WHERE job_id = ?", left_out)
            every = [row[0] for row in session.execute("SELECT job_id FROM mutation_specs ORDER BY job_id")]
            wanted = set(random.Random(seed).sample(range(len(every)), min(n, len(every))))
            left_out = [(job,) for place, job in enumerate(sorted(every)) if place not in wanted]
            session.executemany("DELETE FROM mutation_specs WHERE job_id = ?", left_out)
            session.executemany("DELETE FROM work_items WHERE job_id = ?", left_out)
        subprocess.run([*program, "exec", *files], cwd=copy, env=environment, check=True)
        with sqlite3.connect(files[1]) as session:
            rows = session.execute(
                "SELECT module_path, start_pos_row, operator_name, test_outcome, diff FROM work_results "
                "JOIN mutation_specs USING (job_id) ORDER BY 1, 2"
            ).fetchall()
    survivors = [row for row in rows if "SURVIVED" in str(row[3]).upper()]
    for path, line, operator, _, diff in survivors:
        print(f"survived: {path}:{line} {operator}\n{diff}\n")
    n_found, n_tried = len(rows) - len(survivors), len(rows)
    low, high = wilson(n_found, n_tried)
    print(f"{n_found} of {n_tried} mutants found: {n_found / n_tried:.1%} [{low:.1%}, {high:.1%}], of {len(every):,}")


Place = tuple[int, int]


def annotations(path: Path) -> list[tuple[Place, Place]]:
    """Return where a module has types, which nothing runs: from line and column to line and column."""
    typed = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        of_node = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        typed += [
            ((one.lineno, one.col_offset), (one.end_lineno or 0, one.end_col_offset or 0)) for one in of_node if one
        ]
    return typed


def is_within(place: Place, ranges: list[tuple[Place, Place]]) -> bool:
    """Return whether a place lies in one of some ranges.

    >>> is_within((3, 4), [((3, 0), (3, 9))]), is_within((4, 4), [((3, 0), (3, 9))])
    (True, False)
    """
    return any(first <= place < last for first, last in ranges)


def wilson(n_found: int, n_tried: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95% interval of a share.

    >>> [round(bound, 3) for bound in wilson(45, 50)]
    [0.786, 0.957]
    """
    share, scale = n_found / n_tried, 1 + z * z / n_tried
    half = z * math.sqrt(share * (1 - share) / n_tried + z * z / (4 * n_tried * n_tried))
    return (share + z * z / (2 * n_tried) - half) / scale, (share + z * z / (2 * n_tried) + half) / scale


if __name__ == "__main__":
    if sys.argv[1:] == ["--tests"]:
        sys.exit(run_tests())
    main(*[int(text) for text in (*sys.argv[1:], *("100", "1")[len(sys.argv) - 1 :])])
