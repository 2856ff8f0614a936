"""Charts: what they are made of and how they look."""
