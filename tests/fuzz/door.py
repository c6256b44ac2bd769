"""Inputs of all kinds at the Python door, each made from a seed and a number.

Every input has to end in an answer whose objective is confirmed by another computation, or in a sentence of
ours.

    python tests/fuzz/door.py --seed 0 --count 10000      # the whole lot
    python tests/fuzz/door.py --seed 0 --only 4711        # one of them again
"""

import argparse
import collections
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
import xarray as xr

import tparafac2 as tp
from tparafac2.penalties import NonNegative, Ridge

MODELS = {"TParafac2": 3, "Parafac2": 3, "TemporalCMF": 2, "CP": 3}  # how many lambdas each has
HUGE = 10**400
ODD = [
    None,
    True,
    -1,
    0,
    1.5,
    "x",
    b"x",
    1j,
    [],
    {},
    np.nan,
    np.inf,
    HUGE,
    Decimal(2),
    np.array([1, 2]),
    object,
]
REFUSALS = (ValueError, TypeError, MemoryError, OSError)
SPARSE = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@dataclass
class Input:
    """One call of `fit`, and what its data are in plain numbers (None if it has to be refused)."""

    model: str
    settings: dict[str, Any]
    X: Any
    truth: list[np.ndarray] | None
    fit: dict[str, Any] = field(default_factory=dict)
    clock: np.ndarray | None = None
    what: str = ""


class Failure(Exception):
    """An input that ended otherwise than it has to."""


def require(holds, what):
    if not holds:
        raise Failure(what)


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


# --- data ---------------------------------------------------------------------------------------------------


def draw_numbers(rng, odd):
    """A plain stack (K, I, J); those that are odd can often not be fitted."""
    shape = tuple(int(n) for n in rng.integers(2, 7, 3))
    if odd and rng.random() < 0.15:
        shape = tuple(int(n) for n in rng.integers(0, 3, 3))
    kind = pick(rng, ["normal", "uniform", "counts", "exact", "constant", "outlier"])
    K, I, J = shape
    X = rng.normal(size=shape)
    if kind == "uniform":
        X = rng.random(shape)
    elif kind == "counts":
        X = rng.poisson(0.7, shape).astype(float)
    elif kind == "exact":
        X = np.einsum("kr,ir,jr->kij", rng.random((K, 2)), rng.random((I, 2)), rng.random((J, 2)))
    elif kind == "constant":
        X = np.full(shape, pick(rng, [0.0, 1.0, -3.0] if odd else [1.0, 1e6]))
    elif kind == "outlier" and X.size:
        X.flat[0] = 10.0 ** rng.integers(3, 30)
    if X.size and rng.random() < 0.2:
        X[(slice(None),) * int(rng.integers(3)) + (0,)] = 0.0
    if rng.random() < 0.2:
        X = X * 10.0 ** (rng.uniform(-170, 170) if odd else rng.uniform(-100, 100))
    if odd and X.size and rng.random() < 0.1:
        X.flat[-1] = np.inf
    return X


def pierce(rng, X, odd):
    """Holes of all kinds."""
    usual = ["none"] * 6 + ["some", "slice", "row at a time", "column at a time"]
    kind = pick(rng, [*usual, "many", "row", "all"] if odd else usual)
    if kind == "none" or not X.size:
        return X
    X = X.copy()
    if kind in ("some", "many"):
        X[rng.random(X.shape) < (0.1 if kind == "some" else 0.7)] = np.nan
    else:
        places = {"slice": 0, "row at a time": (0, 0), "column at a time": (0, slice(None), 0)}
        X[places.get(kind, (slice(None), 0) if kind == "row" else ...)] = np.nan
    return X


def as_array(rng, X):
    how = pick(
        rng, ["plain", "fortran", "strided", "read-only", "swapped", "memmap", "masked", "float32", "nested"]
    )
    if how == "fortran":
        return np.asfortranarray(X), X
    if how == "strided":
        wide = np.zeros((X.shape[0], 2 * X.shape[1], X.shape[2]))
        wide[:, ::2] = X
        return wide[:, ::2], X
    if how == "read-only":
        X = X.copy()
        X.flags.writeable = False
    if how == "swapped":
        return X.astype(">f8"), X
    if how == "memmap" and X.size:
        path = Path(tempfile.mkdtemp()) / "x.npy"
        np.save(path, X)
        return np.load(path, mmap_mode="r"), X
    if how == "masked":
        hidden = rng.random(X.shape) < 0.1
        return np.ma.masked_array(X, hidden), np.where(hidden, np.nan, X)
    if how == "float32":
        with np.errstate(over="ignore"):
            X = X.astype(np.float32)
        return X, X.astype(float)
    return (X.tolist() if how == "nested" else X), X


def as_whole_numbers(rng, X):
    dtype = pick(rng, [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16])
    whole = np.nan_to_num(np.clip(X, 0, 100), nan=0.0, posinf=1.0).astype(dtype)
    return whole, whole.astype(float)


def as_list(rng, X):
    return list(X), X


def as_ragged(rng, X):
    widths = [int(rng.integers(1, X.shape[2] + 1)) if X.shape[2] else 0 for _ in X]
    slices = [piece[:, :width] for piece, width in zip(X, widths)]
    return slices, slices


def as_frames(rng, X):
    K, I, J = X.shape
    rows, columns = [f"r{i}" for i in range(I)], [f"c{j}" for j in range(J)]
    frames = [pd.DataFrame(piece, rows, columns) for piece in X]
    frames[1:] = [frame.sample(frac=1, random_state=int(rng.integers(99))) for frame in frames[1:]]
    kind = pick(rng, ["labels"] * 4 + ["counted", "by time", "other", "twice", "mixed", "sparse"])
    if kind == "counted":
        return [pd.DataFrame(piece) for piece in X], X
    if kind == "by time":
        return {2000 + k: frame for k, frame in enumerate(frames)}, X
    if kind == "sparse":
        return [frame.astype(pd.SparseDtype(float, 0)) for frame in frames], X
    if kind == "labels" or K < 2 or not X.size:
        return frames, X
    if kind == "mixed":
        return [frames[0], *X[1:]], None
    frames[1] = frames[1].rename({"r0": "other" if kind == "other" else "r1"})
    return frames, None if kind == "other" or I > 1 else X


def as_labelled(rng, X):
    K, I, J = X.shape
    coords = {"year": 2000 + np.arange(K), "subject": np.arange(I), "gene": [f"g{j}" for j in range(J)]}
    array = xr.DataArray(X, coords, ("year", "subject", "gene"))
    return array.transpose(*rng.permutation(["year", "subject", "gene"])), X


def as_table(rng, X):
    if X.size:  # every label on some line
        X, n = X.copy(), np.arange(max(X.shape))
        X[tuple(n % size for size in X.shape)] = 1.0
    places = np.argwhere(np.isfinite(X))
    lines = {
        "year": 2000 + places[:, 0],
        "author": places[:, 1],
        "word": places[:, 2],
        "n": X[np.isfinite(X)],
    }
    frame = pd.DataFrame(lines).sample(frac=1, random_state=int(rng.integers(99)))
    if rng.random() < 0.5:
        return frame, np.nan_to_num(X, posinf=0.0)
    if not len(frame) or X.shape[0] < 2:
        return frame, None
    table = tp.Table(frame, rows="author", columns="word", time="year", values="n", absent="missing")
    return table, np.where(np.isinf(X), np.nan, X)


def as_sparse(rng, X):
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    if not X.size:
        return [scipy.sparse.csr_array(piece) for piece in X], None
    slices = [scipy.sparse.csr_array(piece).asformat(pick(rng, SPARSE)) for piece in X]
    made = rng.random() < 0.2 and np.isfinite(X).all() and X.any() and np.abs(X).max() < 1e300
    return tp.data.SparseData.from_slices(slices) if made else slices, X if np.isfinite(X).all() else None


def as_nonsense(rng, X):
    options = [
        None, 3.0, "x.csv", b"x", iter(X), {1, 2}, X.astype(complex), X.astype(str), X.astype(object),
        X[None],
        X.ravel(), X.reshape(-1, 1), [], {}, [X], [X.ravel()], object(),
        xr.Dataset({"x": (("a", "b", "c"), X)}), xr.DataArray(X), [[1, [2]], [3]], np.zeros(X.shape, "M8[s]"),
        np.longdouble(1) * X, [list("ab"), list("cd")], pd.DataFrame(), lambda: X, tp.CP, {"a": [1, 2]},
    ]  # fmt: skip
    return pick(rng, options), None


KINDS = [as_array] * 4 + [as_list, as_whole_numbers, as_ragged, as_labelled, as_table, as_sparse]
KINDS += [as_frames] * 2


# --- settings -----------------------------------------------------------------------------------------------


def draw_settings(rng, model, shape, odd):
    settings = {
        "rank": pick(rng, [1, 1, 2, 2, 2, 3]),
        "n_starts": int(rng.integers(1, 3)),
        "max_iter": int(rng.integers(1, 12)),
        "tol": pick(rng, [0, 1e-8, 1e-3, 0.5]),
        "algorithm": pick(rng, ["fast", "fast", "paper"]),
        "missing": pick(rng, ["auto", "auto", "exact", "em"]),
        "bridge": bool(rng.random() < 0.8),
        "compress": pick(rng, ["auto", "auto", False] + [True] * odd),
        "dtype": pick(rng, ["float64"] * 4 + ["float32"]),
        "random_state": int(rng.integers(1000)),
        "init": pick(rng, ["uniform"] * 3 + ["svd"]),
    }
    names = ["lambda_a", "lambda_b", "lambda_d"][: MODELS[model]]
    if rng.random() < 0.4:
        settings |= {name: float(10.0 ** rng.uniform(-8, 4)) for name in names}
        if odd and rng.random() < 0.2:
            settings[pick(rng, names)] = pick(rng, [0.0, -1.0, 1e300, 1e-300, None])
    elif model in ("TParafac2", "TemporalCMF"):
        settings["smoothness"] = pick(rng, [None, 1e-5, 1e-3, 0.1] + [1.0, 1e-300, 1e300, 0] * odd)
    if model in ("TParafac2", "TemporalCMF"):
        settings["epsilon"] = pick(rng, [1e-6, 0, 1.0])
        settings["period"] = pick(rng, [None] * 5 + [100.0] + [1e-3, 1e300] * odd)
    if model == "TemporalCMF":
        settings["nonnegative"] = rng.choice([None, "rows", "patterns", "both"])
    if model == "CP":
        settings["nonnegative_strengths"] = bool(rng.random() < 0.5)
    if rng.random() < 0.15:
        settings |= draw_penalties(rng)
    if rng.random() < 0.2:
        settings["init"] = draw_start(rng, shape, settings["rank"])
    if odd and rng.random() < 0.2:
        settings[pick(rng, list(settings))] = pick(rng, ODD)
        if settings["max_iter"] is HUGE:  # that would be obeyed
            settings["max_iter"] = -HUGE
    return settings


def draw_penalties(rng):
    modes = ["penalties_a", "penalties_b", "penalties_c"]
    if rng.random() < 0.5:
        return {mode: [Ridge(float(10.0 ** rng.uniform(-6, 2)))] for mode in modes}
    return {pick(rng, modes): [NonNegative()]}


def draw_start(rng, shape, rank):
    K, I, J = shape
    factors = [rng.random((I, rank)), rng.random((K, J, rank)), rng.random((K, rank))]
    if rng.random() < 0.5:
        factors = [factor * 10.0 ** rng.uniform(-300, 300) for factor in factors]
    if rng.random() < 0.2:
        factors[int(rng.integers(3))] = pick(
            rng, [None, np.ones(2), "A", factors[0] * np.nan, factors[1] * 0]
        )
    start = tuple(factors)
    return start if rng.random() < 0.7 else [start, start]


def draw_times(rng, K):
    """What is given, and the numbers that it stands for (None: to be refused, or evenly spaced)."""
    numbers = np.sort(rng.choice(50, K, replace=False)).astype(float) if K <= 50 else np.arange(float(K))
    days = [date(2020, 1, 1) + timedelta(int(n)) for n in numbers]
    shuffled = rng.permutation(numbers)
    since_1970 = numbers + (date(2020, 1, 1) - date(1970, 1, 1)).days
    return pick(
        rng,
        [
            (numbers, numbers),
            (shuffled, shuffled),
            (shuffled.tolist(), shuffled),
            (days, since_1970),
            ([str(day) for day in days], since_1970),
            (np.array(days, "M8[D]"), since_1970),
            ([Decimal(int(n)) for n in shuffled], shuffled),
            ([str(int(n)) for n in shuffled], shuffled),
            ("even", None),
            (numbers * 1e300, numbers * 1e300),
            (numbers * 1e-300, numbers * 1e-300),
            (np.r_[0.0, 1e-250 + np.arange(K - 1)][:K], np.r_[0.0, 1e-250 + np.arange(K - 1)][:K]),
            (numbers[1:], None),
            (np.zeros(K), None),
            (numbers * np.nan, None),
            (["x"] * K, None),
            (True, None),
            ({}, None),
            (numbers[:, None], None),
        ],
    )


def draw_mask(rng, shape):
    observed = rng.random(shape) < 0.8
    return pick(
        rng,
        [
            (observed, observed),
            (observed.astype(int), observed),
            (list(observed), observed),
            (observed.tolist(), observed),
            (observed[1:], None),
            (True, None),
            ("yes", None),
            (observed * 3, None),
            ([pd.DataFrame(one, columns=[f"z{j}" for j in range(shape[2])]) for one in observed], None),
        ],
    )


def draw(seed, number):
    """The input of this number."""
    rng = np.random.default_rng([seed, number])
    model = pick(rng, list(MODELS))
    odd = int(rng.random() < 0.5)
    X = pierce(rng, draw_numbers(rng, odd), odd)
    kind = pick(rng, KINDS + [as_nonsense] * odd)
    settings = draw_settings(rng, model, X.shape, odd)
    given, truth = kind(rng, X)
    if truth is not None:
        truth = [np.array(piece, dtype=float) for piece in truth]
    made = Input(model, settings, given, truth, what=f"{model} {kind.__name__} {X.shape}")
    if rng.random() < 0.25 and X.shape[0]:
        made.fit["times"], made.clock = draw_times(rng, X.shape[0])
    if rng.random() < 0.1:
        made.fit["mask"], observed = draw_mask(rng, X.shape)
        if (
            observed is not None and kind is as_frames
        ):  # by labels, as an array would go by the order of its frame
            labels = [f"r{i}" for i in range(X.shape[1])], [f"c{j}" for j in range(X.shape[2])]
            made.fit["mask"] = [pd.DataFrame(one, *labels) for one in observed]
        fits = (
            observed is not None and truth is not None and [p.shape for p in truth] == [X.shape[1:]] * len(X)
        )
        made.truth = [np.where(o, p, np.nan) for o, p in zip(observed, truth)] if fits else None
    if odd and rng.random() < 0.05:
        made.fit["dims"] = pick(rng, ["abc", {}, {"rows": "x"}, {"time": "year"}, 3])
    return made


# --- what has to come of it ---------------------------------------------------------------------------------


def run(made):
    """How the input ended: "answer", or the name of the error whose sentence it got. Else a Failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            model = getattr(tp, made.model)(**made.settings, progress=False).fit(made.X, **made.fit)
        except REFUSALS as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            ours = "tparafac2" in Path(last.filename).parts and (last.line or "").startswith("raise")
            require(ours, f"{last.filename}:{last.lineno} {last.line}: {error!r}")
            require(str(error).endswith((".", "}", "?")), f"no sentence: {error!r}")
            return next(kind.__name__ for kind in REFUSALS if isinstance(error, kind))
    confirm(model, made)
    return "answer"


def confirm(model, made):
    """Compute the objective anew, from the definition and the numbers given back."""
    B = list(model.B_)
    for factor in (model.A_, model.C_, *B):
        require(np.isfinite(factor).all(), f"the factors are not finite: {model.status_}")
    require(made.truth is not None, "an answer was given to what cannot be read")
    seen = [k for k, piece in enumerate(made.truth) if np.isfinite(piece).any()]
    clock = np.arange(float(len(B))) if made.clock is None else made.clock
    seen.sort(key=lambda k: clock[k])
    slices = [made.truth[k] for k in seen]
    largest = max(np.nanmax(np.abs(piece)) for piece in slices)
    norm = largest * np.sqrt(sum(np.nansum((piece / largest) ** 2) for piece in slices))
    error = sum(
        np.nansum((piece / norm - (model.A_ * (model.C_[k] / norm)) @ B[k].T) ** 2)
        for k, piece in zip(seen, slices)
    )
    total = error + penalty(model, made, [B[k] for k in seen], model.C_[seen], norm, clock[seen])
    found, room = model.objective_ / norm / norm, 1e-3 if made.settings.get("dtype") == "float32" else 1e-6
    agrees = abs(found - total) <= room * (total + 1e-6)
    require(agrees, f"objective {found}, but it is {total}: {model.status_}")
    explained = 1 - error
    agrees = abs(model.explained_variance_ - explained) <= room * (1 + abs(explained))
    require(agrees, f"explained variance {model.explained_variance_}, but it is {explained}")


def penalty(model, made, B, C, norm, clock):
    """Norm penalties and smoothness, over the square of the norm."""
    settings, n = made.settings, MODELS[made.model]
    lambdas = [settings.get(name) for name in ("lambda_a", "lambda_b", "lambda_d")[:n]]
    if lambdas[0] is None:
        smoothness = settings.get("smoothness")
        smoothness = 1e-3 if smoothness is None and made.model in ("TParafac2", "TemporalCMF") else smoothness
        lambdas = [(smoothness or 0.0) * norm ** (2 - 2 / n)] * n
    terms = {mode: square(factor, norm) for mode, factor in (("a", [model.A_]), ("b", B), ("c", [C]))}
    total = lambdas[0] * terms["a"] + (lambdas[2] * terms["c"] if n == 3 else 0.0)
    if made.model == "Parafac2":
        total += lambdas[1] * terms["b"]
    elif made.model == "CP":
        total += lambdas[1] * terms["b"] / len(B)
    elif lambdas[1]:
        epsilon = 0.0 if settings["algorithm"] == "paper" else float(settings["epsilon"])
        total += lambdas[1] * (epsilon * terms["b"] + changes(made, B, norm, clock))
    for mode in "abc":
        strengths = [t.strength for t in settings.get(f"penalties_{mode}", ()) if isinstance(t, Ridge)]
        total += sum(strengths) * terms[mode]
    return total


def changes(made, B, norm, clock):
    """Squared steps in time, by the inverse of the gaps; a column that is not there makes none."""
    gaps = np.diff(clock)
    pairs = [(k - 1, k, np.median(gaps) / gaps[k - 1]) for k in range(1, len(B))]
    period = made.settings.get("period")
    if period is not None and len(B) > 1:
        pairs.append((len(B) - 1, 0, np.median(gaps) / (period - (clock[-1] - clock[0]))))
    there = [np.ones(len(piece), bool) for piece in B]
    if not made.settings["bridge"]:
        order = np.argsort(np.arange(len(made.truth)) if made.clock is None else made.clock)
        pieces = [made.truth[k] for k in order if np.isfinite(made.truth[k]).any()]
        there = [np.isfinite(piece).any(axis=0) for piece in pieces]
    return sum(w * square([(B[k] - B[j])[there[k] & there[j]]], norm) for j, k, w in pairs)


def square(factors, norm):
    return sum(float(((factor / norm) ** 2).sum()) for factor in factors)


def fuzz(seed, numbers):
    """Counts of how the inputs ended, and what went wrong."""
    counts, failures = collections.Counter(), []
    for number in numbers:
        made = draw(seed, number)
        try:
            counts[run(made)] += 1
        except Exception as error:
            counts["failure"] += 1
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            failures.append(f"--seed {seed} --only {number} ({made.what}): {error!r:.300} at {place}")
    return counts, failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    counts, failures = fuzz(asked.seed, range(asked.count) if asked.only is None else [asked.only])
    for failure in failures:
        print(failure)
    print(f"seed {asked.seed}: " + ", ".join(f"{n} {name}" for name, n in counts.most_common()))
    raise SystemExit(bool(failures))
