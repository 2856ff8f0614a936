"""What other tools call a metric: every text of the tables is one, and every dialect is in one of them."""

import re
from typing import get_args

import pytest

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.measures import MEASURES, Work
from ndcg_tracker.metrics.language.metric import external_metric
from ndcg_tracker.metrics.language.other_names import not_ours, other_names
from ndcg_tracker.metrics.language.text import parse_metric


@pytest.mark.parametrize("work", get_args(Work))
def test_every_text_is_the_metric_that_it_stands_beside(work: Work) -> None:
    names = other_names(work)
    assert [parse_metric(name.ours).measure for name in names] == [name.measure for name in names]
    measures = [list(MEASURES).index(name.measure) for name in names]
    assert measures == sorted(measures)
    assert len(set(names)) == len(names)


def test_every_example_of_every_dialect_is_in_a_table() -> None:
    texts = {name.ours for work in get_args(Work) for name in other_names(work)}
    assert {text for dialect in DIALECTS.values() for text in dialect.examples} <= texts


def test_options_before_the_colon_stand_behind_the_tools_own_name() -> None:
    found = {name.ours: name.theirs for name in other_names("rankers")}
    assert found["lightgbm(label_gain=0,1,3,7):ndcg@10"] == "ndcg@10 (label_gain=0,1,3,7)"


def test_another_work_is_refused() -> None:
    message = "there is no table of names for 'music'; give one of search, recommendations, rankers, trec"
    with pytest.raises(MetricError, match=f"^{re.escape(message)}$"):
        other_names("music")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["ERR-IA@10", "alpha-nDCG", "α-nDCG@5", "NRBP", "nauc_ndcg@10_max", "Hole@10", "Gini index"]
)
def test_what_is_not_computed_here_is_told_with_a_command_that_parses(text: str) -> None:
    told = not_ours(text)
    assert told is not None
    assert external_metric(str(told).rpartition(" ")[2]).is_external


@pytest.mark.parametrize("text", ["ndcg@10", "map@10", "mrrr@10", "judged", "hits@5", "xyz", "", "@10"])
def test_nothing_else_is_told(text: str) -> None:
    assert not_ours(text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "cosine_ndcg@5": (
            "cosine_ndcg is a metric name of sentence-transformers; write ndcg(gain=binary, ties=item_asc)@5"
        ),
        "NanoNQ_dot_map@100": (
            "NanoNQ_dot_map is a metric name of sentence-transformers; write AP(over=achievable, ties=item_asc)@100"
        ),
        "mapk(k=12)": "mapk divides by the number of relevant items or the cutoff, whichever is smaller; write "
        "AP(over=achievable)@12",
        "GAUC": "GAUC weights the AUC of each user by their items (AUC alone counts each user once); write "
        "AUC(weights=group)",
    }.items(),
)
def test_a_name_of_a_tool_without_dialect_leads_to_ours(text: str, message: str) -> None:
    with pytest.raises(MetricError, match=f"^{re.escape(message)}$"):
        parse_metric(text)
    parse_metric(message.rpartition("; write ")[2])


def test_the_plain_form_of_each_tool_comes_first() -> None:
    first: dict[tuple[str, str], str] = {}
    for name in [*other_names("search"), *other_names("rankers")]:
        first.setdefault((name.measure, name.tool), name.ours)
    assert first["P", "elasticsearch"] == "elasticsearch:precision(k=10)"
    assert first["ndcg", "elasticsearch"] == "elasticsearch:ndcg(k=10)"
    assert first["ndcg", "catboost"] == "catboost:NDCG"
