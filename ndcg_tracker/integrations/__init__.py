"""Doors to the tools that people use already; each is lazy and behind an extra."""
