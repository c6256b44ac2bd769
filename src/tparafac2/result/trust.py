"""What was measured of how far each component can be trusted, beyond the fit itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

Verdict: TypeAlias = Literal["replicable", "there", "not there"]
"""What parts of the rows say of a component: they agree on it, agree less closely, or do not."""

_NUMBERS = ("replicability", "alone", "stability")
_BY_COMPONENT = (*_NUMBERS, "verdict")


@dataclass(frozen=True, eq=False, kw_only=True)
class Trust:
    """How far the components of a fit can be trusted; what was not measured is None.

    Attributes
    ----------
    replicability : ndarray (R,), optional
        Similarity of each component between fits to parts of the rows, 0 to 1.
    alone : ndarray (R,), optional
        The same after the part that it shares with the other components is taken out: near 0 for a component
        that is not there.
    verdict : ndarray of str (R,), optional
        "replicable", "there" (less similar) or "not there".
    stability : ndarray (R,), optional
        How far each component keeps its shape over all settings that are as good as the chosen one, 0 to 1
        (a cosine: 1 does not move, less than `threshold` depends on the setting).
    threshold : float
        From which likeness on a component counts as replicable, or stable.
    by : str, optional
        Which parts of the rows: "halves", or "folds" where there are few rows.
    z : float, optional
        How clearly held-out rows speak against the PARAFAC2 constraint: the mean difference of their errors
        with it and where it is relaxed, in standard errors.
    gain : float, optional
        By which part their error is lower where it is relaxed.
    null : float, optional
        What the gain has to exceed: so much is gained on data that obey the constraint.

    Examples
    --------
    >>> trust = Trust(replicability=[0.97, 0.5], alone=[0.9, 0.6], verdict=["replicable", "there"])
    >>> trust.rank, trust.stability is None
    (2, True)
    >>> Trust(verdict=["good"])
    Traceback (most recent call last):
    ValueError: verdict must be of 'replicable', 'there', 'not there'; got 'good'.
    """

    replicability: NDArray[np.float64] | None = None
    alone: NDArray[np.float64] | None = None
    verdict: NDArray[np.str_] | None = None
    stability: NDArray[np.float64] | None = None
    threshold: float = 0.9
    by: str | None = None
    z: float | None = None
    gain: float | None = None
    null: float | None = None

    def __post_init__(self) -> None:
        kinds: dict[str, Any] = {
            "threshold": float,
            "by": str,
            "z": float,
            "gain": float,
            "null": float,
            **dict.fromkeys(_NUMBERS, lambda given: np.asarray(given, dtype=np.float64)),
            "verdict": lambda given: np.asarray(given, dtype=np.str_),
        }
        for name, kind in kinds.items():
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, kind(given))
        shapes = {name: array.shape for name, array in self.by_component.items()}
        if len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
            raise ValueError(f"trust must have one number for each component, (R,); got {shapes}.")
        for verdict in [] if self.verdict is None else self.verdict.tolist():
            if verdict not in get_args(Verdict):
                known = ", ".join(map(repr, get_args(Verdict)))
                raise ValueError(f"verdict must be of {known}; got {verdict!r}.")

    @property
    def by_component(self) -> dict[str, NDArray[Any]]:
        """What was measured of every component, by name."""
        measured = {name: getattr(self, name) for name in _BY_COMPONENT}
        return {name: array for name, array in measured.items() if array is not None}

    @property
    def rank(self) -> int | None:
        """Number of components R; None where nothing was measured of them."""
        return next((len(array) for array in self.by_component.values()), None)

    def to_record(self) -> dict[str, Any]:
        """Everything in plain values, for a file."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Trust:
        """Read what `to_record` gave; what later versions may add is left aside."""
        return cls(**{one.name: record[one.name] for one in fields(cls) if one.name in record})
