"""What people are to grade to check a judge, and what a comparison says under a judge that they checked."""

from __future__ import annotations

from ndcg_tracker.compare.say_tables import labels_text
from ndcg_tracker.questions.labels.decide import CheckedComparison, LabelsSample
from ndcg_tracker.questions.labels.say import TO_JUDGE, csv_to_fill, forms_of
from ndcg_tracker.render.formats import Said, fields_of, shape_of
from ndcg_tracker.render.report import Report, Table, columns
from ndcg_tracker.statistics.drawn import FEW_INFORMATIVE
from ndcg_tracker.statistics.t_test import TTest
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import counted, interval, judge_words, p_text, points


def sample_said(sample: LabelsSample) -> Said:
    """Return the output for the items that a design drew and that have no answer; files are as those of the needed."""
    return Said(
        sample,
        lambda: [_sample_report(sample)],
        lambda: list(map(fields_of, sample.items)),
        ("group", "item"),
        {
            "csv": lambda: csv_to_fill(sample.items, TO_JUDGE, lambda _: (None, None)),
            **forms_of(sample.dataset, sample.items),
        },
    )


def _sample_report(sample: LabelsSample) -> Report:
    from ndcg_tracker.metrics.language.dialects import familiar_name  # as in ``_report``

    what = f"{sample.candidate.name} against {sample.baseline.name} on {sample.dataset}"
    title = (
        f"{what}: design {sample.design} drew {counted(sample.n_drawn, 'item')} of {sample.n_apart:,} that tell them "
        f"apart, for {familiar_name(sample.metric)}"
    )
    table = Table(columns("group", "item"), [[item.group, item.item] for item in sample.items], names=(0, 1))
    facts = [("labels", labels_text(sample.label_set)), ("budget", f"{sample.budget:,}")]
    if sample.n_answered:
        facts.append(("answered", f"{sample.n_answered:,}"))
    return Report(title, tables=[table] if sample.items else [], facts=facts)


_CHECKED_COLUMNS = (
    *("baseline_run", "candidate_run", "metric", "judge", "checked_by", "design", "estimate", "delta", "ci_low"),
    *("ci_high", "p_value", "verdict"),
)


def checked_said(checked: CheckedComparison) -> Said:
    """Return the output for two runs under a judge that people checked; CSV has a row per estimate."""
    return Said(checked, lambda: [_checked_report(checked)], lambda: _checked_rows(checked), _CHECKED_COLUMNS)


def _estimates(checked: CheckedComparison) -> dict[str, TTest]:
    delta = checked.delta
    return {"judge_alone": delta.judged, "corrected": delta.corrected, "favour": delta.favour}


@shape_of(CheckedComparison)
def _checked_shape(checked: CheckedComparison) -> dict[str, object]:
    delta = checked.delta
    tests = {
        name: {"delta": test.mean, "ci": test.ci, "p_value": test.p_value} for name, test in _estimates(checked).items()
    }
    counts = {"n_drawn": delta.n_drawn, "n_informative": delta.n_informative}
    told = {"low_information": delta.has_low_information, "verdict": checked.verdict}
    return fields_of(checked, "delta") | tests | counts | told


def _checked_rows(checked: CheckedComparison) -> list[dict[str, object]]:
    shared = {
        "baseline_run": checked.baseline.name,
        "candidate_run": checked.candidate.name,
        "metric": checked.metric,
        "judge": checked.label_set.judge,
        "checked_by": checked.checked_by,
        "design": checked.design,
    }
    return [
        {
            **shared,
            "estimate": name,
            "delta": test.mean,
            **dict(zip(("ci_low", "ci_high"), test.ci or (None, None), strict=True)),
            "p_value": test.p_value,
            "verdict": checked.verdict if name == "corrected" else None,
        }
        for name, test in _estimates(checked).items()
    ]


_CHECKED_LEGEND = (
    "delta: the mean difference over the groups that the judge labelled, with the ideal of the judge's labels; "
    "corrected: by what people said of drawn items; intervals and p: paired t"
)


def _checked_report(checked: CheckedComparison) -> Report:
    from ndcg_tracker.metrics.language.dialects import familiar_name  # as in ``_report``

    metric, delta, judge = familiar_name(checked.metric), checked.delta, judge_words(checked.label_set.judge)
    corrected, few = delta.corrected, delta.has_low_information
    if checked.verdict == "no_difference_detected":
        shown = points(corrected.mean, signed=True) + ("; low information" if few else "")
        found = f"no difference detected in {metric} ({shown})"
    else:
        unsafe = " (low information: not a safe verdict)" if few else ""
        found = f"{metric} {checked.verdict} by {points(abs(corrected.mean or 0.0))}{unsafe}"
    rows = [
        [name, points(test.mean, signed=True), interval(test.ci, signed=True), p_text(test.p_value)]
        for name, test in (
            (f"{judge} alone", delta.judged),
            (f"corrected by {checked.checked_by!r}", corrected),
        )
    ]
    informative = f"{delta.n_informative:,} of them with another gain than the judge's"
    few_words = f"; fewer than {FEW_INFORMATIVE} say too little" if few else ""
    groups = f"{checked.n_groups:,}"
    if checked.n_without_ideal:
        groups += f", with {checked.n_without_ideal:,} in which the judge finds nothing"
    facts = [
        ("groups", groups),
        ("labels", labels_text(checked.label_set)),
        (
            "checked",
            f"design {checked.design}: {counted(delta.n_drawn, 'answer')} to a draw from {checked.n_apart:,} items, "
            f"{informative}{few_words}",
        ),
    ]
    if checked.n_unlabelled:
        facts.append(("unjudged", f"{checked.n_unlabelled:,} of these items have no grade of the judge"))
    what = f"{checked.candidate.name} against {checked.baseline.name} on {checked.dataset}"
    return Report(
        f"{what} ({judge}, checked by {checked.checked_by!r}): {found}",
        sentences=[_favour(checked)],
        tables=[Table(columns("", ">delta", ">95% interval", ">p"), rows, legend=[_CHECKED_LEGEND])],
        facts=facts,
        notes=[told(note) for note in checked.notes],
    )


def _favour(checked: CheckedComparison) -> str:
    """Return whom the judge favours, where that is more than chance."""
    favour, judge = checked.delta.favour, judge_words(checked.label_set.judge)
    mean, ci = favour.mean or 0.0, favour.ci
    if ci is None or ci[0] <= 0 <= ci[1]:
        by = f"{points(mean, signed=True)} {interval(ci, signed=True)}"
        return f"no sign that {judge} favours one of the runs: {by}"
    run = checked.candidate if mean > 0 else checked.baseline
    low, high = ci if mean > 0 else (-ci[1], -ci[0])
    return f"{judge} favours {run.name} by {points(abs(mean))} {interval((low, high))}"
