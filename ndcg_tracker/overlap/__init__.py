"""Use of several cores: blocks prepared ahead of their use, and blocks processed in parallel."""
