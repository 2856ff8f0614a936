"""Pages: one file of HTML with everything in it, drawn by the charts and told by the reports."""
