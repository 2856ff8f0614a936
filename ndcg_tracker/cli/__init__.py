"""The command line ``ndcg-track``: one module per family of commands, each thin."""
