"""Facts and their sentences, numbers and quoting: the ground that every layer stands on."""
