"""Shapes of arrays: as agreed for the products, and one for pieces of different lengths."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.data.interface import FloatArray


def require_tail(name: str, array: FloatArray, tail: tuple[int, ...]) -> None:
    """Refuse an array that is not of shape (n, R, *tail).

    Examples
    --------
    >>> import numpy as np
    >>> require_tail("At", np.ones((2, 3, 5)), (5,))
    """
    if array.ndim != 2 + len(tail) or array.shape[2:] != tail:
        expected = ", ".join(map(str, ("n", "R", *tail)))
        raise ValueError(f"{name} must have shape ({expected}); got {array.shape}.")


def output_array(out: FloatArray | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> FloatArray:
    """The caller's array, if it can be filled in place; a new one where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> output_array(None, (2, 3), np.dtype(np.float32)).dtype
    dtype('float32')
    """
    if out is None:
        return np.empty(shape, dtype=dtype)
    if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous:
        raise ValueError(
            f"out must be a C-contiguous {dtype} array of shape {shape}; "
            f"got {out.dtype}, shape {out.shape}, C-contiguous: {out.flags.c_contiguous}."
        )
    return out


def padded(
    pieces: NDArray[Any] | Sequence[NDArray[Any]], width: int | None = None, *, fill: float = np.nan
) -> NDArray[Any]:
    """Stack pieces (J_k, ...) of different lengths as one array (K, width, ...), filled up behind their ends.

    They are as long as the longest one if no width is given. What is one array already is given back.

    Examples
    --------
    >>> padded([np.array([1.0]), np.array([2.0, 3.0])])
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    if isinstance(pieces, np.ndarray):
        return pieces
    longest = max(map(len, pieces)) if width is None else width
    stack = np.full((len(pieces), longest, *pieces[0].shape[1:]), fill, dtype=np.result_type(*pieces))
    for target, piece in zip(stack, pieces):
        target[: len(piece)] = piece
    return stack
