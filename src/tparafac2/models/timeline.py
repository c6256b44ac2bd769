"""From the slices that were fitted back to all slices of the user, in the user's order."""

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import FloatArray, Intake


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
    known = clock[seen]
    weights = np.zeros((intake.n_times, len(seen)))
    weights[seen, np.arange(len(seen))] = 1.0
    unseen = np.setdiff1d(np.arange(intake.n_times), seen)
    for k in unseen:
        weights[k] = _between(float(clock[k]), known, period)
    flags = np.ones((intake.n_times, C.shape[1]), dtype=bool)
    flags[seen] = undetermined
    exact_B = np.einsum("kl,ljr->kjr", weights, B)
    exact_B[seen] = B  # to the last digit
    exact_C = weights @ C
    exact_C[seen] = C
    return exact_B, exact_C, flags


def _between(t: float, known: NDArray[np.float64], period: float | None) -> NDArray[np.float64]:
    """Weights of the known times (increasing) in a straight line through t."""
    places = np.arange(len(known))
    if period is not None:  # the last one comes before the first, and the first after the last
        known = np.concatenate([known[-1:] - period, known, known[:1] + period])
        places = np.concatenate([places[-1:], places, places[:1]])
    after = int(np.clip(np.searchsorted(known, t), 0, len(known) - 1))
    before = max(after - 1, 0)
    weights = np.zeros(places.max() + 1)
    if t >= known[-1] or after == before:
        weights[places[after]] = 1.0
        return weights
    share = (t - known[before]) / (known[after] - known[before])
    weights[places[before]] += 1.0 - share
    weights[places[after]] += share
    return weights
