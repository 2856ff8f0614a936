"""The arithmetic of ranking metrics: NumPy only, no SQL, no frames."""
