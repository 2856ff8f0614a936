"""The fields of a question are keywords of the functions that ask it: for help(), for mypy and when they are called."""

from __future__ import annotations

import inspect
import pydoc
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import ndcg_tracker as nt
from ndcg_tracker.asked import made, words
from ndcg_tracker.compare.options import CompareOptions

ROOT = Path(__file__).resolve().parents[2]
_SPEC = spec_from_file_location("keywords", ROOT / "tools" / "keywords.py")
assert _SPEC is not None
assert _SPEC.loader is not None
keywords = module_from_spec(_SPEC)
_SPEC.loader.exec_module(keywords)


@pytest.mark.parametrize("path", keywords.modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_types_of_keywords_are_those_of_the_fields(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == keywords.written(path), "type: python tools/keywords.py"


def test_help_shows_the_keywords() -> None:
    told = pydoc.plain(pydoc.render_doc(nt.Tracker.compare))
    assert "metrics: 'MetricTexts' = ()" in told
    assert "top: 'Top' = 10" in told
    assert "keywords" not in inspect.signature(nt.Tracker.compare).parameters


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"metric": "ndcg@10"},
            "compare() got an unexpected keyword argument 'metric'; did you mean 'metrics'?",
        ),
        ({"xyz": 1}, "compare() got an unexpected keyword argument 'xyz'"),
        ({"unjudged": "zero"}, "compare() got an unexpected keyword argument 'unjudged'"),
    ],
)
def test_a_wrong_keyword_is_refused(named: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError) as refused:
        nt.Tracker("no.db").compare("bm25", "dense", **named)  # type: ignore[arg-type]
    assert str(refused.value).startswith(message)


def test_what_is_left_out_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^report\(\) got an unexpected keyword argument 'top'"):
        nt.Tracker("no.db").report("bm25", "dense", top=3)  # type: ignore[call-arg]


def test_a_question_is_made_of_keywords_and_said_as_a_command() -> None:
    asked = made(CompareOptions, {"metrics": "ndcg@10, map", "labels": 2, "fresh": True, "missing": "error"}, top=0)
    assert [str(metric) for metric in asked.metrics] == ["ndcg@10", "AP"]
    said = "--metric ndcg@10 --metric map --labels 2 --fresh --top 0"
    assert " ".join(words(asked)) == said
    assert words(asked, but=("labels", "metrics", "top")) == ["--fresh"]
    assert words(CompareOptions()) == []
