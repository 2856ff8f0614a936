"""Agreement with tools that are installed, on fresh random data each time (the seed is in the test's name)."""

import shutil
from dataclasses import replace

import catboost.utils
import ir_measures
import lightgbm
import numpy as np
import pytest
import pytrec_eval
import xgboost
from drawn_cases import some_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_rankings import SEEDS, LabelledLists, random_case, random_lists
from rankings_of import Run, joined
from sklearn.metrics import dcg_score, ndcg_score, roc_auc_score
from thorough import examples

import ndcg_tracker as nt
from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.mean import GroupResults
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import JudgedRanking

# all of a few random lists can score 1, which is told; any other warning is an error
pytestmark = pytest.mark.filterwarnings("ignore:the run. all:ndcg_tracker.errors.NdcgTrackerWarning")
seeded = pytest.mark.parametrize("seed", SEEDS)

Weights = NDArray[np.float64] | None


def tolerance(dialect: str) -> float:
    return DIALECTS[dialect].tolerance


def ours(judged: JudgedRanking, text: str) -> GroupResults:
    return group_results(judged, [parse_metric(text)])[0]


def values_of(result: GroupResults) -> dict[str, float]:
    """Return the values of the groups that have one."""
    pairs = zip(result.group_keys.to_list(), result.values.tolist(), strict=True)
    return {group: value for group, value in pairs if not np.isnan(value)}


TREC_MEASURES = {"all_trec", "ndcg_cut.1,5,10,100", "map_cut.1,5,10", "P.1,5,10,100", "recall.1,5,10,100",
                 "relative_P.1,5,10,100", "iprec_at_recall.0.0,0.05,0.1,0.25,0.5,1.0", "Rprec_mult.0.1,0.5,1.0,3.0",
                 "ndcg", "ndcg_rel", "Rndcg", "G"}  # fmt: skip


@seeded
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_trec_eval(seed: int, judged_only: bool, level: int) -> None:
    run, labels = random_case(seed)
    graded = {group: pool for group, pool in labels.items() if max(pool.values(), default=0.0) >= 0}  # see below
    agree_with_trec_eval(run, graded, level, judged_only=judged_only)


@settings(deadline=None, max_examples=examples(200))
@given(some_lists(), st.integers(1, 3), st.booleans())
def test_trec_eval_on_small_lists(lists: tuple[Run, Run], level: int, judged_only: bool) -> None:
    run, labels = lists
    whole = {group: {item: float(abs(int(grade))) for item, grade in pool.items()} for group, pool in labels.items()}
    for pool in whole.values():  # a group without any grade from 0 on makes it read memory that it never wrote
        pool.update(dict.fromkeys(list(pool)[1::3], -1.0))
    if run.keys() & whole.keys():
        agree_with_trec_eval(run, whole, level, judged_only=judged_only)


def agree_with_trec_eval(run: Run, labels: Run, level: int, *, judged_only: bool) -> None:
    """Hold every number that pytrec_eval returns, group by group and in all, against ours."""
    qrels = {group: {item: int(grade) for item, grade in pool.items()} for group, pool in labels.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, TREC_MEASURES, relevance_level=level, judged_docs_only_flag=judged_only
    )
    theirs = evaluator.evaluate(run)
    assert theirs.keys() == run.keys() & labels.keys()
    judged = joined(run, labels)
    measures = sorted(next(iter(theirs.values())).keys() - {"relstring", "runid"})  # those are texts
    flags = ("-J " if judged_only else "") + f"-l {level} "
    texts = [f"trec_eval:{flags}{measure}" for measure in measures]
    for measure, found in zip(measures, group_results(judged, [parse_metric(text) for text in texts]), strict=True):
        expected = {group: numbers[measure] for group, numbers in theirs.items()}
        if judged_only:  # a list without judged items is nan in it, 0 / 0
            expected = {group: 0.0 if np.isnan(number) else number for group, number in expected.items()}
        assert values_of(found) == pytest.approx(expected, rel=0, abs=tolerance("trec_eval")), measure
        mean = pytrec_eval.compute_aggregated_measure(measure, list(expected.values()))
        assert found.mean == pytest.approx(mean, rel=0, abs=tolerance("trec_eval")), measure
        if not judged_only and level == 1:
            same = ours(judged, f"pytrec_eval:{measure}")
            np.testing.assert_array_equal(same.values, found.values)


IR_MEASURES = ["nDCG", "nDCG@10", "nDCG(judged_only=True)@10", "nDCG(judged_only=True)", "nDCG(gains={1:3,2:1,4:0})@10",
               "nDCG(gains={0:0,1:7})", "nDCG(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@1", "P@10", "P(rel=2)@10",
               "P(judged_only=True)@5", "R@10", "R(rel=2)@100", "AP", "AP(rel=2)", "AP@10", "AP(judged_only=True)",
               "AP(rel=3)@5", "RR", "RR(rel=2)", "RR(judged_only=True)", "RR@10", "RR(rel=2)@3", "RR(rel=0)@5",
               "Success@1", "Success(rel=2)@10", "Judged", "Judged@1", "Judged@10", "ERR@1", "ERR@20", "RBP(rel=1)",
               "RBP(rel=2,p=0.5)", "RBP(rel=1,p=0.97)", "SetP", "SetP(rel=2)", "SetP(judged_only=True)", "MAP@10",
               "MRR@10", "NDCG@5", "Precision@5", "Recall@5", "SetP(relative=True)", "SetP(relative=True,rel=2)",
               "SetR", "SetR(rel=2)", "SetAP", "SetAP(judged_only=True)", "SetF", "SetF(beta=0.5)",
               "SetF(beta=3.0,rel=2)", "Rprec", "Rprec(rel=2)", "Rprec(judged_only=True)", "Bpref", "Bpref(rel=2)",
               "infAP", "infAP(rel=2)",
               "IPrec@0.0", "IPrec@0.1", "IPrec(rel=2)@0.5", "IPrec@1.0", "NumRet", "NumRet(rel=1)", "NumRet(rel=2)",
               "NumRelRet", "NumRel", "NumQ"]  # fmt: skip


@pytest.mark.nightly(but=3)
@seeded
@pytest.mark.parametrize("native", IR_MEASURES)
def test_ir_measures(seed: int, native: str) -> None:
    assert shutil.which("perl"), "ir_measures runs gdeval for ERR and exp-log2: install perl"
    run, labels = random_case(seed)
    qrels = {group: {item: int(grade) for item, grade in pool.items()} for group, pool in labels.items()}
    measure = ir_measures.parse_measure(native)
    found = ours(joined(run, labels), f"ir_measures:{native}")
    expected = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels, run)}
    assert values_of(found) == pytest.approx(expected, rel=0, abs=tolerance("ir_measures"))
    mean = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    assert found.mean == pytest.approx(mean, rel=0, abs=tolerance("ir_measures"))


RANX = [f"{name}{at}{level}" for at in ("@1", "@10", "@100", "") for level in ("", "-l2")
        for name in ("hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg",
                     "ndcg_burges")]  # fmt: skip


@pytest.mark.nightly  # compiling itself takes ranx half a minute
@seeded
def test_ranx(seed: int) -> None:
    import ranx

    run, labels = random_case(seed, grades=(0, 4))
    run = {group: dict(zip(items, np.random.default_rng(seed).permutation(len(items)) / 8, strict=True))
           for group, items in run.items()}  # without ties: beyond 15 items ranx's sort is unstable  # fmt: skip
    qrels = {group: {item: int(grade) for item, grade in pool.items()} for group, pool in labels.items()}
    judged = joined(run, labels)
    for native in [*RANX, "r-precision", "r-precision-l3", "rbp.95", "rbp.5-l2"]:
        theirs = ranx.Run(run)
        mean = ranx.evaluate(ranx.Qrels(qrels), theirs, native, make_comparable=True)
        found = ours(judged, f"ranx:{native}")
        assert found.mean == pytest.approx(mean, rel=0, abs=tolerance("ranx")), native
        expected = {group: values for group, values in theirs.scores[native].items() if group in labels}
        assert values_of(found) == pytest.approx(expected, rel=0, abs=tolerance("ranx")), native


@seeded
@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    for size in (2, 7, 40):
        n_groups = 12
        labels, scores = rng.integers(0, 5, (n_groups, size)).astype(float), rng.integers(0, 12, (n_groups, size)) / 4
        labels[0] = 0.0
        weights = rng.uniform(0, 2, n_groups) if weighted else None
        frame = {"group": np.repeat(np.arange(n_groups), size), "score": scores.ravel(), "label": labels.ravel()}
        if weights is not None:
            frame["weight"] = np.repeat(weights, size)
        for k in (None, 1, 5, 100):
            for name, peer in (("ndcg_score", ndcg_score), ("dcg_score", dcg_score)):
                text = f"sklearn:{name}(k={k})"
                found = nt.evaluate(frame, text, weight="weight" if weighted else None).results[0]
                alone = [peer(labels[g : g + 1], scores[g : g + 1], k=k) for g in range(n_groups)]
                np.testing.assert_allclose(found.values, alone, rtol=0, atol=tolerance("sklearn"), err_msg=text)
                mean = peer(labels, scores, k=k, sample_weight=weights)
                assert found.mean == pytest.approx(mean, rel=0, abs=tolerance("sklearn")), text


def weighted_mean(lists: LabelledLists, text: str, weights: Weights) -> float | None:
    """Return our weighted mean, None where it is refused."""
    try:
        evaluation = nt.evaluate(lists.frame(weights), text, weight=None if weights is None else "weight")
    except MetricError:
        return None
    return evaluation.results[0].mean


@seeded
@pytest.mark.parametrize("weighted", [False, True])
def test_catboost(seed: int, weighted: bool) -> None:
    lists = random_lists(seed)
    weights = np.repeat(lists.group_weights, lists.sizes) if weighted else None
    kinds = [(name, gain) for name in ("NDCG", "DCG") for gain in ("Base", "Exp")]
    for name, gain in kinds:
        for denominator in ("LogPosition", "Position"):
            for further in ("", ";top=1", ";top=5", ";top=100", ";use_weights=false"):
                native = f"{name}:type={gain};denominator={denominator}{further}"
                theirs = catboost.utils.eval_metric(
                    lists.labels, lists.scores, native, group_id=lists.groups, group_weight=weights
                )
                found = weighted_mean(lists, f"catboost:{native}", weights)
                assert found == pytest.approx(theirs[0], rel=0, abs=tolerance("catboost")), native


CATBOOST_OF_CHANCES = ["PFound", "PFound:top=1", "PFound:top=5;decay=0.5", "PFound:use_weights=false", "QueryAUC",
                       "QueryAUC:type=Ranking", "QueryAUC:type=Classic;use_weights=false"]  # fmt: skip


@seeded
@pytest.mark.parametrize("weighted", [False, True])
def test_catboost_of_labels_up_to_1(seed: int, weighted: bool) -> None:
    lists = random_lists(seed)
    weights = np.repeat(lists.group_weights, lists.sizes) if weighted else None
    for native in CATBOOST_OF_CHANCES:
        labels = lists.labels / 4 if native.startswith("PFound") else (lists.labels > 1).astype(float)
        theirs = catboost.utils.eval_metric(labels, lists.scores, native, group_id=lists.groups, group_weight=weights)
        found = weighted_mean(replace(lists, labels=labels), f"catboost:{native}", weights)
        assert found == pytest.approx(theirs[0], rel=0, abs=tolerance("catboost")), native


@seeded
def test_auc_of_each_query(seed: int) -> None:
    lists = random_lists(seed)
    lists = replace(lists, labels=(lists.labels > 1).astype(float))
    found = nt.evaluate(lists.frame(), "AUC").results[0].values.tolist()
    ends = np.cumsum(lists.sizes)[:-1]
    each = zip(np.split(lists.labels, ends), np.split(lists.scores, ends), strict=True)
    expected = [roc_auc_score(labels, scores) if len(set(labels)) == 2 else 0.0 for labels, scores in each]
    assert found == pytest.approx(expected, rel=0, abs=1e-12)


@seeded
def test_ncg_is_the_share_of_the_gain_that_could_be_found(seed: int) -> None:
    """By its definition: the gains of the first ten over those of the best ten (Jarvelin and Kekalainen 2002)."""
    lists = random_lists(seed)
    found = nt.evaluate(lists.frame(), "NCG(ties=input)@10").results[0].values.tolist()
    ends = np.cumsum(lists.sizes)[:-1]
    expected = []
    for labels, scores in zip(np.split(lists.labels, ends), np.split(lists.scores, ends), strict=True):
        best = np.sort(labels)[::-1][:10].sum()
        expected.append(labels[np.argsort(-scores, kind="stable")][:10].sum() / best if best else 0.0)
    assert found == pytest.approx(expected, rel=0, abs=1e-12)


CATBOOST_OF_HITS = ["MAP", "MAP:top=1", "MAP:top=3", "MAP:top=100", "MAP:border=1.5;top=5", "MRR", "MRR:top=2",
                    "MRR:border=2;use_weights=false", "MRR:top=10;border=0.3", "PrecisionAt", "PrecisionAt:top=1",
                    "PrecisionAt:top=5;border=0.3", "PrecisionAt:top=100", "RecallAt:top=1", "RecallAt:top=5",
                    "RecallAt:top=100;border=3", "RecallAt:top=5;border=-0.25"]  # fmt: skip


@seeded
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_catboost_of_hits(seed: int, weighted: bool, shift: float) -> None:
    lists = random_lists(seed)
    lists = replace(lists, labels=lists.labels + shift)  # 0.3 is no single-precision number: a label may be at a border
    weights = np.repeat(lists.group_weights, lists.sizes) if weighted else None
    for native in CATBOOST_OF_HITS:
        theirs = catboost.utils.eval_metric(
            lists.labels, lists.scores, native, group_id=lists.groups, group_weight=weights
        )
        found = weighted_mean(lists, f"catboost:{native}", weights)
        assert found == pytest.approx(theirs[0], rel=0, abs=tolerance("catboost")), native


def of_lightgbm(
    lists: LabelledLists, weights: Weights, gains: list[float] | None, metric: str = "ndcg"
) -> dict[str, float]:
    """Return what LightGBM says of the lists: a round of training that changes no score, then its evaluation."""
    n_rows = lists.groups.size
    data = lightgbm.Dataset(
        (np.arange(n_rows) % 2.0)[:, None],
        lists.labels,
        group=lists.sizes,
        weight=weights,
        init_score=lists.scores,
    )
    settings = {
        "objective": lambda predictions, dataset: (np.zeros(n_rows), np.ones(n_rows)),
        "metric": metric,
        "eval_at": [1, 3, 10, 100],
        "verbosity": -1,
        "num_threads": 1,
    }
    if gains is not None:
        settings["label_gain"] = gains
    seen: dict[str, dict[str, list[float]]] = {}
    lightgbm.train(settings, data, 1, [data], ["all"], callbacks=[lightgbm.record_evaluation(seen)])
    return {name: values[0] for name, values in seen["all"].items()}


@seeded
@pytest.mark.parametrize("gains", [None, [0, 1, 2, 3, 4], [0, 5, 1, 7, 2.5]], ids=str)
@pytest.mark.parametrize("weighting", ["none", "of groups", "of items"])
def test_lightgbm(seed: int, gains: list[float] | None, weighting: str) -> None:
    lists = random_lists(seed)
    of_groups = np.repeat(lists.group_weights, lists.sizes)
    weights = {"none": None, "of groups": of_groups, "of items": lists.item_weights}[weighting]
    options = "" if gains is None else f"(label_gain={','.join(map(str, gains))})"
    for native, theirs in of_lightgbm(lists, weights, gains).items():
        found = weighted_mean(lists, f"lightgbm{options}:{native}", weights)
        assert found == pytest.approx(theirs, rel=0, abs=tolerance("lightgbm")), native


@seeded
@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize("weighting", ["none", "of groups", "of items"])
def test_average_precision_of_lightgbm(seed: int, shift: float, weighting: str) -> None:
    lists = random_lists(seed)
    lists = replace(lists, labels=np.where(lists.labels > 2, lists.labels - 2, 0) + shift)
    of_groups = np.repeat(lists.group_weights, lists.sizes)
    weights = {"none": None, "of groups": of_groups, "of items": lists.item_weights}[weighting]
    for native, theirs in of_lightgbm(lists, weights, None, "map").items():
        found = weighted_mean(lists, f"lightgbm:{native}", weights)
        assert found == pytest.approx(theirs, rel=0, abs=tolerance("lightgbm")), native


def of_xgboost(lists: LabelledLists, weights: Weights, native: str, exponential: bool) -> float | None:
    """Return what XGBoost says of the lists, None where it refuses to."""
    data = xgboost.DMatrix(np.zeros((lists.groups.size, 1)), label=lists.labels, base_margin=lists.scores)
    data.set_group(lists.sizes)
    if weights is not None:
        data.set_weight(weights)
    settings = {
        "objective": "rank:ndcg",
        "ndcg_exp_gain": exponential,
        "eval_metric": native,
        "nthread": 1,
        "verbosity": 0,
    }
    booster = xgboost.train(settings, data, num_boost_round=0)
    try:
        told = booster.eval(data, "all")
    except xgboost.core.XGBoostError:
        return None
    return float(told.rpartition(":")[2])


@seeded
@pytest.mark.parametrize("exponential", [True, False])
@pytest.mark.parametrize("weighting", ["none", "of groups", "too light"])
def test_xgboost(seed: int, exponential: bool, weighting: str) -> None:
    lists = random_lists(seed)
    light = np.full(lists.sizes.size, 0.01)  # an empty group adds a bare 1, which brings the mean above 1
    weights = {"none": None, "of groups": lists.group_weights, "too light": light}[weighting]
    options = "" if exponential else "(ndcg_exp_gain=false)"
    for native in ("ndcg", "ndcg-", "ndcg@1", "ndcg@1-", "ndcg@10", "ndcg@10-", "ndcg@100", "ndcg@100-"):
        theirs = of_xgboost(lists, weights, native, exponential)
        found = weighted_mean(lists, f"xgboost{options}:{native}", weights)
        assert found == (theirs if theirs is None else pytest.approx(theirs, rel=0, abs=tolerance("xgboost"))), native
        assert (theirs is None) == (weighting == "too light" and not native.endswith("-")), native


@seeded
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("weighting", ["none", "of groups", "too light"])
def test_xgboost_of_hits(seed: int, most: int, weighting: str) -> None:
    lists = random_lists(seed, most=most)
    weights = {"none": None, "of groups": lists.group_weights, "too light": np.full(lists.sizes.size, 0.01)}[weighting]
    for name in ("map", "pre"):
        for native in (f"{name}{at}{minus}" for at in ("", "@1", "@3", "@10", "@100") for minus in ("", "-")):
            theirs = of_xgboost(lists, weights, native, exponential=True)
            found = weighted_mean(lists, f"xgboost:{native}", weights)
            assert (theirs is None) == (most == 2), native  # labels 0 and 1 alone
            expected = theirs if theirs is None else pytest.approx(theirs, rel=0, abs=tolerance("xgboost"))
            assert found == expected, native
