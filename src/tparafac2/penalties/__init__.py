"""Penalties and constraints: what is asked of loadings, patterns and strengths beside the fit."""

from tparafac2.penalties.abilities import (
    Constraint,
    asks_for,
    can_rotate,
    continued,
    coupled_value,
    distance_weights,
    holds_zero,
    ignore_sign,
    is_set,
    is_temporal,
    joins_rows,
    keep_sign,
    on_clock,
    on_scale,
    rescaled,
    size_weight,
    softens,
    violation,
)
from tparafac2.penalties.along_columns import GeneralisedRidge, TotalVariation, laplacian
from tparafac2.penalties.base import Bands, Pace, Paced, Penalty, Quadratic, missing_attributes
from tparafac2.penalties.check import PenaltyError, check_penalty
from tparafac2.penalties.proximal import links_of, squared_steps
from tparafac2.penalties.requirements import FEASIBLE
from tparafac2.penalties.sets import Box, NormBall, Simplex, Unimodal
from tparafac2.penalties.sparsity import L1
from tparafac2.penalties.sudden import SuddenChanges
from tparafac2.penalties.terms import NonNegative, Parafac2, Ridge, SoftParafac2, Static, TemporalSmoothness

__all__ = [
    "L1",
    "Bands",
    "Box",
    "GeneralisedRidge",
    "NonNegative",
    "NormBall",
    "Pace",
    "Paced",
    "Parafac2",
    "Penalty",
    "PenaltyError",
    "Quadratic",
    "Ridge",
    "Simplex",
    "SoftParafac2",
    "Static",
    "SuddenChanges",
    "TemporalSmoothness",
    "TotalVariation",
    "Unimodal",
    "check_penalty",
    "laplacian",
    "missing_attributes",
]
