"""How sure loadings, patterns, strengths and changes are: bands that would cover the truth so often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

UNSTABLE = 0.1
"""A component that is not found again in more than this share of the resamples has no bands."""

BANDS: dict[str, tuple[str, ...]] = {
    "patterns": ("time", "columns", "component"),
    "strengths": ("time", "component"),
    "loadings": ("rows", "component"),
    "rises": ("columns", "component"),
    "falls": ("columns", "component"),
    "contrasts": ("contrast",),
}
"""What has bands, and over what."""


class Band(NamedTuple):
    """From where to where something may lie, around an estimate of it.

    Attributes
    ----------
    centre, lower, upper : ndarray
        All of one shape; NaN where nothing is known.

    Examples
    --------
    >>> Band(np.array([1.0, 0.1]), np.array([0.5, -0.1]), np.array([1.5, 0.3])).includes_zero.tolist()
    [False, True]
    """

    centre: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def includes_zero(self) -> NDArray[np.bool_]:
        """Whether it might as well be zero, or nothing is known."""
        return np.asarray(~((self.lower > 0) | (self.upper < 0)))

    @property
    def width(self) -> FloatArray:
        """How far apart the ends are."""
        return np.asarray(self.upper - self.lower)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Intervals:
    """Bands around the factors of a fit, in the normalised view: see `Result.normalised`.

    They are centred on a fit that is less smooth than the model (`undersmoothing`), since smoothness draws
    patterns towards their neighbours in time. How far the model is from there counts as a further error
    beside the spread. The bands of strengths are of their course; their level is that of the centre.

    Attributes
    ----------
    level : float
        In how many of many data sets such a band covers the truth, if the model holds: see `rises`.
    over : str
        "rows": rows were drawn anew, with replacement, so that the bands speak of other rows like these, and
        those of the loadings come of residuals; "residuals": all come of what the model leaves of these rows.
    n_resamples : int
        How many resamples there are of each kind.
    undersmoothing : float
        By how much the smoothness of the centre is below that of the model; 1: it is the same.
    patterns, strengths : Band
        Of shapes (K, J, R) and (K, R), as in `Result.normalised`.
    loadings : Band, optional
        Of shape (I, R). None: not asked for.
    rises, falls : Band
        For every column and component, (J, R): its largest rise and fall in the pattern, from any time to
        any later one, as the model has it; between the times of `rise_times` and `fall_times`. These were
        selected for being large, so that their bands hold for all columns and all pairs of times of a
        component together: `level` is how often none of them misses. All other bands are for one number.
    rise_times, fall_times : ndarray of int (2, J, R)
        Places of the times from which and to which it rises and falls.
    contrasts : Band
        What was asked for, in the order of `asked`.
    asked : tuple of tuples (component, column, from, to)
        Weights of a column at two times, of which the second minus the first was asked for: the component
        counted from 1, the others are places.
    unmatched : ndarray (R,)
        Share of the resamples in which each component was not found again.
    groups : int, optional
        How many groups of rows were drawn together.
    interrupted : bool
        Whether the user ended it before all resamples that were asked for.

    Examples
    --------
    >>> band = Band(*np.zeros((3, 2, 3, 1)))
    >>> some = Intervals(level=0.95, over="rows", n_resamples=200, patterns=band,
    ...                  strengths=Band(*np.zeros((3, 2, 1))), unmatched=np.zeros(1))
    >>> some
    Intervals(95 %, 200 resamples over rows, 1 component)
    """

    level: float
    over: str
    n_resamples: int
    patterns: Band
    strengths: Band
    unmatched: FloatArray
    loadings: Band | None = None
    rises: Band = field(default_factory=lambda: Band(*np.zeros((3, 0, 0))))
    falls: Band = field(default_factory=lambda: Band(*np.zeros((3, 0, 0))))
    contrasts: Band = field(default_factory=lambda: Band(*np.zeros((3, 0))))
    rise_times: NDArray[np.intp] = field(default_factory=lambda: np.zeros((2, 0, 0), dtype=np.intp))
    fall_times: NDArray[np.intp] = field(default_factory=lambda: np.zeros((2, 0, 0), dtype=np.intp))
    asked: tuple[tuple[int, int, int, int], ...] = ()
    undersmoothing: float = 1.0
    groups: int | None = None
    interrupted: bool = False

    @property
    def rank(self) -> int:
        """Number of components R."""
        return len(self.unmatched)

    @property
    def unstable(self) -> NDArray[np.bool_]:
        """Which components have no bands, because they were too often not found again, (R,)."""
        return np.asarray(self.unmatched > UNSTABLE)

    def bands(self) -> Iterator[tuple[str, Band]]:
        """All bands that there are, by name."""
        for name in BANDS:
            band: Band | None = getattr(self, name)
            if band is not None and band.centre.size:
                yield name, band

    def to_record(self) -> dict[str, Any]:
        """All but the arrays, in plain values, for a file."""
        kept = ("level", "over", "n_resamples", "undersmoothing", "groups", "interrupted")
        return {**{name: getattr(self, name) for name in kept}, "asked": [list(one) for one in self.asked]}

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, for a file."""
        arrays: dict[str, NDArray[Any]] = {
            f"{name}_{part}": values for name, band in self.bands() for part, values in band._asdict().items()
        }
        arrays["unmatched"] = self.unmatched
        for name in ("rise_times", "fall_times"):
            if (places := getattr(self, name)).size:
                arrays[name] = places
        return arrays

    @classmethod
    def from_parts(cls, record: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Intervals:
        """Read what `to_record` and `to_arrays` gave; what later versions may add is left aside."""
        known = {one.name for one in fields(cls)}
        parts: dict[str, Any] = {name: value for name, value in record.items() if name in known}
        parts["asked"] = tuple(tuple(one) for one in record.get("asked", ()))
        for name in BANDS:
            if f"{name}_centre" in arrays:
                parts[name] = Band(*(arrays[f"{name}_{part}"] for part in Band._fields))
        parts |= {name: arrays[name] for name in ("unmatched", "rise_times", "fall_times") if name in arrays}
        return cls(**parts)

    def contrast_table(self, columns: NDArray[Any], times: NDArray[Any]) -> pd.DataFrame:
        """What was asked for, as a table, with these labels of all columns and times."""
        import pandas as pd

        place = np.array(self.asked, dtype=np.intp).reshape(-1, 4).T
        return pd.DataFrame(
            {
                "component": place[0],
                "column": columns[place[1]],
                "from": times[place[2]],
                "to": times[place[3]],
                "change": self.contrasts.centre,
                "lower": self.contrasts.lower,
                "upper": self.contrasts.upper,
            }
        )

    def __repr__(self) -> str:
        components = "1 component" if self.rank == 1 else f"{self.rank} components"
        how = f"{self.n_resamples} resamples over {self.over}"
        return f"Intervals({100 * self.level:.4g} %, {how}, {components})"
