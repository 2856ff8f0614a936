"""Two cores at once: blocks made ahead of their use, and blocks worked on side by side."""
