"""A data set and the truth behind it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tparafac2.data import require_memory
from tparafac2.synthetic import files
from tparafac2.synthetic.factors import PlacedConcept, TrueFactors, build_factors, noisy_data, signal_slice
from tparafac2.synthetic.recipe import Concept, Recipe, Sizes, read_size, streams

if TYPE_CHECKING:
    import xarray as xr

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticData:
    """Noisy data with the factors that made them.

    Attributes
    ----------
    X : array of shape (K, I, J)
        The noisy data.
    A, B, C : arrays of shape (I, R), (K, J, R) and (K, R)
        The true loadings, patterns and strengths, always in double precision.
    concepts : tuple of PlacedConcept
        Drift, strength, authors and words of every concept.
    recipe : Recipe
        All that was asked for.

    Examples
    --------
    >>> from tparafac2.synthetic import easy
    >>> data = easy(seed=1, noise=0.25)
    >>> data
    SyntheticData(case='easy', seed=1, noise=0.25, 150 rows x 100 columns x 20 times, 3 concepts)
    >>> data.B.shape
    (20, 100, 3)
    """

    X: NDArray[Any]
    A: FloatArray
    B: FloatArray
    C: FloatArray
    concepts: tuple[PlacedConcept, ...]
    recipe: Recipe

    @property
    def seed(self) -> int:
        """The seed the data set came from."""
        return self.recipe.seed

    @property
    def noise(self) -> float:
        """The noise level: norm of the noise divided by norm of the signal."""
        return self.recipe.noise

    @property
    def case(self) -> str:
        """Name of the case, "custom" for data from :func:`generate`."""
        return self.recipe.case

    @property
    def factors(self) -> TrueFactors:
        """The true factors as a named tuple (A, B, C)."""
        return TrueFactors(self.A, self.B, self.C)

    def signal(self) -> FloatArray:
        """Return the noiseless data, of shape (K, I, J)."""
        return np.stack([self.signal_slice(k) for k in range(self.C.shape[0])])

    def signal_slice(self, k: int) -> FloatArray:
        """Return slice ``k`` of the noiseless data, of shape (I, J)."""
        return signal_slice(self.factors, k)

    def to_dataset(self) -> xr.Dataset:
        """Give data and truth as one labelled data set.

        Returns
        -------
        xarray.Dataset
            ``X`` (time, rows, columns), which every model can fit as it is; the true ``A`` (rows, component),
            ``B`` (time, columns, component) and ``C`` (time, component). The attributes say what the data
            are, and ``python`` is a line that makes them again.

        Examples
        --------
        >>> from tparafac2.synthetic import easy
        >>> dataset = easy(seed=1, n_times=8, n_rows=30, n_columns=24).to_dataset()
        >>> dict(dataset.sizes), dataset.attrs["seed"]
        ({'time': 8, 'rows': 30, 'columns': 24, 'component': 3}, 1)
        """
        return files.to_dataset(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write data and truth to a file that needs nothing of this package to be read.

        The file appears complete or not at all: a failed write leaves an older file as it was.

        Parameters
        ----------
        path : path
            In an existing folder; an older file is replaced. Ending in ".nc": netCDF with all of
            `to_dataset`, for ``xarray.load_dataset(path)``. Ending in ".npz": the arrays X, A, B and C,
            for ``numpy.load(path)``.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import xarray as xr
        >>> from tparafac2.synthetic import easy
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     easy(seed=1, n_times=8, n_rows=30, n_columns=24).save(Path(folder, "data.nc"))
        ...     xr.load_dataset(Path(folder, "data.nc"))["X"].shape
        (8, 30, 24)
        """
        files.save_data(self, path)

    def __repr__(self) -> str:
        times, rows, columns = self.recipe.size
        return (
            f"SyntheticData(case={self.case!r}, seed={self.seed}, noise={self.noise}, "
            f"{rows} rows x {columns} columns x {times} times, {len(self.concepts)} concepts)"
        )


def make(recipe: Recipe) -> SyntheticData:
    """Make the data set a recipe describes."""
    require_memory(_bytes_needed(recipe), "The data set")
    chance = streams(recipe.seed)
    factors, concepts = build_factors(recipe, chance.structure)
    data = noisy_data(factors, recipe.noise, chance.noise, recipe.dtype)
    return SyntheticData(data, *factors, concepts, recipe)


def _bytes_needed(recipe: Recipe) -> int:
    times, rows, columns = (int(number) for number in recipe.size)
    return times * columns * (rows * np.dtype(recipe.dtype).itemsize + len(recipe.concepts) * 8)


def generate(
    concepts: Iterable[Concept],
    seed: int,
    *,
    noise: float = 0.5,
    overlap: float = 0.0,
    fresh_importances: bool = True,
    enforce_parafac2: bool = True,
    dtype: DTypeLike = np.float64,
    **sizes: Unpack[Sizes],
) -> SyntheticData:
    """Make data from concepts of your choice.

    Every concept owns an equal block of the rows (authors), with loadings N(.5, .5) and negative ones set to
    zero, and an equal block of the columns (words), split near the middle into an initial and a final set of
    at least 3 words. Importances of active words are N(.5, .5), negative ones drawn again.

    Parameters
    ----------
    concepts : iterable of Concept
        A drift and a strength each.
    seed : int
        Decides everything. The same seed at another noise level has the same truth.
    noise : float
        Norm of the added normal noise divided by the norm of the noiseless data.
    overlap : float from 0 to below 1
        Share of each concept's initial words that all concepts begin with; nobody's final set has them.
        Exact up to whole words.
    fresh_importances : bool
        Draw the importance of a word anew in every slice, or once for all slices.
    enforce_parafac2 : bool
        Rescale every pattern to its norm in the first slice, so that the cross products of the patterns are
        the same in every slice. Not possible together with an overlap.
    dtype : float64 or float32
        Type of ``X``.
    n_times, n_rows, n_columns : int
        Sizes of ``X``; 20, 150 and 100 unless given. At least 1 row and 6 columns per concept.

    Returns
    -------
    SyntheticData

    Examples
    --------
    >>> from tparafac2.synthetic import Concept, Constant, Incremental, Increasing, Sudden
    >>> concepts = [Concept(Sudden(start=4), Constant()), Concept(Incremental(start=2), Increasing())]
    >>> generate(concepts, seed=0, n_times=10, n_rows=30, n_columns=40).X.shape
    (10, 30, 40)
    """
    facts = tuple(concepts), seed, read_size(sizes), noise, overlap, fresh_importances, enforce_parafac2
    return make(Recipe(*facts, dtype=np.dtype(dtype).name))
