"""The preparation of a fit, done again to other rows of the same columns and times, and undone beside them.

What was found at the fit is kept: means and deviations of columns and times. Those of a row are its own, as
they were at the fit, where no row had to do with another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tparafac2.data import Correction, FloatArray, Labels
from tparafac2.large import Stored
from tparafac2.preparing.adjustment import Adjustment
from tparafac2.preparing.in_blocks import PreparedSource
from tparafac2.preparing.preparation import Preparation
from tparafac2.preparing.steps import (
    ELEMENTWISE,
    deviations,
    largest,
    means,
    require_spread,
    transform_dense,
    transform_sparse,
    transform_steps,
    undo_transform,
)


class PreparedAgain(NamedTuple):
    """Values as those of the fit were prepared.

    Attributes
    ----------
    values : ndarray (K, I, J), or list of K sparse arrays (I, J)
    adjustment : Adjustment
        What was taken off and divided by; to sparse arrays it has still to be done, by `correction`.
    correction : Correction, optional
    """

    values: Any
    adjustment: Adjustment
    correction: Correction | None = None


def prepares(record: Mapping[str, Any] | None) -> bool:
    """Whether a record says that anything was done to the values.

    Examples
    --------
    >>> prepares(None), prepares(Preparation("sqrt").as_dict()), prepares(Preparation().as_dict())
    (False, True, False)
    """
    return record is not None and as_preparation(record) != Preparation()


def as_preparation(record: Mapping[str, Any]) -> Preparation:
    """What was done, without what was found.

    Examples
    --------
    >>> as_preparation({"transform": ["share", "sqrt"], "pseudocount": None, "center": None, "scale": None})
    Preparation(transform=('share', 'sqrt'), pseudocount=None, center=None, scale=None)
    """
    return Preparation(*(record[name] for name in ("transform", "pseudocount", "center", "scale")))


def prepare_again(record: Mapping[str, Any], stack: FloatArray, labels: Labels) -> PreparedAgain:
    """Prepare a stack (K, I, J) of other rows, NaN where missing.

    Examples
    --------
    >>> fitted = Preparation(center="columns").apply(np.array([[[1.0], [3.0]]])).as_dict()
    >>> prepare_again(fitted, np.array([[[7.0]]]), Labels()).values.tolist()
    [[[5.0]]]
    """
    done = as_preparation(record)
    values = transform_dense(stack, transform_steps(done.transform), done.pseudocount).values
    found = _kept(record)
    if done.center == "rows":
        found = replace(found, centers=means(values, "rows"))
    if done.scale == "rows":
        centred = replace(found, scales=None).apply(values)
        before = np.maximum(largest(values, "rows"), done.least_size)
        found = replace(found, scales=deviations(centred, "rows", before))
        require_spread(found.flat, "rows", labels)
    return PreparedAgain(found.apply(values), found)


def prepare_sparse_again(record: Mapping[str, Any], slices: Sequence[Any], labels: Labels) -> PreparedAgain:
    """Prepare sparse slices (I, J) of other rows, whose zeros are not filled in.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> made = prepare_sparse_again(Preparation("sqrt").as_dict(), [csr_array([[0.0, 4.0]])], Labels())
    >>> made.values[0].toarray().tolist()
    [[0.0, 2.0]]
    """
    done = as_preparation(record)
    values = transform_sparse(slices, transform_steps(done.transform)).values
    found = _kept(record)
    if done.center == "rows":
        found = replace(found, centers=Adjustment.of_sparse(values, "rows", None).centers)
    if done.scale == "rows":
        before = replace(found, scales=None).correction(values) or Correction()
        found = replace(found, scales=before.sizes(values, "rows"))
        require_spread(found.flat, "rows", labels)
    return PreparedAgain(values, found, found.correction(values))


class SourceAgain(PreparedSource):
    """An array whose rows are prepared as those of a fit were, when they are read."""

    def finished(self, stored: FloatArray, rows: slice) -> FloatArray:
        """Rows as they are stored, prepared; a block has the whole of each of its rows."""
        record = self._record
        made = prepare_again(record, stored.astype(np.float64, copy=False), Labels())
        return np.asarray(made.values)

    @property
    def _record(self) -> Mapping[str, Any]:
        found = self.adjustment
        return {
            "transform": self.steps or None,
            "pseudocount": self.pseudocount,
            "center": found.center,
            "scale": found.scale,
            "centers": found.centers,
            "scales": found.scales,
        }


def prepare_stored_again(record: Mapping[str, Any], stored: Stored) -> Stored:
    """Prepare what is larger than memory when it is read."""
    done = as_preparation(record)
    steps = transform_steps(done.transform)
    return stored.read_through(SourceAgain(stored.source, steps, done.pseudocount, _kept(record)))


def undo_beside(
    record: Mapping[str, Any], adjustment: Adjustment, fitted: FloatArray, given: FloatArray
) -> FloatArray:
    """Put fitted values in the units of given ones, whose missing entries they are to fill.

    Parameters
    ----------
    record : mapping
        How the data of the fit were prepared.
    adjustment : Adjustment
        What was taken off and divided by here: that of `prepare_again`.
    fitted : ndarray (K, I, J)
    given : ndarray (K, I, J)
        In the user's units, NaN where missing. Totals, which shares do not have, are those of which what was
        observed of a row at a time is its fitted share; the size of log-ratios is that of what was observed,
        in the mean of logarithms. NaN where nothing was.

    Examples
    --------
    >>> given = np.array([[[6.0, 3.0, np.nan]]])
    >>> record = Preparation("share").as_dict()
    >>> undo_beside(record, Adjustment(), np.array([[[0.5, 0.25, 0.25]]]), given).tolist()
    [[[6.0, 3.0, 3.0]]]
    """
    values = adjustment.undo(fitted)
    done = as_preparation(record)
    steps = transform_steps(done.transform)
    for place in reversed(range(len(steps))):
        if steps[place] in ELEMENTWISE:
            values = undo_transform(values, steps[place])
            continue
        before = transform_dense(given, steps[:place], None).values
        if steps[place] == "clr":
            values = _at_their_level(values, before, done.pseudocount or 0.0)
        else:
            shares = undo_transform(values, "share")
            values = shares * _totals(before, shares)
    return values


def _at_their_level(logs: FloatArray, given: FloatArray, added: float) -> FloatArray:
    """From log-ratios to values: those that were observed tell the mean logarithm, as it was taken off."""
    seen = ~np.isnan(given)
    above = np.log(np.where(seen, given + added, 1.0)) - logs
    count = seen.sum(axis=2, keepdims=True)
    level = np.sum(above, axis=2, keepdims=True, where=seen) / np.where(count > 0, count, np.nan)
    return np.asarray(np.maximum(np.exp(logs + level) - added, 0.0))


def _totals(given: FloatArray, shares: FloatArray) -> FloatArray:
    seen = ~np.isnan(given)
    there = np.sum(shares, axis=2, keepdims=True, where=seen)
    known = (there > 0) & seen.any(axis=2, keepdims=True)
    sums = np.sum(given, axis=2, keepdims=True, where=seen)
    return np.asarray(np.divide(sums, there, out=np.full_like(there, np.nan), where=known))


def _kept(record: Mapping[str, Any]) -> Adjustment:
    """What was found at the fit, but for rows, which were others."""
    own = {
        step: None if record[step] in ("rows", None) else np.asarray(record[numbers])
        for step, numbers in (("center", "centers"), ("scale", "scales"))
    }
    return Adjustment(record["center"], record["scale"], own["center"], own["scale"])
