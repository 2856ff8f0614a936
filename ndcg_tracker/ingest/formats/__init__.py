"""The formats of files: one class each; its exact reader decides."""
