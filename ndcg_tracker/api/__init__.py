"""The public interface: the tracker, and functions that need no database."""
