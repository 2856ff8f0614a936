"""Fast reading and writing of the wide tables, on each engine."""
