"""Local web pages over the database: read-only, on this machine only, for people who have the address."""
