"""Systems on several datasets, side by side and at the gate."""
