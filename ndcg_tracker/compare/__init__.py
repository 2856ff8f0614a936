"""The comparison of two runs, which all questions use: gather results, pair them, test them, report them."""
