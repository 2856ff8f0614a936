"""Where there is a difference of means but no test of it: what comparisons and histories say of it alike."""

from ndcg_tracker.comparison.notes import Note

MEANS_AGREE = 1e-6
"""How far a stored mean may lie from that of the paired results: weights in single precision move it by less."""
NO_INFERENCE = Note("means_weigh_groups")
