"""What the other layers return, as text, JSON, Markdown, CSV and HTML; it formats and computes nothing."""
