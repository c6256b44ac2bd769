"""From the slices that were fitted back to all slices of the user, in the user's order."""

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Intake, lines_through


def all_times(
    intake: Intake,
    B: FloatArray,
    C: FloatArray,
    undetermined: NDArray[np.bool_],
    period: float | None,
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Patterns, strengths and flags of all slices.

    Of a slice without any observation the smoothest course is known: straight lines between its neighbours in
    time, or the last value at the ends.

    Parameters
    ----------
    intake : Intake
    B, C, undetermined : ndarrays (K', J, R), (K', R) and (K', R)
        Of the slices that were fitted, in the order of time.
    period : float, optional
        Time goes round.

    Returns
    -------
    tuple
        The same for all K slices.
    """
    clock, seen = intake.clock, list(intake.order)
    unseen = np.setdiff1d(np.arange(intake.n_times), seen)
    lines = lines_through(clock[seen], period)

    def complete(values: FloatArray) -> FloatArray:
        whole = np.empty((intake.n_times, *values.shape[1:]), dtype=values.dtype)
        whole[seen] = values
        whole[unseen] = lines.at(values, clock[unseen])
        return whole

    flags = np.ones((intake.n_times, C.shape[1]), dtype=bool)
    flags[seen] = undetermined
    return complete(B), complete(C), flags
