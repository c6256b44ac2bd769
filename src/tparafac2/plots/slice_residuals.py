"""How much of every slice the model leaves unexplained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import Correction, Table, listed
from tparafac2.plots.figures import canvas
from tparafac2.plots.style import line_look, open_frame
from tparafac2.plots.subject import as_result
from tparafac2.plots.time_axis import draw_time, hatch_spans, time_axis, time_stretches
from tparafac2.preparing import Prepared
from tparafac2.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MANY = 60
_OTHER_DATA = 1e-3  # rounding is far below


def residuals(model: object, X: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the share of every slice's sum of squares that the model does not explain.

    0 is a perfect fit, 1 no better than zero. The dotted line is the share over all slices. Missing entries
    are left out; slices without any entry are hatched.

    Parameters
    ----------
    model : fitted model or Result
    X : ndarray (K, I, J), list of K arrays or sparse matrices, xarray.DataArray, Table, or Prepared
        The data that the model was fitted to, prepared as they were then.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, which is the result's ``figure``.

    Returns
    -------
    matplotlib Axes
        The shares are the data of its first line, in the order of time.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20, noise=0.0)
    >>> model = tp.Parafac2(rank=3, n_starts=2, random_state=0).fit(data.X)
    >>> bool(tp.plots.residuals(model, data.X).lines[0].get_ydata().max() < 0.01)
    True
    """
    result = as_result(model)
    errors, sizes = _squares(result, X.data if isinstance(X, Prepared) else X)
    axis = time_axis(result)
    shares = _share(errors, sizes)[axis.order]
    overall = float(_share(errors.sum(keepdims=True), sizes.sum(keepdims=True))[0])
    if result.preparation is not None and abs(1 - result.explained_variance - overall) > _OTHER_DATA:
        raise ValueError(
            f"X is not what the model was fitted to, of which it left {1 - result.explained_variance:.3g} "
            f"unexplained, and of this {overall:.3g}: give the data prepared as they were for the fit."
        )
    with canvas(ax, 12, 5.5) as target:
        colour = line_look(0)["color"]
        target.plot(
            axis.positions, shares, ls="none", marker="o", ms=3 if len(shares) <= _MANY else 1.5, color=colour
        )
        target.vlines(axis.positions, 0, shares, color=colour, lw=1.0, alpha=0.6)
        target.axhline(overall, color="0.4", lw=0.8, ls=":")
        hatch_spans(target, time_stretches(axis), np.isnan(shares))
        draw_time(target, axis)
        if np.isnan(shares).any():
            target.set_xlabel(f"{axis.name}\nhatched: nothing to explain")
        target.set_ylim(bottom=0)
        target.set_ylabel("Share not explained")
        target.set_title(f"{overall:.3g} over all slices (dotted)", loc="left")
        open_frame(target)
    return target


def _squares(result: Result, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of squared residuals and of squared data of every slice, over what was observed."""
    pairs = []
    for piece, strength, pattern in zip(data_slices(X, result), result.C, result.B):
        seen = ~np.isnan(piece)
        data, model = piece[seen], ((result.A * strength) @ pattern.T)[seen]
        scale = float(np.abs(data).max(initial=0.0)) or 1.0  # squares of large numbers would overflow
        pairs.append((scale, np.sum(((data - model) / scale) ** 2), np.sum((data / scale) ** 2)))
    scales, errors, sizes = np.array(pairs).T
    weights = (scales / scales.max()) ** 2
    return errors * weights, sizes * weights


def _share(errors: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(sizes > 0, errors / np.where(sizes > 0, sizes, 1.0), np.nan)


def data_slices(X: Any, result: Result) -> Iterator[NDArray[np.float64]]:
    """Give the slices (I, J_k) of X, in the order of the result, NaN where an entry is missing.

    Sparse slices become dense one at a time. Data that do not have the shape of what was fitted are refused.
    """
    pieces = _pieces(X, result)
    expected = [(len(result.A), width) for width in result.widths]
    received = [tuple(piece.shape) if hasattr(piece, "shape") else np.shape(piece) for piece in pieces]
    if received != expected:
        raise ValueError(
            f"X has {len(received)} slices of shape {listed(dict.fromkeys(received))}, but the model was "
            f"fitted to {len(expected)} of shape {listed(dict.fromkeys(expected))}: give the same data."
        )
    return (_dense(piece) for piece in pieces)


def _pieces(X: Any, result: Result) -> list[Any]:
    if isinstance(X, Table):
        if X.correction is not None:
            return [_Corrected(X.correction, piece, k) for k, piece in enumerate(X.stored_slices())]
        return X.slices()
    if hasattr(X, "dims") and hasattr(X, "transpose"):
        names = result.labels.names
        wanted = [names["time"], names["rows"], names["columns"]]
        if sorted(wanted) != sorted(map(str, X.dims)):
            raise ValueError(
                f"X has the dimensions {listed(X.dims)}, but the model was fitted to {listed(wanted)}: "
                "give the same data."
            )
        return list(X.transpose(*wanted).values)
    if isinstance(X, str) or not isinstance(X, Iterable):
        raise TypeError(f"X must be the data that the model was fitted to; got {type(X).__name__}.")
    return list(X)


class _Corrected(NamedTuple):
    """A sparse slice that is centred or scaled when it is its turn."""

    correction: Correction
    stored: Any
    k: int

    @property
    def shape(self) -> tuple[int, int]:
        I, J = self.stored.shape
        return I, J

    def toarray(self) -> NDArray[np.float64]:
        return self.correction.dense(self.stored, self.k)


def _dense(piece: Any) -> NDArray[np.float64]:
    if hasattr(piece, "toarray"):
        piece = piece.toarray()
    if isinstance(piece, np.ma.MaskedArray):
        piece = np.where(np.ma.getmaskarray(piece), np.nan, piece.data)
    return np.asarray(piece, dtype=np.float64)
