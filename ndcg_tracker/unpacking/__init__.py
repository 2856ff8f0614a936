"""How much a small file may become: compression and dictionaries let a few bytes promise gigabytes."""
