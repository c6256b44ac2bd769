"""Data, starts and fits that the contract is about, and what they minimise, written down once more in NumPy.

Nothing here knows the inside of the package: a case is a model, data and a start, and `objective` is the sum
in the documentation of the model.
"""

import itertools
import math
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse

import tparafac2 as tp

REFERENCE = Path(__file__).with_name("reference.npz")
EXACT = {"tol": 1e-12, "feasibility_tol": 1e-9, "max_iter": 20_000, "n_jobs": 1, "progress": False}

# --- data ---------------------------------------------------------------------------------------------------


@dataclass
class Truth:
    """Factors of which data were made: A (I, R), B (K, J, R), C (K, R)."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray

    @property
    def X(self):
        return np.einsum("ir,kr,kjr->kij", self.A, self.C, self.B)


def _orthonormal(rng, rows, columns):
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]


def turning(seed, K=8, I=12, J=10, R=3):
    """Patterns that turn slowly and keep their sizes and angles."""
    rng = np.random.default_rng(seed)
    delta = np.eye(R) + 0.2 * rng.standard_normal((R, R))
    skew = rng.standard_normal((J, J))
    skew = 0.04 * (skew - skew.T)
    # Cayley transform: one small rotation, done again and again.
    turn = np.linalg.solve(np.eye(J) + skew, np.eye(J) - skew)
    frame = _orthonormal(rng, J, R)
    B = np.stack([np.linalg.matrix_power(turn, k) @ frame @ delta for k in range(K)])
    return Truth(rng.standard_normal((I, R)), B, 0.5 + 1.5 * rng.random((K, R)))


def growing(seed, K=8, I=12, J=10, R=3):
    """Non-negative patterns that change their shapes: bumps that wander and widen."""
    rng = np.random.default_rng(seed)
    columns, time = np.arange(J), np.linspace(0.0, 1.0, K)
    B = np.zeros((K, J, R))
    for r in range(R):
        centre = (r + 0.5) * J / R + (-1) ** r * 0.15 * J * time
        width = 0.8 + 0.5 * rng.random() + 0.4 * time
        B[:, :, r] = np.exp(-0.5 * ((columns - centre[:, None]) / width[:, None]) ** 2)
    A = rng.random((I, R)) * (rng.random((I, R)) < 0.6)
    A[:R] += np.eye(R)
    return Truth(A, B, 0.5 + 1.5 * rng.random((K, R)))


def jumping(seed, K=10, I=12, J=10, R=3):
    """Patterns that stay, and are others all at once."""
    rng = np.random.default_rng(seed)
    before, after = _orthonormal(rng, J, R), _orthonormal(rng, J, R)
    when = np.linspace(K // 3, 2 * K // 3, R).astype(int)
    B = np.stack([np.where(k < when, before, after) for k in range(K)])
    return Truth(rng.standard_normal((I, R)), B, 0.5 + 1.5 * rng.random((K, R)))


def absent(seed):
    """Two of three components are not there at some times, and what noise says of them is the wrong way."""
    truth = turning(seed)
    truth.C[2:4, 0] = truth.C[5:7, 1] = -0.15
    return truth


def still(seed, K=7, I=9, J=8, R=3):
    """Patterns that do not change."""
    rng = np.random.default_rng(seed)
    B = np.repeat(rng.random((1, J, R)) + 0.1, K, axis=0)
    return Truth(rng.random((I, R)), B, 0.2 + rng.random((K, R)))


def noisy(truth, noise=0.2, seed=100):
    """The truth with noise of a share of its norm."""
    X = truth.X
    error = np.random.default_rng(seed).standard_normal(X.shape)
    return X + noise * np.linalg.norm(X) / np.linalg.norm(error) * error


def holes(shape, share, seed=7):
    """True where something is missing; every column is seen by half of the rows at every time."""
    return np.random.default_rng(seed).random(shape) < share


def near(truth, seed=1, by=0.3):
    """A start not far from the truth."""
    rng = np.random.default_rng(seed)

    def moved(x):
        return x + by * np.sqrt(np.mean(x**2)) * rng.standard_normal(x.shape)

    return moved(truth.A), moved(truth.B), np.abs(moved(truth.C))


# --- what is minimised, in NumPy ----------------------------------------------------------------------------


@dataclass
class Terms:
    """Weights of the terms of a model, as its documentation has them."""

    smooth: bool = True
    smoothness: float | None = None
    lambdas: tuple = ()  # of A, B and C
    epsilon: float = 1e-6
    rigidity: float = math.inf
    changes: str = "smooth"
    sparsity: dict = field(default_factory=dict)
    smooth_strengths: float = 0.0
    fixed: bool = False  # strengths are one
    static: bool = False


def gaps_of(times, K, period):
    """Inverse gaps between slices in order, 1 for the median gap, and that from the last to the first."""
    if times is None:
        times = np.arange(K, dtype=float)
    times = np.sort(times)
    gaps = np.diff(times)
    closing = 0.0 if period is None else np.median(gaps) / (period - (times[-1] - times[0]))
    return np.median(gaps) / gaps, closing


def squared_steps(x, closing):
    """Squares of the changes of each component, the last being that from the last slice to the first."""
    steps = np.concatenate([np.diff(x, axis=0), x[:1] - x[-1:]])
    return np.square(steps).reshape(len(x), -1, x.shape[-1]).sum(axis=1) if x.ndim == 3 else np.square(steps)


def distance_from_turning(B, weights):
    """Sum of weights times ||B_k - P_k Delta||^2 for the best Delta and orthonormal P_k."""
    values, vectors = np.linalg.eigh(np.einsum("k,kjr,kjs->rs", weights / weights.sum(), B, B))
    delta = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    for _ in range(500):
        U, _, V = np.linalg.svd(B @ delta.T, full_matrices=False)
        P = U @ V
        delta = np.einsum("k,kjr,kjs->rs", weights / weights.sum(), P, B)
    return float(np.einsum("k,kjr->", weights, (B - P @ delta) ** 2))


def share_of_path(steps, weights, closing, floor=0.05):
    """Squared length of a path: the least sum of steps / shares of time, none below `floor` of its own."""
    gaps = np.append(1 / weights, 1 / closing if closing else 0.0)
    steps = steps if closing else np.append(steps[:-1], 0.0)
    least = floor * gaps / gaps.sum()
    sizes, bound = np.sqrt(steps), np.zeros(len(steps), dtype=bool)
    if not sizes.any():
        return 0.0
    while True:  # shares in proportion to the sizes, but for those that would be below the least
        free = (1 - least[bound].sum()) * sizes / sizes[~bound].sum()
        shares = np.where(bound, least, free)
        if not (below := ~bound & (shares < least)).any():
            break
        bound |= below
    moved = steps > 0
    return float(np.sum(steps[moved] / shares[moved])) / gaps.sum()


def objective(terms, X, A, B, C, *, weights=None, times=None, period=None):
    """Squared error of what was observed, by weight, and the values of all terms."""
    X, B = [np.asarray(x) for x in X], [np.asarray(b) for b in B]
    observed = [np.isfinite(x) for x in X]
    counts = [np.ones_like(x) for x in X]
    if weights is not None:
        counts = [np.broadcast_to(w, x.shape) for w, x in zip(weights, X)]
        seen = [o & (w > 0) for o, w in zip(observed, counts)]
        mean = sum(w[s].sum() for w, s in zip(counts, seen)) / sum(s.sum() for s in seen)
        counts = [w / mean for w in counts]
    error = norm = 0.0
    for x, o, w, b, c in zip(X, observed, counts, B, C):
        error += float((w * (x - (A * c) @ b.T) ** 2)[o].sum())
        norm += float((w * x**2)[o].sum())
    return error + penalty(terms, math.sqrt(norm), A, B, C, times=times, period=period)


def penalty(terms, norm, A, B, C, *, times=None, period=None):
    n = 2 if terms.fixed else 3
    a, b, d = [*terms.lambdas, 0.0, 0.0, 0.0][:3]
    if terms.smoothness is not None:
        a = b = d = terms.smoothness * norm ** (2 - 2 / n)
    if terms.fixed:
        d = 0.0
    total = a * np.sum(A**2) + d * np.sum(C**2)
    unit = norm ** (2 - 1 / n)
    few = {name: weight * unit for name, weight in terms.sparsity.items()}
    once = 1 / len(B) if terms.static else 1.0
    total += few.get("rows", 0.0) * np.abs(A).sum() + few.get("strengths", 0.0) * np.abs(C).sum()
    total += few.get("patterns", 0.0) * once * sum(np.abs(x).sum() for x in B)
    squares = sum(np.sum(x**2) for x in B)
    order = np.arange(len(B)) if times is None else np.argsort(times)
    between, closing = gaps_of(times, len(B), period)
    if d and terms.smooth_strengths:
        steps = squared_steps(np.asarray(C)[order], closing)
        total += d * terms.smooth_strengths * float(np.append(between, closing) @ steps.sum(axis=1))
    if not terms.smooth:
        return float(total + b * once * squares)
    B = np.stack(B)[order]
    steps = squared_steps(B, closing)
    if terms.changes == "sudden":
        total += b * sum(share_of_path(steps[:, r], between, closing) for r in range(A.shape[1]))
    else:
        total += b * float(np.append(between, closing) @ steps.sum(axis=1))
    total += b * terms.epsilon * squares
    if 0 < terms.rigidity < math.inf:
        gaps = 1 / between
        round_trip = 1 / closing if closing else None
        before = np.append(round_trip or gaps[0], gaps)
        after = np.append(gaps, round_trip or gaps[-1])
        total += b * terms.rigidity * distance_from_turning(B, (before + after) / 2)
    return float(total)


# --- how alike two answers are ------------------------------------------------------------------------------


def match(one, other):
    """Mean over the components of the product of absolute cosines of loadings, patterns and strengths."""
    cosines = 1.0
    for x, y in zip(one, other):
        x, y = (
            np.concatenate(z) if isinstance(z, list) or np.ndim(z) == 3 else np.asarray(z) for z in (x, y)
        )
        cosines = cosines * np.abs((x / np.linalg.norm(x, axis=0)).T @ (y / np.linalg.norm(y, axis=0)))
    rank = len(cosines)
    ways = itertools.permutations(range(rank))
    return max(float(np.mean(cosines[range(rank), way])) for way in ways)


def fitted(A, B, C):
    """All slices side by side."""
    return np.concatenate([(A * c) @ np.asarray(b).T for b, c in zip(B, C)], axis=1)


# --- fits ---------------------------------------------------------------------------------------------------


@dataclass
class Case:
    """A model, with data and a start that it is fitted from."""

    model: type
    settings: dict
    X: object  # as `fit` takes it
    start: tuple
    terms: Terms
    fit: dict = field(default_factory=dict)
    dense: object = None  # the same for NumPy, NaN where missing
    unique: bool = True  # else only what is fitted is
    further: object = lambda A, B, C: 0.0  # values of further terms

    def run(self, **other):
        settings = EXACT | {"init": self.start} | self.settings | other
        return self.model(self.start[0].shape[1], **settings).fit(self.X, **self.fit)

    def objective(self, A, B, C):
        """What the model minimises, at any factors."""
        return self.further(A, B, C) + objective(
            self.terms,
            self.X if self.dense is None else self.dense,
            *(A, B, C),
            weights=_by_entry(self.fit.get("weights"), self.X),
            times=self.fit.get("times"),
            period=self.settings.get("period"),
        )


def _by_entry(weights, X):
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=float)
    return [weights[:, None]] * len(X) if weights.ndim == 1 else weights


def _temporal(truth, X=None, *, start=None, fit=None, dense=None, **settings):
    terms = Terms(**{name: settings[name] for name in settings if name in Terms.__dataclass_fields__})
    if "lambda_a" in settings:
        terms.lambdas = settings["lambda_a"], settings["lambda_b"], settings["lambda_d"]
    X = noisy(truth) if X is None else X
    return Case(tp.TParafac2, settings, X, start or near(truth), terms, fit or {}, dense)


def _coupled(truth, X=None, *, unique, **settings):
    terms = Terms(fixed=True, smoothness=settings["smoothness"])
    A, B, C = near(truth)
    return Case(
        tp.TemporalCMF,
        settings,
        noisy(truth) if X is None else X,
        (A, B * C[:, None], None),
        terms,
        unique=unique,
    )


def _cp(truth, X=None, *, fit=None, **settings):
    lambdas = tuple(settings.get(name, 0.0) for name in ("lambda_a", "lambda_b", "lambda_d"))
    terms = Terms(smooth=False, static=True, lambdas=lambdas)
    terms.smooth_strengths = settings.get("smooth_strengths", 0.0)
    X = noisy(truth) if X is None else X
    return Case(tp.CP, settings, X, near(truth), terms, fit or {})


def _parafac2(X, start, **settings):
    lambdas = tuple(settings.get(name, 0.0) for name in ("lambda_a", "lambda_b", "lambda_d"))
    return Case(tp.Parafac2, settings, X, start, Terms(smooth=False, lambdas=lambdas))


def _further(truth):
    """Loadings from 0 to 1, neighbouring columns alike, and a user's view of what strengths may be."""
    columns = np.arange(10)
    alike = (np.abs(columns[:, None] - columns) == 1).astype(float)
    neighbours = np.diag(alike.sum(axis=1)) - alike
    case = _temporal(
        truth,
        smoothness=3e-3,
        rigidity=1.0,
        penalties_a=[tp.penalties.Box(0.0, 1.0)],
        penalties_b=[tp.penalties.GeneralisedRidge(0.3 * neighbours)],
        penalties_c=[tp.penalties.Ridge(0.2)],
    )
    case.further = lambda A, B, C: (
        0.3 * float(np.einsum("ij,kir,kjr->", neighbours, B, B)) + 0.2 * float(np.sum(C**2))
    )
    return case


def _holed(X, missing):
    return np.where(missing, np.nan, X)


def _ragged():
    truth = turning(11, J=12)
    widths = [12, 9, 10, 8, 12, 11, 7, 10]
    rng = np.random.default_rng(12)
    delta = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    B = [_orthonormal(rng, width, 3) @ delta for width in widths]
    X = [(truth.A * c) @ b.T for b, c in zip(B, truth.C)]
    X = [x + 0.1 * np.std(x) * rng.standard_normal(x.shape) for x in X]
    A, _, C = near(truth)
    return _parafac2(X, (A, [b + 0.1 * rng.standard_normal(b.shape) for b in B], C))


def _sparse():
    truth = growing(5, I=20)
    rng = np.random.default_rng(6)
    X = rng.poisson(8.0 * truth.X).astype(float)
    return _temporal(truth, [scipy.sparse.csr_array(x) for x in X], dense=X, smoothness=3e-3)


def _samples():
    truth = turning(3, I=16)
    X, missing = noisy(truth), holes((8, 16, 1), 0.25)
    return _temporal(truth, _holed(X, missing), smoothness=1e-3)


TIMES = np.array([0.0, 1.0, 1.5, 4.0, 5.0, 7.0, 7.5, 10.0])
SHUFFLED = np.array([3, 0, 6, 1, 7, 5, 2, 4])

MAKERS = {
    "tparafac2 complete": lambda: _temporal(turning(0), smoothness=1e-3),
    "tparafac2 lambdas": lambda: _temporal(
        turning(1), lambda_a=0.5, lambda_b=2.0, lambda_d=0.1, epsilon=1e-2
    ),
    "tparafac2 tall": lambda: _temporal(turning(2, K=5, I=500, J=6), smoothness=1e-3),
    "tparafac2 tall missing": lambda: _temporal(
        turning(2, K=5, I=500, J=6),
        _holed(noisy(turning(2, K=5, I=500, J=6)), holes((5, 500, 6), 0.1)),
        smoothness=1e-3,
    ),
    "tparafac2 wide": lambda: _temporal(turning(2, K=5, I=6, J=150), smoothness=1e-3),
    "tparafac2 missing entries": lambda: _temporal(
        turning(3), _holed(noisy(turning(3)), holes((8, 12, 10), 0.2)), smoothness=1e-3
    ),
    "tparafac2 missing samples": _samples,
    "tparafac2 sparse data": _sparse,
    "tparafac2 uneven times": lambda: _temporal(
        turning(4), noisy(turning(4))[SHUFFLED], fit={"times": TIMES[SHUFFLED]}, smoothness=1e-2
    ),
    "tparafac2 periodic": lambda: _temporal(turning(4), smoothness=1e-2, period=12.0, fit={"times": TIMES}),
    "tparafac2 row weights": lambda: _temporal(
        turning(5), fit={"weights": np.linspace(0.5, 4.0, 12)}, smoothness=1e-3
    ),
    "tparafac2 entry weights": lambda: _temporal(
        turning(5), fit={"weights": np.random.default_rng(8).uniform(0.2, 3.0, (8, 12, 10))}, smoothness=1e-3
    ),
    "tparafac2 nonnegative patterns": lambda: _temporal(growing(6), smoothness=1e-3, nonnegative="patterns"),
    "tparafac2 nonnegative both": lambda: _temporal(
        growing(6), smoothness=1e-3, nonnegative="both", rigidity=1.0
    ),
    "tparafac2 rigidity 1": lambda: _temporal(growing(7), smoothness=1e-3, rigidity=1.0),
    "tparafac2 rigidity 0": lambda: _temporal(growing(7), smoothness=3e-3, rigidity=0.0),
    "tparafac2 rigidity uneven": lambda: _temporal(
        growing(7), smoothness=3e-3, rigidity=10.0, fit={"times": TIMES}
    ),
    "tparafac2 sudden": lambda: _temporal(jumping(8), smoothness=1e-3, changes="sudden"),
    "tparafac2 sudden relaxed": lambda: _temporal(
        jumping(8), smoothness=1e-3, changes="sudden", rigidity=1.0
    ),
    "tparafac2 sparse factors": lambda: _temporal(
        growing(6), smoothness=3e-3, rigidity=1.0, sparsity={"patterns": 1e-3, "rows": 1e-3}
    ),
    "tparafac2 smooth strengths": lambda: _temporal(turning(10), smoothness=1e-3, smooth_strengths=100.0),
    "tparafac2 strengths at zero": lambda: _temporal(absent(16), smoothness=1e-2),
    "tparafac2 further terms": lambda: _further(growing(6)),
    "parafac2": lambda: _parafac2(noisy(turning(11), 0.1), near(turning(11))),
    "parafac2 ragged": _ragged,
    "parafac2 lambdas missing": lambda: _parafac2(
        _holed(noisy(turning(11)), holes((8, 12, 10), 0.1)),
        near(turning(11)),
        lambda_a=0.1,
        lambda_b=0.2,
        lambda_d=0.3,
    ),
    "cp": lambda: _cp(still(12)),
    "cp bounded": lambda: _cp(
        still(13),
        _holed(noisy(still(13)), holes((7, 9, 8), 0.1)),
        nonnegative_strengths=True,
        nonnegative="both",
        smooth_strengths=10.0,
        lambda_a=0.02,
        lambda_b=0.01,
        lambda_d=0.03,
    ),
    "tcmf": lambda: _coupled(turning(14), unique=False, smoothness=1e-2),
    "tcmf nonnegative rows": lambda: _coupled(
        growing(15, I=20), unique=True, smoothness=1e-2, nonnegative="rows"
    ),
}


@cache
def case(name):
    """A case by its name, made once."""
    return MAKERS[name]()


def new_rows(name):
    """Rows that were not in the fit; None where slices have unequal columns."""
    one = case(name)
    X = one.X if one.dense is None else one.dense
    if isinstance(X, list):
        return None
    rows = X[:, ::3]
    return 1.5 * rows + 0.5 * np.nanstd(rows) * np.random.default_rng(9).standard_normal(rows.shape)


def plain(value):
    """An array of float64 as a file keeps it."""
    return np.asarray(value, dtype=np.float64)


@cache
def references():
    """What version 0.2 found, by case and name."""
    with np.load(REFERENCE) as file:
        found = {name: file[name] for name in file.files if "/" in name}
    cases = {}
    for name, value in found.items():
        of, what = name.split("/")
        cases.setdefault(of, {})[what] = value
    return cases
