"""Elasticsearch's and OpenSearch's metrics: the figures of their own unit tests, and their formulas written anew.

No server takes part. Elasticsearch: modules/rank-eval of elastic/elasticsearch, main classes and tests as of 8.x
(d04e4001 for DiscountedCumulativeGain, 09910273 for ExpectedReciprocalRank, e8b3041e for PrecisionAtK, 82f5de86 for
RecallAtK, a77167be for MeanReciprocalRank). OpenSearch: opensearch-project/search-relevance, calculator/Evaluation.java
and EvaluationTests.java of branch 3.1 (d8be5d1b).
"""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankings_of import results
from thorough import examples

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.text import parse_metric

Ratings = list[float | None]
"""The ratings of a list of hits, best first; None for a hit without rating."""


def value(text: str, hits: Ratings, others: list[float] | None = None) -> float:
    """Return a metric of one request: its hits, and the ratings of documents that were not found."""
    run = {f"d{place:03}": float(-place) for place in range(len(hits))}
    labels = {f"d{place:03}": float(rating) for place, rating in enumerate(hits) if rating is not None}
    labels |= {f"x{place:03}": rating for place, rating in enumerate(others or [])}
    found = results(text, {"q": run, "other": {"a": 1.0}}, {"q": labels, "other": {"a": 0.0}})
    return float(found.values[found.group_keys.to_list().index("q")])


UNRATED: Ratings = [3, 2, 3, None, 1, None]


@pytest.mark.parametrize(
    ("text", "hits", "others", "figure"),
    [
        # DiscountedCumulativeGainTests: testDCGAt, testDCGAtSixMissingRatings, testDCGAtFourMoreRatings
        ("dcg()", [3, 2, 3, 0, 1, 2], [], 13.84826362927298),
        ("dcg(normalize=true, k=10)", [3, 2, 3, 0, 1, 2], [], 13.84826362927298 / 14.595390756454922),
        ("dcg", UNRATED, [], 12.779642067948913),
        ('{"dcg": {"normalize": true, "k": 10}}', UNRATED, [], 12.779642067948913 / 13.347184833073591),
        ("dcg", [3, 2, 3, None], [1], 12.392789260714371),
        ("dcg(normalize=true)", [3, 2, 3, None], [1], 12.392789260714371 / 13.347184833073591),
        # ExpectedReciprocalRankTests: testERRAt, testERRMissingRatings, testNoResults
        ("expected_reciprocal_rank(maximum_relevance=3, unknown_doc_rating=0, k=3)", [3, 2, 0, 1], [], 0.8984375),
        ("expected_reciprocal_rank(maximum_relevance=3, unknown_doc_rating=0, k=4)", [3, 2, 0, 1], [],
         0.8984375 + 0.00244140625),
        ("expected_reciprocal_rank(maximum_relevance=3, unknown_doc_rating=null, k=4)", [3, None, 0, 1], [],
         0.875 + 0.00390625),
        ("expected_reciprocal_rank(maximum_relevance=3, unknown_doc_rating=2, k=4)", [3, None, 0, 1], [],
         0.8984375 + 0.00244140625),
        ("expected_reciprocal_rank(maximum_relevance=5, unknown_doc_rating=0)", [], [1], 0.0),
        # testProbabilityOfRelevance: of one hit the value is its probability
        *((f"expected_reciprocal_rank(maximum_relevance=5, k={k})", [rating], [], (2**rating - 1) / 32)
          for rating in range(6) for k in (1, 10)),
        # PrecisionAtKTests: testCalculation, testIgnoreOneResult, testRelevanceThreshold,
        # testPrecisionAtFiveCorrectIndex, testIgnoreUnlabeled, testNoRatedDocs, testNoResults
        ("precision", [1], [], 1.0),
        ("precision", [1, 1, 1, 1, 0], [], 4 / 5),
        ("precision(relevant_rating_threshold=2, ignore_unlabeled=false, k=5)", [0, 1, 2, 3, 4], [], 3 / 5),
        ("precision(relevant_rating_threshold=1, k=5)", [1, 1, 0], [1, 1], 2 / 3),
        ("precision()", [1, 1, None], [], 2 / 3),
        ("precision(ignore_unlabeled=true)", [1, 1, None], [], 2 / 2),
        ("precision", [None] * 5, [], 0.0),
        ("precision(ignore_unlabeled=true)", [None] * 5, [], 0.0),
        ("precision", [], [1], 0.0),
        # RecallAtKTests: testCalculation, testIgnoreOneResult, testRelevanceThreshold, testCorrectIndex,
        # testNoRatedDocs, testNoResults, testNoResultsWithRatedDocs
        ("recall", [1], [], 1.0),
        ("recall", [1, 1, 1, 1, 0], [], 4 / 4),
        ("recall(relevant_rating_threshold=2, k=5)", [0, 1, 2], [3, 4], 1 / 3),
        ('"metric": {"recall": {"relevant_rating_threshold": 1, "k": 5}}', [1, 1, 0], [1, 1], 2 / 4),
        ("recall", [None] * 5, [], 0.0),
        ("recall", [], [1], 0.0),
        # MeanReciprocalRankTests: testPrecisionAtFiveRelevanceThreshold, testMaxAcceptableRank, testNoResults
        ("mean_reciprocal_rank(relevant_rating_threshold=2, k=10)", [0, 1, 2, 3, 4], [], 1 / 3),
        ("mean_reciprocal_rank", [0, 0, 0, 1, 0], [], 1 / 4),
        ("mean_reciprocal_rank", [0, 0, 0], [1], 0.0),
        ("mean_reciprocal_rank", [], [1], 0.0),
    ],
)  # fmt: skip
def test_the_figures_of_elasticsearchs_own_tests(text: str, hits: Ratings, others: list[float], figure: float) -> None:
    assert value(f"elasticsearch:{text}", hits, others) == pytest.approx(figure, rel=0, abs=1e-12)


TWENTY: Ratings = [float(number % 3) for number in range(1, 21)]


@pytest.mark.parametrize(
    ("text", "n_hits", "figure"),
    [
        ("Precision@20", 20, 0.7),
        ("Precision@5", 20, 0.8),
        ("Precision@8", 5, 0.8),
        ("Precision@5", 8, 0.8),
        ("MAP@20", 20, 0.76),
        ("MAP@5", 5, 0.25),
        ("MAP@8", 5, 0.25),
        ("MAP@5", 8, 0.25),
        ("NDCG@20", 20, 0.76),
        ("NDCG@5", 5, 0.51),
        ("NDCG@8", 5, 0.40),
        ("NDCG@5", 8, 0.51),
    ],
)
def test_the_figures_of_opensearchs_own_tests(text: str, n_hits: int, figure: float) -> None:
    others = [rating for rating in TWENTY[n_hits:] if rating is not None]
    assert value(f"opensearch:{text}", TWENTY[:n_hits], others) == figure


def gain(rating: float) -> float:
    return 2.0**rating - 1.0


def dcg(ratings: Ratings, unknown: float | None = None) -> float:
    """Return the sum over ranks of (2^rating - 1) / log2(rank + 1), hits without rating left out or rated alike."""
    rated = [unknown if rating is None else rating for rating in ratings]
    return sum(0.0 if r is None else gain(r) / math.log2(rank + 1) for rank, r in enumerate(rated, 1))


def ndcg(hits: Ratings, others: list[float], unknown: float | None = None) -> float:
    """Return DCG / the DCG of all ratings, best first, in no more ranks than there are hits."""
    best: Ratings = sorted([*(rating for rating in hits if rating is not None), *others], reverse=True)
    ideal = dcg(best[: len(hits)])
    return dcg(hits, unknown) / ideal if ideal else 0.0


def err(hits: Ratings, highest: int, unknown: float | None) -> float:
    total, looking = 0.0, 1.0
    for rank, rating in enumerate(hits, 1):
        known = unknown if rating is None else rating
        if known is not None:
            total += looking * gain(known) / 2.0**highest / rank
            looking *= 1 - gain(known) / 2.0**highest
    return total


ratings = st.lists(st.none() | st.integers(0, 4).map(float), max_size=12)


@settings(deadline=None, max_examples=examples(200))
@given(ratings, st.lists(st.integers(0, 4).map(float), max_size=6), st.integers(1, 14), st.integers(0, 4),
       st.none() | st.integers(0, 3))  # fmt: skip
def test_elasticsearchs_formulas(
    hits: Ratings, others: list[float], k: int, threshold: int, unknown: int | None
) -> None:
    shown = hits[:k]
    given = others or [1.0]  # a request without ratings and hits is no group here
    rated = [rating for rating in shown if rating is not None]
    found = sum(rating >= threshold for rating in rated)
    all_rated = [*(rating for rating in hits if rating is not None), *given]
    wanted = sum(rating >= threshold for rating in all_rated)
    first = next((r for r, rating in enumerate(shown, 1) if rating is not None and rating >= threshold), math.inf)
    known = "null" if unknown is None else unknown
    beyond = sorted([*(rating for rating in hits[k:] if rating is not None), *given], reverse=True)
    expected = {
        f"dcg(k={k}, unknown_doc_rating={known})": dcg(shown, unknown),
        f"dcg(k={k}, normalize=true, unknown_doc_rating={known})": ndcg(shown, beyond, unknown),
        f"ndcg(k={k})": ndcg(shown, beyond),
        f"precision(k={k}, relevant_rating_threshold={threshold})": found / max(len(shown), 1),
        f"precision(k={k}, relevant_rating_threshold={threshold}, ignore_unlabeled=true)": found / max(len(rated), 1),
        f"recall(k={k}, relevant_rating_threshold={threshold})": found / max(wanted, 1),
        f"mean_reciprocal_rank(k={k}, relevant_rating_threshold={threshold})": 1 / first,
        f"expected_reciprocal_rank(k={k}, maximum_relevance=4, unknown_doc_rating={known})": err(shown, 4, unknown),
    }
    for text, figure in expected.items():
        assert value(f"elasticsearch:{text}", hits, given) == pytest.approx(figure, rel=0, abs=1e-12), text


def rounded(number: float) -> float:
    """Return ``Math.round(number * 100.0) / 100.0`` of Java: the nearest whole number, halves upwards."""
    scaled = Fraction(number * 100.0)
    return math.floor(scaled + Fraction(1, 2)) / 100.0


@settings(deadline=None, max_examples=examples(200))
@given(ratings, st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5]), min_size=1, max_size=6), st.integers(1, 14))
def test_opensearchs_formulas(hits: Ratings, others: list[float], k: int) -> None:
    shown = hits[:k]
    positive = [rating is not None and rating > 0 for rating in shown]
    wanted = sum(rating is not None and rating > 0 for rating in [*hits, *others])
    precisions = [sum(positive[:rank]) / rank for rank, is_hit in enumerate(positive, 1) if is_hit]
    best: Ratings = sorted([*(rating for rating in hits if rating is not None), *others], reverse=True)[:k]
    rated = sum(rating is not None for rating in shown)
    expected: dict[str, Callable[[], float]] = {
        "Precision": lambda: sum(positive) / max(len(shown), 1),
        "MAP": lambda: sum(precisions) / max(wanted, 1),
        "NDCG": lambda: dcg(shown) / dcg(best) if dcg(best) else 0.0,
        "DCG": lambda: dcg(shown),
        "Coverage": lambda: rated / max(len(shown), 1),
    }
    for name, figure in expected.items():
        found = value(f"opensearch:{name}@{k}", hits, others)
        assert found == rounded(figure()) or abs(figure() * 100 % 1 - 0.5) < 1e-9, name  # sums may differ by one bit


def test_halves_are_rounded_upwards_before_the_mean() -> None:
    assert value("opensearch:Precision@8", [1.0, *[0.0] * 7]) == 0.13
    assert value("opensearch:Precision@8", [1.0] * 5 + [0.0] * 3) == 0.63
    assert value("P(round=2)@8", [1.0, *[0.0] * 7]) == 0.12


def test_later_code_is_known_for_ratings_of_0_and_1_alone() -> None:
    assert value("opensearch:Recall@2", [0.0, 1.0, 1.0], [1.0]) == 0.33
    assert value("opensearch:MRR@5", [0.0, 0.0, 1.0]) == 0.33
    with pytest.raises(MetricError, match="label 2"):
        value("opensearch:Recall@2", [2.0, 1.0])


def test_every_request_counts_in_the_mean() -> None:
    run, labels = {"q": {"a": 1.0}, "r": {"b": 1.0}}, {"q": {"a": 1.0}, "s": {"c": 1.0}}
    for text in ("elasticsearch:precision", "elasticsearch:dcg(normalize=true)", "opensearch:NDCG@10"):
        assert results(text, run, labels).mean == pytest.approx(1 / 3), text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('{"metric": {"precision": {"k": 20, "relevant_rating_threshold": 1, "ignore_unlabeled": false}}}',
         "P(extra=empty, label_type=int, over=list, ties=input)@20"),
        ('"expected_reciprocal_rank": {"maximum_relevance": 3, "k": 20}',
         "ERR(extra=empty, highest=3, label_type=int, ties=input)@20"),
        ("dcg(unknown_doc_rating=0)", "dcg(extra=empty, gain=exp2, label_type=int, negative=keep, ties=input)@10"),
    ],
)  # fmt: skip
def test_json_as_the_request_has_it(text: str, canonical: str) -> None:
    assert str(parse_metric(f"elasticsearch:{text}")) == canonical
