"""The ground truth, the factors A, B and C of placed concepts, and the noisy data around it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tparafac2.synthetic.recipe import MIN_SET, Concept, Recipe

FloatArray = NDArray[np.float64]
Indices = NDArray[np.int_]

_MEAN, _DEVIATION = 0.5, 0.5
"""Of the normal distribution of author loadings and word importances."""

_UNEVENNESS = 0.2
"""How far a random split may lie from the middle: the smaller set has 40 % of the words or more."""


@dataclass(frozen=True)
class PlacedConcept(Concept):
    """A concept with the rows and columns it was given in a data set.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> concept = easy(seed=0).concepts[0]
    >>> len(concept.authors), min(concept.initial_words)
    (50, 0)
    """

    authors: tuple[int, ...]
    initial_words: tuple[int, ...]
    final_words: tuple[int, ...]


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


class WordSets(NamedTuple):
    """Indices of the words a concept begins and ends with."""

    initial: Indices
    final: Indices


def divide_words(n_words: int, n_concepts: int, overlap: float, rng: np.random.Generator) -> list[WordSets]:
    """Give every concept an initial and a final set of words.

    The first words of the vocabulary are shared: every concept begins with them and none ends with them.
    They are the share ``overlap`` of the initial words of each concept, which is why all concepts begin with
    equally many words where there is an overlap. Each concept owns an equal block of the other words, split
    near the middle.
    """
    splits, n_shared = possible_splits(n_words, n_concepts, overlap)
    draws = (
        np.repeat(rng.integers(splits.size), n_concepts)
        if overlap
        else rng.integers(splits.size, size=n_concepts)
    )
    shared = np.arange(n_shared[draws[0]])
    blocks = np.array_split(np.arange(shared.size, n_words), n_concepts)
    sets = []
    for block, n_initial in zip(blocks, splits[draws]):
        own_initial, final = np.split(block, [n_initial - shared.size])
        sets.append(WordSets(np.concatenate([shared, own_initial]), final))
    return sets


def possible_splits(n_words: int, n_concepts: int, overlap: float) -> tuple[Indices, Indices]:
    """Return the sizes an initial set may have, and how many of its words are shared at each size.

    An overlap that cannot be made of whole words is refused.
    """
    n_initial = np.arange(MIN_SET, n_words)
    n_shared = np.rint(overlap * n_initial).astype(int)
    n_final = (n_words - n_shared) // n_concepts - (n_initial - n_shared)
    possible = (n_final >= MIN_SET) & (n_shared < n_initial) & ((n_shared > 0) == (overlap > 0))
    if not possible.any():
        raise ValueError(
            f"an overlap of {overlap} cannot be made with {n_words} words and {n_concepts} concepts: it is "
            "less than one word, or leaves a concept without words of its own; "
            "use more words or another overlap."
        )
    n_initial, n_shared, n_final = n_initial[possible], n_shared[possible], n_final[possible]
    unevenness = np.abs(n_initial - n_final) / (n_initial + n_final)
    near = unevenness <= max(_UNEVENNESS, unevenness.min())
    # Words are whole: of the splits near the middle keep those that come closest to the share asked for.
    error = np.abs(n_shared / n_initial - overlap)
    best = near & (error <= error[near].min() + 1e-12)
    return n_initial[best], n_shared[best]


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
