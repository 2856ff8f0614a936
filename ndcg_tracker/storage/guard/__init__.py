"""Queries of the user, run so that they can only read."""
