"""The store: the only part that speaks SQL."""
