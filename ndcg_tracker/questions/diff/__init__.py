"""How do the lists of two runs differ, without labels?"""
