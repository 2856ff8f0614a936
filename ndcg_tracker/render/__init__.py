"""Reports, tables, charts and pages in every format; it knows no question and computes nothing."""
