"""Names that people type, lists with commas, and suggestions that can be typed."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import parse_canonical
from ndcg_tracker.metrics.language.text import NAMES, metric_texts, parse_metric, parse_metrics, read_as

EXAMPLES = [text for dialect in DIALECTS.values() for text in dialect.examples]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("map", "AP"), ("MAP", "AP"), ("map@10", "AP@10"), ("map_cut_100", "AP@100"), ("map_cut.100", "AP@100"),
        ("mrr", "RR"), ("MRR", "RR"), ("mrr@10", "RR@10"), ("MRR@10", "RR@10"), ("recip_rank", "RR"),
        ("recall@100", "R@100"), ("recall_100", "R@100"), ("recall.100", "R@100"), ("Recall@100", "R@100"),
        ("precision@5", "P@5"), ("P_10", "P@10"), ("P.10", "P@10"), ("P10", "P@10"), ("p@10", "P@10"),
        ("ndcg_cut_10", "ndcg@10"), ("ndcg_cut.10", "ndcg@10"), ("nDCG@10", "ndcg@10"), ("NDCG@10", "ndcg@10"),
        ("nDCG(gain=exp2)@10", "ndcg(gain=exp2)@10"), ("NDCG", "ndcg"), ("ndcg_10", "ndcg@10"),
        ("hitrate@5", "Success@5"), ("hit_rate@5", "Success@5"), ("hits@5", "Success@5"), ("success_5", "Success@5"),
        ("hit-rate@5", "Success@5"), ("HR@5", "Success@5"), ("set_P", "SetP"), ("judged@10", "Judged@10"),
        ("precision(rel=2)@5", "P(rel=2)@5"), ("Mean Average Precision", "AP"), ("rbp", "RBP"),
    ],
)  # fmt: skip
def test_names_that_people_type_mean_our_own_metrics(text: str, canonical: str) -> None:
    metric = parse_metric(f" {text}  ")
    assert str(metric) == canonical
    assert metric.requested_as == text
    assert metric == parse_metric(canonical)
    assert read_as(text) == canonical


def test_what_says_itself_what_it_is_is_not_read_otherwise() -> None:
    for text in ("ndcg@10", "P@5", "AP", "ndcg(ties=average,gain=exp2)@10", *EXAMPLES):
        assert read_as(text) is None
        assert parse_metric(text).requested_as == text
    assert str(parse_metric("trec_eval:map")) == "AP(label_domain=int, missing=skip, score_type=f32)"


def test_every_name_leads_to_its_measure() -> None:
    for name, meant in NAMES.items():
        whole = some_of(meant)
        if "cut" not in name or "@" in whole:
            assert str(parse_metric(name + whole.removeprefix(meant))) == whole
    for measure in MEASURES:
        whole = some_of(measure)
        assert str(parse_metric(whole.replace(measure, measure.swapcase(), 1))) == whole


def some_of(measure: str) -> str:
    """Return the text of some metric of a measure, with what it needs behind the @."""
    for at in ("@7", "", "@0.1"):
        try:
            return str(parse_canonical(measure + at))
        except MetricError:
            pass
    raise AssertionError(measure)


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("ndcg@10,map", ["ndcg@10", "map"]),
        (" ndcg@10 , map ", ["ndcg@10", "map"]),
        ("ndcg@10,ndcg@10", ["ndcg@10"]),
        ("P_5,10", ["P_5", "P_10"]),
        ("recall_5,10,100,map", ["recall_5", "recall_10", "recall_100", "map"]),
        ("ndcg@5,10", ["ndcg@5", "ndcg@10"]),
        ("trec_eval:P.5,10", ["trec_eval:P.5", "trec_eval:P.10"]),
        ("trec_eval:-c ndcg_cut.5,10", ["trec_eval:-c ndcg_cut.5", "trec_eval:-c ndcg_cut.10"]),
        ("trec_eval:ndcg.1=3.5,2=9,map", ["trec_eval:ndcg.1=3.5,2=9", "map"]),
        ("catboost:NDCG:top=10;type=Exp", ["catboost:NDCG:top=10;type=Exp"]),
        ("ndcg(gain=exp2, ties=average)@10,AP", ["ndcg(gain=exp2, ties=average)@10", "AP"]),
        ("ndcg(gain={1:3.5, 2:9})@10,AP", ["ndcg(gain={1:3.5, 2:9})@10", "AP"]),
        ("lightgbm(label_gain=0,1,3,7):ndcg@10,AP", ["lightgbm(label_gain=0,1,3,7):ndcg@10", "AP"]),
        ("torchmetrics:RetrievalNormalizedDCG(top_k=10, empty_target_action='skip')",
         ["torchmetrics:RetrievalNormalizedDCG(top_k=10, empty_target_action='skip')"]),
    ],
)  # fmt: skip
def test_lists_with_commas(text: str, texts: list[str]) -> None:
    assert metric_texts(text) == texts
    assert metric_texts([text, "idcg"]) == [*texts, "idcg"]
    assert [metric.requested_as for metric in parse_metrics(text)] == texts


@settings(deadline=None)
@given(st.lists(st.sampled_from([*EXAMPLES, "ndcg(gain={1:3, 2:9}, ties=average)@10", "map", "P_10"]), min_size=1))
def test_a_list_of_any_metrics_is_taken_apart_again(texts: list[str]) -> None:
    assert metric_texts(",".join(texts)) == list(dict.fromkeys(texts))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndcg@10,map", "'ndcg@10,map' names 2 metrics (ndcg@10 and map); give one of them"),
        ("map,", "'map,' has a comma with no metric before or after it; remove the comma"),
        ("map,ndgc@10", "ndgc is not a metric; did you mean ndcg@10?"),
        ("ndcg_cut", "ndcg_cut needs a cutoff; write ndcg_cut_10"),
        ("recall", "R needs a cutoff; write R@10"),
        ("mapk@10", "mapk divides by the number of relevant items or the cutoff, whichever is smaller; write "
         "AP(over=achievable)@10"),
        ("MAPK", "MAPK divides by the number of relevant items or the cutoff, whichever is smaller; write "
         "AP(over=achievable)"),
        ("ERR-IA@10", "ERR-IA measures diversity and needs the subtopics of each item, so it is not computed here; "
         "store another tool's values with: ndcg-track ingest --results FILE --metric external:ERR-IA@10"),
        ("α-nDCG@5", "α-nDCG measures diversity and needs the subtopics of each item, so it is not computed here; "
         "store another tool's values with: ndcg-track ingest --results FILE --metric external:α-nDCG@5"),
        ("hole@10", "hole counts items without a label in any query (Unjudged@10 counts items without one in their "
         "own query), so it is not computed here; store another tool's values with: ndcg-track ingest --results FILE "
         "--metric external:hole@10"),
        ("nauc_ndcg@10_max", "nauc_ndcg measures the confidence of a model, so it is not computed here; store another "
         "tool's values with: ndcg-track ingest --results FILE --metric external:nauc_ndcg@10_max"),
        ("Coverage@10", "Coverage depends on the catalogue and needs every item and its history, so it is not computed "
         "here; store another tool's values with: ndcg-track ingest --results FILE --metric external:Coverage@10"),
        ("mrrr@10", "mrrr is not a metric; did you mean RR@10?"),
        ("AP(ties=averag)", "ties=averag is not a value of ties; it is one of item_desc, item_asc, input, pessimistic, "
         "optimistic, average"),
        ('nDCG(dcg="exp-log2")@10', "'nDCG(dcg=\"exp-log2\")@10' is a metric name of another tool; did you mean "
         'ir_measures:nDCG(dcg="exp-log2")@10?'),
        ("ndcg@10-", "'ndcg@10-' is a metric name of another tool; did you mean xgboost:ndcg@10-?"),
        ("NDCG:top=10", "NDCG is not a dialect; did you mean catboost:NDCG:top=10?"),
        ("trec:map", "trec is not a dialect; did you mean trec_eval:map?"),
    ],
)  # fmt: skip
def test_what_is_no_metric_is_told_with_one_that_is(text: str, message: str) -> None:
    with pytest.raises(MetricError, match=f"^{re.escape(message)}$"):
        parse_metric(text)


HINT = re.compile(r"; (?:did you mean|write it (?:like|as)|write) (.+?)(?=\??$|\??; write it like | to )")


def suggestions(text: str, message: str) -> list[str]:
    """Return the metrics that a message suggests: those it writes out, and the text with a setting put right."""
    found = []
    for hint in (one for hints in HINT.findall(message) for one in re.split(r" or (?=\w+=)", hints)):
        axis = re.match(r"(\w+)=(\S+|\{.*\})$", hint)
        if axis is not None and ":" in text:  # a dialect's own spelling of a setting
            found += [re.sub(rf"\b{axis[1]}=(?:\{{.*?\}}|[^,;)]*)", hint, text)] if f"{axis[1]}=" in text else []
        elif axis is not None and axis[1] in {one.name for one in AXES}:
            measure, cutoff = re.match(r"\s*([A-Za-z_]+)", text), re.search(r"@\d+\s*$", text)
            assert measure is not None
            name, at, number = str(parse_metric(measure[1] + (cutoff[0] if cutoff else ""))).partition("@")
            found.append(f"{name}({hint}){at}{number}")
        elif hint.startswith(tuple(DIALECTS)):
            found.append(hint)
        else:
            found += re.split(", or | or (?=ndcg)", hint)
    return found


OURS = ["ndcg(gain=exp2, ties=average)@10", "AP(ties=optimistic)", "P(rel=2)@5", "RBP(p=0.5)", "Success@5", "SetP",
        "map_cut_10", "ndcg_cut.10", "recip_rank", "hit_rate@5", "ndcg(ideal=constant, unjudged=drop)@10"]  # fmt: skip


@st.composite
def near_misses(draw: st.DrawFn) -> str:
    """Return a spelling with its dialect taken off, its letters' case changed, or a few characters changed."""
    text = draw(st.sampled_from([*EXAMPLES, *OURS]))
    if draw(st.booleans()):
        text = text.partition(":")[2] or text
    if draw(st.booleans()):
        text = draw(st.sampled_from([text.lower(), text.upper(), text.replace("'", '"'), text.swapcase()]))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.text("abcdegmnprtx01@_(){}=,.:'", max_size=2)) + text[place + 1 :]
    return text


@settings(deadline=None, max_examples=examples(500))
@given(near_misses())
@example("ndcg(ideal=onstant, unjudged=:rop)@10")
def test_what_is_suggested_can_be_typed(text: str) -> None:
    try:
        parse_metric(text)
    except MetricError as error:
        for suggested in suggestions(text, str(error)):
            try:
                parse_metric(suggested)
            except MetricError as of_another_place:  # a text may be wrong at two
                (once_more,) = suggestions(suggested, str(of_another_place))
                parse_metric(once_more)


def test_suggestions_are_found_in_messages() -> None:
    """What the property rests on."""
    found = {}
    texts = ("ndgc@10", "nDCG(dcg='exp-log2')@10", "xgboost:ndcg@0", "SetP@5", "", "ndcg(gain=exp)@5", "ndcg_cut")
    for text in (
        *texts,
        "xgboost(ndcg_exp_gain=no):ndcg@10",
        "xgboost(dcg_exp_gain=false):ndcg@10",
        "nDCG(gain={:3})@10",
    ):
        with pytest.raises(MetricError) as caught:
            parse_metric(text)
        found[text] = suggestions(text, str(caught.value))
    assert found == {
        "ndgc@10": ["ndcg@10"],
        "nDCG(dcg='exp-log2')@10": ["ir_measures:nDCG(dcg='exp-log2')@10"],
        "xgboost:ndcg@0": ["xgboost:ndcg@10"],
        "SetP@5": ["SetP", "P@5"],
        "": ["ndcg@10", "ndcg(gain=exp2, ties=average)@10"],
        "ndcg(gain=exp)@5": ["ndcg(gain=exp2)@5"],
        "ndcg_cut": ["ndcg_cut_10"],
        "xgboost(ndcg_exp_gain=no):ndcg@10": ["xgboost:ndcg@10"],
        "xgboost(dcg_exp_gain=false):ndcg@10": ["xgboost:ndcg@10"],
        "nDCG(gain={:3})@10": ["nDCG(gain={1:3.5, 2:9})@10"],
    }


@pytest.mark.parametrize(
    ("text", "meant"),
    {
        "elasticsearch:precision@10": "elasticsearch:precision(k=10)",
        "elasticsearch:recall@10": "elasticsearch:recall(k=10)",
        "elasticsearch:ndcg@7": "elasticsearch:ndcg(k=7)",
        "elasticsearch:mrr": "elasticsearch:mean_reciprocal_rank(k=10)",
        "elasticsearch:mrr(k=5)": "elasticsearch:mean_reciprocal_rank(k=5)",
        "elasticsearch:err@3": "elasticsearch:expected_reciprocal_rank(maximum_relevance=3, k=3)",
        "catboost:NDCG@10": "catboost:NDCG:top=10",
        "catboost:mrr@5": "catboost:MRR:top=5",
        "rectools:success@20": "rectools:HitRate(k=20)",
        "sklearn:ndcg@4": "sklearn:ndcg_score(k=4)",
        "es:precision@10": "elasticsearch:precision(k=10)",
        "es:recall(k=3)": "elasticsearch:recall(k=3)",
        "elastic:mrr": "elasticsearch:mean_reciprocal_rank(k=10)",
    }.items(),
)
def test_a_suggestion_keeps_the_cutoff_and_adds_no_option(text: str, meant: str) -> None:
    with pytest.raises(MetricError) as told:
        parse_metric(text)
    assert str(told.value).endswith(f"; did you mean {meant}?")
    assert str(parse_metric(meant))
