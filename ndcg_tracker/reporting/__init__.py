"""What the other layers return, as text, JSON, Markdown and CSV; it formats and computes nothing."""
