"""Run queries of the user so that they can only read."""
