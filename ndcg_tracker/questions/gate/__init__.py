"""May the candidate replace the baseline?"""
