"""What an import of these layers must not bring along."""

import subprocess
import sys
from pathlib import Path

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("ndcg_tracker.render.formats", {"numpy", "scipy", "pandas", "pyarrow", "sqlalchemy", "rich", "typer"}),
        ("ndcg_tracker.compare.decide", {"scipy", "pandas", "pyarrow", "sqlalchemy"}),
    ],
)
def test_import_is_light(module: str, unwanted: set[str]) -> None:
    program = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert unwanted.isdisjoint(done.stdout.split())


def test_an_ordinary_comparison_needs_no_scipy() -> None:
    program = (
        "import sys, numpy; from ndcg_tracker.compare.decide import compare_metrics; "
        "from ndcg_tracker.statistics.t_test import paired_t; "
        "from ndcg_tracker.statistics.t_test import detectable_delta; "
        "detectable_delta(paired_t(numpy.array([0.5, 0.25]))); print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (("compare",), {"scipy", "pandas", "altair", "jinja2", "vl_convert"}),
        (("report",), {"scipy", "pandas", "altair", "vl_convert"}),
        (("plot", "compare"), {"scipy", "pandas", "altair", "jinja2"}),
        (("plot", "slices", "--by", "kind"), {"scipy", "pandas", "altair", "jinja2"}),
    ],
)
def test_an_ordinary_picture_is_drawn_with_little(words: tuple[str, ...], unwanted: set[str], tmp_path: Path) -> None:
    shop = {"group": ["p", "p", "q", "q"], "item": ["a", "b"] * 2, "label": [0, 1, 0, 1]}
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        for name, scores in (("bm25", [2.0, 1.0, 2.0, 1.0]), ("dense", [1.0, 2.0, 2.0, 1.0])):
            tracker.ingest({**shop, "score": scores}, name=name)
        tracker.set_groups({"group": ["p", "q"], "kind": ["shoe", "hat"]}, group="group")
    output = () if words == ("compare",) else ("--output", str(tmp_path / "picture.png"))
    command = [*words, "bm25", "dense", *output, "--db", str(tmp_path / "runs.db")]
    program = f"import sys; from ndcg_tracker.cli.app import run; print(run({command})); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *_, code, modules = done.stdout.splitlines()
    assert code == "0", done.stderr
    assert unwanted.isdisjoint(name.split(".")[0] for name in modules.split())


QUESTIONS = [
    "compare bm25 dense --by device",
    "gate dense --baseline bm25 --margin .01 --dry-run",
    "gate dense --baseline bm25 --margin .9 --dry-run --by device --slice-margin .9",
    "leaderboard",
    "show dense",
    "history",
]
START = (
    "import sys, os; from ndcg_tracker.cli.app import run; code = run(sys.argv[1:]); "
    "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr); os._exit(code and code != 4)"
)


def test_questions_start_without_what_is_slow_to_import(tmp_path: Path) -> None:
    """All of them start alike: SciPy, pandas, Alembic and templates of pages take longer than the answer."""
    database = f"{tmp_path}/shop.db"
    with nt.Tracker(database) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop")
        tracker.ingest(frame_of(DENSE), name="dense", dataset="shop")
        tracker.set_groups({"group": ["q1", "q2", "q3"], "device": ["tv", "tv", "phone"]}, dataset="shop")
    for words in QUESTIONS:
        given = [sys.executable, "-c", START, "--db", database, *words.split()]
        done = subprocess.run(given, capture_output=True, text=True, check=True)
        unwanted = {"scipy", "pandas", "pyarrow", "alembic", "jinja2", "rich", "vl_convert", "altair"}
        assert unwanted.isdisjoint(done.stderr.splitlines()[-1].split()), words


def test_help_imports_no_command() -> None:
    start = START.replace(".split('.')[0]", "")
    done = subprocess.run([sys.executable, "-c", start, "--help"], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    unwanted = {"numpy", "sqlalchemy", "rich", "ndcg_tracker.api.tracker", "ndcg_tracker.compare.command"}
    assert unwanted.isdisjoint(loaded)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("question", ["leaderboard", "explain", "diff", "reproduce"])
def test_the_rows_of_a_question_do_not_depend_on_what_else_is_imported(question: str) -> None:
    program = (
        f"import ndcg_tracker.questions.{question}.say; from ndcg_tracker.compare.results import RunRef; "
        "from ndcg_tracker.render.formats import as_object; "
        "print(as_object(RunRef('a', 1)), as_object(RunRef('tag:m=a', None, (RunRef('b', 2),))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    run, arm = "{'name': 'a', 'run_id': 1}", "{'name': 'b', 'run_id': 2}"
    assert done.stdout == f"{run} {{'name': 'tag:m=a', 'run_id': None, 'runs': [{arm}]}}\n"
