"""Which tools agree with a metric, and where they differ."""

from ndcg_tracker.metrics.language.dialects import DIALECTS, Difference, agreements, differences, familiar_name
from ndcg_tracker.metrics.language.text import parse_metric


def test_every_dialect_agrees_with_itself_and_comes_first() -> None:
    for dialect in DIALECTS.values():
        found = agreements(parse_metric(dialect.text(5)))
        assert len(found) == len(DIALECTS)
        assert found[0].differences == ()
        assert dialect.name in {agreement.dialect for agreement in found if not agreement.differences}


def test_differences_name_axis_and_both_values() -> None:
    assert differences(parse_metric("ndcg@10"), parse_metric("ndcg(gain=exp2, ties=average)@5")) == (
        Difference("cutoff", "10", "5"),
        Difference("gain", "linear", "exp2"),
        Difference("ties", "item_desc", "average"),
    )
    assert differences(parse_metric("dcg"), parse_metric("ndcg"))[0] == Difference("measure", "dcg", "ndcg")


def test_a_metric_without_cutoff_is_held_against_tools_without_cutoff() -> None:
    found = {
        agreement.dialect: agreement.differences for agreement in agreements(parse_metric("ndcg(label_domain=int)"))
    }
    assert found["trec_eval10"] == ()


def test_long_metrics_have_the_names_that_people_know() -> None:
    for dialect in DIALECTS.values():
        canonical = str(parse_metric(dialect.text(5)))
        shown = familiar_name(canonical)
        assert parse_metric(shown) == parse_metric(canonical)
        assert shown == canonical or ":" in shown
        assert len(shown) <= max(len(canonical), 60)
    assert familiar_name(str(parse_metric("xgboost:ndcg@7"))) == "xgboost:ndcg@7"
    unknown = "ndcg(gain=exp2, ideal=retrieved, negative=keep, score_type=f32, ties=optimistic)@5"
    assert familiar_name(unknown) == unknown
    assert familiar_name("no metric " * 9) == "no metric " * 9
