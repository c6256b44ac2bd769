"""The user's data, of which parts can be fitted: some rows, or all but hidden entries."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.hiding import Hidden, Stored, Unit, draw_observed, unit_of
from tparafac2.data import (
    FloatArray,
    Intake,
    Labels,
    Places,
    Reading,
    SliceData,
    listed,
    make_intake,
    negative_share,
    padded,
    read_in,
    shown,
)
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.large import stored_if_large
from tparafac2.preparing import Adjustment, Preparation, Prepared, as_prepared
from tparafac2.words import Argument

_CHUNK = 2**16  # entries of which the model is computed at a time


class Shown(NamedTuple):
    """Data of which entries are hidden, and the hidden values.

    Attributes
    ----------
    intake : Intake
        To be fitted; hidden entries are missing in it, and have no part in how it was centred and scaled.
    hidden : tuple of Hidden
        The sets of entries.
    held : tuple of ndarray
        Their values, centred and scaled as what is shown.
    weights : tuple of ndarray
        How much each counts: by the weights of the data, and by how many entries it stands for.
    """

    intake: Intake
    hidden: tuple[Hidden, ...]
    held: tuple[NDArray[np.float64], ...]
    weights: tuple[NDArray[np.float64], ...]

    def errors(
        self, A: FloatArray, B: FloatArray | Sequence[FloatArray], C: FloatArray
    ) -> list[NDArray[np.float64]]:
        """Weighted squared errors at the hidden entries, for each set, in the units of the prepared data.

        The mean over a set estimates the mean squared error of entries that were not seen.

        Parameters
        ----------
        A : ndarray (I, R)
        B : ndarray (K, J, R) or list of (J_k, R)
        C : ndarray (K, R)
            As a result of fitting `intake` has them.
        """
        W = padded(B, fill=0.0) * C[:, None, :]
        return [
            weights * np.square(held - _modelled(one.places, A, W))
            for one, held, weights in zip(self.hidden, self.held, self.weights)
        ]


@dataclass(frozen=True, eq=False)
class Parts:
    """The user's data, of which parts can be fitted: some rows, or all but hidden entries.

    Centring and scaling are done anew in each part, by what it holds alone. Transforms are of an entry, or
    within a row at a time, and done before anything is hidden: after "share", shares are what is predicted.

    Attributes
    ----------
    whole : Intake
        All of it.
    preparation : mapping, optional
        How it was prepared, for the record.

    Examples
    --------
    >>> parts = Parts.of(np.random.default_rng(0).normal(size=(4, 10, 6)))
    >>> parts.shape, parts.n_observed, parts.hides, parts.nonnegative
    ((4, 10, 6), 240, 'entries', False)
    >>> parts.of_rows(np.arange(5)).data.shape
    (4, 5, 6)
    >>> shown = parts.without(parts.draw(np.random.default_rng(0)))
    >>> [len(held) for held in shown.held], round(float(shown.intake.coverage.mean()), 3)
    ([24, 24], 0.8)
    """

    whole: Intake
    preparation: Mapping[str, Any] | None
    _reading: Reading
    _preparation: Preparation
    _settings: dict[str, Any]

    @classmethod
    def of(
        cls,
        X: Any,
        *,
        dims: Mapping[str, Hashable] | None = None,
        mask: Any = None,
        times: Any = None,
        weights: Any = None,
        dtype: str = "float64",
        bridge: bool = True,
    ) -> Self:
        """Take whatever `fit` takes, but for data of the user's own kind.

        Parameters
        ----------
        X, dims, mask, times, weights
            As in `fit`.
        dtype, bridge
            As in `take_in`.
        """
        X = as_prepared(X)
        prepared = X if isinstance(X, Prepared) else Prepared(Preparation(), X)
        if isinstance(prepared.data, SliceData):
            raise InvalidType(
                f"X is a {type(prepared.data).__name__}, of which no parts can be made: give the slices "
                "themselves, as arrays or sparse matrices.",
                received=X,
            )
        if stored_if_large(prepared.data, dims) is not None:
            raise InvalidType(
                "the data choose from fits to parts of them, which must be in memory, and X is "
                "read in blocks of rows: give ",
                Argument("rank"),
                " and ",
                Argument("smoothness"),
                ", chosen from some of the rows, as tparafac2.Stored(X).sample() draws them.",
                received=X,
            )
        reading = read_in(prepared.data, dims=dims, mask=mask, times=times, weights=weights)
        whole = make_intake(reading, dtype=dtype, bridge=bridge)
        reading = _with_mask(_unadjusted(reading, prepared), bridge)
        record = X.as_dict() if isinstance(X, Prepared) else None
        return cls(whole, record, reading, prepared.preparation, {"dtype": dtype})

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns, (K, I, J), without slices of which nothing was observed."""
        return self.whole.data.shape

    @property
    def labels(self) -> Labels:
        """Of rows, columns and times, in the user's order."""
        return self.whole.labels

    @property
    def n_observed(self) -> int:
        """Number of entries that were observed."""
        if self._observed is not None:
            return int(np.count_nonzero(self._observed))
        return sum(int(np.prod(piece.shape)) for piece in self._reading.slices)

    @property
    def nonnegative(self) -> bool:
        """Whether no entry that was observed is negative."""
        return negative_share(self.whole.data) == 0  # unknown where sparse data are centred, so that some are

    @cached_property
    def hides(self) -> Unit:
        """Whether single entries are hidden, or fibres: all that was observed of a row at a time."""
        return "entries" if self._observed is None else unit_of(self._observed, self._reading.present)

    def of_rows(self, rows: Any) -> Intake:
        """These rows only, centred and scaled anew.

        Parameters
        ----------
        rows : sequence of int
            Their places.
        """
        rows = np.asarray(rows, dtype=np.intp)
        if self._observed is not None:
            self._require_columns(np.asarray(self._observed[:, rows].any(axis=(0, 1))), len(rows))
        return self._made(self._reading.of_rows(rows))[0]

    def has_enough(self, rows: NDArray[np.intp]) -> bool:
        """Whether something of every column was observed in these rows, and not all of it is zero."""
        if self._observed is not None and not self._observed[:, rows].any(axis=(0, 1)).all():
            return False
        return self.has_numbers(rows)

    def has_numbers(self, rows: NDArray[np.intp]) -> bool:
        """Whether these rows have anything but zeros."""
        return bool(self._rows_with_numbers[rows].any())

    @cached_property
    def _rows_with_numbers(self) -> NDArray[np.bool_]:
        """Which rows have anything but zeros."""
        found = np.zeros(self.shape[1], dtype=bool)
        for piece in self._reading.slices:
            filled = abs(piece) if hasattr(piece, "tocsr") else np.abs(np.nan_to_num(np.asarray(piece)))
            found |= np.asarray(filled.sum(axis=1)).ravel() > 0
        return found

    def draw(self, rng: np.random.Generator, share: float = 0.1, n: int = 2) -> list[Hidden]:
        """Draw sets of entries to hide, without common ones.

        Parameters
        ----------
        rng : numpy Generator
        share : float
            Of what was observed, in each set. Of large sparse data fewer are drawn.
        n : int
            Number of sets.
        """
        if self._stored is not None:
            return self._stored.draw(rng, share, n)
        return draw_observed(rng, self._require_even(), self.hides, share, n)

    def without(self, hidden: Sequence[Hidden]) -> Shown:
        """All but the hidden entries, centred and scaled anew, and the hidden ones likewise."""
        places, reading = Places.join([one.places for one in hidden]), self._reading
        if self._stored is not None:
            slices = self._stored.without(reading.slices, places)
            intake, found = self._made(reading._replace(slices=slices, hidden=places))
            values = self._stored.at(places)
            if reading.correction is not None:
                values = reading.correction.at(values, places)
        else:
            observed = self._require_even().copy()
            observed[places] = False
            intake, found = self._made(reading._replace(mask=list(observed)))
            values = np.empty(places.size)
            for k, piece in enumerate(reading.slices):
                here = places.time == k
                values[here] = piece[places.rows[here], places.columns[here]]
        held = np.split(found.at(values, places), np.cumsum([one.places.size for one in hidden])[:-1])
        weights = (one.weights * self._weights_at(one.places) for one in hidden)
        return Shown(intake, tuple(hidden), tuple(held), tuple(weights))

    def _made(self, reading: Reading) -> tuple[Intake, Adjustment]:
        center, scale, found = self._preparation.center, self._preparation.scale, Adjustment()
        if center is None and scale is None:
            pass
        elif reading.is_sparse:
            found = Adjustment.of_sparse(reading.slices, center, scale, reading.hidden).unscaled_where_flat()
            reading = reading._replace(correction=found.correction(reading.slices))
        else:
            stack = np.stack(reading.slices).astype(np.float64, copy=False)
            if reading.mask is not None:
                stack = np.where(np.stack(reading.mask), stack, np.nan)
            size = self._preparation.least_size
            found = Adjustment.of(stack, center, scale, size).unscaled_where_flat()
            reading = reading._replace(slices=list(found.apply(stack)))
        return make_intake(reading, **self._settings), found

    @cached_property
    def _observed(self) -> NDArray[np.bool_] | None:
        """(K, I, J) in the user's order; None for sparse slices, and those of different widths."""
        slices, mask = self._reading.slices, self._reading.mask
        if self._reading.is_sparse or len({piece.shape for piece in slices}) > 1:
            return None
        return np.ones((len(slices), *slices[0].shape), dtype=bool) if mask is None else np.stack(mask)

    @cached_property
    def _stored(self) -> Stored | None:
        return Stored.of(self._reading.slices) if self._reading.is_sparse else None

    @cached_property
    def _mean_weight(self) -> float:
        return 1.0 if self.whole.weighting is None else self.whole.weighting.mean

    def _weights_at(self, places: Places) -> NDArray[np.float64]:
        rows, entries = self._reading.weights
        if rows is not None:
            return np.asarray(rows[places.rows] / self._mean_weight)
        if entries is not None:
            return np.asarray(np.stack(entries)[places] / self._mean_weight)
        return np.ones(places.size)

    def _require_even(self) -> NDArray[np.bool_]:
        if self._observed is not None:
            return self._observed
        widths = [piece.shape[1] for piece in self._reading.slices]
        raise InvalidValue(
            f"the slices have between {min(widths)} and {max(widths)} columns, so that no entries can be "
            "hidden: give all slices the same columns, NaN where a column is missing."
        )

    def _require_columns(self, seen: NDArray[np.bool_], n_rows: int) -> None:
        if seen.all():
            return
        names = self.labels.coordinate("columns", len(seen))[~seen]
        raise InvalidValue(
            f"{len(names)} of {len(seen)} columns were not observed in any of {n_rows} of the "
            f"{self.shape[1]} rows: {listed(map(shown, names))}. Parts of the rows cannot be compared then: "
            "leave these columns out of X.",
        )


def _unadjusted(reading: Reading, prepared: Prepared) -> Reading:
    """What was read, before it was centred and scaled."""
    center, scale = prepared.preparation.center, prepared.preparation.scale
    if center is None and scale is None:
        return reading
    if reading.is_sparse:
        return reading._replace(correction=None)
    done = Adjustment(center, scale, prepared.centers, prepared.scales)
    return reading._replace(slices=list(done.undo(np.stack(reading.slices))))


def _with_mask(reading: Reading, bridge: bool) -> Reading:
    """With all that is missing in the mask, and the columns that there are as they are in the whole."""
    if reading.is_sparse:
        return reading
    missing, counts = reading.missing(), reading.weights.entries
    if missing is None and counts is None:
        return reading._replace(mask=None, given=())
    none = [np.zeros(piece.shape, dtype=bool) for piece in reading.slices]
    observed = [~one for one in missing or none]
    if counts is not None:
        observed = [seen & (one > 0) for seen, one in zip(observed, counts)]
    present = reading.present if bridge else np.stack([seen.any(axis=0) for seen in observed])
    return reading._replace(mask=observed, given=(), present=present)


def _modelled(places: Places, A: FloatArray, W: FloatArray) -> NDArray[np.float64]:
    """The model A W_k' at places."""
    values = np.empty(places.size)
    for first in range(0, places.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        patterns = W[places.time[part], places.columns[part]]
        values[part] = np.einsum("cr,cr->c", A[places.rows[part]], patterns)
    return values
