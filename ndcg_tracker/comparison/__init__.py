"""Two runs against each other: pairing, significance, gate, typed results; arithmetic only, no SQL, no frames."""
