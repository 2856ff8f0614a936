"""Why did a group, or the mean, change?"""
