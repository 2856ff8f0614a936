"""Facts and their sentences, numbers and quoting, which every layer uses."""
