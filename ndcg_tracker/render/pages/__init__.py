"""Pages: one file of HTML with everything in it."""
