"""The noise of single entries: what a fit leaves of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, label_text, listed, padded, shown
from tparafac2.errors import InvalidValue
from tparafac2.large import Stored
from tparafac2.newdata.matching import as_data
from tparafac2.newdata.moments import moments_of
from tparafac2.newdata.seeing import Sight, see
from tparafac2.newdata.slices import Matched, match, read_slices
from tparafac2.preparing import Adjustment
from tparafac2.preparing.steps import transform_dense, transform_steps
from tparafac2.result import Result, require_fitted
from tparafac2.words import Argument

_OTHER = "X is not what was fitted"
_SHOWN = 3


class Noise(NamedTuple):
    """Variance of an entry: that of its row times that of its column, (I,) and (J,)."""

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]

    def deviations(self, rows: slice) -> NDArray[np.float64]:
        """Standard deviations of some rows, (I', J)."""
        return np.sqrt(self.rows[rows, None] * self.columns)


def known_noise(result: Result) -> Noise:
    """The same for all entries (by weight, where rows have weights), from the explained variance alone."""
    _, I, J = result.shape
    coverage = np.ones((len(result.C), J)) if result.coverage is None else result.coverage
    left = (1.0 - result.explained_variance) * result.terms.scale**2
    variance = max(left, 0.0) / max(float(coverage.sum()) * I, 1.0)
    weights = np.ones(I) if result.row_weights is None else result.row_weights
    return Noise(variance / np.maximum(weights, 1e-12), np.ones(J))


def measured_noise(result: Result, X: Any, dims: Mapping[str, Hashable] | None) -> tuple[Sight, Noise]:
    """What the loadings see of the data of a fit, in the order of time, and the noise of rows and columns."""
    found, stack = _data_of(result, X, dims)
    order = list(result.clock.order)
    squares = _squares(result, stack)[order]
    stack = stack[order]
    _require_fitted(result, stack, squares)
    seen = ~np.isnan(squares)
    whole = float(np.nanmean(squares)) or 1e-300
    rows, columns = (
        np.nansum(squares, axis=axes) / np.maximum(seen.sum(axis=axes), 1) for axes in ((0, 2), (0, 1))
    )
    sight = see(result, replace(found, stack=stack), None)
    return sight, Noise(np.asarray(rows), np.asarray(columns) / whole)


def data_of_fit(
    result: Result, X: Any, dims: Mapping[str, Hashable] | None = None, *, drop_unknown: bool = False
) -> FloatArray:
    """Give the data of a fit as it had them, (K, I, J): in its order, prepared, NaN where missing.

    Rows, columns and times are matched by their labels.

    Parameters
    ----------
    result : Result
    X, dims
        As in `fit`, prepared or as they were before.
    drop_unknown : bool
        Leave out columns that the model does not have, instead of refusing them.

    Raises
    ------
    ValueError
        If they are not what was fitted: the model explains more or less of them.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = np.random.default_rng(0).random((4, 6, 5))
    >>> data_of_fit(tp.CP(1, n_starts=1, random_state=0).fit(X).result_, X).shape
    (4, 6, 5)
    """
    _, stack = _data_of(result, X, dims, drop_unknown=drop_unknown)
    _require_fitted(result, stack, _squares(result, stack))
    return stack


def _squares(result: Result, stack: FloatArray) -> FloatArray:
    """What the model leaves of each entry, squared."""
    B = np.asarray(padded(result.B, fill=0.0))
    fitted: FloatArray = np.einsum("ir,kr,kjr->kij", result.A, result.C, B, optimize=True)
    return np.square(stack - fitted)


def _data_of(
    result: Result, X: Any, dims: Mapping[str, Hashable] | None, *, drop_unknown: bool = False
) -> tuple[Matched, FloatArray]:
    """The data of the fit, in the order of its times and prepared as they were then."""
    X, prepared = as_data(result, X)
    if isinstance(X, Stored):
        raise InvalidValue(Argument("X"), " is read in blocks of rows, and is needed in memory here.")
    given = read_slices(X, dims, result.labels.names)
    K = len(result.C)
    if len(given.pieces) != K:
        raise InvalidValue(
            Argument("X"), f" must be the data of the model, which has {K} times; got {len(given.pieces)}."
        )
    fitted = K - len((result.appended or {}).get("squares", ()))
    # A fit takes what a long table lacks as the table says; rows are missing only where it was appended.
    pieces = [given.pieces[place] for place in _places(result, given.times)]
    pieces = [piece._replace(observed=None) for piece in pieces[:fitted]] + pieces[fitted:]
    found = match(pieces, result, may_enter=True, sparse=False)
    if found.n_new and found.columns is not None and not drop_unknown:
        strange = listed(map(shown, found.columns[-found.n_new :]), _SHOWN)
        raise InvalidValue(
            f"{_OTHER}: it has columns that the model does not have ({strange}): leave these out."
        )
    stack: FloatArray = np.asarray(found.stack)[:, :, : result.shape[2]]
    if result.coverage is not None:  # a column that has entered since may have values that no fit saw
        stack = np.where((result.coverage == 0)[:, None, :], np.nan, stack)
    record = None if prepared else result.preparation
    if record is None:
        return found, stack
    stack = transform_dense(stack, transform_steps(record["transform"]), record["pseudocount"]).values
    numbers = [None if record[name] is None else np.asarray(record[name]) for name in ("centers", "scales")]
    return found, Adjustment(record["center"], record["scale"], *numbers).apply(stack)


def _places(result: Result, times: NDArray[Any] | None) -> list[int]:
    """Where the times of the model are among those that the data state; as they come where these do not."""
    K, own = len(result.C), result.labels.time
    if times is None:
        return list(range(K))
    stated: list[tuple[list[Any], list[Any]]] = []
    if own is not None:
        stated.append((list(map(label_text, times)), list(map(label_text, own))))
    if (values := moments_of(result, times)) is not None:
        stated.append((values.tolist(), result.clock.times.tolist()))
    for here, there in stated:
        if sorted(here) == sorted(there):
            return [here.index(one) for one in there]
    if not stated:
        return list(range(K))
    both = [list(map(label_text, some)) for some in (times, result.labels.coordinate("time", K))]
    # What they have in common tells nothing, unless it is all.
    apart = [[one for one in some if one not in set(rest)] for some, rest in (both, both[::-1])]
    told = [listed(some, _SHOWN) for some in (apart if all(apart) else both)]
    raise InvalidValue(f"{_OTHER}: it has the times {told[0]}, and the model {told[1]}.")


def _require_fitted(result: Result, stack: FloatArray, squares: FloatArray) -> None:
    """Refuse data of which the model does not explain as much as of its own."""
    if result.weighting is not None and result.weighting["by"] == "entries":  # which results do not keep
        return
    weights = np.ones(len(result.A)) if result.row_weights is None else result.row_weights
    left, whole = (float(np.nansum(weights[:, None] * one)) for one in (squares, np.square(stack)))
    require_fitted(result, 1.0 - left / whole if whole > 0 else 0.0)
