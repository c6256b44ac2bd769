"""What an answer has to be, computed from the definition in plain NumPy, and by nothing of the package."""

from itertools import pairwise

import numpy as np

LAMBDAS = {"TParafac2": 3, "Parafac2": 3, "TemporalCMF": 2, "CP": 3}  # how many each model has
TIE = 100.0  # how many times more a change costs before a column was first seen, and after it was last seen


class Seen:
    """The slices of an input that were observed, in the order of time, over the norm of all of them."""

    def __init__(self, made):
        clock = np.arange(float(len(made.truth))) if made.clock is None else made.clock
        self.places = [k for k, piece in enumerate(made.truth) if np.isfinite(piece).any()]
        self.places.sort(key=lambda k: clock[k])
        self.clock, self.made = clock[self.places], made
        X = [made.truth[k] for k in self.places]
        even = [np.ones(piece.shape) for piece in made.truth]
        counts = [(even if made.counts is None else made.counts)[k] for k in self.places]
        most = max(count.max() for count in counts)
        seen = np.concatenate([(count / most)[np.isfinite(piece)] for count, piece in zip(counts, X)])
        self.counts = [count / most / seen.mean() for count in counts]
        largest = max(np.nanmax(np.abs(piece)) for piece in X)
        squares = sum(np.nansum(c * (piece / largest) ** 2) for c, piece in zip(self.counts, X))
        self.norm = largest * np.sqrt(squares)
        self.X = [piece / self.norm for piece in X]
        self.there = [np.isfinite(piece).any(axis=0) for piece in X]

    def error(self, A, B, C):
        """Squared error, as a share of ||X||^2."""
        guesses = ((A * (C[k] / self.norm)) @ B[k].T for k in self.places)
        return sum(np.nansum(c * (x - g) ** 2) for c, x, g in zip(self.counts, self.X, guesses))

    def total(self, A, B, C):
        """The objective, over ||X||^2."""
        return self.error(A, B, C) + penalty(self, A, [B[k] for k in self.places], C[self.places])


def missed_by(term, x):
    """How far x is from a set, relative to its size."""
    size, name = max(np.abs(x).max(), 1e-300), type(term).__name__
    if name == "NonNegative":
        return -x.min() / size
    if name == "Box":
        return np.abs(x - np.clip(x, term.lower, term.upper)).max() / size
    if name == "Simplex":
        return max(-x.min(), np.abs(x.sum(axis=-2) - term.total).max()) / term.total
    if name == "NormBall":
        return np.linalg.norm(x, axis=-2).max() / term.radius - 1
    if name == "Unimodal":
        columns = np.moveaxis(x, -2, -1).reshape(-1, x.shape[-2]) / size
        rising = [np.maximum.accumulate(c) - c for c in columns]  # zero up to the peak
        falling = [np.maximum.accumulate(c[::-1])[::-1] - c for c in columns]
        apart = max(np.minimum(up, down).max() for up, down in zip(rising, falling))
        return max(apart, -columns.min()) if term.nonnegative else apart
    return 0.0


def turned_by(x):
    """How much sizes and angles of patterns change from slice to slice, relative to the sizes."""
    x = x / np.abs(x).max(axis=(0, 1))
    return np.ptp(np.einsum("kjr,kjs->krs", x, x), axis=0).max()


def penalty(seen, A, B, C):
    """All terms, over the square of the norm."""
    made, norm = seen.made, seen.norm
    settings, n = made.settings, LAMBDAS[made.model]
    lambdas = [settings.get(name) for name in ("lambda_a", "lambda_b", "lambda_d")[:n]]
    if lambdas[0] is None:
        smoothness = settings.get("smoothness")
        smoothness = 3e-3 if smoothness is None and made.model in ("TParafac2", "TemporalCMF") else smoothness
        lambdas = [(smoothness or 0.0) * norm ** (2 - 2 / n)] * n
    factors = {"a": [A], "b": B, "c": [C]}
    terms = {mode: square(factor, norm) for mode, factor in factors.items()}
    total = lambdas[0] * terms["a"]
    if n == 3:
        along = changes(seen, [row[None] for row in C], None, squares_in_all)
        total += lambdas[2] * (terms["c"] + settings.get("smooth_strengths", 0.0) * along)
    if made.model == "Parafac2":
        total += lambdas[1] * terms["b"]
    elif made.model == "CP":
        total += lambdas[1] * terms["b"] / len(B)
    elif lambdas[1]:
        epsilon = 0.0 if settings["algorithm"] == "paper" else float(settings["epsilon"])
        rigidity = settings.get("rigidity", np.inf)
        counts = None if settings["bridge"] else np.array(seen.there)
        if counts is not None:
            counts = counts & np.roll(counts, 1, axis=0)
        elif made.model == "TParafac2" and rigidity > 0:
            counts = ties(seen)
        price = length_of_path if settings["changes"] == "sudden" else squares_in_all
        total += lambdas[1] * (epsilon * terms["b"] + changes(seen, B, counts, price))
        if 0 < rigidity < np.inf:
            total += lambdas[1] * rigidity * from_turning(seen, np.array(B) / norm)
    sparsity = settings.get("sparsity") or {}
    sparsity = sparsity if isinstance(sparsity, dict) else {"patterns": sparsity}
    for mode, factor in (("a", "rows"), ("b", "patterns"), ("c", "strengths")):
        share = sparsity.get(factor, 0.0) / (len(B) if made.model == "CP" and mode == "b" else 1)
        total += share * norm ** (1 - 1 / n) * sum(np.abs(x / norm).sum() for x in factors[mode])
        further = settings.get(f"penalties_{mode}", ())
        total += sum(cost(term, x / norm, norm) for term in further for x in factors[mode])
    return total


def cost(term, x, norm):
    """What a term costs at x norm, over the square of the norm."""
    name = type(term).__name__
    if name == "Ridge":
        return term.strength * float((x**2).sum())
    if name == "L1":
        return term.strength * float(np.abs(x).sum()) / norm
    if name == "TotalVariation":
        return term.strength * float(np.abs(np.diff(x, axis=0)).sum()) / norm
    if name == "GeneralisedRidge":
        return term.strength * float(np.einsum("ir,ij,jr->", x, term.matrix, x))
    return 0.0


def changes(seen, B, counts, price):
    """What steps in time cost, with gaps over the median gap; `counts` says how much each column's counts.

    Row k of it is of the step to slice k, and row 0 of that from the last slice to the first.
    """
    if len(B) < 2:
        return 0.0
    gaps = gaps_of(seen)
    pairs = [(k - 1, k) for k in range(0 if gaps[-1] else 1, len(B))]
    steps = np.array([((B[k] - B[j]) / seen.norm) ** 2 for j, k in pairs])
    if counts is not None:
        steps = steps * counts[[k for _, k in pairs], :, None]
    return price(steps.sum(axis=1), gaps[[j for j, _ in pairs]])


def gaps_of(seen):
    """From each slice to the next, over the median; the last to the first, 0 where time does not go round."""
    gaps, period = np.diff(seen.clock), seen.made.settings.get("period")
    last = 0.0 if period is None else period - (seen.clock[-1] - seen.clock[0])
    with np.errstate(over="ignore"):
        gaps = np.append(gaps, last) / np.median(gaps)
    return np.where(np.isfinite(gaps), gaps, 0.0)  # an endless gap joins nothing


def ties(seen):
    """How many times more changes cost where nothing was seen of a column; None where all are as they are."""
    settings, there = seen.made.settings, np.array(seen.there)
    plain = settings["algorithm"] == "paper" or settings["changes"] == "sudden" or there.all()
    if plain or settings.get("period") is not None:
        return None
    times = np.full(there.shape, TIE)
    for j, column in enumerate(there.T):
        places = np.flatnonzero(column)
        for before, after in pairwise(places):
            times[before + 1 : after + 1, j] = min(after - before, TIE)
    return times


def squares_in_all(squares, gaps):
    return float((squares / gaps[:, None]).sum())


def length_of_path(squares, gaps):
    """The least of squares over shares of the time, none of which is below a twentieth of the real ones."""
    total, floors = 0.0, 0.05 * gaps / gaps.sum()
    for steps in np.sqrt(squares.T):
        low, high = 0.0, 1.0 / steps.max() if steps.any() else 0.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if np.maximum(steps * middle, floors).sum() < 1 else (low, middle)
        total += (steps**2 / np.maximum(steps * high, floors)).sum() / gaps.sum()
    return float(total)


def from_turning(seen, B):
    """Weighted squared distance from patterns with equal cross products, found by turns."""
    weights = np.ones(len(B))
    if len(B) > 1:
        gaps = gaps_of(seen)
        before = np.r_[gaps[-1] or gaps[0], gaps[:-1]]
        weights = (before + np.r_[gaps[:-1], gaps[-1] or gaps[-2]]) / 2
    size = max(np.abs(B).max(), 1e-300)
    B = np.linalg.qr(B / size)[1]
    values, vectors = np.linalg.eigh(np.einsum("k,kjr,kjs->rs", weights, B, B) / weights.sum())
    delta, last = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T, np.inf
    for _ in range(20_000):
        U, _, V = np.linalg.svd(B @ delta.T, full_matrices=False)
        delta = np.einsum("k,kjr,kjs->rs", weights, U @ V, B) / weights.sum()
        distance = float(np.einsum("k,kjr->", weights, (B - U @ V @ delta) ** 2))
        if last - distance <= 1e-18 * (B**2).sum():
            break
        last = distance
    return distance * size * size if distance > 1e-28 * (B**2).sum() else 0.0  # rounding


def square(factors, norm):
    return sum(float(((factor / norm) ** 2).sum()) for factor in factors)
