"""The output of commands as pictures."""
