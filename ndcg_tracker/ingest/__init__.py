"""Files and frames to the columnar ranking: one reader per format, and the checks."""
