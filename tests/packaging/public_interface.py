"""What others build on: Python names, commands and options, keys of JSON, columns of CSV and of views, a line each.

``public_interface.txt`` is the kept list; ``python tests/packaging/public_interface.py`` writes it anew.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import os
import pkgutil
import re
import sys
import tempfile
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KEPT = HERE / "public_interface.txt"
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from all_commands import all_commands  # noqa: E402

import ndcg_tracker as nt  # noqa: E402
from ndcg_tracker.asked import declared  # noqa: E402
from ndcg_tracker.cli.app import run  # noqa: E402
from ndcg_tracker.words.notes import Note  # noqa: E402

INTEGRATIONS = (
    "catboost",
    "lightgbm",
    "xgboost",
    "sklearn",
    "pytest_plugin",
    "mlflow/pulling",
    "mlflow/pushing",
    "wandb",
)
"""Where the public functions and classes of integrations are; read, not imported, for each needs an extra."""

NAMES_ARE_DATA = ("tags", "parameters", "attributes")
"""Keys of JSON below which the keys are what users wrote."""

SAMPLES = [
    "ingest bm25.csv dense.csv --labels labels.csv --dataset shop",
    "ingest bm25.csv --dataset shop --name again --tag aa=x",
    "ingest bm25.csv --dataset shop --name again-2 --tag aa=x --replace",
    "evaluate bm25.csv --labels labels.csv",
    "evaluate bm25.csv --labels labels.csv --per-group",
    "compare bm25 dense",
    "compare bm25 dense again --by device --equivalence 0.1 --tie-bounds --ci betting",
    "labels needed bm25 dense",
    "labels sample bm25 dense --budget 9",
    "compare bm25 dense --judge gpt --check-with zoe",
    "compare bm25 dense --labels all",
    "explain bm25 dense",
    "explain bm25 dense --group q1",
    "explain bm25 dense --labels-baseline 1 --labels-candidate 2",
    "gate dense --baseline @prod --margin 0.5",
    "gate bm25 --baseline @owned",
    "gate bm25 --baseline bm25 --scope set",
    "check bm25.csv --labels golden.csv --against base.jsonl",
    "history --dataset shop",
    "leaderboard --dataset shop --by device",
    "diff bm25 dense",
    "plan bm25 dense",
    "suite list",
    "leaderboard --suite both --metric ndcg@10",
    "compare --suite both bm25 dense --metric ndcg@10",
    "gate --suite both dense --baseline bm25 --margin 0.5 --by dataset --slice-margin 0.9",
    "reproduce bm25 dense",
    "reproduce bm25 --published 0.5",
    "rescore again -m RR",
    "sql 'SELECT run FROM run_summary'",
    "import out",
    "runs list",
    "runs show bm25 --by device",
    "show bm25",
    "runs prune --older-than 2999-01-01",
    "alias list",
    "policy show",
    "policy history owned",
    "labels list --dataset shop",
    "labels diff 1 2 --dataset shop",
    "labels agreement --dataset shop",
    "groups list --dataset shop",
    "texts list --dataset shop",
    "metrics list",
    "metrics explain ndcg(gain=exp2)@5",
    "db current",
    "doctor",
    "doctor conventions bm25",
    "labels carry --pattern ^v2- --dataset shop",
]
"""Commands that print results, on the shop of ``_shop``; each is run with JSON and with CSV."""

NOT_SAMPLED = {"push mlflow", "push wandb", "pull mlflow"}
"""Commands that print results and need more than a database."""


def python_names() -> Iterator[str]:
    """Yield the public names with their signatures, and what the classes that they lead to offer."""
    known = _classes()
    waiting = [getattr(nt, name) for name in nt.__all__]
    seen: list[Any] = []
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.append(one)
        if not inspect.isclass(one):
            yield from _signature(f"{one.__name__}", one)
            continue
        private = issubclass(one, BaseException) and one.__base__.__name__.startswith("_")
        yield f"{one.__name__}({', '.join(base.__name__ for base in (one.__base__ if private else one).__bases__)})"
        if private or not issubclass(one, BaseException):  # other errors have what their base has
            for line, annotation in _members(one):
                yield line
                waiting += [known[name] for name in re.findall(r"[A-Z]\w+", annotation) if name in known]
    for module in INTEGRATIONS:
        yield from _written(module)


def _classes() -> dict[str, type]:
    """Return the classes that results may be of, by name."""
    found: dict[str, type] = {"Note": Note}
    for part in ("words", "storage", "statistics", "compare", "runs", "questions", "api"):
        package = import_module(f"ndcg_tracker.{part}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            is_said = module.name.rpartition(".")[2] in ("chart", "command", "page")
            for name, value in {}.items() if is_said else vars(import_module(module.name)).items():
                if inspect.isclass(value) and value.__module__ == module.name and not name.startswith("_"):
                    found[name] = value
    results = ("Result", "Record", "Explanation", "Comparison", "Pairing", "Set", "Summary", "Metrics", "Added")
    return {name: one for name, one in found.items() if is_dataclass(one) or name.endswith(results)}


def _members(one: type) -> Iterator[tuple[str, str]]:
    """Yield the lines of a class, each with the annotation of what it leads to."""
    if not is_dataclass(one) and "__init__" in vars(one):
        yield from ((line, "") for line in _signature(one.__name__, vars(one)["__init__"]))
    for field in fields(one) if is_dataclass(one) else ():
        if not field.name.startswith("_"):
            yield f"{one.__name__}.{field.name}: {field.type}", str(field.type)
    inspect.getmembers(one)  # a method of ``Tracker`` is imported when it is asked for
    for name, value in inspect.getmembers_static(one):
        if name.startswith("_") or (is_dataclass(one) and name in {field.name for field in fields(one)}):
            continue
        if hasattr(Exception, name):
            continue
        if isinstance(value, property):
            annotation = str(typing.cast("Any", value.fget).__annotations__.get("return", ""))
            yield f"{one.__name__}.{name}: {annotation}", annotation
        elif isinstance(value, classmethod | staticmethod) or inspect.isfunction(value):
            function = getattr(value, "__func__", value)
            annotation = str(function.__annotations__.get("return", ""))
            for line in _signature(f"{one.__name__}.{name}", function):
                yield line, annotation


def _signature(name: str, function: Callable[..., Any]) -> Iterator[str]:
    signature = inspect.signature(function)
    yield f"{name}() -> {signature.return_annotation if function.__name__ != '__init__' else name}"
    place, types = 0, {one.name: _plain_type(one.type) for one in declared(function)}
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        place += 1
        by_place = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        plain = parameter.replace(annotation=types.get(parameter.name, parameter.annotation))
        yield f"{name}({f'{place}. ' if by_place else ''}{plain})"


def _plain_type(plain: Any) -> str:
    """Return the type of a declared argument as one reads it."""
    for name, value in vars(import_module("ndcg_tracker.compare.options")).items():
        if value == plain and typing.get_origin(plain) is not None:
            return name
    return plain.__name__ if type(plain) is type else str(plain).replace("collections.abc.", "")


def _written(module: str) -> Iterator[str]:
    path = Path(nt.__file__).parent / "integrations" / f"{module}.py"
    shown = f"integrations.{module.replace('/', '.')}"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{shown}.{node.name}({ast.unparse(node.args)})"
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield f"{shown}.{node.name}"
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and (not inner.name.startswith("_") or inner.name == "__init__"):
                    yield f"{shown}.{node.name}.{inner.name}({ast.unparse(inner.args)})"
                elif isinstance(inner, ast.AnnAssign):
                    yield f"{shown}.{node.name}.{ast.unparse(inner)}"


def commands(command: Any = None, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield every command, and each of its arguments and options with what it may be."""
    command = all_commands() if command is None else command
    called = " ".join(("ndcg-track", *words))
    yield called
    place = 0
    hints = typing.get_type_hints(inspect.unwrap(command.callback)) if command.callback is not None else {}
    for parameter in command.params:
        choices = _choices(hints.get(parameter.name))
        one_of = "{" + "|".join(choices) + "}" if choices else ""
        flags = "/".join([*parameter.opts, *parameter.secondary_opts])
        many = " ..." if parameter.multiple or parameter.nargs == -1 else ""
        value = "" if getattr(parameter, "is_flag", False) else f" {one_of or 'VALUE'}"
        if parameter.param_type_name == "argument":
            place += 1
            yield f"{called} {place}. {'' if parameter.required else '(optional)'}{many}".rstrip()
        else:
            yield f"{called} {flags}{value}{many}{' (required)' if parameter.required else ''}"
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


def _choices(annotation: Any) -> list[str]:
    for one in (annotation, *typing.get_args(annotation)):
        if typing.get_origin(one) is typing.Literal:
            return [str(value) for value in typing.get_args(one)]
    return []


def printed() -> Iterator[str]:
    """Yield the keys of JSON and the columns of CSV that commands print."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _shop()
        for sample in SAMPLES:
            *words, name = _words(sample)
            yield from (f"json {name}: {path}" for path in _paths(json.loads(_output(words, "json"))))
            text = _output(words, "csv")
            columns = text.partition("\n")[0].strip("\r")
            yield from (f"csv {name}: {column}" for column in columns.split(",") if columns)


def _words(sample: str) -> list[str]:
    """Return the words of a sample, and behind them the command's name."""
    import shlex

    words = shlex.split(sample)
    below = getattr(all_commands().commands[words[0]], "commands", {})
    return [*words, " ".join(words[: 2 if len(words) > 1 and words[1] in below else 1])]


def _output(words: Iterable[str], format: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*words, "--format", format])
    if code not in (0, 3, 4):
        raise RuntimeError(f"{' '.join(words)} ended with {code}: {err.getvalue()}")
    return out.getvalue()


def _shop() -> None:
    from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame, write_csv

    os.environ.pop("NDCG_TRACK_DB", None)
    write_csv(Path("bm25.csv"), frame_of(BM25))
    write_csv(Path("dense.csv"), frame_of(DENSE))
    write_csv(Path("labels.csv"), labels_frame())
    with nt.Tracker() as tracker:
        for name, run_frame in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run_frame), labels=labels_frame(), name=name, dataset="shop")
        keys = list(LABELS)
        tracker.set_groups({"group": keys, "device": ["tv", *["phone"] * (len(keys) - 1)]}, dataset="shop")
        about_items = {"item": ["a", "b"], "text": ["x", "y"], "title": ["A", "B"], "url": ["https://a.example", None]}
        tracker.add_texts(about_items, dataset="shop")
        tracker.add_texts({"group": ["q1"], "text": ["light tent"]}, dataset="shop")
        tracker.set_alias("prod", "bm25", "shop")
        tracker.set_alias("owned", "dense", "shop")
        tracker.set_policy("owned", margin=0.5, budget=0.05, looks=40)
        tracker.create_suite("both", ["shop"])
        tracker.tag_run("bm25", {"branch": "main"}, dataset="shop")
        tracker.export_runs("out", dataset="shop")
    write_csv(
        Path("golden.csv"), labels_frame({group: LABELS[group] for group in DENSE if group in BM25 and group in LABELS})
    )
    os.environ.pop("CI", None)
    nt.check("dense.csv", labels="golden.csv", against="base.jsonl", accept=True)
    newer = {**LABELS, "q1": {"a": 3, "b": 2}, "q2": {"a": 3, "d": 1, "x": 2}}
    write_csv(Path("newer.csv"), labels_frame(newer))
    _done("labels", "add", "newer.csv", "--dataset", "shop")
    _done("labels", "add", "newer.csv", "--dataset", "shop", "--judge", "gpt")
    _done("rescore", "--all")
    _done("rescore", "bm25", "dense", "--judge", "gpt", "--metric", "ndcg@3")
    with nt.Tracker() as tracker:  # with this budget every query is drawn
        sample = tracker.labels_sample("bm25", "dense", judge="gpt", budget=99, metric="ndcg@3", seed="s").sample
        names = {"group": [item.group for item in sample.items], "item": [item.item for item in sample.items]}
        answers = {**names, "label": [1] * len(sample.items)}
        tracker.add_answers(answers, design=sample.design, judge="zoe", dataset="shop")


def _done(*words: str) -> None:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        if run(words):
            raise RuntimeError(f"{' '.join(words)}: {said.getvalue()}")


def _paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the way to every key: ``metrics[].ci[]``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}".removeprefix(".")
            if key not in NAMES_ARE_DATA:
                yield from _paths(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, f"{path}[]")


def views(url: str) -> Iterator[str]:
    """Yield the columns of the public views in a database, in their order."""
    from ndcg_tracker.storage.views import VIEWS

    with nt.Tracker(url) as tracker:
        for view in VIEWS:
            found = tracker.query(f"SELECT * FROM {view} LIMIT 0").columns
            yield from (f"{view} {place}. {column}" for place, column in enumerate(found, 1))


def section(name: str, lines: Iterable[str]) -> list[str]:
    """Return a section of the list: its lines, each once, sorted."""
    return sorted({f"{name} | {line}" for line in lines})


def current() -> list[str]:
    """Return the interface as it is."""
    with tempfile.TemporaryDirectory() as folder:
        from ndcg_tracker.storage.database import upgrade

        upgrade(f"{folder}/views.db")
        of_views = section("view", views(f"{folder}/views.db"))
    return [
        *section("command", commands()),
        *section("printed", printed()),
        *section("python", python_names()),
        *of_views,
    ]


def kept() -> list[str]:
    """Return the interface as it was kept."""
    return KEPT.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    KEPT.write_text("\n".join(current()) + "\n", encoding="utf-8")
    print(f"wrote {KEPT}; a change needs a line in CHANGELOG.md")
