"""What is asked of the numbers that terms are made with, and when a point counts as lying on a set."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

FEASIBLE = 1e-6
"""Relative violation up to which a point counts as lying on a constraint set."""


def indicator(violation: float) -> float:
    """Give 0.0 on a set, up to rounding, and inf outside.

    Examples
    --------
    >>> indicator(1e-9), indicator(0.1)
    (0.0, inf)
    """
    return 0.0 if violation <= FEASIBLE else math.inf


def require_number(owner: str, name: str, given: object) -> float:
    """Give a number; refuse what is none, and NaN.

    Examples
    --------
    >>> require_number("Box", "upper", 1)
    1.0
    """
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(f"{owner}: {name} must be a number, got {given!r}.")
    if math.isnan(given):
        raise ValueError(f"{owner}: {name} must be a number, got {given}.")
    return float(given)


def require_weight(owner: str, **parameters: object) -> None:
    """Refuse weights that are not finite, or below zero.

    Examples
    --------
    >>> require_weight("Ridge", strength=-1.0)
    Traceback (most recent call last):
    ValueError: Ridge: strength must be finite and at least 0, got -1.0.
    """
    for name, given in parameters.items():
        if isinstance(given, bool) or not isinstance(given, Real):
            raise TypeError(f"{owner}: {name} must be a number, got {given!r}.")
        if not (math.isfinite(given) and float(given) >= 0):
            raise ValueError(f"{owner}: {name} must be finite and at least 0, got {given}.")


def require_positive(owner: str, **parameters: object) -> None:
    """Refuse numbers that are not finite, or not above zero.

    Examples
    --------
    >>> require_positive("NormBall", radius=0.0)
    Traceback (most recent call last):
    ValueError: NormBall: radius must be finite and above 0, got 0.0.
    """
    for name, given in parameters.items():
        number = require_number(owner, name, given)
        if not (math.isfinite(number) and number > 0):
            raise ValueError(f"{owner}: {name} must be finite and above 0, got {given}.")


def require_square_matrix(owner: str, name: str, given: Any) -> Any:
    """Give a square matrix of finite numbers, dense (and not to be written to) or in sparse rows.

    Examples
    --------
    >>> require_square_matrix("GeneralisedRidge", "matrix", [[1, 0], [0, 1]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if hasattr(given, "tocsr"):
        from scipy.sparse import csr_array

        matrix = csr_array(given, dtype=np.float64)
        values = matrix.data
    else:
        try:
            matrix = values = np.array(given, dtype=np.float64)
        except (TypeError, ValueError) as wrong:
            kind = type(given).__name__
            raise TypeError(f"{owner}: {name} must be a matrix of numbers, got {kind}.") from wrong
        matrix.setflags(write=False)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ValueError(f"{owner}: {name} must be a square matrix, got shape {matrix.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{owner}: {name} holds NaN or infinity: give finite numbers.")
    return matrix
