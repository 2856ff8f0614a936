"""Two runs against each other, the core of the questions: gathered, paired, inferred, said."""
