"""ndcg_tracker: every ranking run down to the single group in SQL, and what changed between two of them."""

__version__ = "0.1.0"
