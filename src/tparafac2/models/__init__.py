"""The estimators."""

from tparafac2.fitting import ConvergenceWarning
from tparafac2.models.base import Decomposition
from tparafac2.models.conventions import NotFittedError
from tparafac2.models.estimators import CP, MODELS, Parafac2, TemporalCMF, TParafac2, load

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
