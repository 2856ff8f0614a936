"""Every message speaks the language of the caller: Python names arguments, the command line options."""

import ast
import copy
import json
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.api.evaluation import NoLabelsError
from ndcg_tracker.cli.app import run
from ndcg_tracker.errors import (
    LONGEST,
    ConflictError,
    InputError,
    NameTakenError,
    NdcgTrackerError,
    NdcgTrackerWarning,
    NotComparableError,
    argument,
    worded,
)
from ndcg_tracker.ingest.cells import WrongValueError
from ndcg_tracker.ingest.groups import GroupColumns, read_groups
from ndcg_tracker.ingest.reading import ScatteredGroupError, read_labels, read_run
from ndcg_tracker.integrations import MissingLibraryError
from ndcg_tracker.storage.connection import FailedDatabaseError, LostAnswerError, Reason
from ndcg_tracker.storage.database import upgrade
from ndcg_tracker.storage.database_url import parsed_location

PACKAGE = Path(nt.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z{]")
COMMAND = re.compile(r"(ndcg-track|pip install|createdb) .*?(?=;|$)")
"""What is typed as it stands, whoever reads it."""


Told = NdcgTrackerError | NdcgTrackerWarning
ADVICE = f"give {argument('margin', 0.01)} or {argument('scope', 'set')}, not {argument('margin')}"
PARTS = {
    "the gate needs a bound": {},
    "shop.run:3: the gate needs a bound": {"where": "shop.run:3"},
    "the gate needs a bound; give margin=0.01 or scope='set', not margin=": {"advice": ADVICE},
    "shop.run:3: the gate needs a bound; give margin=0.01 or scope='set', not margin=": {
        "where": "shop.run:3",
        "advice": ADVICE,
    },
    "shop.run: the gate needs a bound: give margin=0.01 or scope='set', not margin=": {
        "where": Path("shop.run"),
        "advice": ADVICE,
        "joint": ": ",
    },
}


@pytest.mark.parametrize("kind", [NdcgTrackerError, InputError, NdcgTrackerWarning])
@pytest.mark.parametrize("text", PARTS)
def test_an_error_is_what_where_and_advice(kind: Callable[..., Told], text: str) -> None:
    error = kind("the gate needs a bound", **PARTS[text])
    assert str(error) == text
    assert error.what == "the gate needs a bound"
    assert error.where == str(PARTS[text].get("where", ""))
    assert error.advice == ("give margin=0.01 or scope='set', not margin=" if "advice" in PARTS[text] else "")
    assert error.arguments == (("margin", "scope") if "advice" in PARTS[text] else ())


def test_the_parts_of_an_error_are_spelled_in_python_and_its_message_for_anyone() -> None:
    error = InputError(f"{argument('margin')} is missing", where=argument("scope", "set"), advice=ADVICE)
    assert (error.where, error.what) == ("scope='set'", "margin= is missing")
    assert error.arguments == ("scope", "margin")
    said = worded(error.message, lambda name, value: f"--{name}")
    assert said == "--scope: --margin is missing; give --margin or --scope, not --margin"


def test_a_place_is_put_before_an_error_and_more_advice_behind_it() -> None:
    inner = WrongValueError("the id is empty", advice="write one")
    middle = inner.at("record 3")
    outer = middle.at(Path("run.json"), f"or use {argument('reader')}")
    assert [str(inner), str(middle)] == ["the id is empty; write one", "record 3: the id is empty; write one"]
    assert str(outer) == "run.json: record 3: the id is empty; write one; or use reader="
    assert (outer.where, outer.what, outer.advice) == (
        "run.json: record 3",
        "the id is empty",
        "write one; or use reader=",
    )
    assert type(outer) is WrongValueError
    assert outer.args == (str(outer),)
    assert str(InputError("no rows").at("a.csv", "give some")) == "a.csv: no rows; give some"


def test_repr_has_no_control_characters() -> None:
    error = InputError("the gate needs a bound", advice=ADVICE)
    assert repr(error) == f"InputError({str(error)!r})"
    assert "\\x" not in repr(error) + repr(error.at(argument("scope", "set")))


def test_a_part_that_is_long_loses_its_middle() -> None:
    long = "ndcg(" + "x" * 9000 + ")"
    with pytest.raises(InputError) as caught:
        nt.parse_metric(long)
    assert len(str(caught.value)) < 2 * LONGEST
    assert str(caught.value).startswith("cannot read 'xxx")
    assert str(caught.value).endswith("; parameters look like gain=exp2, ties=average")
    error = InputError(f"{long!r} is unknown", where=long, advice=f"give {argument('metric', long)} or leave it out")
    assert len(str(error)) < 3 * LONGEST + 20
    assert str(error).endswith("or leave it out")
    arguments = " ".join(argument("margin", number) for number in range(200))
    for n in range(100):
        assert not {"\x0e", "\x0f", "\x1f"} & set(str(InputError("a" * n + arguments)))


def test_an_error_of_a_metric_begins_with_what_was_typed() -> None:
    for typed in ("lightgbm:ndcg@10", "xgboost:ndcg@10", "ndcg(label_domain=int,  gain=exp2)@10"):
        with pytest.raises(InputError) as caught:
            nt.evaluate({"group": ["q"], "item": ["a"], "score": [1.0], "label": [0.5]}, typed)
        text = " ".join(typed.split())
        assert str(caught.value).startswith(f"{text}: the label 0.5 of item 'a' in group 'q' is outside label_domain=")


@pytest.mark.parametrize(
    ("metric", "tool", "others"),
    [
        ("xgboost:map@5", "XGBoost 3.2.0", "xgboost:ndcg@5, which takes grades, or AP(rel=1)@5"),
        (
            "opensearch:Recall@5",
            "OpenSearch's search relevance workbench 3.1",
            "opensearch:NDCG@5, which takes grades, or R(rel=1)@5",
        ),
        ("RR(label_domain=int0to1)", "it", "ndcg, which takes grades, or RR(rel=1)"),
    ],
)
def test_grades_where_a_metric_takes_0_and_1_alone(metric: str, tool: str, others: str) -> None:
    graded = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [4, 0]}
    with pytest.raises(InputError) as caught:
        nt.evaluate(graded, metric)
    assert str(caught.value) == (
        f"{metric}: the label 4 of item 'a' in group 'q' is neither 0 nor 1, and {tool} takes no other labels here; "
        f"use {others}, to which all from 1 are relevant"
    )
    for other in re.findall(r"(?:use|or) (\S+?)(?:,|$)", str(caught.value).partition("; ")[2]):
        nt.evaluate(graded, other)


LOCATION = parsed_location("shop.db")
KINDS: list[Told] = [
    InputError("a", where="b", advice=ADVICE, joint=": "),
    ConflictError("a"),
    NotComparableError("a", advice="b"),
    NdcgTrackerWarning("a", where="b", advice=ADVICE),
    WrongValueError("a", advice="b").at("c"),
    ScatteredGroupError("a", where="b"),
    NoLabelsError(),
    MissingLibraryError("xgboost", "xgboost"),
    LostAnswerError(LOCATION),
    FailedDatabaseError(LOCATION, Reason("a", "b", True)),
]


@pytest.mark.parametrize("error", KINDS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_an_error_crosses_processes(error: Told, again: Callable[[Told], Told]) -> None:
    found = again(error)
    assert type(found) is type(error)
    for name in ("message", "what", "where", "advice", "arguments", "args"):
        assert getattr(found, name) == getattr(error, name)
    assert str(found.at("there")) == f"there: {error}"
    if isinstance(error, FailedDatabaseError):
        assert isinstance(found, FailedDatabaseError)
        assert found.reason == error.reason


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("errors") / "shop.db"
    with nt.Tracker(path) as tracker:
        for dataset in ("shop", "other"):
            for name, run in (("bm25", BM25), ("dense", DENSE)):
                tracker.ingest(frame_of(run), labels=labels_frame(), name=name, dataset=dataset)
            tracker.set_alias("baseline", "bm25", dataset)
    return path


@pytest.fixture
def tracker(filled: Path, sqlite_url: str) -> Iterator[nt.Tracker]:
    shutil.copyfile(filled, sqlite_url.removeprefix("sqlite:///"))
    with nt.Tracker(sqlite_url) as tracker:
        yield tracker


def _gate(**arguments: object) -> Callable[[nt.Tracker], object]:
    return lambda tracker: tracker.gate("dense", **{"baseline": "bm25", "dataset": "shop", **arguments})


MARGIN_AUTO = (
    "margin='auto' needs at least 3 runs of one unchanged system, and baseline 'bm25' has no tag aa: name them with "
    "repeats='RUN', or score the same groups again with the unchanged system, ingest each run with the tag aa=NAME, "
    "and give margin='auto' and repeats='tag:aa=NAME'"
)
ASKED = {
    "auto and set": (
        _gate(scope="set", margin="auto"),
        "margin='auto' does not go with scope='set': it compares two means without a test; leave one out",
        ["--scope", "set", "--margin", "auto"],
    ),
    "no margin": (
        _gate(),
        "the gate needs margin=: the allowed drop of ndcg@10, in absolute points, such as margin=0.01; or "
        "learn it from repeats of the baseline with margin='auto'; or give scope='set' "
        "to decide for these groups only",
        [],
    ),
    "repeats": (
        _gate(margin=0.1, repeats=["bm25"]),
        "repeats= needs margin='auto': it learns from these runs; give margin='auto', or leave out repeats=",
        ["--margin", "0.1", "--repeat", "bm25"],
    ),
    "no tag": (_gate(margin="auto"), MARGIN_AUTO, ["--margin", "auto"]),
    "empty reason": (
        _gate(margin=0.1, acknowledge=" "),
        "acknowledge= needs a reason, for the record; write for example acknowledge='known bug 42'",
        ["--margin", "0.1", "--acknowledge", " "],
    ),
    "dry run": (
        _gate(margin=0.1, acknowledge="x", dry_run=True),
        "acknowledge= does not go with dry_run=: a dry run records nothing; leave one out",
        ["--margin", "0.1", "--acknowledge", "x", "--dry-run"],
    ),
    "two datasets": (
        _gate(dataset=None, margin=0.1),
        "run 'bm25' exists in several datasets (other, shop); choose with dataset=",
        None,
    ),
}
OPTIONS = {
    "auto and set": ("--margin auto does not go with --scope set: it compares two means without a test; leave one out"),
    "no margin": (
        "the gate needs --margin: the allowed drop of ndcg@10, in absolute points, such as --margin 0.01; "
        "or learn it from repeats of the baseline with --margin auto; or give --scope set "
        "to decide for these groups only"
    ),
    "repeats": "--repeat needs --margin auto: it learns from these runs; give --margin auto, or leave out --repeat",
    "no tag": (
        "--margin auto needs at least 3 runs of one unchanged system, and baseline 'bm25' has no tag aa: name them "
        "with --repeat RUN, or score the same groups again with the unchanged system, ingest each run with the tag "
        "aa=NAME, and give --margin auto and --repeat tag:aa=NAME"
    ),
    "empty reason": "--acknowledge needs a reason, for the record; write for example --acknowledge 'known bug 42'",
    "dry run": ("--acknowledge does not go with --dry-run: a dry run records nothing; leave one out"),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_gate_names_arguments_in_python(tracker: nt.Tracker, name: str) -> None:
    ask, message, _ = ASKED[name]
    with pytest.raises(nt.NdcgTrackerError) as refused:
        ask(tracker)
    assert str(refused.value) == message


@pytest.mark.parametrize("name", OPTIONS)
def test_a_gate_names_options_on_the_command_line(
    tracker: nt.Tracker, sqlite_url: str, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    tracker.close()
    _, _, options = ASKED[name]
    assert options is not None
    assert run(["--db", sqlite_url, "gate", "dense", "--baseline", "bm25", "--dataset", "shop", *options]) == 2
    assert capsys.readouterr() == ("", f"error: {OPTIONS[name]}\n")


def _file(text: str) -> str:
    Path("given").write_text(text)
    return "given"


BAD = {
    "a dataset without labels": lambda t: t.ingest({"group": ["q"], "item": ["a"], "score": [1.0]}, name="r"),
    "a name that is taken": lambda t: t.ingest(frame_of(DENSE), name="bm25", dataset="shop"),
    "an unknown run": lambda t: t.compare("bm25", "nothing", dataset="shop"),
    "several datasets": lambda t: t.compare("bm25", "dense"),
    "an alias of several datasets": lambda t: t.run("@baseline"),
    "an alias to delete": lambda t: t.delete_alias("baseline"),
    "an unknown metric": lambda t: t.compare("bm25", "dense", dataset="shop", metrics="ndgc@10"),
    "a metric that no run has": lambda t: t.compare("bm25", "dense", dataset="shop", metrics="P@3"),
    "an unknown attribute": lambda t: t.compare("bm25", "dense", dataset="shop", by="device"),
    "an unknown group": lambda t: t.explain("bm25", "dense", dataset="shop", group="nothing"),
    "a weight that is the group": lambda t: t.set_groups({"group": ["x"]}, dataset="shop", weight="group"),
    "an attribute that is the group": lambda t: t.set_groups({"group": ["x"]}, dataset="shop", attributes=["group"]),
    "an attribute without a name": lambda t: t.set_groups({"group": ["x"], " ": [1]}, dataset="shop"),
    "an export that is there": lambda t: t.export_runs("."),
    "an export nowhere": lambda t: t.export_runs("no/folder/here"),
    "a date": lambda t: t.history(dataset="shop", since="yesterday"),
    "a database in memory": lambda t: nt.Tracker(":memory:").runs(),
    "a URL without slashes": lambda t: nt.Tracker("postgresql:shop").runs(),
    "a NUL in a path": lambda t: nt.Tracker("a\0b").runs(),
    "a folder": lambda t: nt.Tracker(".").runs(),
    "no database": lambda t: nt.Tracker("nothing.db").runs(),
    "no SQLite database": lambda t: nt.Tracker(_file("text " * 200)).runs(),
    "no folder": lambda t: upgrade("no/folder/here.db"),
    "a format nobody knows": lambda t: read_run(_file("what is this\n")),
    "a TREC run with a column": lambda t: read_run(_file("q Q0 a 1 0.5 tag\n"), reader="trec", columns=_columns()),
    "scores of a TREC run": lambda t: read_run(_file("q Q0 a 1 0.5 tag\n"), reader="trec", scores_path="scores"),
    "a label/qid file without scores": lambda t: read_run(_file("1 qid:1 1:0.5\n"), reader="svmlight"),
    "a TREC line of two fields": lambda t: read_run(_file("q a\n"), reader="trec"),
    "qrels as a run": lambda t: read_run(_file("q 0 a 1\n"), reader="trec"),
    "a run as qrels": lambda t: read_labels(_file("q Q0 a 1 0.5 tag\n"), reader="trec"),
    "groups in a TREC file": lambda t: read_groups(_file("q Q0 a 1 0.5 tag\n")),
    "an attribute that is the weight": lambda t: read_groups(
        _file("group,weight\nq,1\n"), reader="csv", columns=GroupColumns(weight="weight", attributes=("weight",))
    ),
    "no group column": lambda t: nt.evaluate({"query": ["q"], "score": [1.0], "label": [1]}, "ndcg@10"),
    "no label column": lambda t: nt.evaluate({"group": ["q"], "score": [1.0]}, "ndcg@10"),
}


def _columns() -> object:
    from ndcg_tracker.ingest.columns import Columns

    return Columns(group="query")


@pytest.mark.parametrize("name", BAD)
def test_no_error_of_python_names_an_option(
    tracker: nt.Tracker, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nt.NdcgTrackerError) as refused:
        BAD[name](tracker)
    said = str(refused.value)
    assert not OPTION.search(COMMAND.sub("", said)), said
    assert said.isprintable()  # what is still to be worded is marked by control characters


def test_a_name_that_is_taken_is_an_error_of_its_own(tracker: nt.Tracker) -> None:
    with pytest.raises(NameTakenError) as refused:
        tracker.ingest(frame_of(DENSE), name="bm25", dataset="shop")
    assert str(refused.value) == (
        "run 'bm25' of dataset 'shop' is already stored with other content; keep both with name='bm25-2', or "
        "replace it with replace=True"
    )


def test_the_doctor_names_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path)
    run(["--db", missing, "doctor", "--format", "json"])
    found = {row["check"]: row["advice"] for row in json.loads(capsys.readouterr().out)}
    assert found["schema"] == "give --db another path"


ALLOWED = {
    " (or under the latest, --labels {})": "an option of the command after it",
    "labels version {version} of the export is version {here} of dataset {dataset!r} here, the latest; runs under "
    "older versions need rescore --labels {here} to be comparable": "an option of the command before it",
    "{}; that is the version of the labels that most runs have; for the latest: --labels {}": "the same",
    "move them with: {} --metric METRIC --margin X": "the rest of a whole command",
    "datasets split {} --move": "the same",
    "ingest FILE --labels LABELS": "the words of a whole command",
    "{} not recorded; they are recorded in CI and with --ndcg-track-record always": "an option of pytest",
}
"""Messages outside of the command line that name an option all the same, and why."""


class _WithoutOptions(ast.NodeTransformer):
    """Leaves out ``Option(...)``, whose help the command line alone shows."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_option = isinstance(node.func, ast.Name) and node.func.id in ("Option", "Everyday", "Positional")
        return ast.Constant(None) if is_option else self.generic_visit(node)


def _messages(path: Path) -> list[str]:
    """Return the texts in a module, f-strings as one, without docstrings and what is declared for the command line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(_WithoutOptions().visit(tree)))
    inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = []
    for node in nodes:
        if id(node) in inner | statements:
            continue
        if isinstance(node, ast.JoinedStr):
            found.append("".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "cli" and path.name != "command.py"
    ],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_no_message_outside_of_the_command_line_names_an_option(path: Path) -> None:
    """``--x`` alone is a word of a command that is put together; errors name arguments (``errors.argument``)."""
    naming = [
        text
        for text in _messages(path)
        if OPTION.search(COMMAND.sub("", text)) and not re.fullmatch(r"--[a-z-]+", text) and text not in ALLOWED
    ]
    assert naming == [], "name the argument with ndcg_tracker.errors.argument(name, value)"
