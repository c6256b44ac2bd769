"""Penalties and constraints: what is asked of loadings, patterns and strengths beside the fit."""

from tparafac2.penalties.abilities import (
    Constraint,
    asks_for,
    can_rotate,
    continued,
    distance_weights,
    ignore_sign,
    is_temporal,
    on_clock,
    rescaled,
    softens,
    violation,
)
from tparafac2.penalties.base import Bands, Penalty, Quadratic, missing_attributes
from tparafac2.penalties.check import PenaltyError, check_penalty
from tparafac2.penalties.sparsity import L1
from tparafac2.penalties.terms import NonNegative, Parafac2, Ridge, SoftParafac2, Static, TemporalSmoothness

__all__ = [
    "L1",
    "Bands",
    "NonNegative",
    "Parafac2",
    "Penalty",
    "PenaltyError",
    "Quadratic",
    "Ridge",
    "SoftParafac2",
    "Static",
    "TemporalSmoothness",
    "check_penalty",
    "missing_attributes",
]
