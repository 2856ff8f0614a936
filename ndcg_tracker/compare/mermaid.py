"""A comparison as a Mermaid chart: the picture that GitHub and GitLab draw where Markdown is read."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.compare.report_facts import EveryGroup

PLACES = 60
"""A chart in Mermaid has no more places than can be told apart."""

# blue and grey that are seen on a light page and a dark one: the colours of Mermaid's own are faint
_COLORS = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#3b82c4, #8a8f98"}}}}%%'


def every_group_mermaid(groups: EveryGroup, metric: str) -> str:
    """Return every group from the worst to the best as a block of Markdown, "" where none changed or there is one only.

    A line, with one at 0 beside it: Mermaid's bars begin at the bottom, whatever the sign. Of more groups than places,
    each place stands for as many neighbours and shows the one that changed most.

    >>> groups = EveryGroup("abc", np.zeros(3), np.array([0.0, -0.5, 0.25]))
    >>> print(every_group_mermaid(groups, "ndcg@10"))
    ```mermaid
    %%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#3b82c4, #8a8f98"}}}}%%
    xychart-beta
        title "change of ndcg@10 in each group, worst to best"
        x-axis "3 groups: 1 better, 1 the same, 1 worse" 1 --> 3
        y-axis "change" -0.5 --> 0.25
        line [-0.5, 0, 0.25]
        line [0, 0, 0]
    ```
    """
    delta, gain = groups.delta, groups.gain
    delta = delta[np.argsort(gain, kind="stable")]
    n_worse, n_better = int((gain < 0).sum()), int((gain > 0).sum())
    if not n_worse + n_better or delta.size < 2:  # a line needs two places
        return ""
    parts = np.array_split(delta, min(PLACES, delta.size))
    changes = [float(part[np.argmax(np.abs(part))]) for part in parts]
    n = delta.size
    counts = f"{n:,} groups: {n_better:,} better, {n - n_better - n_worse:,} the same, {n_worse:,} worse"
    shown = metric.replace('"', "'")
    return "\n".join(
        [
            "```mermaid",
            _COLORS,
            "xychart-beta",
            f'    title "change of {shown} in each group, worst to best"',
            f'    x-axis "{counts}" 1 --> {len(changes)}',
            f'    y-axis "change" {min(0.0, *changes):.4g} --> {max(0.0, *changes):.4g}',
            f"    line [{', '.join(f'{change:.4g}' for change in changes)}]",
            f"    line [{', '.join('0' for _ in changes)}]",
            "```",
        ]
    )
