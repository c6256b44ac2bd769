"""What a fit gives back, and how it is looked at, kept and read again."""

from tparafac2.result.evaluation import Evaluation
from tparafac2.result.files import load_result
from tparafac2.result.method import Method
from tparafac2.result.observation import Clock
from tparafac2.result.record import NormalisedFactors, Result
from tparafac2.result.terms import LostTerm, Terms

__all__ = ["Clock", "Evaluation", "LostTerm", "Method", "NormalisedFactors", "Result", "Terms", "load_result"]
