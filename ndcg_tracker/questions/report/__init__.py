"""Two runs, or several candidates, on one page."""
