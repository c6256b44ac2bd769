"""The ground truth, the factors A, B and C of placed concepts, and the noisy data around it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.synthetic.concepts import Concept, Indices, PlacedConcept, WordSets, divide_words
from tparafac2.synthetic.recipe import Recipe

FloatArray = NDArray[np.float64]

_MEAN, _DEVIATION = 0.5, 0.5
"""Of the normal distribution of author loadings and word importances."""


class TrueFactors(NamedTuple):
    """Loadings A (I, R), patterns B (K, J, R) and strengths C (K, R)."""

    A: FloatArray
    B: FloatArray
    C: FloatArray


def build_factors(recipe: Recipe, rng: np.random.Generator) -> tuple[TrueFactors, tuple[PlacedConcept, ...]]:
    """Place the concepts of a recipe and draw their factors.

    Every concept has its own source of chance, so that changing one leaves the others as they are.
    """
    n_times, n_rows, n_columns = recipe.size
    rank = len(recipe.concepts)
    authors = np.array_split(np.arange(n_rows), rank)
    words = divide_words(n_columns, rank, recipe.overlap, rng)
    factors = TrueFactors(
        np.zeros((n_rows, rank)), np.zeros((n_times, n_columns, rank)), np.zeros((n_times, rank))
    )
    for r, (concept, own_rng) in enumerate(zip(recipe.concepts, rng.spawn(rank))):
        factors.A[authors[r], r] = _loadings(authors[r].size, own_rng)
        factors.C[:, r] = _strengths(concept, n_times, own_rng)
        activity = _activity(concept, words[r], (n_times, n_columns), own_rng)
        factors.B[:, :, r] = _patterns(activity, recipe.fresh_importances, own_rng)
    if recipe.enforce_parafac2:
        _keep_first_norms(factors.B)
    return factors, tuple(_place(*parts) for parts in zip(recipe.concepts, authors, words))


def _place(concept: Concept, authors: Indices, words: WordSets) -> PlacedConcept:
    indices = (tuple(part.tolist()) for part in (authors, words.initial, words.final))
    return PlacedConcept(concept.drift, concept.strength, *indices)


def _loadings(size: int, rng: np.random.Generator) -> FloatArray:
    loadings = np.zeros(size)
    while not loadings.any():  # a small group may be all negative: the concept would not exist
        loadings = np.maximum(rng.normal(_MEAN, _DEVIATION, size), 0)
    return loadings


def _strengths(concept: Concept, n_times: int, rng: np.random.Generator) -> FloatArray:
    values = np.asarray(concept.strength.values(n_times, rng), dtype=np.float64)
    if values.shape != (n_times,) or not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(
            f"{concept.strength!r} must give {n_times} finite values above 0, one per slice, "
            f"got an array of shape {values.shape}: {values}."
        )
    return values


def _activity(
    concept: Concept, words: WordSets, shape: tuple[int, int], rng: np.random.Generator
) -> FloatArray:
    initial, final = np.zeros((2, shape[1]), dtype=bool)
    initial[words.initial] = True
    final[words.final] = True
    activity = np.asarray(concept.drift.activity(initial, final, shape[0], rng), dtype=np.float64)
    if activity.shape != shape:
        problem = f"must give an array of shape {shape} (times, words), got {activity.shape}"
    elif not np.all((activity >= 0) & (activity <= 1)):
        problem = "must give values from 0 to 1, got others"
    elif activity[:, ~(initial | final)].any():
        problem = "may only use the initial and final words it was given, got others active"
    elif not activity.any(axis=1).all():
        problem = f"must keep a word active in every slice, got none in slice {activity.any(axis=1).argmin()}"
    else:
        return activity
    raise ValueError(f"{concept.drift!r} {problem}; correct its method activity.")


def _patterns(activity: FloatArray, fresh: bool, rng: np.random.Generator) -> FloatArray:
    used = activity.any(axis=0)
    n_draws = activity.shape[0] if fresh else 1
    patterns = activity.copy()
    patterns[:, used] *= _importances((n_draws, int(used.sum())), rng)
    return patterns


def _importances(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    values = rng.normal(_MEAN, _DEVIATION, shape)
    # Redrawn rather than set to zero: an active word stays visible and no pattern can be empty.
    while (negative := values <= 0).any():
        values[negative] = rng.normal(_MEAN, _DEVIATION, np.count_nonzero(negative))
    return values


def _keep_first_norms(B: FloatArray) -> None:
    """Rescale every pattern to its norm in the first slice; disjoint words keep the angles constant."""
    norms = np.linalg.norm(B, axis=1, keepdims=True)
    B *= norms[:1] / norms


def signal_slice(factors: TrueFactors, k: int, out: FloatArray | None = None) -> FloatArray:
    """Return the noiseless slice A diag(c_k) B_k', written to ``out`` if given."""
    return np.asarray(np.matmul(factors.A * factors.C[k], factors.B[k].T, out=out))


def _signal_norm(factors: TrueFactors) -> float:
    """Return the norm of the noiseless data without forming them."""
    patterns = (factors.B * factors.C[:, None, :]).reshape(-1, factors.C.shape[1])
    return float(np.sqrt(np.sum((patterns.T @ patterns) * (factors.A.T @ factors.A))))


def noisy_data(factors: TrueFactors, noise: float, rng: np.random.Generator, dtype: str) -> NDArray[Any]:
    """Return X + noise * ||X|| * Theta / ||Theta|| with Theta standard normal, as a (K, I, J) array.

    Theta is drawn where the result will stand, then scaled, and the signal is added slice by slice.
    """
    n_times, n_columns, _ = factors.B.shape
    data = np.zeros((n_times, factors.A.shape[0], n_columns), dtype=dtype)
    scale = noise * _signal_norm(factors) / _fill_normal(data, rng) if noise > 0 else 0.0
    signal = np.empty(data.shape[1:])
    for k, slice_ in enumerate(data):
        slice_ *= scale
        slice_ += signal_slice(factors, k, out=signal)
    return data


def _fill_normal(data: NDArray[Any], rng: np.random.Generator) -> float:
    """Fill ``data`` with standard normal draws and return their norm."""
    squares = 0.0
    for slice_ in data:
        rng.standard_normal(out=slice_, dtype=data.dtype.type)
        wide = slice_.astype(np.float64, copy=False)
        squares += float(np.vdot(wide, wide))
    return float(np.sqrt(squares))
