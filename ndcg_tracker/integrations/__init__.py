"""Integrations with other tools; each is imported lazily and needs an extra."""
