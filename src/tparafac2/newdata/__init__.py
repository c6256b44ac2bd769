"""What a fit says of data that it has not seen: new rows, and entries that are missing."""

from tparafac2.newdata.completing import Completion

__all__ = ["Completion"]
