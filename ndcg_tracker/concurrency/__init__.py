"""Work on two cores at once."""
