"""Export and import of runs, with their labels and results, as a folder of Parquet files."""
