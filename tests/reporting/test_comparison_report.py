"""The comparison as a person reads it, to the letter, and as a program takes it."""

import csv
import io
import json
from dataclasses import replace

import pytest

from ndcg_tracker.comparison.results import Comparison
from ndcg_tracker.reporting.comparison_formats import (
    comparison_as,
    comparison_csv,
    comparison_json,
    comparison_markdown,
)
from ndcg_tracker.reporting.comparison_report import comparison_text
from ndcg_tracker.reporting.comparison_words import finding, headline

TEXT = """\
dense against bm25 on shop: ndcg@10 regressed by 0.0123

metric                            baseline  candidate      delta        95% interval       p    d_z  wins/ties/losses
ndcg@10                             0.6500     0.6377    -0.0123  [-0.0201, -0.0045]   <1e-4  -0.13  101/158/141 ¹ ²
ndcg(gain=exp2, missing=skip)@10    0.5050     0.5054  ~ +0.0004  [-0.0014, +0.0024]  0.6194  +0.03  32/341/23 ² ³ ⁴
P@1                                 0.6500     0.6500    +0.0000                   -       -      -  0/400/0 ¹ ² ⁵
AP                                       -          -          -                   -       -      -  0/0/0 ⁶ ⁷
¹ 12 groups with labels but missing in the candidate run: counted as 0
² 3 groups undefined in both runs: left out
³ 1 group with a result in the baseline only: left out
⁴ low information: 55 of 396 differences are nonzero, and below 100 the t interval may be too narrow
⁵ identical in every group: no interval, no p-value
⁶ 2 groups with a result in the candidate only: left out
⁷ no group has a result in both runs, so there is nothing to compare

delta: candidate - baseline, in absolute points; ~: no difference detected
p: paired t-test, Holm-corrected over 2 metrics; d_z: mean difference / standard deviation
ndcg(gain=exp2, missing=skip)@10: smallest detectable difference 0.0027 (80% power, 396 groups)

groups     400 paired
labels     version 2, digest 3f2a91c0d4e5
judged@10  baseline 98.1%, candidate 87.3%
judged     baseline 50.0%, candidate -

worst groups in ndcg@10
group      baseline  candidate    delta
red shoes    0.7480     0.3830  -0.3650
検索         0.2110     0.0000  -0.2110

best groups in ndcg@10
group  baseline  candidate    delta
q29      0.6550     0.8460  +0.1910

note: newer labels exist: version 3
"""


def test_text(comparison: Comparison) -> None:
    assert comparison_text(comparison) == comparison_as("text", comparison) == TEXT


def test_short_text(comparison: Comparison) -> None:
    short = replace(comparison, metrics=comparison.metrics[2:3], worst=(), best=(), notes=(), coverage=())
    assert comparison_text(short) == (
        "dense against bm25 on shop: P@1 is identical on all 400 groups\n"
        "\n"
        "metric  baseline  candidate    delta  95% interval  p  d_z  wins/ties/losses\n"
        "P@1       0.6500     0.6500  +0.0000             -  -    -  0/400/0 ¹ ² ³\n"
        "¹ 12 groups with labels but missing in the candidate run: counted as 0\n"
        "² 3 groups undefined in both runs: left out\n"
        "³ identical in every group: no interval, no p-value\n"
        "\n"
        "delta: candidate - baseline, in absolute points\n"
        "\n"
        "groups  400 paired\n"
        "labels  version 2, digest 3f2a91c0d4e5\n"
    )


def test_every_finding_in_words(comparison: Comparison) -> None:
    regressed, undetected, identical, incomparable = comparison.metrics
    assert headline(comparison) == "dense against bm25 on shop: ndcg@10 regressed by 0.0123"
    assert finding(replace(regressed, delta=0.0321, verdict="improved")) == "ndcg@10 improved by 0.0321"
    assert finding(undetected) == "no difference detected in ndcg(gain=exp2, missing=skip)@10 (+0.0004)"
    assert finding(replace(undetected, p_value=None, metric="AP")) == "AP differs by +0.0004, which no test can judge"
    assert finding(identical) == "P@1 is identical on all 400 groups"
    assert finding(replace(identical, n=1)) == "P@1 is identical on the 1 group"
    assert finding(incomparable) == "AP cannot be compared"
    assert finding(replace(regressed, delta=-0.00001)) == "ndcg@10 regressed by 1.0e-05"


def test_json_is_the_dictionary(comparison: Comparison) -> None:
    assert json.loads(comparison_json(comparison)) == comparison.to_dict()
    assert comparison_as("json", comparison) == comparison_json(comparison)


def test_several_candidates(comparison: Comparison) -> None:
    other = replace(comparison, candidate=replace(comparison.candidate, name="splade", run_id=3))
    document = json.loads(comparison_json(comparison, other))
    assert document.pop("further") == [other.to_dict()]
    assert document == comparison.to_dict()
    text = comparison_text(comparison, other)
    assert text.count("Holm-corrected over 4 metrics of all candidates") == 2
    assert "\n\nsplade against bm25 on shop: ndcg@10 regressed by 0.0123\n" in text
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison, other), newline="")))
    assert [row["candidate_run"] for row in rows] == ["dense"] * 4 + ["splade"] * 4
    assert comparison_markdown(comparison, other).count("### ") == 2


def test_csv_has_every_number_of_the_json(comparison: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(comparison_as("csv", comparison), newline="")))
    renamed = {"baseline": "baseline", "candidate": "candidate"}
    for row, metric in zip(rows, comparison.to_dict()["metrics"], strict=True):
        flat = {**metric.pop("groups"), **metric}
        low, high = flat.pop("ci") or (None, None)
        flat |= {"ci_low": low, "ci_high": high, "warnings": "; ".join(flat["warnings"])}
        flat.pop("missing")
        assert flat.pop("tie_bounds") is None
        for name, value in flat.items():
            assert row[renamed.get(name, name)] == ("" if value is None else str(value))
    assert (rows[0]["baseline_run"], rows[0]["baseline_run_id"], rows[0]["dataset"]) == ("bm25", "1", "shop")
    assert (rows[0]["label_set_version"], rows[0]["label_set_digest"][:6]) == ("2", "3f2a91")


MARKDOWN = """\
### dense against bm25 on shop: ndcg@10 regressed by 0.0123

| metric | baseline | candidate | delta | 95% interval | p | d_z | wins/ties/losses |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| ndcg@10 | 0.6500 | 0.6377 | -0.0123 | \\[-0.0201, -0.0045\\] | &lt;1e-4 | -0.13 | 101/158/141 ¹ ² |

- ¹ 12 groups with labels but missing in the candidate run: counted as 0
- ² 3 groups undefined in both runs: left out
- groups: 400 paired
- labels: version 2, digest 3f2a91c0d4e5
- judged@10: baseline 98.1%, candidate 87.3%
- judged: baseline 50.0%, candidate -
- note: newer labels exist: version 3

delta: candidate - baseline, in absolute points; p: paired t-test; d_z: mean difference / standard deviation

<details><summary>worst groups in ndcg@10</summary>

| group | baseline | candidate | delta |
| --- | ---: | ---: | ---: |
| red shoes | 0.7480 | 0.3830 | -0.3650 |
| 検索 | 0.2110 | 0.0000 | -0.2110 |

</details>

<details><summary>best groups in ndcg@10</summary>

| group | baseline | candidate | delta |
| --- | ---: | ---: | ---: |
| q29 | 0.6550 | 0.8460 | +0.1910 |

</details>
"""


def test_markdown(comparison: Comparison) -> None:
    assert comparison_as("markdown", replace(comparison, metrics=comparison.metrics[:1])) == MARKDOWN


@pytest.mark.parametrize("p_value", [5e-324, 9.9e-5])
def test_p_is_never_printed_as_zero(comparison: Comparison, p_value: float) -> None:
    one = replace(comparison, metrics=(replace(comparison.metrics[0], p_adjusted=p_value),))
    assert "  <1e-4  " in comparison_text(one)
    assert repr(p_value) in comparison_csv(one)
    assert json.loads(comparison_json(one))["metrics"][0]["p_adjusted"] == p_value


def test_colour_follows_the_verdict(comparison: Comparison) -> None:
    text = comparison_text(comparison, color=True)
    assert text.startswith("\x1b[1mdense against bm25 on shop: ndcg@10 regressed by 0.0123\x1b[0m\n")
    assert "\x1b[33m  -0.0123\x1b[0m" in text
    assert "~ +0.0004\x1b" not in text
    assert "\x1b[36m+0.1910\x1b[0m" in text
