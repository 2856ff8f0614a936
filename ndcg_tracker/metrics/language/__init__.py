"""What a metric is and how it is written: axes, measures, text forms, dialects; no NumPy."""
