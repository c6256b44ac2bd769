"""The rows in parts: folds and halves, and the data of each, prepared by what it may see."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.heldout import Held
from tparafac2.data import (
    FloatArray,
    Intake,
    Reading,
    SliceData,
    make_intake,
    negative_share,
    read_in,
)
from tparafac2.errors import InvalidType, InvalidValue
from tparafac2.preparing import Adjustment, Preparation, Prepared, as_prepared, deviations, largest, means
from tparafac2.words import Advice, Setting

Rows = NDArray[np.intp]

_FEW = 12  # with fewer rows, every row is a fold


@dataclass(frozen=True, eq=False)
class DataSplits:
    """The user's data, of which some rows can be fitted and others held out.

    Attributes
    ----------
    whole : Intake
        All rows, as they are fitted in the end.
    preparation : mapping, optional
        How they were prepared, for the record.
    groups, strata : ndarray of int (I,), optional
        Rows of one group stay together; every part has its share of every stratum.
    reading : Reading, optional
        Before it was centred and scaled, where that has to be done anew for every part.
    steps : Preparation
        How that is done.
    """

    whole: Intake
    preparation: Mapping[str, Any] | None = None
    groups: NDArray[np.intp] | None = None
    strata: NDArray[np.intp] | None = None
    reading: Reading | None = None
    steps: Preparation = field(default_factory=Preparation)

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
        """Read whatever `fit` takes, but for data of the user's own class, and weights by residuals."""
        if isinstance(weights, str):
            raise InvalidValue(
                Setting("weights", weights),
                " are estimated by a fit, and would be others for every part of the data: ",
                Advice(
                    "known_weights",
                    "give numbers, for example ``result_.row_weights`` of such a fit.",
                ),
                received=weights,
            )
        X = as_prepared(X)
        prepared = X if isinstance(X, Prepared) else Prepared(Preparation(), X)
        if isinstance(prepared.data, SliceData):
            raise InvalidType(
                f"X is a {type(prepared.data).__name__}, of which no parts can be made: give the slices "
                "themselves, as arrays or sparse matrices.",
                received=X,
            )
        reading = read_in(prepared.data, dims=dims, mask=mask, times=times, weights=weights)
        whole = make_intake(reading, dtype=dtype, bridge=bridge)
        record = X.as_dict() if isinstance(X, Prepared) else None
        steps = prepared.preparation
        if steps.center is None and steps.scale is None:
            return cls(whole, record)
        return cls(whole, record, reading=_unadjusted(reading, prepared, bridge), steps=steps)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of slices, rows and columns, (K, I, J), without slices of which nothing was observed."""
        return self.whole.data.shape

    @property
    def nonnegative(self) -> bool:
        """Whether no entry that was observed is negative."""
        return negative_share(self.whole.data) == 0  # unknown where sparse data are centred, so that some are

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        """Sum of squares of every row, by weight."""
        everything = np.ones((self.shape[0], self.shape[2]), dtype=bool)
        return Held(np.arange(self.shape[1]), (self.whole.data,) * 2, everything).squares()

    @cached_property
    def units(self) -> list[Rows]:
        """The rows that stay together: a group each, or single rows."""
        if self.groups is None:
            return [np.array([i]) for i in range(self.shape[1])]
        return [np.flatnonzero(self.groups == group) for group in np.unique(self.groups)]

    def draw(self, rng: np.random.Generator, n_parts: int) -> list[Rows]:
        """Draw parts of the rows, each with its share of every stratum, and of rows of large leverage."""
        units = self.units
        n_parts = min(n_parts, len(units))
        leverage = np.array([self._leverage[rows].max() for rows in units])
        jitter = rng.random(len(units))
        # In blocks of alike leverage, where ties are broken at random: of every block a unit for each part.
        keys = [jitter, -leverage]
        if self.strata is not None:
            keys.append(np.array([self.strata[rows[0]] for rows in units]))
        order = np.lexsort(keys)
        member = np.empty(len(units), dtype=np.intp)
        for first in range(0, len(units), n_parts):
            block = order[first : first + n_parts]
            member[block] = rng.permutation(n_parts)[: len(block)]
        return [
            np.sort(np.concatenate([units[u] for u in np.flatnonzero(member == part)]))
            for part in range(n_parts)
        ]

    def folds(self, rng: np.random.Generator, n_folds: int) -> list[Rows]:
        """Rows of each fold; every row, or group, is one where there are few."""
        n_units = len(self.units)
        return self.draw(rng, n_units if n_units < _FEW else min(n_folds, n_units))

    def halves_of_entries(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """One half of all times and columns (K, J), at random."""
        K, _, J = self.shape
        seen = np.zeros(K * J, dtype=bool)
        seen[rng.permutation(K * J)[: K * J // 2]] = True
        return seen.reshape(K, J)

    def hold_out(self, rows: Rows, visible: NDArray[np.bool_]) -> tuple[SliceData, Held]:
        """The data of all other rows, and these rows: prepared by what is seen of them."""
        others = np.setdiff1d(np.arange(self.shape[1]), rows)
        if self.reading is None:
            data: Any = self.whole.data
            return data.of_rows(others), Held(rows, (data.of_rows(rows),) * 2, visible)
        own = "rows" in (self.steps.center, self.steps.scale) and not self.reading.is_sparse
        views = [self._prepared(others, rows, seen) for seen in ((visible, ~visible) if own else (None,))]
        held = tuple(view.of_rows(rows) for view in views)
        return views[0].of_rows(others), Held(rows, (held[0], held[-1]), visible)

    def of_rows(self, rows: Rows) -> SliceData:
        """These rows only, centred and scaled by what they hold alone."""
        if self.reading is None:
            data: Any = self.whole.data
            return data.of_rows(rows)  # type: ignore[no-any-return]
        return self._prepared(rows, rows[:0], None).of_rows(rows)  # type: ignore[no-any-return]

    def of_data(self, data: SliceData) -> Self:
        """Other data of the same rows, which are prepared already."""
        return replace(self, whole=self.whole._replace(data=data), reading=None, steps=Preparation())

    @cached_property
    def _leverage(self) -> NDArray[np.float64]:
        """How much every row weighs in the leading directions of all slices together."""
        data = self.whole.data
        _, I, _ = data.shape
        basis = np.random.default_rng(0).standard_normal((I, min(I, 8)))
        for _ in range(2):
            pushed = data.accumulate(data.project(np.ascontiguousarray(basis.T)[None]))[0]
            basis = np.linalg.qr(pushed.T.astype(np.float64))[0]
        return np.asarray(np.round(np.square(basis).sum(axis=1), 9))

    def _prepared(self, training: Rows, held: Rows, seen: NDArray[np.bool_] | None) -> Any:
        """All rows as data: centred and scaled by the training rows, and held ones by what is seen."""
        reading = self.reading
        if reading is None:
            raise ValueError("nothing was centred or scaled.")
        center, scale = self.steps.center, self.steps.scale
        if reading.is_sparse:
            some = [piece.tocsr()[training] for piece in reading.slices]
            found = Adjustment.of_sparse(some, center, scale)
            own = Adjustment.of_sparse(reading.slices, center, scale)
            found = _with_own_rows(found, own).unscaled_where_flat()
            corrected = reading._replace(correction=found.correction(reading.slices))
            return make_intake(corrected, dtype=self.whole.data.dtype).data
        stack = np.stack(reading.slices).astype(np.float64, copy=False)
        if reading.mask is not None:
            stack = np.where(np.stack(reading.mask), stack, np.nan)
        shown = stack
        if seen is not None:
            shown = stack.copy()
            hidden = np.empty_like(seen)
            hidden[list(self.whole.order)] = ~seen
            for k, columns in enumerate(hidden):
                shown[k][np.ix_(held, columns)] = np.nan
        found = Adjustment.of(stack[:, training], center, scale, self.steps.least_size)
        if "rows" in (center, scale):
            found = self._of_each_row(shown, found)
        slices = list(found.unscaled_where_flat().apply(stack))
        return make_intake(reading._replace(slices=slices), dtype=self.whole.data.dtype).data

    def _of_each_row(self, shown: FloatArray, found: Adjustment) -> Adjustment:
        """With means and deviations of each row of its own, by what is shown of it."""
        if found.center == "rows":
            found = replace(found, centers=means(shown, "rows"))
        if found.scale == "rows":
            before = np.maximum(largest(shown, "rows"), self.steps.least_size)
            centred = replace(found, scale=None, scales=None).apply(shown)
            found = replace(found, scales=deviations(centred, "rows", before))
        return found


def _with_own_rows(found: Adjustment, own: Adjustment) -> Adjustment:
    if found.center == "rows":
        found = replace(found, centers=own.centers)
    if found.scale == "rows":
        found = replace(found, scales=own.scales)
    return found


def _unadjusted(reading: Reading, prepared: Prepared, bridge: bool) -> Reading:
    """What was read, before it was centred and scaled, with all that is missing in the mask."""
    if reading.is_sparse:
        return reading._replace(correction=None)
    steps = prepared.preparation
    done = Adjustment(steps.center, steps.scale, prepared.centers, prepared.scales)
    missing = reading.missing()
    reading = reading._replace(slices=list(done.undo(np.stack(reading.slices))))
    counts = reading.weights.entries
    if missing is None and counts is None:
        return reading._replace(mask=None, given=())
    none = [np.zeros(piece.shape, dtype=bool) for piece in reading.slices]
    observed = [~one for one in missing or none]
    if counts is not None:
        observed = [seen & (one > 0) for seen, one in zip(observed, counts)]
    present = reading.present if bridge else np.stack([seen.any(axis=0) for seen in observed])
    return reading._replace(mask=observed, given=(), present=present)
