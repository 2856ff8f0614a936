"""Charts: Vega-Lite specifications of what was found, for pages, notebooks and picture files."""
