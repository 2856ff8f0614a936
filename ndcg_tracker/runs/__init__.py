"""Write runs and their data: ingest, labels, groups, texts, rescoring, pruning, export and import."""
