"""The comparison as a pull request shows it, to the letter."""

from dataclasses import replace

from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import comparison_said

MARKDOWN = """\
### dense against bm25 on shop (400 queries): ndcg@10 worse by 0.0123

|  | metric | bm25 | dense | delta | 95% interval | p |  |
| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
| ▼ | ndcg@10 | 0.6500 | 0.6377 | -0.0123 | -0.0201 to -0.0045 | &lt;1e-4 | ¹ ² |

- ¹ 12 groups with labels but missing in the candidate run: counted as 0
- ² 3 groups undefined in both runs: left out

- worst: red shoes (-0.36), 検索 (-0.21) best: q29 (+0.19)
- note: candidate and baseline are the same run

<details><summary>statistics and groups</summary>

- groups: 400 paired
- labels: version 2, digest 3f2a91c0d4e5
- judged@10: baseline 98.1%, candidate 87.3%
- judged: baseline 50.0%, candidate not known
- ▼ worse
- d_z: effect size, mean difference / standard deviation of the differences
- delta: candidate - baseline, in absolute points
- 95% interval: paired t; p: paired t-test

| metric | better | same | worse | d_z |
| --- | ---: | ---: | ---: | ---: |
| ndcg@10 | 101 | 158 | 141 | -0.13 |

**worst groups in ndcg@10**

| group | baseline | candidate | delta |
| --- | ---: | ---: | ---: |
| red shoes | 0.7480 | 0.3830 | -0.3650 |
| 検索 | 0.2110 | 0.0000 | -0.2110 |

**best groups in ndcg@10**

| group | baseline | candidate | delta |
| --- | ---: | ---: | ---: |
| q29 | 0.6550 | 0.8460 | +0.1910 |

</details>
"""


def test_markdown(comparison: Comparison) -> None:
    assert comparison_said(replace(comparison, metrics=comparison.metrics[:1])).in_format("markdown") == MARKDOWN


FULL = """\
### dense against bm25 on shop (400 queries): ndcg@10 worse by 0.0123 (low information: not a safe verdict)

|  | metric | bm25 | dense | delta | 95% interval | p |  |
| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
| ▼ | ndcg@10 | 0.6500 | 0.6377 | -0.0123 | -0.0201 to -0.0045 | &lt;1e-4 | ¹ |

- ¹ low information: 19 of 400 differences are nonzero; below 25, the t interval may be too narrow

**equivalence within ±0.01**

| metric | finding | 90% interval | p |
| --- | --- | ---: | ---: |
| ndcg@10 | not shown equivalent | -0.0189 to -0.0057 | 0.72 |

**ndcg@10 by device: 1 worse, 1 not tested (4 slices)**

|  | device | n | bm25 | dense | delta | 95% interval | p | q |  |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| ▼ | phone | 250 | 0.6500 | 0.6000 | -0.0500 | -0.0700 to -0.0300 | &lt;1e-4 | &lt;1e-4 |  |
| ! | watch | 1 | 0.6500 | 0.6000 | -0.0100 | - | - | - | ¹ |
| = | (none) | 49 | 0.6500 | 0.6000 | +0.0000 | - | - | - | ² |
| \\~ | desktop | 100 | 0.6500 | 0.6000 | +0.0200 | -0.0100 to +0.0500 | 0.10 | 0.10 | ³ |

- ¹ one group says nothing about others: no interval and no p-value
- ² identical everywhere: no interval, no p-value
- ³ low information (under 25 nonzero differences): the t interval may be too narrow

- p, which gives the verdict: paired t-test, Holm-corrected for 2 slices at once
- (none): the groups without this attribute

**groups whose ndcg@10 depends on ties in scores**

| group | run | worst | value | best |
| --- | --- | ---: | ---: | ---: |
| red shoes | baseline | 0.7000 | 0.7480 | 0.8000 |

- worst: red shoes (-0.36), 検索 (-0.21) best: q29 (+0.19)
- note: labels version 3 is newer than version 2, which the runs share; to use it: ndcg-track rescore bm25 dense \
--dataset shop
- note: ties in scores could change the verdict on ndcg@10: depending on how they are broken, delta is between \
-0.0223 and -0.0023

<details><summary>statistics and groups</summary>

- groups: 400 paired
- labels: version 2, digest 3f2a91c0d4e5
- judged@10: baseline 98.1%, candidate 87.3%
- judged: baseline 50.0%, candidate not known
- ties: ndcg@10: baseline 0.6400 to 0.6600, candidate 0.6377
- ▼ worse
- q: false discovery rate (Benjamini-Hochberg)
- ▼ worse, ! cannot be compared, = identical, \\~ no difference detected
- d_z: effect size, mean difference / standard deviation of the differences
- delta: candidate - baseline, in absolute points
- 95% interval: paired t; p: paired t-test
- ci='betting': an interval that allows for rare, large differences
- equivalence: two one-sided t-tests (TOST), each metric on its own

| metric | better | same | worse | d_z |
| --- | ---: | ---: | ---: | ---: |
| ndcg@10 | 5 | 381 | 14 | -0.13 |

**worst groups in ndcg@10**

| group | baseline | candidate | delta | of which | rank | item |
| --- | ---: | ---: | ---: | ---: | --- | --- |
| red shoes | 0.7480 | 0.3830 | -0.3650 | -0.3000 | 1 → 7 | sku-1 (grade 3) |
| 検索 | 0.2110 | 0.0000 | -0.2110 | - | - | - |

**best groups in ndcg@10**

| group | baseline | candidate | delta |
| --- | ---: | ---: | ---: |
| q29 | 0.6550 | 0.8460 | +0.1910 |

</details>
"""


def test_markdown_of_everything(full_comparison: Comparison) -> None:
    assert comparison_said(full_comparison).in_format("markdown") == FULL


OVERVIEW = """\
## 2 candidates against bm25 on shop (400 queries): both comparisons worse

|  | run | metric | bm25 | mean | delta | 95% interval | p |  |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
| ▼ | dense | ndcg@10 | 0.6500 | 0.6377 | -0.0123 | -0.0201 to -0.0045 | &lt;1e-4 | ¹ ² |
| ▼ | splade | ndcg@10 | 0.6500 | 0.6377 | -0.0123 | -0.0201 to -0.0045 | &lt;1e-4 | ¹ ² |

- ¹ 12 groups with labels but missing in the candidate run: counted as 0
- ² 3 groups undefined in both runs: left out

- note: candidate and baseline are the same run

<details><summary>the page of each</summary>

- ▼ worse
- delta: candidate - baseline, in absolute points
- 95% interval: paired t; p: paired t-test, Holm-corrected for 2 metrics of all candidates at once

</details>
"""


def test_several_candidates_begin_with_an_overview(comparison: Comparison) -> None:
    one = replace(comparison, metrics=comparison.metrics[:1])
    printed = comparison_said(one, replace(one, candidate=replace(one.candidate, name="splade", run_id=3))).in_format(
        "markdown"
    )
    assert printed == OVERVIEW
