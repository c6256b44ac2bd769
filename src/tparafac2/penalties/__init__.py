"""Penalties and constraints: what is asked of loadings, patterns and strengths beside the fit."""

from tparafac2.penalties.abilities import (
    Constraint,
    asks_for,
    can_rotate,
    continued,
    coupled_value,
    distance_weights,
    ignore_sign,
    is_temporal,
    on_clock,
    rescaled,
    softens,
    violation,
)
from tparafac2.penalties.base import Bands, Pace, Paced, Penalty, Quadratic, missing_attributes
from tparafac2.penalties.check import PenaltyError, check_penalty
from tparafac2.penalties.proximal import links_of, squared_steps
from tparafac2.penalties.sudden import SuddenChanges
from tparafac2.penalties.terms import NonNegative, Parafac2, Ridge, SoftParafac2, Static, TemporalSmoothness

__all__ = [
    "Bands",
    "NonNegative",
    "Pace",
    "Paced",
    "Parafac2",
    "Penalty",
    "PenaltyError",
    "Quadratic",
    "Ridge",
    "SoftParafac2",
    "Static",
    "SuddenChanges",
    "TemporalSmoothness",
    "check_penalty",
    "missing_attributes",
]
