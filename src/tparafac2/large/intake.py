"""The door for data larger than memory: looked at once, and then fitted block by block."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tparafac2.data import Intake
from tparafac2.data.intake import float_type
from tparafac2.data.times import read_times
from tparafac2.large.blocked import BlockedData, BlockedObservedData
from tparafac2.large.blocks import Reads, Recipe
from tparafac2.large.stored import Stored
from tparafac2.large.survey import survey


def take_stored(
    stored: Stored,
    *,
    dtype: DTypeLike | None = None,
    times: Any = None,
    bridge: bool = True,
    watch: Callable[[Reads], object] | None = None,
) -> Intake:
    """Turn an array that stays where it is into what the solver works on, with one pass over it.

    Parameters
    ----------
    stored : Stored
    dtype : "float64" or "float32", optional
        Type to compute in; float64 unless given.
    times : sequence of numbers or dates, "even", or None
        When the slices were taken; None takes the labels where they are numbers or dates.
    bridge : bool
        Whether a column that was not observed at some time is thought to have been there all the same.
    watch : callable, optional
        Called after every block of the first pass.

    Returns
    -------
    Intake

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     X = np.memmap(file, dtype="float32", mode="w+", shape=(2, 3, 4))
    ...     X[...] = 1.0
    ...     take_stored(Stored(X)).data.shape
    (2, 3, 4)
    """
    K, I, J = stored.shape
    clock = read_times(times, stored.labels.time, K)
    raw = stored.blocks()
    raw.reads.watch = None if watch is None else partial(watch, raw.reads)
    seen = survey(raw, stored.labels)
    when = np.arange(K, dtype=np.float64) if clock is None else clock
    observed = np.ones(K, dtype=bool) if seen.coverage is None else np.asarray(seen.coverage.any(axis=1))
    order = tuple(k for k in np.argsort(when).tolist() if observed[k])
    if len(order) < K and clock is None:
        clock = when
    cover = None if seen.coverage is None else seen.coverage[list(order)]
    present = None if cover is None or bridge else cover > 0
    held = np.dtype(float_type(dtype)).name
    recipe = Recipe(seen.norm, held, order, cover is None, present)
    blocks = raw.remade(recipe)
    shape = (len(order), I, J)
    data = (
        BlockedData(blocks, shape, recipe, seen.negative_share)
        if cover is None
        else BlockedObservedData(blocks, shape, recipe, seen.negative_share, cover)
    )
    return Intake(data, stored.labels, clock, order, seen.coverage, budget=stored.budget)
