"""How far products with the data can be trusted, which are as precise as the data are held.

Loadings, strengths and all small matrices are float64 whatever the data are; only the right-hand sides of
their systems come from the data, rounded.
"""

from typing import Any, NamedTuple

import numpy as np


class Precision(NamedTuple):
    """What rounding asks of the solver."""

    lift: float  # share of its trace that every system gets on its diagonal, against rounded right-hand sides
    cancellation: float  # share of ||X||^2 below which squared errors come from the differences themselves
    exact_fit: float  # objectives below this share of ||X||^2 are compared with it instead of with themselves
    collinear: float  # pivot, relative to the diagonal, below which cross products are not trusted
    farthest: float  # squared norm of a component in one mode, up to which scale may be moved there


def precision_of(dtype: np.dtype[Any]) -> Precision:
    """What holds for data of this type.

    Examples
    --------
    >>> precision_of(np.dtype("float64")).lift, precision_of(np.dtype("float32")).lift
    (1e-15, 1e-06)
    """
    collinear = 0.1 * float(np.sqrt(np.finfo(dtype).eps))
    if dtype == np.float32:
        return Precision(1e-6, 1e-2, 1e-4, collinear, 1e24)
    return Precision(1e-15, 1e-6, 1e-12, collinear, 1e40)
