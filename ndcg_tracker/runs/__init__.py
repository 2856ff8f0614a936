"""What writes runs and what belongs to them: ingest, labels, groups, texts, rescoring, pruning, export and import."""
