"""The table of bad inputs: what is given, what kind of error it is, and which argument is named.

`argument` is what ``error.argument`` has to be; None where the kind of error is the point.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse
import xarray as xr

import tparafac2 as tp

RNG = np.random.default_rng(0)
X = RNG.random((5, 8, 6))  # K, I, J
RAGGED = [X[0], X[1][:, :4], X[2]]
A, B, C = RNG.random((8, 2)), RNG.random((5, 6, 2)), RNG.random((5, 2))
LINES = {"who": ["a", "b", "a", "b"], "what": ["x", "y", "y", "x"], "year": [1, 1, 2, 2], "n": [1, 2, 3, 4]}
NAMES = {"rows": "who", "columns": "what", "time": "year"}


class Row(NamedTuple):
    """One bad input."""

    what: str
    do: Callable
    kind: type | tuple[type, ...]
    argument: str | None = None


def spoilt(value):
    given = X.copy()
    given[1, 2, 3] = value
    return given


def labelled(**names):
    named = xr.DataArray(X, dims=("time", "rows", "columns"))
    named = named.assign_coords(time=np.arange(2000, 2005), rows=list("abcdefgh"), columns=list("uvwxyz"))
    return named.rename(names)


def long(**changed):
    return pd.DataFrame(LINES | changed)


@cache
def fitted(kind="CP"):
    model = {
        "CP": lambda: tp.CP(1, lambda_a=0.1, lambda_b=0.1, lambda_d=0.1, **QUICK),
        "TParafac2": lambda: tp.TParafac2(1, 1e-2, **QUICK),
        "TemporalCMF": lambda: tp.TemporalCMF(2, 1e-2, **QUICK),
        "labelled": lambda: tp.TParafac2(1, 1e-2, **QUICK),
    }[kind]()
    return model.fit(labelled() if kind == "labelled" else X)


@cache
def longer():
    """A model of enough times for a forecast."""
    rng = np.random.default_rng(1)
    given = np.einsum("i,kj,k->kij", rng.random(8), 1 + 0.1 * rng.random((10, 6)), 1 + rng.random(10))
    return tp.TParafac2(1, 1e-2, **QUICK).fit(given + 0.01 * rng.random(given.shape), times=np.arange(1, 11))


QUICK = {"n_starts": 1, "random_state": 0, "n_jobs": 1, "progress": False}


def fit(given=X, model=tp.TParafac2, rank=2, **settings):
    """A fit with settings of the model, and arguments of `fit` in `door`."""
    door = settings.pop("door", {})
    if model in (tp.TParafac2, tp.TemporalCMF) and not {"lambda_a", "lambda_b"} & set(settings):
        settings = {"smoothness": 1e-3} | settings
    return lambda: model(rank, **(QUICK | settings)).fit(given, **door)


def door(given=X, **arguments):
    return fit(given, door=arguments)


V, T = ValueError, TypeError

DATA = [
    Row("one dimension", fit(X[0, 0]), V),
    Row("one table", fit(X[0]), V),
    Row("four dimensions", fit(X[None]), V),
    Row("a number", fit(3.0), T),
    Row("nothing", fit(None), T),
    Row("a text", fit("data.csv"), T),
    Row("a generator", fit(iter(X)), T),
    Row("slices of unequal heights", fit([X[0], X[1][:4]]), V),
    Row("a slice of one dimension", fit([X[0], X[1][0]]), V),
    Row("infinity", fit(spoilt(np.inf)), V),
    Row("minus infinity", fit(spoilt(-np.inf)), V),
    Row("all NaN", fit(np.full_like(X, np.nan)), V),
    Row("all masked", fit(np.ma.masked_array(X, np.ones(X.shape, dtype=bool))), V),
    Row("complex numbers", fit(X * 1j), T),
    Row("texts", fit(X.astype(str)), T),
    Row("objects", fit(X.astype(object)), T),
    Row("dates as values", fit(np.full(X.shape, np.datetime64("2020-01-01"))), T),
    Row("an empty list", fit([]), V),
    Row("no times", fit(X[:0]), V),
    Row("no rows", fit(X[:, :0]), V),
    Row("no columns", fit(X[:, :, :0]), V),
    Row("an empty slice", fit([X[0], X[1][:, :0]]), V),
    Row("all zero", fit(X * 0), V),
    Row("too large to be squared", fit(X + 1e155), V),
    Row("too small to be squared", fit(X * 1e-165), V),
    Row("one sparse matrix", fit(scipy.sparse.csr_array(X[0])), T),
    Row("sparse and dense slices", fit([scipy.sparse.csr_array(X[0]), *X[1:]]), T),
    Row("sparse slices with NaN", fit([scipy.sparse.csr_array(np.nan * x) for x in X]), V),
    Row("sparse slices of zeros", fit([scipy.sparse.csr_array(0 * x) for x in X]), V),
    Row("one slice", fit(X[:1]), V),
    Row("unequal columns", fit(RAGGED), V),
    Row("unequal columns for CP", fit(RAGGED, tp.CP), V),
    Row("unequal columns and a term", fit(RAGGED, tp.Parafac2, penalties_b=[tp.penalties.NonNegative()]), V),
    Row("a data set", fit(labelled().to_dataset(name="x")), T),
    Row(
        "frames of other columns",
        fit([pd.DataFrame(x, columns=[f"a{k}", *"bcdef"]) for k, x in enumerate(X)]),
        V,
    ),
    Row("a long frame of unknown columns", fit(long(note=[1, 2, 3, 4])), V),
    Row("a table of one time", fit(tp.Table(long(year=[1] * 4), **NAMES)), V),
    Row("two arguments by position", lambda: tp.TParafac2(3, 0.01, 0.1), T),
]

DOOR = [
    Row("dimensions that cannot be told apart", door(labelled(time="i", rows="j", columns="k")), V),
    Row("dims of a dimension that is not there", door(labelled(), dims={"time": "when"}), V),
    Row("dims of another mode", door(labelled(), dims={"slices": "time"}), V),
    Row("one dimension twice", door(labelled(), dims={"time": "time", "rows": "time"}), V),
    Row("dims without labels", door(dims={"time": "time"}), V),
    Row("dims that are no mapping", door(labelled(), dims="abc"), T),
    Row("a mask that is no array", door(mask=True), T),
    Row("a mask of another shape", door(mask=np.ones((4, 8, 6), dtype=bool)), V),
    Row("a mask of other numbers", door(mask=X + 3), V),
    Row("a mask that leaves nothing", door(mask=np.zeros(X.shape, dtype=bool)), V),
    Row("too few times", door(times=[1, 2, 3]), V),
    Row("a time twice", door(times=[1, 2, 2, 3, 4]), V),
    Row("a time that is none", door(times=[1, 2, np.nan, 3, 4]), V),
    Row("times in words", door(times=["a", "b", "c", "d", "e"]), V),
    Row("times as one word", door(times="uneven"), V),
    Row("too few weights", door(weights=[1.0, 2.0]), V, "weights"),
    Row("a weight of zero for a row", door(weights=[0.0, *[1.0] * 7]), V, "weights"),
    Row("a negative weight", door(weights=[-1.0, *[1.0] * 7]), V, "weights"),
    Row("a weight that is none", door(weights=[np.nan, *[1.0] * 7]), V, "weights"),
    Row("weights in words", door(weights="columns"), V, "weights"),
    Row("one number as weights", door(weights=5), T, "weights"),
    Row("weights of no number", door(weights=list("abcdefgh")), T, "weights"),
    Row("weights of other entries", door(weights=np.ones((5, 8, 5))), V, "weights"),
    Row("weights that lack a row", door(labelled(), weights={"a": 1.0}), V, "weights"),
    Row("weights that are all zero", door(weights=np.zeros(X.shape)), V, "weights"),
    Row(
        "weights of entries of sparse data",
        door([scipy.sparse.csr_array(x) for x in X], weights=X),
        V,
    ),
    Row(
        "weights for the paper's algorithm",
        fit(algorithm="paper", door={"weights": np.ones(8)}),
        V,
        "weights",
    ),
    Row(
        "attributes of other rows",
        door(row_attributes=pd.DataFrame({"kind": ["p"]}, index=["elsewhere"])),
        V,
        "row_attributes",
    ),
    Row("attributes that are no frame", door(row_attributes=5), T, "row_attributes"),
]

SETTINGS = [
    Row("rank 0", fit(rank=0), V, "rank"),
    Row("rank below 0", fit(rank=-1), V, "rank"),
    Row("half a rank", fit(rank=2.5), T, "rank"),
    Row("a rank in words", fit(rank="3"), T, "rank"),
    Row("a rank that is True", fit(rank=True), T, "rank"),
    Row("rank larger than the slices", fit(rank=7), V),
    Row("rank larger than the table", fit(model=tp.CP, rank=31), V),
    Row("smoothness 0", fit(smoothness=0), V, "smoothness"),
    Row("smoothness below 0", fit(smoothness=-1e-3), V, "smoothness"),
    Row("smoothness NaN", fit(smoothness=np.nan), V, "smoothness"),
    Row("smoothness infinite", fit(model=tp.TemporalCMF, smoothness=np.inf), V, "smoothness"),
    Row("smoothness in words", fit(smoothness="high"), T, "smoothness"),
    Row("smoothness True", fit(smoothness=True), T, "smoothness"),
    Row("several smoothness values", fit(smoothness=[1e-3]), T, "smoothness"),
    Row("lambda below 0", fit(lambda_a=-0.1, lambda_b=1.0, lambda_d=1.0), V, "lambda_a"),
    Row("lambda NaN", fit(lambda_a=0.1, lambda_b=np.nan, lambda_d=1.0), V, "lambda_b"),
    Row("lambda in words", fit(lambda_a=0.1, lambda_b=0.1, lambda_d="a lot"), T, "lambda_d"),
    Row("one lambda zero", fit(lambda_a=0.1, lambda_b=0.0, lambda_d=0.1), V),
    Row("one lambda missing", fit(lambda_a=0.1, lambda_b=0.1), V),
    Row("one lambda of two", fit(model=tp.TemporalCMF, lambda_b=0.1), V),
    Row("smoothness and lambdas", fit(smoothness=1e-3, lambda_a=0.1), V),
    Row("epsilon below 0", fit(epsilon=-1e-6), V, "epsilon"),
    Row("epsilon in words", fit(epsilon="small"), T, "epsilon"),
    Row("rigidity below 0", fit(rigidity=-1.0), V, "rigidity"),
    Row("rigidity NaN", fit(rigidity=np.nan), V, "rigidity"),
    Row("rigidity in words", fit(rigidity="soft"), T, "rigidity"),
    Row("rigidity for the paper's algorithm", fit(rigidity=1.0, algorithm="paper"), V, "rigidity"),
    Row(
        "rigidity without a unit",
        fit(rigidity=1.0, lambda_a=0.0, lambda_b=0.0, lambda_d=0.0),
        V,
        "rigidity",
    ),
    Row("unknown changes", fit(changes="slow"), V, "changes"),
    Row("sudden changes for the paper's algorithm", fit(changes="sudden", algorithm="paper"), V, "changes"),
    Row("period 0", fit(period=0), V, "period"),
    Row("period in words", fit(period="day"), T, "period"),
    Row("a period that is too short", fit(period=3.0, door={"times": np.arange(5.0)}), V, "period"),
    Row("smooth strengths below 0", fit(smooth_strengths=-1.0), V, "smooth_strengths"),
    Row("smooth strengths without a norm", fit(model=tp.CP, smooth_strengths=10.0), V, "smooth_strengths"),
    Row("unknown algorithm", fit(algorithm="slow"), V, "algorithm"),
    Row("unknown bounds", fit(nonnegative="columns"), V, "nonnegative"),
    Row("bounds that are True", fit(nonnegative=True), V, "nonnegative"),
    Row("signs in words", fit(model=tp.CP, nonnegative_strengths="no"), T, "nonnegative_strengths"),
    Row("sparsity below 0", fit(sparsity=-1e-4), V, "sparsity"),
    Row("sparsity of something else", fit(sparsity={"times": 1e-4}), V, "sparsity"),
    Row("sparsity in words", fit(sparsity="some"), T, "sparsity"),
    Row(
        "sparsity of strengths that are fixed",
        fit(model=tp.TemporalCMF, sparsity={"strengths": 1e-4}),
        V,
        "sparsity",
    ),
    Row("sparsity of one factor without a norm", fit(model=tp.CP, sparsity={"rows": 1e-4}), V, "sparsity"),
    Row("no threads", fit(n_jobs=0), V, "n_jobs"),
    Row("half a thread", fit(n_jobs=1.5), V, "n_jobs"),
    Row("no starts", fit(n_starts=0), V, "n_starts"),
    Row("starts that are not whole", fit(n_starts=2.0), T, "n_starts"),
    Row("no iterations", fit(max_iter=0), V, "max_iter"),
    Row("iterations in words", fit(max_iter="many"), T, "max_iter"),
    Row("tolerance below 0", fit(tol=-1e-9), V, "tol"),
    Row("tolerance NaN", fit(tol=np.nan), V, "tol"),
    Row("no tolerance", fit(tol=None), T, "tol"),
    Row("tolerance of constraints below 0", fit(feasibility_tol=-1.0), V, "feasibility_tol"),
    Row("precision", fit(dtype="float16"), V),
    Row("a seed in words", fit(random_state="seed"), T),
    Row("a seed below 0", fit(random_state=-1), V, "random_state"),
    Row("compression in words", fit(compress="no"), T, "compress"),
    Row("bridges in words", fit(bridge="no"), T, "bridge"),
    Row("progress in words", fit(progress="yes"), T, "progress"),
    Row("an unknown parameter", lambda: tp.CP(2).set_params(ranks=3), V),
    Row("an unknown setting", lambda: tp.CP(2, smoothness=1e-3), T),
    Row("no rank", tp.CP, T),
]

STARTS = [
    Row("a start in words", fit(init="random"), V),
    Row("a start that is None", fit(init=None), V),
    Row("no start", fit(init=[]), V),
    Row("a start without strengths", fit(init=(A, B)), V),
    Row("loadings of another rank", fit(init=(A[:, :1], B, C)), V),
    Row("patterns of fewer times", fit(init=(A, B[:3], C)), V),
    Row("strengths the other way", fit(init=(A, B, C.T)), V),
    Row("patterns of zeros", fit(init=(A, 0 * B, C)), V),
    Row("a start with NaN", fit(init=(A * np.nan, B, C)), V),
    Row("a start of texts", fit(init=("A", "B", "C")), T),
    Row("a second start of another shape", fit(init=[(A, B, C), (A, B, C[:2])]), V),
]

penalties = tp.penalties

PENALTIES = [
    Row("a term that is no penalty", fit(penalties_b=["smooth"]), T),
    Row("a penalty that is a class", fit(penalties_a=[penalties.NonNegative]), T),
    Row("a penalty that is no list", fit(penalties_c=penalties.NonNegative()), T),
    Row("penalties of fixed strengths", fit(model=tp.TemporalCMF, penalties_c=[penalties.Ridge(1.0)]), V),
    Row("a constraint on patterns, for loadings", fit(penalties_a=[penalties.Parafac2()]), V),
    Row("ridge below 0", lambda: penalties.Ridge(-1.0), V),
    Row("ridge NaN", lambda: penalties.Ridge(np.nan), V),
    Row("ridge in words", lambda: penalties.Ridge("1"), T),
    Row("L1 below 0", lambda: penalties.L1(-1.0), V),
    Row("smoothness of a negative weight", lambda: penalties.TemporalSmoothness(1.0, weights=(1.0, -1.0)), V),
    Row("sudden changes with too large a floor", lambda: penalties.SuddenChanges(1.0, floor=2.0), V),
    Row("a rigid set with a strength below 0", lambda: penalties.SoftParafac2(-1.0), V),
    Row("total variation in words", lambda: penalties.TotalVariation("1"), T),
    Row("a box upside down", lambda: penalties.Box(1.0, 0.0), V),
    Row("a box with a bound of NaN", lambda: penalties.Box(np.nan, 1.0), V),
    Row("a simplex of total 0", lambda: penalties.Simplex(0.0), V),
    Row("a ball of radius 0", lambda: penalties.NormBall(0.0), V),
    Row("a matrix that is not square", lambda: penalties.GeneralisedRidge(np.ones((2, 3))), V),
    Row(
        "a matrix that is not symmetric",
        lambda: penalties.GeneralisedRidge(np.array([[1.0, 2.0], [0.0, 1.0]])),
        V,
    ),
    Row("a matrix that is negative", lambda: penalties.GeneralisedRidge(-np.eye(3)), V),
    Row("a matrix for other columns", fit(penalties_b=[penalties.GeneralisedRidge(np.eye(3))]), V),
    Row("an edge to nowhere", lambda: penalties.laplacian([(0, 5)], 3), V),
    Row("an edge of three ends", lambda: penalties.laplacian([(0, 1, 2)], 3), V),
    Row("a graph of no places", lambda: penalties.laplacian([(0, 1)], 0), V),
    Row("to check what is no penalty", lambda: penalties.check_penalty("smooth"), penalties.PenaltyError),
    Row("to check a class", lambda: penalties.check_penalty(penalties.NonNegative), penalties.PenaltyError),
]

TABLES = [
    Row(
        "a column that is not there",
        lambda: tp.Table(LINES, rows="autor", columns="what", time="year"),
        V,
        "rows",
    ),
    Row("one column twice", lambda: tp.Table(LINES, rows="who", columns="who", time="year"), V),
    Row("values that are not there", lambda: tp.Table(LINES, **NAMES, values="price"), V, "values"),
    Row("values in words", lambda: tp.Table(long(n=list("abcd")), **NAMES, values="n"), T),
    Row("an infinite value", lambda: tp.Table(long(n=[1, 2, np.inf, 3]), **NAMES, values="n"), V),
    Row("a line twice", lambda: tp.Table(long(what=list("xyxy"), year=[1] * 4), **NAMES, values="n"), V),
    Row("a label that is missing", lambda: tp.Table(long(who=["a", None, "a", "b"]), **NAMES), V),
    Row("a time in words", lambda: tp.Table(long(year=["soon", "later", "now", "then"]), **NAMES), V),
    Row("unknown absence", lambda: tp.Table(LINES, **NAMES, absent="nan"), V, "absent"),
    Row("unknown duplicates", lambda: tp.Table(LINES, **NAMES, duplicates="first"), V, "duplicates"),
    Row("no columns to keep", lambda: tp.Table(LINES, **NAMES, top_columns=0), V, "top_columns"),
    Row("no lines", lambda: tp.Table({name: [] for name in LINES}, **NAMES), V),
    Row("a path in place of a table", lambda: tp.Table("table.csv", **NAMES), V),
    Row("a list on disk", lambda: tp.Stored([1, 2]), T),
    Row("two dimensions on disk", lambda: tp.Stored(np.ones((3, 4))), V),
    Row("complex numbers on disk", lambda: tp.Stored(np.ones((3, 4, 5), dtype=complex)), T),
    Row("memory in words", lambda: tp.Stored(X, memory="lots"), V, "memory"),
    Row("memory of nothing", lambda: tp.Stored(X, memory=0), V, "memory"),
    Row("a mask for what is on disk", fit(tp.Stored(X), door={"mask": X > 0}), V, "mask"),
]

prepare = tp.Preparation

PREPARATION = [
    Row("unknown transform", lambda: prepare("log"), V, "transform"),
    Row("unknown centre", lambda: prepare(center="row"), V, "center"),
    Row("unknown scale", lambda: prepare(scale=True), V, "scale"),
    Row("a pseudocount without need", lambda: prepare(pseudocount=1), V, "pseudocount"),
    Row("a pseudocount of 0", lambda: prepare("clr", pseudocount=0), V, "pseudocount"),
    Row("a pseudocount in words", lambda: prepare("clr", pseudocount="1"), V, "pseudocount"),
    Row("logarithms of negative values", lambda: prepare("log1p").apply(X - 2), V, "transform"),
    Row("square roots of negative values", lambda: prepare("sqrt").apply(X - 2), V, "transform"),
    Row("log-ratios of zeros", lambda: prepare("clr").apply(X * (X > 0.5)), V),
    Row("columns that do not vary", lambda: prepare(scale="columns").apply(np.ones((2, 3, 4))), V, "scale"),
    Row("to prepare a list", lambda: prepare("sqrt").apply([[1.0]]), T),
    Row("to prepare two dimensions", lambda: prepare("sqrt").apply(np.ones((2, 3))), V),
    Row("to prepare complex numbers", lambda: prepare("sqrt").apply(X * 1j), T),
    Row("to prepare infinity", lambda: prepare("sqrt").apply(spoilt(np.inf)), V),
    Row("to prepare a data set", lambda: prepare().apply(xr.Dataset()), T),
    Row("dims of an array to prepare", lambda: prepare("sqrt").apply(X, dims={"time": "year"}), V),
    Row("to undo values of other rows", lambda: prepare(center="rows").apply(X).undo(X[:, :3]), V),
]

NEW_DATA = [
    Row("transform before the fit", lambda: tp.CP(2).transform(X), tp.NotFittedError),
    Row("loadings before the fit", lambda: tp.CP(2).A_, tp.NotFittedError),
    Row("summary before the fit", lambda: tp.CP(2).summary(), tp.NotFittedError),
    Row("transform of fewer columns", lambda: fitted().transform(X[:, :, :5]), V),
    Row("transform of fewer times", lambda: fitted().transform(X[:3]), V),
    Row("transform of a text", lambda: fitted().transform("rows"), T),
    Row("transform of infinity", lambda: fitted().transform(spoilt(np.inf)), V),
    Row("transform of an empty row", lambda: fitted().transform(np.full((5, 1, 6), np.nan)), V),
    Row(
        "transform of other labels",
        lambda: fitted("labelled").transform(labelled().assign_coords(columns=list("uvwxyQ"))),
        V,
    ),
    Row("transform, unknown columns in words", lambda: fitted().transform(X, unknown="ignore"), V, "unknown"),
    Row("transform of what was prepared otherwise", lambda: fitted().transform(prepare("sqrt").apply(X)), V),
    Row("inverse transform of another rank", lambda: fitted().inverse_transform(np.ones((3, 4))), V, "A"),
    Row("score in one fold", lambda: fitted().score(X, folds=1), V, "folds"),
    Row("evaluate on fewer times", lambda: fitted().evaluate(X[1:]), V),
    Row("evaluate on nothing", lambda: fitted().evaluate(X * np.nan), V),
    Row("evaluate on other labels", lambda: fitted("labelled").evaluate(labelled()[:, ::-1]), V),
    Row("evaluate on what was prepared otherwise", lambda: fitted().evaluate(prepare("sqrt").apply(X)), V),
    Row("complete other columns", lambda: fitted().complete(X[:, :, :5]), V),
    Row("patterns at another kind of time", lambda: fitted("labelled").patterns_at("soon"), V),
    Row("append before the fit", lambda: tp.TParafac2(2).append(X[0]), tp.NotFittedError),
    Row("append other rows", lambda: fitted("TParafac2").append(X[0, :5]), V),
    Row("append an earlier time", lambda: fitted("labelled").append(labelled()[0], 1990), V),
    Row("append infinity", lambda: fitted("TParafac2").append(X[0] * np.inf), V),
    Row("append a text", lambda: fitted("TParafac2").append("more"), T),
    Row("append a part and fit all again", lambda: fitted("TParafac2").append(X[:3], refit=True), V),
    Row("forecast before the fit", lambda: tp.CP(2).forecast(1), tp.NotFittedError),
    Row("forecast of nothing", lambda: longer().forecast(h=None), V, "h"),
    Row("forecast of 0 steps", lambda: longer().forecast(0), V, "h"),
    Row("forecast of half a step", lambda: longer().forecast(1.5), (T, V), "h"),
    Row("forecast of steps and other times", lambda: longer().forecast(2, times=[11]), V, "h"),
    Row("forecast of a known time", lambda: longer().forecast(times=[3]), V),
    Row("forecast of an earlier time", lambda: longer().forecast(times=[-3]), V),
    Row("forecast of a time twice", lambda: longer().forecast(times=[11, 12, 11]), V, "times"),
    Row("forecast with intervals of 150 %", lambda: longer().forecast(2, level=1.5), V, "level"),
    Row("forecast with seasons of one step", lambda: longer().forecast(2, season=1), V, "season"),
    Row("forecast with other data", lambda: longer().forecast(2, X=np.ones((3, 8, 6))), V, "X"),
    Row("forecast from few times", lambda: fitted_to_three().forecast(1), V),
]


@cache
def fitted_to_three():
    return tp.CP(1, **QUICK).fit(X[:3])


def bands(kind="TParafac2", given=X, **arguments):
    return lambda: fitted(kind).intervals(given, **({"n_resamples": 20, "n_jobs": 1} | arguments))


def chosen(given=X, **arguments):
    settings = {
        "ranks": [1, 2],
        "smoothness": [1e-3, 1e-2],
        "random_state": 0,
        "n_jobs": 1,
        "progress": False,
    }
    return lambda: tp.choose(given, **(settings | arguments))


INFERENCE = [
    Row("intervals before the fit", lambda: tp.CP(2).intervals(X), tp.NotFittedError),
    Row("intervals of 100 %", bands(level=1.0), V, "level"),
    Row("intervals from 3 resamples", bands(n_resamples=3), V, "n_resamples"),
    Row("intervals over columns", bands(over="columns"), V, "over"),
    Row("intervals by groups of other rows", bands(groups=[1, 2]), V, "groups"),
    Row("intervals of an unknown column", bands(contrasts=[(1, "no such", 0, 1)]), V, "contrasts"),
    Row("intervals of an unknown component", bands(contrasts=[(3, 0, 0, 1)]), V, "contrasts"),
    Row("contrasts in words", bands(contrasts="1"), T, "contrasts"),
    Row("intervals without threads", bands(n_jobs=0), V, "n_jobs"),
    Row("intervals of other data", bands(given=X[:, :5]), V),
    Row("intervals of shuffled rows", bands(given=X[:, ::-1]), V),
    Row("intervals of what is not unique", bands("TemporalCMF"), V),
    Row("associations without attributes", lambda: fitted().associations("kind"), V),
    Row("no rank to choose", chosen(ranks=[]), V, "ranks"),
    Row("rank 0 among others", chosen(ranks=[0, 1]), V, "ranks"),
    Row("half a rank to choose", chosen(ranks=[1.5]), T, "ranks"),
    Row("ranks in words", chosen(ranks="2"), T, "ranks"),
    Row("a rank beyond the data", chosen(ranks=[40]), V),
    Row("no smoothness to choose", chosen(smoothness=[]), V, "smoothness"),
    Row("smoothness 0 among others", chosen(smoothness=[0.0, 1e-3]), V, "smoothness"),
    Row("rigidity below 0 among others", chosen(rigidity=[-1.0]), V, "rigidity"),
    Row("unknown bounds to choose", chosen(nonnegative="columns"), V, "nonnegative"),
    Row("no starts to choose with", chosen(n_starts=0), V, "n_starts"),
    Row("no threads to choose with", chosen(n_jobs=0), V, "n_jobs"),
    Row("an unknown argument of choose", chosen(rank=2), T),
    Row("groups of other rows to choose with", chosen(groups=[1, 2]), V, "groups"),
    Row("one row to choose from", chosen(X[:, :1]), V),
    Row("nothing to choose from", chosen(X * np.nan), V),
    Row("a text to choose from", chosen("data.csv"), T),
    Row("no models to compare", lambda: tp.compare_models({}, X), V),
    Row("models that are no mapping", lambda: tp.compare_models([tp.CP(1)], X), T),
    Row("models that are none", lambda: tp.compare_models({"a": "cp"}, X), T),
    Row(
        "models compared without threads",
        lambda: tp.compare_models({"a": tp.CP(1)}, X, n_jobs=0),
        V,
        "n_jobs",
    ),
]

match = tp.metrics.factor_match_score

METRICS = [
    Row("to match a text", lambda: match("A", (A, B, C)), T),
    Row("to match two factors", lambda: match((A, B), (A, B, C)), V),
    Row("to match other rows", lambda: match((A[:4], B, C), (A, B, C)), V),
    Row("to match in an unknown mode", lambda: match((A, B, C), (A, B, C), modes="ABD"), V),
    Row("to match in a mode twice", lambda: match((A, B, C), (A, B, C), modes="AA"), V),
    Row("to match by an unknown definition", lambda: match((A, B, C), (A, B, C), definition="mean"), V),
    Row("to match strengths that are not there", lambda: match((A, B, None), (A, B, C)), V),
    Row("to match NaN", lambda: match((A * np.nan, B, C), (A, B, C)), V),
    Row("to match what has other ranks in A and B", lambda: match((A[:, :1], B, C), (A, B, C)), V),
    Row("agreement of nothing", lambda: tp.metrics.agreement([]), V),
    Row("explained variance of other data", lambda: tp.metrics.explained_variance(X[1:], (A, B, C)), V),
    Row("explained variance of zeros", lambda: tp.metrics.explained_variance(0 * X, (A, B, C)), V),
    Row(
        "explained variance with missing entries",
        lambda: tp.metrics.explained_variance(spoilt(np.nan), (A, B, C)),
        V,
    ),
    Row("violation of nothing", lambda: tp.metrics.parafac2_violation([]), V),
    Row("to reconstruct from other strengths", lambda: tp.metrics.reconstruct(A, B, C[1:]), V),
]

easy = tp.synthetic.easy

SYNTHETIC = [
    Row("noise below 0", lambda: easy(0, noise=-0.1), V, "noise"),
    Row("noise NaN", lambda: easy(0, noise=np.nan), V, "noise"),
    Row("a seed below 0, of data", lambda: easy(-1), V, "seed"),
    Row("no seed of data", lambda: easy(None), T, "seed"),
    Row("data of one row", lambda: easy(0, n_rows=1), V),
    Row("data of one time", lambda: easy(0, n_times=1), V),
    Row("data of half a column", lambda: easy(0, n_columns=20.5), T, "n_columns"),
    Row("data of no concepts", lambda: easy(0, n_concepts=0), V, "n_concepts"),
    Row("data of another precision", lambda: easy(0, dtype=int), V),
]


def _written(tmp_path, content):
    (tmp_path / "model.npz").write_bytes(content)
    return tmp_path / "model.npz"


def _cut(tmp_path):
    fitted().save(tmp_path / "model.npz")
    whole = (tmp_path / "model.npz").read_bytes()
    return _written(tmp_path, whole[: len(whole) // 2])


FILES = [
    Row("to save before the fit", lambda tmp_path: tp.CP(2).save(tmp_path / "model.npz"), tp.NotFittedError),
    Row("to load what is not there", lambda tmp_path: tp.load(tmp_path / "none.npz"), FileNotFoundError),
    Row("to load a text", lambda tmp_path: tp.load(_written(tmp_path, b"not a model")), V),
    Row("to load half a model", lambda tmp_path: tp.load(_cut(tmp_path)), V),
    Row("to load a folder", tp.load, (ValueError, IsADirectoryError)),
    Row("to read what is not there", lambda tmp_path: tp.io.read(tmp_path / "none.csv"), FileNotFoundError),
]

ROOMS = {
    "data": DATA,
    "arguments of fit": DOOR,
    "settings": SETTINGS,
    "starts": STARTS,
    "penalties": PENALTIES,
    "tables and files of arrays": TABLES,
    "preparation": PREPARATION,
    "new data": NEW_DATA,
    "choice and intervals": INFERENCE,
    "metrics": METRICS,
    "synthetic data": SYNTHETIC,
    "files": FILES,
}


def refuse(row, tmp_path):
    """The error that a bad input ends in, or None."""
    try:
        row.do(tmp_path) if row in FILES else row.do()
    except Exception as error:
        return error
    return None
