"""What do versions of labels and judges say, and what is to be judged next?"""
