"""A first look at all entries, block by block: their norm, what is missing, and what cannot be used."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Labels
from tparafac2.data.checks import require_ordinary, require_seen
from tparafac2.data.interface import negative_squares
from tparafac2.data.norms import frobenius_norm
from tparafac2.large.blocks import Blocks

_PLAIN = 1e-200, 1e200  # sums of squares that nothing was lost of


class Look(NamedTuple):
    """What was seen of one block.

    Attributes
    ----------
    norm : float
        Of what was observed.
    negative : float
        Share of its square that is of negative entries.
    rows : ndarray of bool (i,)
        Of which rows anything was observed.
    infinite : (n, k, i, j), optional
        How many entries are infinite, and where the first one is.
    """

    norm: float
    negative: float
    rows: NDArray[np.bool_]
    infinite: tuple[int, int, int, int] | None = None


def look(stored: NDArray[Any], shared: None, own: None) -> tuple[Look, tuple[NDArray[np.int64], ...]]:
    """Look at one block (K, i, J); what is summed is how many rows were observed of each column (K, J)."""
    K, i, J = stored.shape
    everything = np.full((K, J), i), np.ones(i, dtype=bool)
    squares, below = _sums_of_squares(stored)
    if _PLAIN[0] < squares < _PLAIN[1]:  # false of NaN
        return Look(math.sqrt(squares), below / squares, everything[1]), (everything[0],)
    norm = frobenius_norm(list(stored))
    if math.isfinite(norm):
        return Look(norm, _negative(stored, norm), everything[1]), (everything[0],)
    infinite = np.isinf(stored)
    if infinite.any():
        k, row, j = np.argwhere(infinite)[0]
        n = int(np.count_nonzero(infinite))
        return Look(norm, 0.0, everything[1], (n, int(k), int(row), int(j))), (everything[0],)
    seen = ~np.isnan(stored)
    known = np.where(seen, stored, 0.0)
    norm = frobenius_norm(list(known))
    return Look(norm, _negative(known, norm), seen.any(axis=(0, 2))), (seen.sum(axis=1),)


def _sums_of_squares(stored: NDArray[Any]) -> tuple[float, float]:
    """Of all entries, and of the negative ones: not finite where any entry is not, or squares overflow."""
    total = below = 0.0
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for piece in stored:
            values = piece.astype(np.float64).ravel()
            total += float(values @ values)
            if values.min() < 0:
                np.minimum(values, 0.0, out=values)
                below += float(values @ values)
    return total, below


def _negative(stored: NDArray[Any], norm: float) -> float:
    if norm == 0.0 or not (stored < 0).any():
        return 0.0
    return sum(negative_squares(np.divide(piece, norm, dtype=np.float64)) for piece in stored)


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of all entries.

    Attributes
    ----------
    norm : float
    negative_share : float
    coverage : ndarray (K, J), optional
        Share of the rows that was observed; None if nothing is missing.
    """

    norm: float
    negative_share: float
    coverage: NDArray[np.float64] | None


def survey(blocks: Blocks, labels: Labels) -> Survey:
    """Look at all entries in one pass; refuse what cannot be decomposed.

    Parameters
    ----------
    blocks : Blocks
        Of entries as they are stored.
    labels : Labels
    """
    looks, (counts,) = blocks.run(look, None, [None] * len(blocks.edges))
    _require_finite(looks, blocks.edges)
    rows = np.concatenate([one.rows for one in looks])
    require_seen(rows, counts.any(axis=0), labels)
    norm = math.hypot(*(one.norm for one in looks))
    if norm == 0.0:
        raise ValueError("every entry of X is zero: there is nothing to find. Check how X was made.")
    require_ordinary(norm)
    negative = sum(one.negative * (one.norm / norm) ** 2 for one in looks)
    complete = bool((counts == len(rows)).all())
    return Survey(norm, negative, None if complete else counts / len(rows))


def _require_finite(looks: Sequence[Look], edges: Sequence[slice]) -> None:
    for b, (one, edge) in enumerate(zip(looks, edges)):
        if one.infinite is not None:
            n, k, row, j = one.infinite
            raise ValueError(
                f"X has {n} infinite values in block {b + 1} of {len(edges)} (rows {edge.start} to "
                f"{edge.stop - 1}), the first in slice {k}, row {edge.start + row}, column {j} (counted from "
                "0): replace them by finite numbers, or by NaN if they are missing."
            )
