"""The formats of files: one class each, whose exact reader has the last word."""
