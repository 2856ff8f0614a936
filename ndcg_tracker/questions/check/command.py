"""``ndcg-track check``: results on a golden set against the baseline in git."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from ndcg_tracker.api.checking import check as nt_check
from ndcg_tracker.asked import Option
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metrics

_TABLE = "[tool.ndcg-track.check]"
_TYPES: Mapping[str, Any] = {"metric": (str, list), "tolerance": (int, float), "strict": bool}


@takes(nt_check)
def check(
    asked: Asked,
    junit: Annotated[str | None, Option("Write a JUnit report.", metavar="FILE")] = None,
    format: options.Output = "text",
) -> None:
    """Check results on a golden set against the baseline in git.

    No database is needed. Exit codes: 0 green or accepted, 3 below the tolerance, 4 the margin is open, 5
    not compared, 2 bad input.

    Example: ndcg-track check out.jsonl --labels golden.json --against base.jsonl
    """
    from ndcg_tracker.render.whole_file import appended_summary, summary_path, whole_file

    summary = summary_path()
    with ExitStack() as files:
        write_junit = files.enter_context(whole_file(junit, "--junit"))
        append_summary = files.enter_context(appended_summary(summary)) if summary else None
        result = asked.of(nt_check, **_with_file(asked.named))
        for line in result.read:
            options.say(line)
        said = result.said(options.as_option)
        write_junit(result.to_junit(options.as_option))
        if append_summary is not None:
            append_summary(said.in_format("markdown") + "\n")
    options.show_decision(options.answer_text(said, format), result.exit_code)


def _with_file(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules of the nearest pyproject.toml, which only stricter ones replace (InputError)."""
    path = next((path for of in (Path.cwd(), *Path.cwd().parents) if (path := of / "pyproject.toml").is_file()), None)
    if path is None:
        return {}
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("ndcg-track", {}).get("check", {})
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=path.name, advice="correct the file") from None
    for name, value in held.items():
        if (
            name not in _TYPES
            or not isinstance(value, _TYPES[name])
            or (name == "tolerance" and isinstance(value, bool))
        ):
            what = f"{_TABLE} has {name} = {value!r}"
            advice = "it takes metric (a text or a list), tolerance (a number) and strict (true or false)"
            raise InputError(what, where=path.name, advice=advice)
    metrics = held.get("metric", [])
    metrics = [metrics] if isinstance(metrics, str) else metrics
    asked_for, tolerance = named.get("metrics", metrics), named.get("tolerance", held.get("tolerance"))
    if metrics and parse_metrics(asked_for)[0] != parse_metrics(metrics)[0]:
        raise _looser(path, f"{metrics[0]!r} decides")
    if "tolerance" in held and tolerance > held["tolerance"]:
        raise _looser(path, f"tolerance = {held['tolerance']}")
    rules = {
        "metrics": asked_for,
        "tolerance": tolerance,
        "strict": held.get("strict", False) or named.get("strict", False),
    }
    return {name: value for name, value in rules.items() if value is not None and value is not False and value != []}


def _looser(path: Path, rule: str) -> InputError:
    return InputError(
        f"{_TABLE} says {rule}, and only a stricter rule replaces it",
        where=path.name,
        advice="change it there, where a review sees it",
    )
