"""What is minimised: data, rank and the terms of each mode, in units in which the data have norm one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from tparafac2.data import FloatArray, SliceData, StackedData, couplings, present_columns, unseen_columns
from tparafac2.penalties import (
    Bands,
    Constraint,
    Pace,
    Paced,
    Penalty,
    Quadratic,
    asks_for,
    coupled_value,
    distance_weights,
    is_set,
    rescaled,
    size_weight,
    softens,
)
from tparafac2.solver.kernels import Quadratics


@dataclass(frozen=True)
class Scaled:
    """A penalty seen in the solver's units: g(unit * x) / norm^2."""

    penalty: Penalty
    unit: float
    norm: float

    @property
    def degree(self) -> int | None:
        """Degree of the penalty itself."""
        return self.penalty.degree

    @property
    def exact(self) -> bool:
        """Exactness of the penalty itself."""
        return self.penalty.exact

    def value(self, x: FloatArray, coupled: FloatArray | None = None) -> float:
        """Value of the penalty in the solver's units; see `coupled_value`."""
        return coupled_value(self.penalty, self._in_units(x), coupled) / self.norm / self.norm

    def prox(self, v: FloatArray, rho: FloatArray, state: Any = None) -> tuple[FloatArray, Any]:
        """Prox in the solver's units; the state stays in the user's."""
        ratio = self.norm / self.unit
        found = self.penalty.prox(self._in_units(v), rho * ratio * ratio, state)
        if not isinstance(found, tuple) or len(found) != 2 or np.shape(found[0]) != v.shape:
            raise TypeError(
                f"prox of {type(self.penalty).__name__} must give a tuple of an array of shape {v.shape} and "
                f"a state; got {_brief(found)}. Try check_penalty on it, from tparafac2.penalties."
            )
        return (found[0] / self.unit).astype(v.dtype, copy=False), found[1]

    def _in_units(self, x: FloatArray) -> FloatArray:
        """The user's numbers, which may be beyond those that the solver works with."""
        return x.astype(np.float64, copy=False) * self.unit

    def rescaled(self, state: Any, scale: FloatArray) -> Any:
        """The state after component r was multiplied by ``scale[r]``."""
        return rescaled(self.penalty, state, scale)


_SWEEPS = 50


def met(terms: Sequence[Scaled], x: FloatArray) -> FloatArray:
    """Put a factor onto the constraints among the terms, in turn where there are several.

    The prox of a set is the projection onto it, or a step of one: it is repeated until nothing moves.
    What is zero stays zero, and what is not finite is left to the caller.
    """
    if not (np.any(x) and np.isfinite(x).all()):
        return x
    sets = [term for term in terms if is_set(term.penalty) or not np.isfinite(term.value(x))]
    alive, even = np.any(x, axis=tuple(range(x.ndim - 1))), np.ones(len(x))
    states: list[Any] = [None] * len(sets)
    for _ in range(_SWEEPS):
        last = x
        for t, term in enumerate(sets):
            x, states[t] = term.prox(x, even, states[t])
        if np.linalg.norm(x - last) <= 1e-14 * np.linalg.norm(x):
            break
    return np.where(alive, x, 0.0)


def _brief(found: Any) -> str:
    if isinstance(found, tuple):
        return f"({', '.join(map(_brief, found))})"
    return f"an array of shape {found.shape}" if isinstance(found, np.ndarray) else type(found).__name__


@dataclass(frozen=True)
class SortedTerms:
    """The terms of one mode, sorted by how the solver treats them.

    Attributes
    ----------
    diagonal, off : ndarray
    closing : float
        All absorbed quadratic terms together, as bands over the leading index, and a coupling of the ends.
    splits : tuple of penalties
        Terms that get an auxiliary variable each.
    everything : tuple of penalties
        All terms, in the solver's units, for the value of the objective.
    heaviest : float
        The largest weight of a quadratic term, absorbed or not.
    soft : ndarray (K,), optional
        Weights of the squared distance from patterns that only turn, absorbed as well.
    pace : Pace, optional
        An absorbed term on steps of any pace; its norm is among the diagonal.
    shrinking : float
        Weight of the absorbed sum of sizes of all entries.
    """

    diagonal: FloatArray
    off: FloatArray
    closing: float
    splits: tuple[Scaled, ...]
    everything: tuple[Scaled, ...]
    heaviest: float = 0.0
    soft: FloatArray | None = None
    pace: Pace | None = None
    shrinking: float = 0.0

    @property
    def ridge(self) -> float:
        """Weight of the absorbed norm penalty, for modes without coupling."""
        return float(self.diagonal[0])

    @property
    def links(self) -> FloatArray:
        """What steps to the next slice count that have no pace; that of the last is to the first."""
        return np.append(self.off, self.closing)

    @property
    def own(self) -> FloatArray:
        """What the squares of each slice count, beside the steps."""
        return np.asarray(self.diagonal - np.append(self.off, 0.0) - np.append(0.0, self.off))

    @property
    def row_wise(self) -> bool:
        """Whether rows, or neighbours among them, are solved exactly: nothing is split but the sign."""
        return not self.splits or self.only("nonnegative")

    def only(self, constraint: Constraint) -> bool:
        """Whether the one split term is this constraint."""
        return len(self.splits) == 1 and self.asks_for(constraint)

    def asks_for(self, constraint: Constraint) -> bool:
        """Whether one of the split terms is this constraint."""
        return asks_for([term.penalty for term in self.splits], constraint)

    @property
    def scalable(self) -> bool:
        """Whether components may be rescaled: every term is of degree 2, a cone, or absorbed."""
        return all(
            term.degree in (0, 1, 2) or (self.soft is not None and softens(term.penalty))
            for term in self.everything
        )

    @property
    def compiled(self) -> bool:
        """Whether the compiled pattern update knows all that is split: at most one of each."""
        known = [getattr(term.penalty, "constraint", None) for term in self.splits]
        if self.soft is not None:
            known.append("parafac2")
        return len(set(known)) == len(known) and set(known) <= {"parafac2", "nonnegative"}


def sort_terms(
    terms: Sequence[Scaled],
    n: int,
    *,
    absorb: bool,
    coupled: bool,
    soften: bool = False,
    shrink: bool = False,
) -> SortedTerms:
    """Absorb what is quadratic (with coupling between neighbours only where the mode allows it).

    What softens the PARAFAC2 constraint, and what shrinks single entries, is absorbed only where asked for.
    """
    diagonal, off, closing, soft, pace = np.zeros(n), np.zeros(max(n - 1, 0)), 0.0, None, None
    splits: list[Scaled] = []
    heaviest = shrinking = 0.0
    for term in terms:
        bands = _bands(term, n)
        pull = _pull(term, n) if soften and soft is None else None
        if pull is not None:
            soft, heaviest = pull, max(heaviest, float(pull.max()))
            continue
        if shrink and (weight := size_weight(term.penalty)) is not None:
            shrinking += weight * term.unit / term.norm / term.norm
            heaviest = max(heaviest, shrinking)
            continue
        if pace is None and absorb and coupled and isinstance(term.penalty, Paced):
            pace = _pace(term, n)
            diagonal += pace.own
            heaviest = max(heaviest, pace.strength / float(pace.floors.max(initial=0.0) or 1.0))
            continue
        if bands is not None:
            heaviest = float(np.maximum(heaviest, np.abs(bands.diagonal).max(initial=abs(bands.closing))))
        couples = bands is not None and bool(bands.off.any() or bands.closing)
        # The paper too has plain norm penalties in its least squares; coupling gets an auxiliary there.
        if bands is None or (couples and not (absorb and coupled)):
            splits.append(term)
        else:
            diagonal += bands.diagonal
            off += bands.off
            closing += bands.closing
    soft = soft if soft is not None and soft.any() else None
    return SortedTerms(diagonal, off, closing, tuple(splits), tuple(terms), heaviest, soft, pace, shrinking)


def sort_rows(terms: Sequence[Scaled], n: int, *, absorb: bool, coupled: bool = False) -> SortedTerms:
    """Absorb all that rows are solved with exactly; where something else is split, norm penalties alone."""
    exactly = sort_terms(terms, n, absorb=absorb, coupled=coupled, shrink=absorb)
    both = exactly.shrinking > 0 and exactly.links.any() and not exactly.splits  # coupled, of either sign
    if exactly.row_wise and exactly.pace is None and not both:
        return exactly
    return sort_terms(terms, n, absorb=absorb, coupled=False)


def _pace(term: Scaled, n: int) -> Pace:
    ratio = (term.unit / term.norm) ** 2
    strength, floors, own = term.penalty.pace(n)  # type: ignore[attr-defined]  # which the caller has seen
    return Pace(strength * ratio, floors, own * ratio)


def _pull(term: Scaled, n: int) -> FloatArray | None:
    with np.errstate(over="ignore"):  # infinite weights are refused
        pull = distance_weights(term.penalty, "parafac2", n)
        return None if pull is None else pull * (term.unit / term.norm) ** 2


def _bands(term: Scaled, n: int) -> Bands | None:
    if not isinstance(term.penalty, Quadratic):
        return None
    ratio = (term.unit / term.norm) ** 2
    with np.errstate(over="ignore", invalid="ignore"):  # infinite weights are refused
        diagonal, off, closing = Bands(*term.penalty.bands(n))
        return Bands(np.asarray(diagonal) * ratio, np.asarray(off) * ratio, float(closing) * ratio)


class Precision(NamedTuple):
    """How far products with the data can be trusted, which are as precise as the data are held.

    Loadings, strengths and all small matrices are float64 whatever the data are; only the right-hand sides of
    their systems come from the data, rounded.
    """

    lift: float  # share of its trace that every system gets on its diagonal, against rounded right-hand sides
    cancellation: float  # share of ||X||^2 below which squared errors come from the differences themselves
    rounding: float  # share of ||X||^2: smaller changes of the objective are not told from rounding
    collinear: float  # pivot, relative to the diagonal, below which cross products are not trusted
    farthest: float  # squared norm of a component in one mode, up to which scale may be moved there


@cache
def precision_of(dtype: np.dtype[Any]) -> Precision:
    """What holds for data of this type.

    Examples
    --------
    >>> precision_of(np.dtype("float64")).lift, precision_of(np.dtype("float32")).lift
    (1e-15, 1e-06)
    """
    collinear = 0.1 * float(np.sqrt(np.finfo(dtype).eps))
    if dtype == np.float32:
        return Precision(1e-6, 1e-2, 1e-12, collinear, 1e24)
    # Sums over sparse data with an exact fit are off by up to 7e-16 of ||X||^2, and by 2e-15 of it with 1e8
    # numbers and 20 components: an explained variance is 1 within 5e-15.
    return Precision(1e-15, 1e-6, 5e-15, collinear, 1e40)


@dataclass(frozen=True)
class Problem:
    """Minimise ||X_k - A D_k B_k'||^2 summed over k, plus the terms of A, B and C.

    Attributes
    ----------
    data : SliceData
    rank : int
    a, b, c : SortedTerms
    fixed_strengths : bool
        Whether C is all ones and not updated.
    unit : float
        The user's factors are `unit` times the solver's.
    coupled : ndarray (K, J), optional
        By how much the weight of each column's change to the next slice is multiplied; None: by one.
    """

    data: SliceData
    rank: int
    a: SortedTerms
    b: SortedTerms
    c: SortedTerms
    fixed_strengths: bool
    unit: float
    coupled: FloatArray | None = None

    def of_start(self, i: int) -> "Problem":
        """The problem of one start, where the data differ from start to start."""
        return replace(self, data=self.data.parts[i]) if isinstance(self.data, StackedData) else self

    @cached_property
    def quadratics(self) -> Quadratics:
        """Absorbed terms on the patterns, for the kernels; steps are at the pace of the clock."""
        links = self.b.links
        if self.b.pace is not None and self.b.pace.floors.any():
            shares = self.b.pace.floors / self.b.pace.floors.sum()
            links += np.divide(self.b.pace.strength, shares, out=np.zeros_like(shares), where=shares > 0)
        return Quadratics(self.b.own, np.tile(links, (1, self.rank, 1)))

    @cached_property
    def precision(self) -> Precision:
        """How far products with the data can be trusted."""
        return precision_of(self.data.dtype)

    @property
    def static(self) -> bool:
        """Whether patterns are the same in all slices, and nothing else is asked of them."""
        return self.b.only("static")

    @property
    def fused(self) -> bool:
        """Whether the compiled pattern update applies."""
        return self.b.compiled


def build_problem(
    data: SliceData,
    rank: int,
    penalties: tuple[Sequence[Penalty], Sequence[Penalty], Sequence[Penalty]],
    *,
    fixed_strengths: bool = False,
    absorb: bool = True,
    tie: float = 1.0,
) -> Problem:
    """Put the user's terms in the solver's units and sort them.

    Parameters
    ----------
    data : SliceData
    rank : int
    penalties : three sequences
        Terms on loadings, patterns and strengths, in the user's units.
    fixed_strengths : bool
        Fix C to one, as in coupled matrix factorisation.
    absorb : bool
        See `Settings`.
    tie : float
        See `tparafac2.data.couplings`.
    """
    K, I, _ = data.shape
    unit = data.scale ** (1 / 2 if fixed_strengths else 1 / 3)
    a, b, c = ([Scaled(term, unit, data.scale) for term in terms] for terms in penalties)
    patterns = sort_terms(b, K, absorb=absorb, coupled=True, soften=absorb, shrink=absorb)
    if not patterns.compiled:
        patterns = sort_terms(b, K, absorb=absorb, coupled=True)
    return Problem(
        data=data,
        rank=rank,
        a=sort_rows(a, I, absorb=absorb),
        b=patterns,
        c=sort_rows(c, K, absorb=absorb, coupled=True),
        fixed_strengths=fixed_strengths,
        unit=unit,
        coupled=couplings(present_columns(data), unseen_columns(data), tie),
    )
