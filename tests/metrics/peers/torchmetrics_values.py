# needs: torchmetrics==1.9.0 torch numpy
"""Print what torchmetrics returns for each list of every case: scores within 0 to 1, binary targets but for NDCG."""

from __future__ import annotations

import torch
from cases import CASES, Case, line
from torchmetrics import retrieval

GRADED = ("RetrievalNormalizedDCG(top_k=10)", "RetrievalNormalizedDCG(top_k=10, empty_target_action='skip')",
          "RetrievalNormalizedDCG()")  # fmt: skip
TIES = ("RetrievalAUROC", "RetrievalAUROC(empty_target_action='pos')")
BINARY = (
    *(f"Retrieval{name}(top_k={k})" for name in ("MRR", "MAP", "Precision", "Recall", "HitRate", "FallOut")
      for k in (1, 3, 10)),
    *(f"Retrieval{name}()" for name in ("MRR", "MAP", "Precision", "HitRate", "FallOut")),
    *("RetrievalPrecision(top_k=10, adaptive_k=True)", "RetrievalMAP(top_k=3, empty_target_action='skip')"),
    *("RetrievalRPrecision", "RetrievalRPrecision(empty_target_action='pos')"),
    *("RetrievalFallOut(top_k=3, empty_target_action='neg')", "RetrievalMRR(top_k=3, empty_target_action='pos')"),
)  # fmt: skip


def values(case: Case, text: str) -> dict[str, float | None]:
    """Return the value of each labelled list alone; None where it is skipped."""
    found: dict[str, float | None] = {}
    for group, items in case.run.items():
        if group not in case.labels:
            continue
        target = torch.tensor([int(case.labels[group].get(item, 0)) for item in items])
        skips = "'skip'" in text and not target.sum()
        metric = eval(text if text.endswith(")") else f"{text}()", vars(retrieval).copy())
        metric.update(
            torch.tensor([(score + 100) / 256 for score in items.values()]), target, torch.zeros(len(items)).long()
        )
        found[group] = None if skips else float(metric.compute())
    return found


def main() -> None:
    """Print the values of every case."""
    for case in CASES:
        is_binary = case.grades[-1] == 1
        for text in (*GRADED, *(TIES if is_binary else ()), *(BINARY if is_binary and not case.ties else ())):
            print(line(case, f"torchmetrics:{text}", None, values(case, text)))


if __name__ == "__main__":
    main()
