"""Are results as good as the baseline on the queries of a golden set in git?"""
