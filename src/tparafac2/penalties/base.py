"""What a penalty is: parameters and maths, nothing else."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]


@runtime_checkable
class Penalty(Protocol):
    """What the solver asks of a term of the objective.

    The array ``x`` of a term is the patterns ``(K, J, R)``, the strengths ``(K, R)`` or the
    loadings ``(I, R)``: the last axis counts components.

    Attributes
    ----------
    degree : int or None
        2 if ``value(t * x) == t**2 * value(x)`` and the value is a sum over components; 1 likewise for
        ``t * value(x)``, t > 0; 0 if the penalty is the indicator of a set that stays the same when any
        component is multiplied by a positive number; None otherwise (the solver then leaves the scales of the
        components alone).
    exact : bool
        Whether ``prox`` gives the minimiser itself and not only a step towards it.

    Notes
    -----
    A penalty may be able to do more, and is then treated better. All of this is optional:

    ``bands(n)``
        A quadratic term on neighbours in time; see :class:`Quadratic`. It is solved together with the fit.
    ``pace(n)``
        A term on the lengths of paths in time; see :class:`Paced`. It is solved together with the fit, too.
    ``constraint``
        ``"nonnegative"``, ``"static"`` or ``"parafac2"``: the penalty is the indicator of just this set.
    ``rotatable``
        Tuple of axes of ``x`` along which an orthogonal change of coordinates leaves the value as it is:
        data may then be compressed along them. Any axis implies that the sign of a component is free, too.
    ``on_clock(times, period)``
        The penalty for slices taken at these times (increasing; `period` is None or a number). It also says
        that the penalty is about changes from slice to slice: columns that come and go, which have none, are
        then refused unless there are ``bands``, too.
    ``rescale_state(state, scale)``
        The carried state after component r was multiplied by ``scale[r]``.
    ``violation(x)``
        For a constraint: how far ``x`` is from its set, relative to the size of ``x``; 0.0 on the set.
    ``is_set``
        True for a constraint of another degree than 0, such as a box.
    ``bounds``
        For a constraint: the pair of bounds that every entry lies between, without which there are none.
    ``on_scale``
        ``"costs"`` if the value grows without end with the scale of a component, as all of degree 2 do, or
        ``"bounds"`` if a constraint bounds it. A fit is refused where scale would flee to a free factor.
    ``even``
        True if the value of a component is that of its negative. The sign is then free without `rotatable`.
    ``joins_rows``
        True if the entries of a component in a slice are looked at together: of loadings, one row cannot then
        be solved without the others, nor one time of the strengths.
    ``require_shape(shape)``
        Refuses, with a ValueError, factors of a shape that the penalty is not for.

    See Also
    --------
    tparafac2.penalties.check_penalty : tests all of this on a penalty of your own.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, Penalty
    >>> isinstance(NonNegative(), Penalty)
    True
    """

    degree: ClassVar[int | None]
    exact: ClassVar[bool]

    def value(self, x: FloatArray) -> float:
        """Give the penalty of `x`: a number >= 0; for a constraint 0.0 on its set and inf outside."""
        ...

    def prox(self, v: FloatArray, rho: FloatArray, state: Any = None) -> tuple[FloatArray, Any]:
        """Minimise ``value(x) + sum_k rho[k] / 2 * ||x[k] - v[k]||^2`` over x.

        `rho` has one positive weight per leading index of `v`. `state` is what the penalty wants to
        carry from call to call, None at first. The inputs stay as they are; the result has the
        shape and the dtype of `v`.
        """
        ...


class Bands(NamedTuple):
    """A quadratic term on neighbours: ``diagonal (n,)``, ``off (n - 1,)`` and ``closing`` of the ends.

    Examples
    --------
    >>> Bands(np.ones(3), np.zeros(2)).closing
    0.0
    """

    diagonal: FloatArray
    off: FloatArray
    closing: float = 0.0


class Pace(NamedTuple):
    """A term on steps of any pace: of each component, ``own ||x||^2`` plus what its steps cost.

    With squared lengths ``step_k`` from slice k to the next (from the last to the first) these cost the
    least ``strength * sum_k step_k / share_k`` over shares that sum to one, none below its floor.

    Examples
    --------
    >>> Pace(1.0, np.array([0.1, 0.1, 0.0]), 0.0).floors
    array([0.1, 0.1, 0. ])
    """

    strength: float
    floors: npt.NDArray[np.float64]
    own: float


@runtime_checkable
class Paced(Penalty, Protocol):
    """A term on the paths of components in time, at any pace. It is absorbed as quadratic ones are.

    Examples
    --------
    >>> from tparafac2.penalties import Paced, SuddenChanges, TemporalSmoothness
    >>> isinstance(SuddenChanges(1.0), Paced), isinstance(TemporalSmoothness(1.0), Paced)
    (True, False)
    """

    def pace(self, n: int) -> Pace:
        """Give the term for n slices; a floor of zero says that there is no such step."""
        ...


@runtime_checkable
class Quadratic(Penalty, Protocol):
    """A quadratic term that couples neighbours along the leading axis only (the ends may be neighbours, too).

    The solver can absorb such a term in its least-squares step and needs no auxiliary for it.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, Quadratic, Ridge
    >>> isinstance(Ridge(0.1), Quadratic), isinstance(NonNegative(), Quadratic)
    (True, False)
    """

    def bands(self, n: int) -> Bands:
        """Give the term for n slices.

        It says that ``value(x)`` is
        ``sum_k diagonal[k] ||x[k]||^2 - 2 sum_k off[k] <x[k], x[k + 1]> + closing ||x[-1] - x[0]||^2``.
        """
        ...


def missing_attributes(penalty: object) -> list[str]:
    """Name what `penalty` lacks to be used as a penalty.

    Parameters
    ----------
    penalty : object
        Anything a user hands in as a penalty.

    Returns
    -------
    list of str
        The missing names; empty if `penalty` has the form of a :class:`Penalty`.

    Examples
    --------
    >>> from tparafac2.penalties import NonNegative, missing_attributes
    >>> missing_attributes(NonNegative())
    []
    >>> missing_attributes("smooth")
    ['degree', 'exact', 'value', 'prox']
    """
    declarations = [name for name in ("degree", "exact") if not hasattr(penalty, name)]
    methods = [name for name in ("value", "prox") if not callable(getattr(penalty, name, None))]
    return declarations + methods
