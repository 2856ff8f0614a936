"""Rankings and labels as columns: the one form in which data passes between the layers."""
