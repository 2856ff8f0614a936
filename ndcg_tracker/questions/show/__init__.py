"""What is this one run?"""
