"""Compute the values of metrics for all groups at once."""
