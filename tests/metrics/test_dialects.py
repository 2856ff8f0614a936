"""The dialects: how other tools' spellings parse, and what is refused and how."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.text import parse_metric

EXAMPLES = [example for dialect in DIALECTS.values() for example in dialect.examples]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_has_a_canonical_form(example: str) -> None:
    metric = parse_metric(example)
    assert parse_metric(str(metric)) == metric
    assert str(parse_metric(str(metric))) == str(metric)
    assert ":" not in re.sub(r"\{[^}]*\}", "", str(metric))


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_describes_itself(name: str) -> None:
    dialect = DIALECTS[name]
    assert dialect.name == name
    assert all(example.startswith((f"{name}:", f"{name}(")) for example in dialect.examples)
    assert parse_metric(dialect.text(7)).cutoff == 7
    assert 0 < dialect.tolerance <= 1e-6
    assert dialect.tool
    assert dialect.agreement


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("trec_eval:ndcg_cut_10", "ndcg(label_domain=int, missing=skip, score_type=f32)@10"),
        ("trec_eval:ndcg_cut.10", "ndcg(label_domain=int, missing=skip, score_type=f32)@10"),
        ("trec_eval:-J -c ndcg", "ndcg(label_domain=int, negative=drop, score_type=f32, unjudged=drop)"),
        ("trec_eval:-l2 -m map", "AP(label_domain=int, missing=skip, rel=2, score_type=f32)"),
        ("trec_eval: -l 2  P_10 ", "P(label_domain=int, missing=skip, rel=2, score_type=f32)@10"),
        ("trec_eval:ndcg.0=0,1=3.5,2=9", "ndcg(gain={1:3.5, 2:9}, label_domain=int, missing=skip, score_type=f32)"),
        ("trec_eval:-l 2 ndcg", "ndcg(label_domain=int, missing=skip, score_type=f32)"),
        ("trec_eval:-M 100 P_10", "P(label_domain=int, missing=skip, score_type=f32)@10"),
        ("trec_eval:-J -M 100 -l2 bpref", "Bpref(depth=100, label_domain=int, missing=skip, negative=drop, rel=2, "
         "score_type=f32, unjudged=drop)"),
        ("trec_eval:num_rel_ret", "NumRet(label_domain=int, missing=skip, rel=1, score_type=f32)"),
        ("trec_eval:-l 2 num_ret", "NumRet(label_domain=int, missing=skip, score_type=f32)"),
        ("trec_eval:-c -J num_rel", "NumRel(label_domain=int)"),
        ("trec_eval:-c num_q", "NumQ(label_domain=int)"),
        ("trec_eval:-c yaap", "yaap(label_domain=int, missing=zero, score_type=f32)"),
        ("trec_eval:iprec_at_recall_0.10", "IPrec(label_domain=int, missing=skip, score_type=f32)@0.1"),
        ("trec_eval:11pt_avg.0.2,0.5,0.8",
         "IPrecAvg(label_domain=int, missing=skip, recalls={0.2, 0.5, 0.8}, score_type=f32)"),
        ("trec_eval:Rprec_mult_0.20", "Rprec(label_domain=int, missing=skip, mult=0.2, score_type=f32)"),
        ("trec_eval:utility.1,-1,-2,0",
         "Utility(label_domain=int, missing=skip, score_type=f32, worth={1, -1, -2, 0})"),
        ("trec_eval:-N 9 utility_1.0,-1.0,0.0,1.0",
         "Utility(collection=9, label_domain=int, missing=skip, score_type=f32, worth={1, -1, 0, 1})"),
        ("trec_eval:set_F_0.5", "SetF(beta=0.5, label_domain=int, missing=skip, score_type=f32)"),
        ("trec_eval:relative_P_10", "P(label_domain=int, missing=skip, relative=True, score_type=f32)@10"),
        ("trec_eval:G.1=3.5,2=9", "G(gain={1:3.5, 2:9}, label_domain=int, missing=skip, score_type=f32)"),
        ("trec_eval10:rbp", "RBP(graded=True, label_domain=int, missing=error, p=0.9)"),
        ("trec_eval10:rbp_resid.p=0.5", "RBPResidual(label_domain=int, missing=error, p=0.5)"),
        ("trec_eval10:-c unj_10", "Unjudged(label_domain=int)@10"),
        ("trec_eval10:-c yaap", "yaap(label_domain=int)"),
        ("trec_eval10:-c iprec_at_recall_0.50", "IPrec(label_domain=int, recall_count=nearest)@0.5"),
        ("trec_eval10:-c ideal_dcg", "idcg(label_domain=int)"),
        ("ir_measures:NumRelRet", "NumRet(label_domain=int, rel=1, score_type=f32)"),
        ("ir_measures:NumQ", "NumQ(label_domain=int, missing=zero)"),
        ("ir_measures:IPrec(judged_only=True)@0.1",
         "IPrec(label_domain=int, negative=drop, score_type=f32, unjudged=drop)@0.1"),
        ("trec_eval10:-c ndcg_cut_10", "ndcg(label_domain=int)@10"),
        ("trec_eval10:ndcg", "ndcg(label_domain=int, missing=error)"),
        ("pytrec_eval:recall_5", "R(label_domain=int, missing=skip, score_type=f32)@5"),
        ("ir_measures:nDCG(judged_only=True)@10",
         "ndcg(label_domain=int, negative=drop, score_type=f32, unjudged=drop)@10"),
        ("ir_measures:nDCG(dcg='exp-log2')@10", "ndcg(gain=exp2, label_domain=int_le4, round=5)@10"),
        ("ir_measures:RR(rel=2)@10", "RR(rel=2)@10"),
        ("ir_measures:Judged@10", "Judged@10"),
        ("ir_measures:RBP(rel=1,p=0.5)", "RBP(p=0.5, ties=input)"),
        ("sklearn:ndcg_score(k=10)",
         "ndcg(ideal=retrieved, label_domain=ge0, negative=keep, size1=error, ties=average, weights=group)@10"),
        ("sklearn:dcg_score", "dcg(negative=keep, ties=average, weights=group)"),
        ("catboost:NDCG:denominator=Position;top=3;use_weights=false",
         "ndcg(discount=position, empty=1, ideal=retrieved, label_type=f32, negative=keep, ties=pessimistic)@3"),
        ("lightgbm:ndcg@5", "ndcg(empty=1, empty_weight=one, gain=exp2, ideal=retrieved, ideal_order=label, "
         "label_domain=int0to30, label_type=f32, negative=keep, ties=input, weight_type=f32, weights=item_mean)@5"),
        ("xgboost(ndcg_exp_gain=false):ndcg-", "ndcg(all_skipped=0, clip=error_above_1, empty_weight=one, "
         "ideal=retrieved, label_type=f32, negative=keep, score_type=f32, ties=input, weight_type=f32, "
         "weights=group)@32"),
        ("torchmetrics:RetrievalNormalizedDCG(top_k=3)", "ndcg(all_skipped=0, arithmetic=f32, "
         "empty_when=labels_sum_0, ideal=retrieved, label_type=f32, negative=keep, score_type=f32, ties=average)@3"),
        ("ranx:ndcg_burges-l2@10", "ndcg(gain=exp2>=2, label_type=int, ties=input)@10"),
        ("spark:ndcgAt(10)", "ndcg(empty_when=ideal_eq_0, extra=empty, gain=binary, negative=keep, ties=input)@10"),
        ("spark_graded:ndcgAt(1)", "ndcg(empty_when=ideal_eq_0, extra=empty, gain=exp2, negative=keep, ties=input)@1"),
        ("cornac:NDCG", "ndcg(empty=skip, gain=binary>=1, ties=input)"),
        ("rectools:NDCG(10, log_base=3)", "ndcg(empty=skip, gain=binary, ideal=constant, ties=input)@10"),
        ("ranx:ndcg@10-l2", "ndcg(gain=linear>=2, label_type=int, ties=input)@10"),
        ("ranx:map-l2", "AP(label_type=int, rel=2, ties=input)"),
        ("ranx:rbp@95-l3", "dcg(discount=rbp0.95, gain=linear>=3, label_type=int, ties=input)"),
        ("ranx:precision", "SetP(label_type=int, ties=input)"),
        ("ranx:hits", "cg(gain=binary, label_type=int, ties=input)"),
        ("beir:ndcg@10", "ndcg(label_domain=int, missing=skip, own=drop, round=5, round_of=mean, score_type=f32)@10"),
        ("mteb:accuracy", "R(label_domain=int, missing=skip, round=5, round_of=mean, score_type=f32)@1"),
        ("recbole:ndcg@10", "ndcg(gain=binary, round=4, round_of=mean, ties=input)@10"),
        ("rectools:Precision(k=5, r_precision=True)", "P(empty=skip, rel=>0, relative=True, ties=input)@5"),
        ("rectools:F1Beta(5, beta=0.3)", "F1(beta=0.09, empty=skip, rel=>0, ties=input)@5"),
        ("rectools:MAP(k=5, divide_by_k=True)", "AP(empty=skip, over=cutoff, rel=>0, ties=input)@5"),
        ("recbole:MAP@5", "AP(over=achievable, rel=>0, round=4, round_of=mean, ties=input)@5"),
        ("recbole:recall@5", "R(empty=error, rel=>0, round=4, round_of=mean, ties=input)@5"),
        ("catboost:MAP:top=5", "AP(ideal=retrieved, label_type=f32, over=achievable, rel=>0.5, ties=pessimistic)@5"),
        ("catboost:MRR:border=0.3;use_weights=false", "RR(label_type=f32, rel=>0.30000001192092896, ties=pessimistic)"),
        ("catboost:PrecisionAt", "SetP(label_type=f32, rel=>0.5, ties=pessimistic)"),
        ("catboost:PrecisionAt:top=5", "P(label_type=f32, over=list, rel=>0.5, ties=pessimistic)@5"),
        ("catboost:RecallAt:top=5", "R(empty=1, ideal=retrieved, label_type=f32, rel=>0.5, ties=pessimistic)@5"),
        ("lightgbm:map@5", "AP(empty=1, ideal=retrieved, label_type=f32, over=achievable, rel=>0.5, ties=input, "
         "weight_type=f32, weights=item_mean)@5"),
        ("xgboost:map-", "AP(all_skipped=0, ideal=retrieved, label_domain=int0to1, label_type=f32, over=achievable, "
         "score_type=f32, ties=input, weight_type=f32, weights=group)@32"),
        ("xgboost:pre@5", "P(all_skipped=0, label_domain=int0to1, label_type=f32, over=list, score_type=f32, "
         "ties=input, weight_type=f32, weights=group)@5"),
    ],
)  # fmt: skip
def test_native_texts(text: str, canonical: str) -> None:
    assert str(parse_metric(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xgbost:ndcg", "xgbost is not a dialect; did you mean xgboost:ndcg?"),
        ("?:ndcg", "'?:ndcg' is not a metric; write it like ndcg@10 or ndcg(gain=exp2, ties=average)@10"),
        ("minitab:x", "minitab is not a dialect; the dialects are trec_eval, trec_eval10, pytrec_eval, ir_measures, "
         "gdeval, beir, mteb, elasticsearch, opensearch, catboost, lightgbm, xgboost, sklearn, torchmetrics, "
         "tf_ranking, ranx, spark, spark_graded, rectools, recbole, replay, lenskit, cornac, recommenders, implicit"),
        ("sklearn:ndcg_score(k=10, ignore_ties=True)", "sklearn: ignore_ties=True leaves ties to NumPy's unstable "
         "sort, whose order depends on the processor; write it like sklearn:ndcg_score(k=10, ignore_ties=False)"),
        ("sklearn:ndcg_score(k=0)", "sklearn: k=0 is not a cutoff; give a whole number from 1; write it like "
         "sklearn:ndcg_score(k=10)"),
        ("sklearn:ndcg_score(k=10", "sklearn: cannot read 'ndcg_score(k=10'; write it like sklearn:ndcg_score(k=10)"),
        ("sklearn:ndcg_score(10, 3)", "sklearn: ndcg_score takes 1 unnamed values, not 2; write it like "
         "sklearn:ndcg_score(k=10)"),
        ("trec_eval:ndcg_cut_0", "trec_eval: measure 'ndcg_cut_0' is not known; write it like trec_eval:ndcg_cut_10"),
        ("trec_eval:-q ndcg", "trec_eval: flag -q does not choose or change a measure; the flags are -c, -J, -l LEVEL, "
         "-M DEPTH, -N ITEMS, -m; write it like trec_eval:-c ndcg"),
        ("trec_eval:-l 0 map", "trec_eval: -l takes a whole number from 1, not '0'; write it like trec_eval:map"),
        ("trec_eval:P", "trec_eval: P prints 9 numbers; name one of them, such as P_10; write it like trec_eval:P_10"),
        ("trec_eval:P.5,10", "trec_eval: P.5,10 prints 2 numbers; name one of them, such as P_5; write it like "
         "trec_eval:P_10"),
        ("trec_eval:all_trec", "trec_eval: all_trec is a set of measures; name them one by one; write it like "
         "trec_eval:Rprec"),
        ("trec_eval:rbp", "trec_eval: measure 'rbp' is not known; write it like trec_eval:bpref"),
        ("ir_measures:IPrec", "ir_measures: IPrec needs a recall after the @; write it like ir_measures:IPrec@0.1"),
        ("ir_measures:NumRel(rel=2)", "ir_measures: NumRel with a rel other than 1 has no provider in ir_measures; "
         "write it like ir_measures:NumRel"),
        ("ir_measures:SetF(beta=2)", "ir_measures: beta=2 is not a decimal above 0; write it like "
         "ir_measures:SetF(beta=0.5)"),
        ("trec_eval:ndcg map", "trec_eval: 'ndcg map' does not name one measure; write it like trec_eval:ndcg"),
        ("pytrec_eval:-J ndcg", "pytrec_eval: it takes no flags, but -J was given; write it like pytrec_eval:ndcg"),
        ("lightgbm:ndcg", "lightgbm: metric 'ndcg' is not known; LightGBM prints ndcg@1, map@1, ndcg@2, ...; write it "
         "like lightgbm:ndcg@10"),
        ("lightgbm(label_gain=0,1):map@5", "lightgbm: (label_gain=0,1) has no effect on map; write map@5 alone; "
         "write it like lightgbm:map@10"),
        ("xgboost(ndcg_exp_gain=true):map@5", "xgboost: (ndcg_exp_gain=true) has no effect on map; write map@5 "
         "alone; write it like xgboost:map"),
        ("xgboost:auc", "xgboost: metric 'auc' is not known; it is ndcg, map or pre; write it like xgboost:map"),
        ("catboost:PairLogit", "catboost: metric 'PairLogit' is not known; it is one of NDCG, DCG, MAP, MRR, "
         "PrecisionAt, RecallAt, PFound, QueryAUC; write it like catboost:MAP"),
        ("catboost:ERR:top=10", "catboost: ERR takes labels as probabilities; the nearest here is PFound@10"),
        ("catboost:MAP:type=Exp", "catboost: MAP has no option type; it has top, border, use_weights; write it like "
         "catboost:MAP:top=10"),
        ("catboost:MRR:border=x", "catboost: border=x is not a number; write it like border=0.5; write it like "
         "catboost:MRR:top=10;border=1.5"),
        ("catboost:RecallAt", "catboost: RecallAt needs top; write it like catboost:RecallAt:top=10"),
        ("lightgbm(label_gain=1;2):ndcg@5", "lightgbm: (label_gain=1;2) is not a list of gains; write it like "
         "lightgbm:ndcg@10"),
        ("catboost:NDCG:top=0", "catboost: '0' is not a cutoff; give a whole number from 1; write it like "
         "catboost:NDCG:top=10"),
        ("catboost:NDCG:depth=3", "catboost: NDCG has no option depth; it has top, type, denominator, use_weights; "
         "write it like catboost:NDCG:top=10"),
        ("xgboost:ndcg@0", "xgboost: '0' is not a cutoff; give a whole number from 1; write it like xgboost:ndcg@10"),
        ("xgboost(rate=1):ndcg", "xgboost: (rate=1) is not an option; the options are ndcg_exp_gain=true and "
         "ndcg_exp_gain=false; write it like xgboost:ndcg"),
        ("spark(x=1):ndcgAt(3)", "spark: it has no options in brackets, but (x=1) was given; write it like "
         "spark:ndcgAt(10)"),
        ("spark:ndcgAt()", "spark: ndcgAt needs k; write it like spark:ndcgAt(10)"),
        ("rectools:NDCG(k=10, log_base=1)", "rectools: log_base=1 is not a base; give a number above 1 (it cancels "
         "out); write it like rectools:NDCG(k=10)"),
        ("rectools:NDCG(k=2000000)", "rectools: the cutoff is too large for ideal=constant, which sums every rank up "
         "to it; use at most 1000000; write it like rectools:NDCG(k=10)"),
        ("recbole:ndcg", "recbole: ndcg needs a cutoff; write it like recbole:ndcg@10"),
        ("rectools:Recall()", "rectools: Recall needs k; write it like rectools:Recall(k=10)"),
        ("rectools:MAP(k=10, divide_by_k=1)", "rectools: divide_by_k=1 is not known; it is one of False, True; write "
         "it like rectools:MAP(k=10, divide_by_k=True)"),
        ("rectools:F1Beta(k=10, beta=0)", "rectools: beta=0 is not a weight; give a number above 0; write it like "
         "rectools:F1Beta(k=10, beta=0.5)"),
        ("rectools:MRR(k=10, debias_config=None)", "rectools: MRR has no option debias_config; it has k; write it like "
         "rectools:MRR(k=10)"),
        ("rectools:Accuracy(k=10)", "rectools: metric 'Accuracy' is not known; it is one of NDCG, Recall, "
         "Precision, HitRate, F1Beta, MAP, MRR; write it like rectools:MAP(k=10)"),
        ("rectools:rr@5", "'rectools:rr@5' is not a metric of rectools; did you mean rectools:MRR(k=5)?"),
        ("catboost:map@5", "'catboost:map@5' is not a metric of catboost; did you mean catboost:MAP:top=5?"),
        ("sklearn:map@5", "sklearn: metric 'map' is not known; it is one of ndcg_score, dcg_score; write it like "
         "sklearn:ndcg_score()"),
        ("ranx:rbp", "ranx: metric 'rbp' is not known; it is one of ndcg, ndcg_burges, hits, dcg, dcg_burges, rbp.95, "
         "hit_rate, precision, recall, f1, mrr, map, r-precision, bpref; write it like ranx:rbp.95"),
        ("ranx:bpref@10", "ranx: bpref takes no cutoff; write it like ranx:bpref"),
        ("elasticsearch:precision(window=3)", "elasticsearch: precision has no option window; it has k, "
         "relevant_rating_threshold, ignore_unlabeled; write it like elasticsearch:precision(k=10)"),
        ("elasticsearch:precision(k=0)", "elasticsearch: k=0 is not a cutoff; give a whole number from 1; write it "
         "like elasticsearch:precision(k=10)"),
        ("elasticsearch:expected_reciprocal_rank(k=3)", "elasticsearch: maximum_relevance=null is not a whole number "
         "from 1 to 30; write it like elasticsearch:expected_reciprocal_rank(maximum_relevance=3, k=10)"),
        ('elasticsearch:{"dcg": 3}', "elasticsearch: cannot read '{\"dcg\": 3}'; write it like "
         "elasticsearch:dcg(k=10)"),
        ('{"precision": {"k": 20}}', "'{\"precision\": {\"k\": 20}}' is a metric name of another tool; did you mean "
         'elasticsearch:{"precision": {"k": 20}}?'),
        ("surprise:NDCG", "surprise is not a dialect; the dialects are trec_eval, trec_eval10, pytrec_eval, "
         "ir_measures, gdeval, beir, mteb, elasticsearch, opensearch, catboost, lightgbm, xgboost, sklearn, "
         "torchmetrics, tf_ranking, ranx, spark, spark_graded, rectools, recbole, replay, lenskit, cornac, "
         "recommenders, implicit"),
        ("TF-Ranking:NDCG", "TF-Ranking is not a dialect; did you mean tf_ranking:NDCGMetric(topn=10)?"),
        ("lenskit:AveragePrecision(n=10)", "lenskit: AveragePrecision divides by the length of the list if that is "
         "less than the number of relevant items; the nearest here is AP(over=achievable)@10"),
        ("cornac:NDCG@0", "'cornac:NDCG@0' is not a metric of cornac; did you mean cornac:NDCG(k=10)?"),
        ("cornac:AUC@10", "cornac: AUC takes no cutoff; write it like cornac:AUC"),
        ("implicit:AUC_at_k", "implicit: AUC_at_k needs the number of items of the catalogue; the nearest here is AUC"),
        ("torchmetrics:RetrievalRecall()", "torchmetrics: RetrievalRecall needs top_k; write it like "
         "torchmetrics:RetrievalRecall(top_k=10)"),
        ("opensearch:NDCG", "opensearch: NDCG needs a cutoff; write it like opensearch:NDCG@10"),
        ("opensearch:RBO@50", "opensearch: metric 'RBO' is not known; it is one of NDCG, Precision, MAP, Recall, MRR, "
         "DCG, Coverage; write it like opensearch:MRR@10"),
        ("beir:Hole@10", "Hole counts items without a label in any query (Unjudged@10 counts items without one in "
         "their own query), so it is not computed here; store another tool's values with: ndcg-track ingest --results "
         "FILE --metric external:Hole@10"),
        ("mteb:nauc_ndcg_at_10_max", "nauc_ndcg_at_10_max measures the confidence of a model, so it is not computed "
         "here; store another tool's values with: ndcg-track ingest --results FILE --metric "
         "external:nauc_ndcg_at_10_max"),
        ("recbole:itemcoverage@10", "itemcoverage depends on the catalogue and needs every item and its history, so "
         "it is not computed here; store another tool's values with: ndcg-track ingest --results FILE --metric "
         "external:itemcoverage@10"),
        ("rectools:Serendipity(k=10)", "Serendipity depends on the catalogue and needs every item and its history, so "
         "it is not computed here; store another tool's values with: ndcg-track ingest --results FILE --metric "
         "external:Serendipity@10"),
        ("opensearch:Coverage", "opensearch: Coverage needs a cutoff; write it like opensearch:Coverage@10"),
        ("ir_measures:ERR-IA@10", "ERR-IA measures diversity and needs the subtopics of each item, so it is not "
         "computed here; store another tool's values with: ndcg-track ingest --results FILE --metric "
         "external:ERR-IA@10"),
        ("ndcg_at_10", "'ndcg_at_10' is a metric name of another tool; did you mean mteb:ndcg_at_10?"),
        ("trec_eval:ndcg@10", "trec_eval: measure 'ndcg@10' is not known; write it like trec_eval:ndcg_cut_10"),
        ("trec_eval:mrr", "'trec_eval:mrr' is not a metric of trec_eval; did you mean trec_eval:recip_rank?"),
        ("trec-eval:map", "trec-eval is not a dialect; did you mean trec_eval:map?"),
        ("ndcg_cut_10 map", "'ndcg_cut_10 map' is not a metric; put commas between metrics: ndcg_cut_10,map"),
        ("trec_eval:P@5", "trec_eval: measure 'P@5' is not known; write it like trec_eval:P_5"),
        ("ir_measures:nDCG@ten", "ir_measures: 'ten' is not a cutoff; give a whole number from 1; write it like "
         "ir_measures:nDCG"),
        ("ir_measures:RBP(rel=1)@5", "ir_measures: RBP without rel=, or with a cutoff, has no provider in "
         "ir_measures; write it like ir_measures:RBP(rel=1)"),
        ("ir_measures:RBP(rel=1,p=0.99)", "ir_measures: p=0.99 is not between 0 and 0.97; above, cwl_eval's cut at "
         "rank 1000 changes the value; write it like ir_measures:RBP(rel=1)"),
        ("ir_measures:RR(judged_only=True)@10", "ir_measures: RR with a cutoff and judged_only has no provider in "
         "ir_measures; write it like ir_measures:RR@10"),
        ("ir_measures:P(rel=0)@5", "ir_measures: rel=0 is not known; it is a whole number from 1; write it like "
         "ir_measures:P(rel=2)@10"),
        ("ir_measures:AP(rel=1.5)", "ir_measures: rel takes whole numbers; write it like ir_measures:AP"),
        ("torchmetrics:RetrievalNormalizedDCG(empty_target_action='drop')", "torchmetrics: empty_target_action='drop' "
         "is not known; it is one of 'neg', 'pos', 'skip', 'error'; write it like "
         "torchmetrics:RetrievalNormalizedDCG(top_k=10, empty_target_action='skip')"),
        ("ranx:ndcg@" + "9" * 5000, "ranx: the cutoff is too large; use at most 1000000000, or no "
         "cutoff; write it like ranx:ndcg@10"),
        ("ndcg@\x0710", r"'ndcg@\x0710' is not a metric: it has characters that cannot be printed; type it again"),
    ],
)  # fmt: skip
def test_impossible_spellings_are_told_with_one_that_parses(text: str, message: str) -> None:
    with pytest.raises(MetricError, match=f"^{re.escape(message)}$"):
        parse_metric(text)
    if "; write it like " in message and "is not a metric" not in message:
        parse_metric(message.rpartition("; write it like ")[2])


WORDS = ("ndcg", "nDCG", "NDCG", "P", "R", "AP", "RBP", "ERR", "SetP", "map", "ndcg_cut_", "ndcgAt", "ndcg_score",
         "top", "type", "k", "rel", "p", "gains", "label_gain", "@", "(", ")", "{", "}", ",", " ", ";", ":", "=", "-",
         "_", ".", "-J", "-c", "-l", "-m", "'", "0", "1", "10", "1e400", "0.5", "-1", "nan", "True", "None", "0x1F",
         "**", "\n", "\t", "\x00", "\u2028", "½", "é", "lambda")  # fmt: skip
pieces = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)


@st.composite
def misspelt(draw: st.DrawFn) -> str:
    """Return an example with a few characters changed."""
    text = list(draw(st.sampled_from(EXAMPLES)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 2))] = draw(st.text(max_size=2))
    return "".join(text)


@settings(deadline=None)
@given(
    st.sampled_from(sorted(DIALECTS)),
    st.none() | st.text(max_size=8) | pieces,
    st.text(max_size=30) | pieces,
    misspelt(),
)
def test_no_text_behind_the_colon_breaks_the_parser(dialect: str, options: str | None, native: str, other: str) -> None:
    for text in (dialect + (f"({options})" if options is not None else "") + f":{native}", other):
        message = "one line"
        try:
            metric = parse_metric(text)
        except MetricError as error:
            message = str(error)
        else:
            assert parse_metric(str(metric)) == metric
        assert len(message.splitlines()) == 1
