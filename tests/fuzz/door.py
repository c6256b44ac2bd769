"""Inputs of all kinds at the Python door, each made from a seed and a number.

Every input has to end in an answer whose objective is confirmed by another computation, or in a sentence of
ours. So do `summary`, `evaluate` and `transform` after some of the fits.

    python tests/fuzz/door.py --seed 0 --count 10000      # the whole lot
    python tests/fuzz/door.py --seed 0 --only 4711        # one of them again
"""

import argparse
import collections
import re
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse
import xarray as xr
from definition import LAMBDAS, Seen, missed_by, turned_by

import tparafac2 as tp
from tparafac2 import penalties

MODELS = list(LAMBDAS)
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
    counts: np.ndarray | None = None  # how much every entry counts, (K, I, J)
    preparation: tp.Preparation | None = None
    also: bool = False  # whether to ask for what comes after a fit, too
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
    if I > 1 and rng.random() < 0.1:  # rows far below the others
        X[:, rng.random(I) < 0.6] *= 1e-18
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


def as_stored(rng, X):
    if not X.size or rng.random() < 0.5:
        return xr.DataArray(X, dims=("time", "subject", "gene")), X
    path = Path(tempfile.mkdtemp()) / "x.npy"
    np.save(path, X)
    return tp.Stored(np.load(path, mmap_mode="r"), memory=pick(rng, ["1GB", "100MB"])), X


def damaged(X):
    """Sparse slices, the first with an index beyond its shape."""
    slices = [scipy.sparse.csr_array(np.ones(piece.shape)) for piece in X]
    if X.size:
        slices[0].indices[-1] = 10**6
    return slices


def as_nonsense(rng, X):
    options = [
        None, 3.0, "x.csv", b"x", iter(X), {1, 2}, X.astype(complex), X.astype(str), X.astype(object),
        X[None], damaged(X),
        X.ravel(), X.reshape(-1, 1), [], {}, [X], [X.ravel()], object(),
        xr.Dataset({"x": (("a", "b", "c"), X)}), xr.DataArray(X), [[1, [2]], [3]], np.zeros(X.shape, "M8[s]"),
        np.longdouble(1) * X, [list("ab"), list("cd")], pd.DataFrame(), lambda: X, tp.CP, {"a": [1, 2]},
    ]  # fmt: skip
    return pick(rng, options), None


KINDS = [as_array] * 4 + [as_list, as_whole_numbers, as_ragged, as_labelled, as_table, as_sparse, as_stored]
KINDS += [as_frames] * 2


# --- settings -----------------------------------------------------------------------------------------------


def draw_settings(rng, model, shape, odd):
    settings = {
        "rank": pick(rng, [1, 1, 2, 2, 2, 3]),
        "n_starts": int(rng.integers(1, 3)),
        "max_iter": int(rng.integers(1, 12)),
        "tol": pick(rng, [0, 1e-8, 1e-3, 0.5]),
        "algorithm": pick(rng, ["fast", "fast", "paper"]),
        "bridge": bool(rng.random() < 0.8),
        "compress": pick(rng, ["auto", "auto", False] + [True] * odd),
        "dtype": pick(rng, ["float64"] * 4 + ["float32"]),
        "random_state": int(rng.integers(1000)),
        "init": pick(rng, ["uniform"] * 3 + ["svd"]),
    }
    names = ["lambda_a", "lambda_b", "lambda_d"][: LAMBDAS[model]]
    modern = odd or settings["algorithm"] == "fast"  # the paper's algorithm does not know some words
    if rng.random() < 0.4 + 0.3 * (model in ("Parafac2", "CP")):
        settings |= {name: float(10.0 ** rng.uniform(-8, 4)) for name in names}
        if odd and rng.random() < 0.2:
            settings[pick(rng, names)] = pick(rng, [0.0, -1.0, 1e300, 1e-300, None])
    elif model in ("TParafac2", "TemporalCMF"):
        settings["smoothness"] = pick(rng, [None, 1e-5, 1e-3, 0.1] + [1.0, 1e-300, 1e300, 0] * odd)
    if model in ("TParafac2", "TemporalCMF"):
        settings["epsilon"] = pick(rng, [1e-6, 0, 1.0])
        settings["period"] = pick(rng, [None] * 5 + [100.0] + [1e-3, 1e300] * odd)
        settings["changes"] = pick(rng, ["smooth", "smooth"] + ["sudden"] * modern)
    if model == "TParafac2":
        settings["rigidity"] = pick(rng, [np.inf] * 3 + [1.0, 0.01, 0] * modern + [1e-300, 1e300] * odd)
    if model == "CP":
        settings["nonnegative_strengths"] = bool(rng.random() < 0.5)
    if rng.random() < 0.4:
        settings["nonnegative"] = pick(rng, ["rows", "patterns", "both"])
    if rng.random() < 0.2:
        size = pick(rng, [1e-5, 1e-3] + [0, 1e-300, 1.0, 1e300] * odd)
        factors = [name for name in ("patterns", "rows", "strengths") if rng.random() < 0.5]
        settings["sparsity"] = size if rng.random() < 0.4 else dict.fromkeys(factors, size)
    if (
        model != "TemporalCMF"
        and rng.random() < 0.2
        and (odd or model == "TParafac2" or names[0] in settings)
    ):
        settings["smooth_strengths"] = pick(rng, [0, 10.0, 1000.0] + [1e-300, 1e300] * odd)
    if rng.random() < 0.25:
        settings |= draw_penalties(rng, shape, model)
    if rng.random() < 0.2:
        settings["init"] = draw_start(rng, shape, settings["rank"])
    if odd and rng.random() < 0.2:
        settings[pick(rng, list(settings))] = pick(rng, ODD)
        if settings["max_iter"] is HUGE:  # that would be obeyed
            settings["max_iter"] = -HUGE
    return settings


def draw_penalties(rng, shape, model):
    modes = ["penalties_a", "penalties_b", "penalties_c"][: 2 if model == "TemporalCMF" else 3]
    if rng.random() < 0.3:
        return {mode: [penalties.Ridge(float(10.0 ** rng.uniform(-6, 2)))] for mode in modes}
    lengths = {"penalties_a": shape[1], "penalties_b": shape[2], "penalties_c": shape[0]}
    chosen = modes if rng.random() < 0.4 else [pick(rng, modes)]
    return {mode: [draw_term(rng, lengths[mode])] for mode in chosen}


def draw_term(rng, n):
    strength, size = float(10.0 ** rng.uniform(-6, 1)), float(10.0 ** rng.uniform(-1, 1))
    step = np.diff(np.eye(max(n, 1)), axis=0)
    terms = [
        penalties.NonNegative(),
        penalties.L1(strength),
        penalties.Box(*pick(rng, [(0.0, size), (-size, size), (-np.inf, size), (0.0, np.inf)])),
        penalties.Simplex(size),
        penalties.NormBall(size),
        penalties.Unimodal(nonnegative=bool(rng.random() < 0.5)),
        penalties.TotalVariation(strength),
        penalties.GeneralisedRidge(step.T @ step, strength),
    ]
    return pick(rng, terms)


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


def draw_weights(rng, shape, kind):
    """What is given, and how much every entry then counts; by label where the data have labels."""
    I = shape[1]
    rows = 10.0 ** rng.uniform(-2, 2, I)
    if kind in (as_frames, as_table, as_labelled):
        labels = [f"r{i}" for i in range(I)] if kind is as_frames else range(I)
        given = dict(zip(labels, rows.tolist()))
        return pick(rng, [given, pd.Series(given)]), np.broadcast_to(rows[None, :, None], shape)
    entries = rng.random(shape) + 0.1
    some = np.where(rng.random(shape) < 0.2, 0.0, entries)
    return pick(
        rng,
        [
            (rows, np.broadcast_to(rows[None, :, None], shape)),
            (rows.tolist(), np.broadcast_to(rows[None, :, None], shape)),
            (entries, entries),
            (list(some), some),
            (rows[1:], None),
            (-rows, None),
            ("columns", None),
            (entries * np.nan, None),
            (1e300 * rows, 1e300 * np.broadcast_to(rows[None, :, None], shape)),
        ],
    )


def draw_preparation(rng, X):
    """How the data are prepared, and what comes of them; None where that may have to be refused."""
    transform = pick(rng, [None, "sqrt", "log1p", "share"])
    center, scale = pick(rng, [None, *AXES_OF]), pick(rng, [None, *AXES_OF])
    made = tp.Preparation(transform=transform, center=center, scale=scale)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if transform == "share":
            totals = np.nansum(X, axis=2, keepdims=True)
            X = X / np.where(totals == 0, 1.0, totals)
        elif transform is not None:
            X = {"sqrt": np.sqrt, "log1p": np.log1p}[transform](X)
        if center is not None:
            X = X - np.nanmean(X, axis=AXES_OF[center], keepdims=True)
        if scale is not None:
            X = X / np.nanstd(X, axis=AXES_OF[scale], keepdims=True)
    return made, X


AXES_OF = {"rows": (0, 2), "columns": (0, 1), "time": (1, 2)}  # what a mean of each is taken over


def draw_attributes(rng, n, kind):
    labels = [f"r{i}" for i in range(n)] if kind is as_frames else list(range(n))
    frame = pd.DataFrame({"height": rng.random(n), "site": rng.choice(list("ab"), n)}, index=labels)
    return pick(rng, [frame, frame, frame[::-1], frame[1:], frame.iloc[:, :0], {"height": 1}, 3])


def draw(seed, number):
    """The input of this number."""
    rng = np.random.default_rng([seed, number])
    model = pick(rng, MODELS)
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
    whole = X.size > 0 and made.truth is not None and [p.shape for p in made.truth] == [X.shape[1:]] * len(X)
    if (
        rng.random() < 0.1
        and kind in (as_array, as_labelled)
        and made.truth
        and X.size
        and "mask" not in made.fit
    ):
        made.preparation, prepared = draw_preparation(rng, np.array(made.truth))
        made.truth = list(prepared)
    if rng.random() < 0.15 and (whole or made.truth is None):
        made.fit["weights"], made.counts = draw_weights(rng, X.shape, kind)
        if whole and made.counts is not None:
            made.truth = [np.where(c > 0, piece, np.nan) for c, piece in zip(made.counts, made.truth)]
        else:
            made.truth = None
    if rng.random() < 0.1:
        made.fit["row_attributes"] = draw_attributes(rng, X.shape[1], kind)
    made.also = bool(rng.random() < 0.4)
    if odd and rng.random() < 0.05:
        made.fit["dims"] = pick(rng, ["abc", {}, {"rows": "x"}, {"time": "year"}, 3])
    return made


# --- what has to come of it ---------------------------------------------------------------------------------


def run(made):
    """How the input ended: "answer", or the name of the error whose sentence it got. Else a Failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        model, refusal = answer_of(lambda: fitted(made))
        if refusal is None:
            confirm(model, made)
            if made.also:
                confirm_what_follows(model, made)
    return refusal or "answer"


def fitted(made):
    X = made.X if made.preparation is None else made.preparation.apply(made.X)
    return getattr(tp, made.model)(**made.settings, progress=False).fit(X, **made.fit)


def answer_of(call):
    """What a call gives and None, or None and the name of the error whose sentence it got. Else a Failure."""
    try:
        return call(), None
    except REFUSALS as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = "tparafac2" in Path(last.filename).parts and (last.line or "").startswith("raise")
        require(ours, f"{last.filename}:{last.lineno} {last.line}: {error!r}")
        require(str(error).endswith((".", "}", "?")), f"no sentence: {error!r}")
        return None, next(kind.__name__ for kind in REFUSALS if isinstance(error, kind))


def confirm(model, made):
    """Compute the objective anew, from the definition and the numbers given back."""
    A, B, C = model.A_, list(model.B_), model.C_
    for factor in (A, C, *B):
        require(np.isfinite(factor).all(), f"the factors are not finite: {model.status_}")
    require(made.truth is not None, "an answer was given to what cannot be read")
    seen, room = Seen(made), room_of(made)
    total, found = seen.total(A, B, C), model.objective_ / seen.norm / seen.norm
    agrees = abs(found - total) <= room * (total + 1e-6)
    require(agrees, f"objective {found}, but it is {total}: {model.status_}")
    explained = 1 - seen.error(A, B, C)
    agrees = abs(model.explained_variance_ - explained) <= room * (1 + abs(explained))
    require(agrees, f"explained variance {model.explained_variance_}, but it is {explained}")
    confirm_constraints(model, made, seen)


def room_of(made):
    return 1e-3 if made.settings.get("dtype") == "float32" else 1e-6


def confirm_constraints(model, made, seen):
    """How far the factors are from their sets; more than rounding has to be told."""
    settings, places = made.settings, seen.places
    stacked = len({piece.shape for piece in model.B_}) == 1
    factors = {"A": model.A_, "B": np.array([model.B_[k] for k in places]) if stacked else None}
    factors["C"] = model.C_[places]
    signs = {"rows": "A", "patterns": "B", "both": "AB"}.get(settings.get("nonnegative"), "")
    signs += "C" if made.model.endswith("arafac2") or settings.get("nonnegative_strengths") else ""
    for mode, x in factors.items():
        if x is None:
            continue
        x = x[..., x.reshape(-1, x.shape[-1]).any(axis=0)]  # a component that vanished is not in every set
        if not x.size:
            continue
        asked = [*settings.get(f"penalties_{mode.lower()}", ()), *[penalties.NonNegative()] * (mode in signs)]
        missed = max([missed_by(term, x) for term in asked], default=0.0)
        if mode == "B" and made.model.endswith("arafac2") and settings.get("rigidity", np.inf) == np.inf:
            missed = max(missed, turned_by(x))
        told = max(model.constraint_violations_[mode].values(), default=0.0)
        require(
            missed <= max(1e-6, 10 * told), f"{mode} misses by {missed}, and says {told}: {model.status_}"
        )


def confirm_what_follows(model, made):
    """A summary in words, the same objective of the same data, and loadings of its rows that are no worse."""
    text = model.summary()
    require(not re.search(r"\b(nan|inf)\b", text), f"summary: {text}")
    fit = {name: given for name, given in made.fit.items() if name not in ("times", "row_attributes")}
    seen, room = Seen(made), room_of(made)
    again, refusal = answer_of(lambda: model.evaluate(made.X, **fit))
    if refusal is None:
        agrees = abs(again.objective - model.objective_) <= room * (model.objective_ + 1e-6 * seen.norm**2)
        require(agrees, f"evaluate: objective {again.objective}, but it is {model.objective_}")
    times = {"times": made.fit["times"]} if "times" in made.fit else {}
    A, refusal = answer_of(lambda: model.transform(made.X, **fit, **times))
    if refusal is None:
        require(A.shape == model.A_.shape and np.isfinite(A).all(), f"transform: {A}")
        B, C = list(model.B_), model.C_
        worse, total = seen.total(A, B, C), seen.total(model.A_, B, C)
        require(worse <= total + room * (total + 1e-6), f"transform: {worse}, but it can be {total}")


class Known(NamedTuple):
    """An open defect: why it is not mended, and by what it is known."""

    reason: str
    pattern: str


KNOWN = {
    "single precision": Known(
        "Terms with a size of their own (a simplex, a box) on data far smaller or larger than that: factors "
        "held in single precision overflow. Data in sensible units, and float64, do not.",
        r"RuntimeWarning\('overflow encountered in (dot|cast|multiply)'\) at (_linalg|patterns)\.py",
    ),
}


def fuzz(seed, numbers):
    """Counts of how the inputs ended, and what went wrong."""
    counts, failures = collections.Counter(), []
    for number in numbers:
        made = draw(seed, number)
        try:
            counts[run(made)] += 1
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            line = f"{error!r:.300} at {Path(last.filename).name}:{last.lineno}"
            known = [name for name, defect in KNOWN.items() if re.search(defect.pattern, line)]
            counts[f"known: {known[0]}" if known else "failure"] += 1
            if not known:
                failures.append(f"--seed {seed} --only {number} ({made.what}): {line}")
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
