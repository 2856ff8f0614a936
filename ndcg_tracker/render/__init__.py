"""Reports, tables, charts and pages in every format. This package knows no questions and computes nothing."""
