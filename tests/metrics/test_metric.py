"""The text form: one spelling per metric, and a way back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.measures import CUMULATED, MEASURES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    measure = draw(st.sampled_from(sorted(MEASURES)))
    axes = [axis for axis in AXES if measure in axis.measures]
    settings = {}
    for axis in draw(st.lists(st.sampled_from(axes), unique=True)):
        values = [*axis.values, *([axis.pattern_example] if axis.pattern_example else [])]
        settings[axis.name] = draw(st.sampled_from(values))
    if measure not in CUMULATED and settings.get("unjudged") == "0.5":
        del settings["unjudged"]
    ties = settings.get("ties", MEASURES[measure].defaults.get("ties"))
    if (not MEASURES[measure].has_expected_value or "depth" in settings) and ties == "average":
        settings["ties"] = "input"
    some = st.integers(1, 10_000)
    cutoff = draw({"none": st.none(), "required": some, "optional": st.none() | some}[MEASURES[measure].cutoff])
    if measure not in CUMULATED and settings.get("ideal") == "constant":
        del settings["ideal"]
    if "relative" in settings or (measure != "AP" and settings.get("over") == "found") or cutoff is None:
        settings.pop("over", None)
    return Metric.of(measure, cutoff=cutoff, **settings)


@given(metrics())
def test_every_metric_parses_back(metric: Metric) -> None:
    assert parse_metric(str(metric)) == metric
    assert str(parse_metric(str(metric))) == str(metric)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg@10", "ndcg@10"),
        (" ndcg ", "ndcg"),
        ("ndcg()@5", "ndcg@5"),
        ("ndcg(ties=average,gain=exp2)@10", "ndcg(gain=exp2, ties=average)@10"),
        ("ndcg(gain=linear, ties=item_desc)@10", "ndcg@10"),
        ("ndcg(gain={2:9,1:3.50})", "ndcg(gain={1:3.5, 2:9})"),
        ("dcg(discount=none)@3", "cg@3"),
        ("dcg(discount=jk10.0)", "dcg(discount=jk10)"),
        ("ndcg@010", "ndcg@10"),
        ("ndcg(gain={1:1, 2:2})", "ndcg"),
        ("ndcg(gain=linear>=2.0)", "ndcg(gain=linear>=2)"),
        ("ndcg(round_of=mean, weight_type=f32, empty_weight=one)", "ndcg"),
        ("Judged(ties=item_asc)@5", "Judged@5"),
        ("RR(ties=item_asc)", "RR(ties=item_asc)"),
        ("RR(ties=item_asc)@10", "RR@10"),
        ("RBP(p=.80)", "RBP"),
        ("P(over=cutoff)@5", "P@5"),
        ("P(over=relevant, rel=2)@5", "R(rel=2)@5"),
        ("P(over=achievable)@5", "P(relative=True)@5"),
        ("R(over=achievable)@5", "P(relative=True)@5"),
        ("R(over=cutoff)@5", "P@5"),
        ("R(over=list)@5", "P(over=list)@5"),
        ("P(ideal=retrieved)@5", "P@5"),
        ("P(ideal=retrieved, relative=True)@5", "P(ideal=retrieved, relative=True)@5"),
        ("P(empty=1, ideal=retrieved)@5", "P(empty=1, ideal=retrieved)@5"),
        ("AP(over=relevant)@5", "AP@5"),
        ("AP(over=achievable)", "AP"),
        ("AP(over=list)", "AP(over=list)"),
        ("f1@5", "F1@5"),
        ("F1_5", "F1@5"),
        ("f1_score(beta=2)@5", "F1(beta=2)@5"),
        ("Fbeta(beta=0.25)@5", "F1(beta=0.25)@5"),
        ("F", "SetF"),
        ("AP(rel=>0.50)", "AP(rel=>0.5)"),
        ("AP(rel=2.0)@10", "AP(rel=2)@10"),
        ("RBP(p=.00001)", "RBP(p=0.00001)"),
        ("ndcg(gain=exp2>=0.00001, unjudged=0.00002)", "ndcg(gain=exp2>=0.00001, unjudged=0.00002)"),
        ("ndcg(gain={1:1e-05})", "ndcg(gain={1:0.00001})"),
        ("IPrec(rel=2)@.10", "IPrec(rel=2)@0.1"),
        ("IPrec(recall=0.25)", "IPrec@0.25"),
        ("IPrecAvg(recalls={0.5,.2})", "IPrecAvg(recalls={0.2, 0.5})"),
        ("NumRet(rel=any)", "NumRet"),
        ("NumRet(rel=1)", "NumRet(rel=1)"),
        ("NumRel(missing=empty)", "NumRel"),
        ("ndcg(missing=empty)@10", "ndcg@10"),
        ("SetP(relative=true)", "SetP(relative=True)"),
        ("RBP(graded=True, rel=2)", "RBP(graded=True)"),
        ("Utility(collection=9, worth={1, -1, 0, 0.0})", "Utility"),
        ("P(depth=100)@10", "P@10"),
        ("P(depth=9)@10", "P(depth=9)@10"),
        ("P(depth=100, unjudged=drop)@10", "P(depth=100, unjudged=drop)@10"),
        ("ndcg(\n  gain=exp2,\n  ties=average\n)@10", "ndcg(gain=exp2, ties=average)@10"),
    ],
)
def test_one_spelling_per_metric(text: str, canonical: str) -> None:
    assert str(parse_metric(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a metric; write it like ndcg@10 or ndcg(gain=exp2, ties=average)@10"),
        ("ndcg@", "'ndcg@' is not a metric; write it like ndcg@10 or ndcg(gain=exp2, ties=average)@10"),
        ("ndcg@10@5", "'ndcg@10@5' is not a metric; write it like ndcg@10 or ndcg(gain=exp2, ties=average)@10"),
        ("ndgc@10", "ndgc is not a metric; did you mean ndcg@10?"),
        ("xyz@10", f"xyz is not a metric; it is one of {', '.join(MEASURES)}"),
        ("ndcg@0", "the cutoff @0 leaves nothing to measure; use 1 or more"),
        ("ndcg@" + "9" * 5000, "the cutoff is too large; use at most 1000000000, or no cutoff"),
        ("ndcg(ideal=constant)@2000000", "the cutoff is too large for ideal=constant, which sums every rank up to it; "
         "use at most 1000000"),
        ("AP(rel=" + "9" * 400 + ")", "rel=" + "9" * 400 + " is not a value of rel; it is one of 1, 2"),
        ("ndcg(gain=linear>=" + "9" * 400 + ")", "gain=linear>=" + "9" * 400 + " is not a value of gain; it is one of "
         "linear, exp2, binary, {1:3.5, 2:9}"),
        ("ndcg(gain=exp)", "gain=exp is not a value of gain; did you mean gain=exp2?"),
        ("ndcg(discount=jk1)", "discount=jk1 is not a value of discount; did you mean discount=jk10?"),
        ("ndcg(ties=random)", "ties=random is not a value of ties; it is one of item_desc, item_asc, input, "
         "pessimistic, optimistic, average"),
        ("cg(discount=log2)", "cg has no parameter discount; it has gain, own, depth, ties, unjudged, negative, "
         "label_type, label_domain, missing, extra, weights, weight_type, score_type, arithmetic, round, "
         "round_of, all_skipped"),
        ("P", "P needs a cutoff; write P@10"),
        ("SetP@5", "SetP has no cutoff; write SetP, or P@5"),
        ("Bpref@10", "Bpref has no cutoff; write Bpref, or Bpref(depth=10) to read only 10 ranks"),
        ("auc@10", "AUC has no cutoff; write AUC, or AUC(depth=10, ties=item_desc) to read only 10 ranks"),
        ("NumRel@10", "NumRel has no cutoff; write NumRel"),
        ("IPrec", "'IPrec' has no recall; write IPrec@0.1"),
        ("IPrec(recall=0.1)@0.2", "'IPrec(recall=0.1)@0.2' gives the recall twice; write IPrec@0.1"),
        ("IPrec@2", "recall=2 is not a value of recall; it is one of 0, 0.1"),
        ("IPrec@10", "recall=10 is not a value of recall; it is one of 0, 0.1"),
        ("ndcg@0.5", "'ndcg@0.5' is not a metric; a cutoff is a whole number, as in ndcg@10"),
        ("AP(rel=any)", "rel=any is only for NumRet, because AP needs to know which items are relevant; write rel=1"),
        ("P(depth=3, ties=average)@10", "depth does not work with ties=average, which has many orders to cut; use "
         "ties=pessimistic or ties=optimistic"),
        ("Utility(worth={1, 2})", "worth={1, 2} is not a value of worth; did you mean worth={1, -1, 0, 0}?"),
        ("AP(ties=average)", "AP has no closed form for ties=average; use ties=pessimistic or ties=optimistic"),
        ("P(unjudged=1)@5", "P has no gains, so an unjudged item cannot have a gain; use unjudged=drop"),
        ("AP(over=cutoff)", "over=cutoff needs a cutoff; write AP(over=cutoff)@10"),
        ("R(over=found)@5", "R with over=found is always 1 or 0; write Success@5"),
        ("P(over=list, relative=True)@5", "over and relative both set the divisor; remove relative"),
        ("AP(ideal=constant)@5", "AP counts relevant items, so ideal=constant has no meaning; remove it"),
        ("F1", "F1 needs a cutoff; write F1@10"),
        ("RBP(p=1)", "p=1 is not a value of p; it is one of 0.8, 0.5"),
        ("ndcg(label_domain=int)(gain=exp2)", "cannot read 'label_domain=int)(gain=exp2' in "
         "'ndcg(label_domain=int)(gain=exp2)'; parameters look like gain=exp2, ties=average"),
        ("ndcg(gain=exp2, gain=linear)", "'ndcg(gain=exp2, gain=linear)' names gain twice; keep one of them"),
        ("ndcg(exp2)", "cannot read 'exp2' in 'ndcg(exp2)'; parameters look like gain=exp2, ties=average"),
        ("ndcg(gain={1})", "gain={1} is not a table of gains; write it as gain={1:3.5, 2:9}"),
        ("ndcg(gain={1:inf})", "gain={1:inf} has an entry that is not finite; write it as gain={1:3.5, 2:9}"),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_is_told_with_the_nearest_spelling(text: str, message: str) -> None:
    with pytest.raises(MetricError, match=f"^{re.escape(message)}$"):
        parse_metric(text)


@given(st.text(max_size=40))
def test_no_text_breaks_the_parser(text: str) -> None:
    message = ""
    try:
        metric = parse_metric(text)
    except MetricError as error:
        message = str(error)
    else:
        assert parse_metric(str(metric)) == metric
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("ndcg(gain=exp2, ideal=retrieved)@10", (0.0, 1.0)),
        ("ndcg(gain={1:3, 2:1}, ideal_order=label)", None),
        ("ndcg(ideal_order=label)", (0.0, 1.0)),
        ("ndcg(unjudged=0.5)", None),
        ("ndcg(negative=keep)", None),
        ("ndcg(ideal=constant)@10", None),
        ("dcg@10", None),
        ("AP", (0.0, 1.0)),
        ("RBP", (0.0, 1.0)),
    ],
)
def test_the_limits_of_a_metric(text: str, limits: tuple[float, float] | None) -> None:
    assert parse_metric(text).limits == limits
