"""Slices that come after those of a fit, prepared as these were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tparafac2.data import FloatArray, Labels, Mode
from tparafac2.preparing.steps import (
    deviations,
    largest,
    means,
    require_spread,
    spread_out,
    transform_dense,
    transform_steps,
)


class Further(NamedTuple):
    """Prepared slices, and the record of how all slices were prepared, old and new."""

    stack: FloatArray
    record: Mapping[str, Any] | None


def is_plain(record: Mapping[str, Any] | None) -> bool:
    """Whether nothing was done to the data."""
    return record is None or not (transform_steps(record["transform"]) or record["center"] or record["scale"])


def by_entry(record: Mapping[str, Any] | None) -> bool:
    """Whether what was done keeps zeros, so that sparse slices stay sparse."""
    if record is None:
        return True
    return not (record["center"] or record["scale"] or "clr" in transform_steps(record["transform"]))


def prepare_further(record: Mapping[str, Any] | None, stack: FloatArray) -> Further:
    """Prepare further slices with the means and deviations of the fit.

    Each time has a mean of its own, and so have columns that were not there before: they are those of the
    further slices.

    Parameters
    ----------
    record : mapping, optional
        As `Prepared.as_dict` gives it; None: nothing was done.
    stack : ndarray (m, I, J)
        NaN where missing. Columns that were not there before come after all others.

    Examples
    --------
    >>> from tparafac2.preparing import Preparation
    >>> record = Preparation(center="columns").apply(np.array([[[1.0, 4.0]], [[3.0, 4.0]]])).as_dict()
    >>> further = prepare_further(record, np.array([[[5.0, 5.0, 7.0]]]))
    >>> further.stack.tolist(), further.record["centers"]
    ([[[3.0, 1.0, 0.0]]], [2.0, 4.0, 7.0])
    """
    if record is None or is_plain(record):
        return Further(stack, record)
    stack = transform_dense(stack, transform_steps(record["transform"]), record["pseudocount"]).values
    kept = dict(record)
    center, scale = record["center"], record["scale"]
    size = 1.0 if "clr" in transform_steps(record["transform"]) else 0.0
    before = None if scale is None else np.maximum(largest(stack, scale), size)
    if center is not None:
        centers, kept["centers"] = _numbers(record["centers"], means(stack, center), center)
        stack = stack - spread_out(centers, center)
    if scale is not None and before is not None:
        found = deviations(stack, scale, before)
        scales, kept["scales"] = _numbers(record["scales"], found, scale)
        require_spread(scales == 0, scale, Labels())
        stack = stack / spread_out(scales, scale)
    return Further(stack, kept)


def _numbers(known: list[float], found: FloatArray, mode: Mode) -> tuple[FloatArray, list[float]]:
    """What the further slices are prepared with, and all numbers for the record."""
    if mode == "time":
        return found, [*known, *found.tolist()]
    numbers = np.append(np.asarray(known, dtype=np.float64), found[len(known) :])
    return numbers, numbers.tolist()
