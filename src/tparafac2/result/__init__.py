"""What a fit gives back, and how it is looked at, kept and read again."""

from tparafac2.result.files import load_result
from tparafac2.result.record import NormalisedFactors, Result

__all__ = ["NormalisedFactors", "Result", "load_result"]
