"""The contributions of the items of a group add up to its value: the kernel compared with the plainest code."""

import json
from collections.abc import Iterator

import numpy as np
import pytest
from agreement import CASES, RESULTS, _table
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rankings import random_case
from rankings_of import Run, joined
from sums_of_items import TIES, some_labels, some_run, some_sum
from thorough import examples

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.contributions import ADDITIVE, Contributions, contributions
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.join import JudgedRanking, judged

EXACT = 1e-12


near_run = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 2.0]), min_size=1),
    min_size=1,
)


def remainders(found: Contributions) -> np.ndarray:
    """Return the part of each group's value that no item accounts for, NaN without a value."""
    return found.values.values - group_sums(found.groups, found.contributions, found.judged.n_groups)


def left_over(both: JudgedRanking, metric: Metric) -> np.ndarray:
    """Return what no item accounts for, in units of the larger of 1 and what the items of the group add up to."""
    found = contributions(both, metric)
    np.testing.assert_array_equal(np.isnan(remainders(found)), np.isnan(found.values.values))
    sizes = np.bincount(found.groups, np.abs(found.contributions), minlength=both.n_groups)
    return np.nan_to_num(remainders(found)) / np.maximum(1.0, sizes)


@settings(max_examples=examples(300))
@given(some_run, some_labels, some_sum())
def test_the_items_of_a_group_add_up_to_its_value(run: Run, labels: Run, metric: Metric) -> None:
    assert np.abs(left_over(joined(run, labels), metric)).max(initial=0) <= EXACT


@given(
    near_run,
    st.dictionaries(st.sampled_from(["q1", "q2"]), near_run.map(lambda run: next(iter(run.values()))), min_size=1),
    some_sum(),
)
def test_scores_that_are_equal_in_single_precision_only(run: Run, labels: Run, metric: Metric) -> None:
    graded = {group: {item: round(score * 1e9) % 4 for item, score in items.items()} for group, items in labels.items()}
    assert np.abs(left_over(joined(run, graded), metric.with_axes(score_type="f32"))).max(initial=0) <= EXACT


def test_scores_beyond_single_precision_are_split_without_a_warning() -> None:
    both = joined({"q": {"a": 1e300, "b": 1e200, "c": 1.0}}, {"q": {"b": 1.0}})
    metric = parse_metric("trec_eval:ndcg_cut_10")
    assert left_over(both, metric) == pytest.approx(0.0, abs=1e-15)


def every_value() -> Iterator[Metric]:
    """Yield ndcg@10 with each value of each axis in turn that leaves nothing over, alone and under average ties."""
    ndcg = Metric.of("ndcg", cutoff=10)
    for axis, values in {
        "gain": ("exp2", "binary", "linear>=2", "{1:3.5, 2:9}"),
        "discount": ("position", "ln", "jk2", "jk3", "none"),
        "ties": TIES,
        "ideal": ("retrieved", "constant"),
        "ideal_order": ("label",),
        "ideal_cut": ("none", "retrieved"),
        "unjudged": ("drop", "0.5"),
        "negative": ("keep", "drop"),
        "label_type": ("f32", "int"),
        "empty": ("skip",),
        "empty_when": ("ideal_eq_0", "labels_sum_0"),
        "missing": ("skip",),
        "extra": ("empty",),
        "score_type": ("f32",),
    }.items():
        for value in values:
            yield ndcg.with_axes(**{axis: value})
            yield ndcg.with_axes(**({axis: value} | {"ties": "average"} if axis != "ties" else {"ties": value}))


@pytest.mark.parametrize("seed", [1, 2])
def test_every_axis_on_long_lists(seed: int) -> None:
    both = joined(*random_case(seed))
    for metric in every_value():
        assert np.abs(left_over(both, metric)).max() <= EXACT, str(metric)
        for cutoff in (None, 1):
            assert np.abs(left_over(both, Metric(metric.measure, cutoff, metric.settings))).max() <= EXACT, str(metric)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("case", CASES)
def test_every_dialect_on_the_recorded_cases(case: str) -> None:
    texts = sorted({result["metric"] for result in RESULTS if result["case"] == case})
    table = _table(case, None)
    if table is None or table.labels is None:
        return
    both = judged(table.ranking, table.labels)
    for text in texts:
        try:
            metric = parse_metric(text)
            if metric.measure in ADDITIVE:
                found = contributions(both, metric)
        except MetricError:  # the tool's answer is one that we refuse to give
            continue
        if metric.measure in ADDITIVE:
            plain = metric["round"] == "none" and metric["arithmetic"] == "f64"
            by_convention = found.values.empty & (metric["empty"] == "1")
            off = np.abs(np.nan_to_num(remainders(found))) > (EXACT if plain else 1e-4)
            assert not (off & ~by_convention).any(), text


def test_every_dialect_is_recorded() -> None:
    texts = {result["metric"].partition(":")[0].partition("(")[0] for result in RESULTS}
    assert set(DIALECTS) - texts <= {
        *("pytrec_eval", "gdeval", "beir", "mteb", "elasticsearch", "opensearch", "replay", "lenskit", "cornac"),
        *("recommenders", "implicit", "tf_ranking"),
    }


@pytest.mark.parametrize("text", ["beir:NDCG@3", "mteb:ndcg_at_3", "elasticsearch:dcg(k=3, normalize=true)",
                                  "elasticsearch:dcg(k=3, unknown_doc_rating=2)", "opensearch:NDCG@3", "ranx:dcg@3",
                                  "ranx:rbp.5", "ranx:hits@3"])  # fmt: skip
def test_sums_of_dialects_that_no_case_is_recorded_of(text: str) -> None:
    run, labels = random_case(4)
    metric = parse_metric(text)
    found = contributions(joined(run, labels), metric)
    is_rounded = metric["round"] != "none" and metric["round_of"] == "group"
    assert np.abs(np.nan_to_num(remainders(found))).max() <= (5e-3 if is_rounded else EXACT)


def test_rank_grade_and_contribution_of_every_item() -> None:
    run = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}, "extra": {"e": 1.0}}
    both = joined(run, {"q": {"a": 1.0, "b": 2.0, "c": 0.0, "d": 3.0, "z": 1.0}, "missing": {"m": 1.0}})
    found = contributions(both, parse_metric("ndcg@3"))
    keys = both.ranking.item_keys.to_list()
    assert dict(zip(keys, found.ranks.tolist(), strict=True)) == {"a": 1, "x": 2, "b": 4, "c": 3, "d": 5, "e": 1}
    assert json.dumps(dict(zip(keys, found.grades.tolist(), strict=True))) == (
        '{"a": 1.0, "x": NaN, "b": 2.0, "c": 0.0, "d": 3.0, "e": NaN}'
    )
    ideal = 3 + 2 / np.log2(3) + 1 / 2
    assert found.contributions.tolist() == pytest.approx([1 / ideal, 0, 0, 0, 0, 0], abs=1e-15)
    assert [both.group_keys[place] for place in found.groups.tolist()] == ["q"] * 5 + ["extra"]
    assert np.isnan(remainders(found)[2])


def test_items_that_a_metric_drops_have_no_rank() -> None:
    both = joined({"q": {"x": 3.0, "a": 2.0, "b": 1.0}}, {"q": {"a": -1.0, "b": 1.0}})
    assert contributions(both, parse_metric("ndcg(negative=drop, unjudged=drop)")).ranks.tolist() == [0, 0, 1]


def test_tied_items_share_a_rank_under_the_average() -> None:
    both = joined({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}}, {"q": {"b": 1.0}})
    found = contributions(both, parse_metric("dcg(discount=position, ties=average)@2"))
    assert found.ranks.tolist() == [1, 2, 2, 4]
    assert found.contributions.tolist() == [0.0, 0.25, 0.0, 0.0]


def test_what_no_item_accounts_for_is_the_remainder() -> None:
    both = joined({"q": {"a": 1.0}, "r": {"b": 2.0, "c": 1.0}}, {"q": {"a": 0.0}, "r": {"c": 1.0}})
    assert remainders(contributions(both, parse_metric("ndcg(empty=1)"))).tolist() == [1.0, 0.0]
    rounded = contributions(both, parse_metric("ndcg(round=2)"))
    assert remainders(rounded)[1] == pytest.approx(0.63 - 1 / np.log2(3), abs=1e-15)


def test_nothing_at_all() -> None:
    both = joined({}, {"q": {"a": 1.0}})
    found = contributions(both, parse_metric("ndcg@10"))
    assert (found.contributions.size, remainders(found).tolist()) == (0, [0.0])


@pytest.mark.parametrize("text", ["AP@5", "RR", "P@10", "R@5", "idcg@10", "SetP"])
def test_other_measures_are_refused(text: str) -> None:
    cutoff = text.partition("@")[2] or "10"
    with pytest.raises(MetricError) as error:
        contributions(joined({"q": {"a": 1.0}}, {"q": {"a": 1.0}}), parse_metric(text))
    assert str(error.value) == (
        f"{text} cannot be split into items; only cg, dcg and ndcg can, because they sum gain x discount; explain "
        f"ndcg@{cutoff} instead"
    )
