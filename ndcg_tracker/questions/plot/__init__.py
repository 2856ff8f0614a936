"""What a command prints, as a picture."""
