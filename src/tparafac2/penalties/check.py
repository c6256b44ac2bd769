"""Does a penalty keep its promises? A conformance test for built-in and for users' own penalties."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn, get_args

import numpy as np

from tparafac2.penalties.abilities import Constraint
from tparafac2.penalties.base import Bands, FloatArray, Penalty, Quadratic, missing_attributes

STEPS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
CLOSE = 1e-6


class PenaltyError(ValueError):
    """A penalty breaks one of the laws that the solver relies on.

    Examples
    --------
    >>> from tparafac2.penalties import PenaltyError
    >>> issubclass(PenaltyError, ValueError)
    True
    """


class _Probe(NamedTuple):
    """A penalty and a place to test it at."""

    penalty: Penalty
    v: FloatArray
    rho: FloatArray

    def objective(self, x: FloatArray) -> float:
        """Give what the prox minimises."""
        distances = np.sum((x - self.v) ** 2, axis=tuple(range(1, x.ndim)))
        return _value(self.penalty, x) + float(self.rho @ distances) / 2

    @property
    def size(self) -> float:
        """Give the objective's natural scale, to which errors are compared."""
        return float(self.rho @ np.sum(self.v**2, axis=tuple(range(1, self.v.ndim)))) / 2


def check_penalty(penalty: Penalty, shape: tuple[int, ...] = (4, 6, 3), seed: int = 0) -> None:
    """Test that a penalty keeps the laws that the solver relies on.

    Parameters
    ----------
    penalty : Penalty
        An instance, built-in or your own.
    shape : tuple of int
        Shape of the arrays to test with: ``(K, J, R)`` for patterns, ``(K, R)`` for strengths,
        ``(I, R)`` for loadings.
    seed : int
        Seed of the random points tested; the same seed tests the same points.

    Raises
    ------
    PenaltyError
        If a law is broken; the message says which, and by how much.

    Examples
    --------
    >>> from tparafac2.penalties import TemporalSmoothness, check_penalty
    >>> check_penalty(TemporalSmoothness(3.0))
    """
    if len(shape) < 2 or min(shape) < 1:
        raise ValueError(f"shape must be (K, J, R), (K, R) or (I, R) with positive sizes, got {shape}.")
    _check_declarations(penalty)
    rng = np.random.default_rng(seed)
    for size, weight in ((1.0, 1.0), (10.0, 0.1), (0.1, 10.0)):
        probe = _Probe(penalty, size * rng.standard_normal(shape), weight * rng.uniform(0.5, 2.0, shape[0]))
        x = _check_calls(probe)
        if penalty.exact:
            _check_minimiser(probe, x, rng)
        else:
            _check_descent(probe)
        if {_value(penalty, probe.v), _value(penalty, x)} <= {0.0, math.inf}:
            _check_idempotent(probe)
        _check_degree(probe, x, rng)
        if isinstance(penalty, Quadratic):
            _check_bands(penalty, probe.v)
        if hasattr(penalty, "violation"):
            for point in (probe.v, x):
                _check_violation(penalty, point)
        _check_scale(penalty, x)
        for axis in getattr(penalty, "rotatable", ()):
            for point in (probe.v, x):
                _check_rotation(penalty, point, axis, rng)
    _check_clock(penalty, shape)


def _fail(penalty: object, sentence: str) -> NoReturn:
    raise PenaltyError(f"{type(penalty).__name__}: {sentence}")


def _check_declarations(penalty: Penalty) -> None:
    if isinstance(penalty, type):
        name = penalty.__name__
        raise PenaltyError(f"{name} is a class, not a penalty: make an instance, {name}(...).")
    missing = missing_attributes(penalty)
    if missing:
        _fail(penalty, f"a penalty needs degree, exact, value and prox; missing: {', '.join(missing)}.")
    if penalty.degree not in (None, 0, 1, 2):
        _fail(penalty, f"degree must be 0, 1, 2 or None, got {penalty.degree!r}.")
    if not isinstance(penalty.exact, bool):
        _fail(penalty, f"exact must be True or False, got {penalty.exact!r}.")
    constraint = getattr(penalty, "constraint", None)
    if constraint not in (None, *get_args(Constraint)):
        known = ", ".join(map(repr, get_args(Constraint)))
        _fail(penalty, f"constraint must be one of {known}, or not be there; got {constraint!r}.")
    if constraint is not None and penalty.degree != 0:
        _fail(penalty, f"constraint is {constraint!r}, so that degree must be 0, got {penalty.degree!r}.")


def _check_rotation(penalty: Penalty, x: FloatArray, axis: int, rng: np.random.Generator) -> None:
    """The value must not depend on the coordinates of an axis that may be rotated."""
    if axis >= x.ndim - 1:
        return
    rotation = np.linalg.qr(rng.standard_normal((x.shape[axis],) * 2))[0]
    turned = np.moveaxis(np.tensordot(rotation, x, (1, axis)), 0, axis)
    gap = _relative_gap(_value(penalty, turned), _value(penalty, x))
    if gap > CLOSE:
        _fail(
            penalty,
            f"rotatable names axis {axis}, but the value changes by {gap:.2g} of itself when that axis is "
            "rotated: leave it out of rotatable.",
        )


def _check_violation(penalty: Any, x: FloatArray) -> None:
    """A violation is 0 on the set, and more than 0 outside."""
    violation, outside = float(penalty.violation(x)), math.isinf(_value(penalty, x))
    if not (violation > 0 if outside else 0 <= violation <= CLOSE):
        where, wanted = ("outside", "more than 0") if outside else ("on", "0")
        _fail(penalty, f"violation is {violation:.2g} at a point {where} the set: it must be {wanted} there.")


def _check_scale(penalty: Penalty, x: FloatArray) -> None:
    """What is said of scale and sign must hold."""
    claim, value = getattr(penalty, "on_scale", None), _value(penalty, x)
    far = _value(penalty, 1e9 * x)
    if claim not in (None, "costs", "bounds"):
        _fail(penalty, f"on_scale must be 'costs', 'bounds' or None, got {claim!r}.")
    if claim == "bounds" and np.any(x) and math.isfinite(far):
        _fail(penalty, "on_scale is 'bounds', but a component of any scale is on the set: leave it out.")
    if claim == "costs" and value > 0 and not far > value:
        _fail(penalty, "on_scale is 'costs', but a component of larger scale costs no more: leave it out.")
    if getattr(penalty, "even", False) and _relative_gap(_value(penalty, -x), value) > CLOSE:
        _fail(penalty, "even is declared, but the value of -x is another than that of x: leave it out.")


def _check_clock(penalty: Penalty, shape: tuple[int, ...]) -> None:
    """What a penalty becomes on a clock must be a penalty, too; it may refuse time that goes round."""
    if not hasattr(penalty, "on_clock"):
        return
    for period in (None, 2.0 * shape[0]):
        try:
            placed = penalty.on_clock(np.arange(shape[0], dtype=np.float64), period)
        except ValueError:
            if period is None:
                raise
            continue
        missing = missing_attributes(placed)
        if missing:
            _fail(penalty, f"on_clock must return a penalty; it lacks {', '.join(missing)}.")


def _value(penalty: Penalty, x: FloatArray) -> float:
    """Evaluate `value`, and check that it is a number a penalty may have."""
    value = penalty.value(x)
    if not isinstance(value, float):
        _fail(penalty, f"value must return a float, got {type(value).__name__}: use float(...).")
    if math.isnan(value) or value < -CLOSE:
        _fail(penalty, f"value must be at least 0 (or inf), got {value}.")
    return value


def _prox(probe: _Probe, v: FloatArray, state: Any = None) -> tuple[FloatArray, Any]:
    """Call `prox`, and check everything that a single call can show."""
    penalty = probe.penalty
    given = {"v": v.copy(), "rho": probe.rho.copy(), "state": copy.deepcopy(state)}
    result = penalty.prox(given["v"], given["rho"], given["state"])
    for name, original in (("v", v), ("rho", probe.rho), ("state", state)):
        if not _same(given[name], original):
            _fail(penalty, f"prox changed its input {name}{_by_how_much(given[name], original)}: use a copy.")
    if not (isinstance(result, tuple) and len(result) == 2):
        _fail(penalty, f"prox must return the pair (x, state), got {type(result).__name__}.")
    x = result[0]
    if not isinstance(x, np.ndarray) or x.shape != v.shape:
        _fail(penalty, f"prox must keep the shape {v.shape}, got {getattr(x, 'shape', type(x).__name__)}.")
    if x.dtype != v.dtype:
        _fail(penalty, f"prox must keep the dtype {v.dtype}, got {x.dtype}: use x.astype(v.dtype).")
    if not np.isfinite(x).all():
        _fail(
            penalty, f"prox gave {np.sum(~np.isfinite(x))} entries that are NaN or infinite for a finite v."
        )
    return result


def _same(a: Any, b: Any) -> bool:
    """Compare two states of any make, by content."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(_same(left, right) for left, right in zip(a, b))
    if hasattr(a, "__dict__"):
        return _same(vars(a), vars(b))
    return bool(a == b)


def _by_how_much(a: Any, b: Any) -> str:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
        return f" by up to {np.abs(a - b).max():.2g}"
    return ""


def _check_calls(probe: _Probe) -> FloatArray:
    """Check first and later calls, in both precisions, and give prox(v)."""
    _prox(probe, probe.v.astype(np.float32))
    x, state = _prox(probe, probe.v)
    for carried in (None, state):
        first, second = (_prox(probe, probe.v, carried)[0] for _ in range(2))
        if not np.array_equal(first, second):
            gap = np.abs(first - second).max()
            _fail(probe.penalty, f"prox is not deterministic: equal calls differ by up to {gap:.2g}.")
    if math.isinf(_value(probe.penalty, x)):
        _fail(probe.penalty, "prox(v) is not feasible: its value is inf.")
    return x


def _check_minimiser(probe: _Probe, x: FloatArray, rng: np.random.Generator) -> None:
    """No other point may have a lower objective than prox(v)."""
    # A value may call points feasible that are so to 1e-6 only; these come nearer to v by as much.
    outside = math.isinf(_value(probe.penalty, probe.v))
    reached = probe.objective(x)
    slack = (5 * CLOSE if outside else 1e-9) * (probe.size + reached)
    best = min(probe.objective(rival) for rival in _rivals(probe, x, rng))
    if best < reached - slack:
        _fail(
            probe.penalty,
            f"exact is declared but prox(v) is not the minimiser: its objective {reached:.8g} is "
            f"{reached - best:.2g} above that of another point. Mend prox, or declare exact = False.",
        )


def _rivals(probe: _Probe, x: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Give points that a wrong prox would lose against, near and far."""
    v = probe.v
    yield v
    yield np.zeros_like(v)
    spread = float(np.std(v)) or 1.0
    noises = [spread * rng.standard_normal(v.shape) for _ in range(8)]
    # Where x must lie on a set, a prox from elsewhere is the only sure way to other points of it.
    feasible = [_prox(probe, v + step * noise)[0] for step in STEPS for noise in noises[:4]]
    yield from feasible
    whole = [v - x, x, *noises, *(other - x for other in feasible[:4])]
    parts = [direction * (rng.random(v.shape) < 0.5) for direction in whole]
    for direction in whole + parts:
        for step in STEPS:
            yield x + step * direction
            yield x - step * direction


def _check_descent(probe: _Probe) -> None:
    """Repeated inexact calls with the carried state must not move away from v."""
    x, state = _prox(probe, probe.v)
    reached = probe.objective(x)
    for _ in range(10):
        x, state = _prox(probe, probe.v, state)
        previous, reached = reached, probe.objective(x)
        if math.isinf(reached):
            _fail(probe.penalty, "prox(v) with the carried state is not feasible: its value is inf.")
        if reached > previous + 1e-9 * probe.size:
            _fail(
                probe.penalty,
                f"a repeated prox with the carried state moved away from the minimiser: the objective rose "
                f"from {previous:.8g} by {reached - previous:.2g}.",
            )


def _check_idempotent(probe: _Probe) -> None:
    """A point of the set is its own nearest point."""
    x, state = _prox(probe, probe.v)
    again = x
    for _ in range(1 if probe.penalty.exact else 20):
        again, state = _prox(probe, x, state)
    moved = float(np.abs(again - x).max())
    if moved > CLOSE * max(float(np.abs(x).max()), float(np.abs(probe.v).max())):
        _fail(probe.penalty, f"prox moves points that are on the set already: by up to {moved:.2g}.")


def _check_degree(probe: _Probe, x: FloatArray, rng: np.random.Generator) -> None:
    """Check how the value changes when the point, or a component of it, is multiplied by a number."""
    penalty = probe.penalty
    for point in (probe.v, x):
        value = _value(penalty, point)
        if penalty.degree == 0:
            factors = rng.uniform(0.2, 5.0, point.shape[-1])
            scaled = _value(penalty, factors * point)
            if value not in (0.0, math.inf) or scaled != value:
                _fail(
                    penalty,
                    f"degree 0 is declared but the value went from {value:.6g} to {scaled:.6g} when "
                    "components were multiplied by numbers > 0: it must stay 0 or inf. Use degree = None.",
                )
        if penalty.degree in (1, 2):
            _check_growth(penalty, point, value, penalty.degree)


def _check_growth(penalty: Penalty, point: FloatArray, value: float, degree: int) -> None:
    for factor in (0.5, 3.0):
        gap = _relative_gap(_value(penalty, factor * point), factor**degree * value)
        if gap > CLOSE:
            _fail(
                penalty,
                f"degree {degree} is declared but value({factor} x) is not {factor**degree} value(x): "
                f"relative difference {gap:.2g}. Declare degree = None.",
            )
    components = np.eye(point.shape[-1])
    gap = _relative_gap(sum(_value(penalty, point * component) for component in components), value)
    if gap > CLOSE:
        _fail(
            penalty,
            f"degree {degree} is declared but the value is not the sum of its values for single components: "
            f"relative difference {gap:.2g}. Declare degree = None.",
        )


def _check_bands(penalty: Quadratic, v: FloatArray) -> None:
    diagonal, off_diagonal, closing = Bands(*penalty.bands(len(v)))
    if np.shape(diagonal) != (len(v),) or np.shape(off_diagonal) != (len(v) - 1,):
        _fail(
            penalty,
            f"bands({len(v)}) must have shapes ({len(v)},) and ({len(v) - 1},), got {np.shape(diagonal)} and "
            f"{np.shape(off_diagonal)}.",
        )
    flat = v.reshape(len(v), -1)
    squares, products = np.sum(flat**2, axis=1), np.sum(flat[:-1] * flat[1:], axis=1)
    ends = closing * float(np.sum((flat[-1] - flat[0]) ** 2))
    gap = _relative_gap(float(diagonal @ squares - 2 * off_diagonal @ products) + ends, _value(penalty, v))
    if gap > CLOSE:
        _fail(penalty, f"bands does not reproduce value: relative difference {gap:.2g}.")


def _relative_gap(a: float, b: float) -> float:
    if a == b:
        return 0.0
    return math.inf if math.isinf(a) or math.isinf(b) else abs(a - b) / max(abs(a), abs(b))
