"""BEIR and MTEB: the names that their evaluations print, for pytrec_eval's measures with their own averages."""

from __future__ import annotations

from ndcg_tracker.metrics.language.dialects.dialect import Table, called

_WITHOUT_OWN = "label_domain=int, score_type=f32, missing=skip, own=drop"
_IN_RUN = "label_domain=int, ties=input"
BEIR = Table(
    "beir",
    "beir 2.2.0",
    {
        "NDCG": f"ndcg({_WITHOUT_OWN})",
        "MAP": f"AP({_WITHOUT_OWN})",
        "Recall": f"R({_WITHOUT_OWN})",
        "P": f"P({_WITHOUT_OWN})",
        "MRR": f"RR({_IN_RUN})",
        "R_cap": f"R({_IN_RUN}, over=achievable)",
        "Accuracy": f"Success({_IN_RUN})",
    },
    is_cut=True,
    shared="round=5, round_of=mean",
    agreement="1e-12 per query; the mean to its 5 decimals",
).dialect()

MTEB = Table(
    "mteb",
    "mteb 2.26.24",
    {
        "ndcg": "ndcg",
        "map": "AP",
        "recall": "R",
        "precision": "P",
        "mrr": "RR(ties=item_desc, score_type=f64, round=none)",
        "hit_rate": "Success",
    },
    read=lambda native: called("recall@1" if native == "accuracy" else native.replace("_at_", "@")),
    written="{}_at_{}",
    is_cut=True,
    shared="label_domain=int, score_type=f32, missing=skip, round=5, round_of=mean",
    more="accuracy",
    agreement="1e-12 per query; the mean to its 5 decimals, mrr_at_k unrounded",
).dialect()
