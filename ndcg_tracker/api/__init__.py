"""The public face: the tracker, and what needs no database."""
