"""What a fit minimised beside the squared error (the terms on every factor, as resolved), and how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from tparafac2.data import couplings
from tparafac2.penalties import (
    Paced,
    Penalty,
    Quadratic,
    asks_for,
    coupled_value,
    is_set,
    is_temporal,
    keep_sign,
    softens,
    violation,
)
from tparafac2.result import parameters


@dataclass(frozen=True, repr=False)
class LostTerm:
    """A penalty of the user's own after its result was read from a file, which has only its name.

    Parameters
    ----------
    text : str
        How the penalty described itself.

    Examples
    --------
    >>> import numpy as np
    >>> LostTerm("Sparse(0.1)").value(np.ones((2, 1)))
    Traceback (most recent call last):
    ValueError: the penalty Sparse(0.1) is not one of this package: files keep its name only. Fit again to ...
    """

    text: str

    degree: ClassVar[int | None] = None
    exact: ClassVar[bool] = False

    def __repr__(self) -> str:
        return self.text  # so that another file keeps the same

    def value(self, x: NDArray[Any]) -> NoReturn:
        """Say that it cannot be told."""
        raise ValueError(
            f"the penalty {self.text} is not one of this package: files keep its name only. "
            "Fit again to have its value."
        )

    def prox(self, v: NDArray[Any], rho: NDArray[Any], state: Any = None) -> NoReturn:
        """Say that it cannot be told."""
        self.value(v)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of the objective, in the user's units: it is the squared error plus their values.

    Attributes
    ----------
    A, B, C : tuples of penalties
        Terms on loadings, patterns and strengths, with all their parameters; weights by the clock are for
        the slices in the order of `Result.clock`.
    scale : float
        Norm ||X|| of what was observed.
    fixed_strengths : bool
        Whether the strengths were fixed to one.
    tie : float
        How many times more a column's change in time costs before it was first observed, and after it was
        last observed; between two times at which it was, n changes cost as much as a single one. 1 where all
        was observed, or nothing would bend columns that were not.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, Parafac2, Ridge, TemporalSmoothness
    >>> terms = Terms(A=(Ridge(10.0),), B=(Parafac2(), TemporalSmoothness(10.0)),
    ...               C=(Ridge(10.0), NonNegative()), scale=1000.0)
    >>> terms.smoothness, terms.is_unique
    (0.001, True)
    """

    A: tuple[Penalty, ...] = ()
    B: tuple[Penalty, ...] = ()
    C: tuple[Penalty, ...] = ()
    scale: float = 1.0
    fixed_strengths: bool = False
    tie: float = 1.0

    @property
    def modes(self) -> dict[str, tuple[Penalty, ...]]:
        """The terms by the letter of their factor."""
        return {"A": self.A, "B": self.B, "C": self.C}

    @property
    def lost(self) -> tuple[str, ...]:
        """Penalties of which only the name is known."""
        return tuple(term.text for _, term in self._all() if isinstance(term, LostTerm))

    @property
    def is_unique(self) -> bool:
        """Whether components are determined, and not only their span."""
        return not self.fixed_strengths or keep_sign(self.A)

    @property
    def smoothness(self) -> float | None:
        """The one knob that the lambdas amount to, without dimension; None without smoothness in time.

        (product of the n lambdas)^(1/n) / scale^(2 - 2/n), n = 3, or 2 where strengths are fixed.
        """
        smooth = self._lambda_b
        norms = [self.A] if self.fixed_strengths else [self.A, self.C]
        lambdas = [smooth, *map(_norm_weight, norms)]
        if not all(lambdas):
            return None
        n = len(lambdas)
        return float(np.prod([weight ** (1 / n) for weight in lambdas]) / self.scale ** (2 - 2 / n))

    @property
    def rigidity(self) -> float | None:
        """How firmly patterns keep their sizes and angles: infinitely if they must, 0 if nothing asks for it.

        None where they do not change at all, or nothing is smooth.
        """
        if asks_for(self.B, "parafac2"):
            return math.inf
        if asks_for(self.B, "static") or not self._lambda_b:
            return None
        return sum(getattr(term, "strength", 0.0) for term in self.B if softens(term)) / self._lambda_b

    @property
    def _lambda_b(self) -> float:
        """Weight of the changes in time."""
        smooth = (term for term in self.B if isinstance(term, Quadratic | Paced) and is_temporal(term))
        return float(sum(getattr(term, "strength", 0.0) for term in smooth))

    def penalty(
        self,
        A: NDArray[Any],
        B: NDArray[Any],
        C: NDArray[Any],
        present: NDArray[np.bool_] | None = None,
        unseen: NDArray[np.bool_] | None = None,
    ) -> float:
        """Sum of the values of all terms; a constraint counts by its violation, beside the objective.

        Parameters
        ----------
        A, B, C : ndarrays (I, R), (K, J, R), (K, R)
            Of the slices that were fitted, in the order of time.
        present : ndarray of bool (K, J), optional
            Which columns there are: the changes to and from columns that are not there cost nothing.
        unseen : ndarray of bool (K, J), optional
            Which of these nobody saw: see `tie`.
        """
        modes = [(self.A, A)] + ([] if self.fixed_strengths else [(self.C, C)])
        total = sum(_value(term, x) for terms, x in modes for term in terms)
        coupled = couplings(present, unseen, self.tie)
        return float(total + sum(_value(term, B, coupled) for term in self.B))

    def violations(
        self, A: NDArray[Any], B: NDArray[Any], C: NDArray[Any], fitted: Sequence[int]
    ) -> dict[str, dict[str, float]]:
        """For "A", "B" and "C": how far the factor is from each constraint on it, by its class.

        Parameters
        ----------
        A, B, C : ndarrays (I, R), (K, J, R), (K, R)
            Of all slices, in the order of time.
        fitted : sequence of int
            Slices of which something was observed. Constraints hold at all; other terms know only of these.
        """
        factors = {"A": A, "B": B, "C": C}
        found: dict[str, dict[str, float]] = {mode: {} for mode in factors}
        for mode, term in self._all():
            x = factors[mode]
            if mode != "A" and not is_set(term):
                x = x[list(fitted)]
            # A component that vanished is zero, which is not in every set.
            x = x[..., np.any(x, axis=tuple(range(x.ndim - 1)))]
            with np.errstate(all="ignore"):  # a fit that went wrong may hold infinities
                how_far = None if isinstance(term, LostTerm) or not x.size else violation(term, x)
            if how_far is not None:
                name = type(term).__name__
                found[mode][name] = max(how_far, found[mode].get(name, 0.0))
        return found

    def to_record(self) -> dict[str, Any]:
        """Everything in plain values, for a file."""
        kept = {mode: [parameters.encode(term) for term in terms] for mode, terms in self.modes.items()}
        return kept | {"scale": self.scale, "fixed_strengths": self.fixed_strengths, "tie": self.tie}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Terms:
        """Read what `to_record` gave; a penalty that is not of this package becomes a `LostTerm`."""
        terms = {mode: tuple(_read_term(kept) for kept in record[mode]) for mode in "ABC"}
        return cls(
            **terms,
            scale=float(record["scale"]),
            fixed_strengths=bool(record["fixed_strengths"]),
            tie=float(record.get("tie", 1.0)),
        )

    def _all(self) -> Iterator[tuple[str, Penalty]]:
        return ((mode, term) for mode, terms in self.modes.items() for term in terms)


def _value(term: Penalty, x: NDArray[Any], coupled: NDArray[Any] | None = None) -> float:
    value = 0.0 if is_set(term) else coupled_value(term, x, coupled)
    return value if np.isfinite(value) else 0.0


def _norm_weight(terms: Sequence[Penalty]) -> float:
    """Weight of the squares; that of changes in time is beside it."""
    squares = (term for term in terms if isinstance(term, Quadratic) and not is_temporal(term))
    return float(sum(getattr(term, "strength", 0.0) for term in squares))


def _read_term(kept: Any) -> Penalty:
    lost: dict[str, str] = {}
    term: Penalty | None = parameters.decode(kept, "term", lost)
    return LostTerm(next(iter(lost.values()), "of an unknown kind")) if term is None else term


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a fit was computed.

    Attributes
    ----------
    algorithm : str
        "fast" or "paper".
    settings : mapping
        Settings of the solver as they were used, by name.
    compressed_rows, compressed_columns : int or None
        To how many rows and columns the data were compressed; None where they were not.
    sketched_rows : int or None
        How many rows the sketch had that the starts were run on; None where they were run on the data.
    passes : int or None
        How many times all data were read; None where they were in memory.
    dtype : str
        Precision in which data and patterns were held.
    n_starts : int
        How many starts were run.
    init : str
        "uniform", "svd" or "given factors".
    seed : int or None
        Seed of the starts, where it was a number.

    Examples
    --------
    >>> Method(n_starts=20).to_record()["n_starts"]
    20
    """

    algorithm: str = "fast"
    settings: Mapping[str, Any] = field(default_factory=dict)
    compressed_rows: int | None = None
    compressed_columns: int | None = None
    sketched_rows: int | None = None
    passes: int | None = None
    dtype: str = "float64"
    n_starts: int = 1
    init: str = "uniform"
    seed: int | None = None

    def to_record(self) -> dict[str, Any]:
        """Everything in plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Method:
        """Read what `to_record` gave; what later versions may add is left aside."""
        return cls(**{name: record[name] for name in cls.__dataclass_fields__ if name in record})
