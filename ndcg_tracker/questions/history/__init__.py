"""How did a metric go from run to run, and where did it step?"""
