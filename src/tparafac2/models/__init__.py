"""The estimators."""

from tparafac2.models.conventions import ConvergenceWarning, NotFittedError
from tparafac2.models.estimators import CP, MODELS, Decomposition, Parafac2, TemporalCMF, TParafac2
from tparafac2.models.saved import load

__all__ = [
    "CP",
    "MODELS",
    "ConvergenceWarning",
    "Decomposition",
    "NotFittedError",
    "Parafac2",
    "TParafac2",
    "TemporalCMF",
    "load",
]
