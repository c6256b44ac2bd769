"""Find patterns that change in time."""

__version__ = "0.1.0"
