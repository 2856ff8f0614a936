"""A local web page over the database: read-only, on this machine alone, for whoever has its address."""
