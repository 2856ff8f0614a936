"""Is this run the published one?"""
