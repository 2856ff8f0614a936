"""One folder per question: the data that it gathers, its decision, its words, and its command."""
