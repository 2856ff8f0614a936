"""A comparison as a Mermaid chart: the picture that GitHub and GitLab draw where Markdown is read."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.comparison.report import EveryGroup

COLUMNS = 60
"""A chart in Mermaid has no more columns than can be told apart."""


def every_group_mermaid(groups: EveryGroup, metric: str) -> str:
    """Return every group from the worst to the best as a block of Markdown, "" where no group changed.

    Of more groups than columns, each column stands for as many neighbours and shows the one that changed most.

    >>> groups = EveryGroup("abc", np.zeros(3), np.array([0.0, -0.5, 0.25]))
    >>> print(every_group_mermaid(groups, "ndcg@10"))
    ```mermaid
    xychart-beta
        title "change of ndcg@10 in each group, worst to best"
        x-axis "3 groups: 1 better, 1 the same, 1 worse" 1 --> 3
        y-axis "change" -0.5 --> 0.25
        bar [-0.5, 0, 0.25]
    ```
    """
    delta = np.sort(groups.delta)
    n_worse, n_better = int((delta < 0).sum()), int((delta > 0).sum())
    if not n_worse + n_better:
        return ""
    parts = np.array_split(delta, min(COLUMNS, delta.size))
    bars = [float(part[np.argmax(np.abs(part))]) for part in parts]
    n = delta.size
    counts = f"{n:,} groups: {n_better:,} better, {n - n_better - n_worse:,} the same, {n_worse:,} worse"
    shown = metric.replace('"', "'")
    return "\n".join(
        [
            "```mermaid",
            "xychart-beta",
            f'    title "change of {shown} in each group, worst to best"',
            f'    x-axis "{counts}" 1 --> {len(bars)}',
            f'    y-axis "change" {min(0.0, *bars):.4g} --> {max(0.0, *bars):.4g}',
            f"    bar [{', '.join(f'{bar:.4g}' for bar in bars)}]",
            "```",
        ]
    )
