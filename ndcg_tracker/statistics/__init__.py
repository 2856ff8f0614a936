"""Statistics of paired differences: arrays in, numbers out; no run, no store."""
