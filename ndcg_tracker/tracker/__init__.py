"""The one place that joins the parts: readers, metrics, store and comparison."""
