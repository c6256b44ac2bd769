"""What a fit gives back, and how it is looked at, kept and read again."""

from tparafac2.result.agreement import faults
from tparafac2.result.evaluation import Evaluation
from tparafac2.result.files import load_result
from tparafac2.result.findings import ENDINGS, Finding, Kind, Severity, static, vanished
from tparafac2.result.method import Method
from tparafac2.result.observation import Clock, strengths, weak
from tparafac2.result.parameters import GIVEN_FACTORS
from tparafac2.result.record import NormalisedFactors, Result
from tparafac2.result.terms import LostTerm, Terms
from tparafac2.result.wording import notes, sentence

__all__ = [
    "Clock",
    "Evaluation",
    "Finding",
    "Kind",
    "LostTerm",
    "Method",
    "NormalisedFactors",
    "Result",
    "Severity",
    "Terms",
    "load_result",
    "sentence",
]
