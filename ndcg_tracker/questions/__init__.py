"""One folder per question: what it gathers, what it decides, what it says, and its command."""
