"""Forecasts of the last tenth of the times, beside simple ones: python forecasts.py FOLDER.

FOLDER has unvotes, babynames_state and ecam_infants as .npz files. Without it only synthetic data.
Errors are relative, ||X - forecast|| / ||X|| over what was observed, in the units that were fitted.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from appending import real

import tparafac2 as tp
from tparafac2.result import timeline

LEVEL = 0.95
COMMON = {"n_starts": 4, "random_state": 0}


def judged(actual, value, lower=None, upper=None):
    """Relative error, and share of what came that the intervals hold."""
    seen = ~np.isnan(actual) & ~np.isnan(value)
    error = np.linalg.norm((actual - value)[seen]) / np.linalg.norm(actual[seen])
    if lower is None:
        return f"{error:.3f}"
    held = ((actual >= lower) & (actual <= upper))[seen].mean()
    return f"{error:.3f} ({held:.1%})"


def last_slice(known, h):
    """The last value of each cell that was observed."""
    last = known[0].copy()
    for piece in known[1:]:
        last = np.where(np.isnan(piece), last, piece)
    return (np.repeat(last[None], h, axis=0),)


def smoothed_cells(known, h):
    """Simple exponential smoothing of every cell by itself, its weight the best of a grid for the cell."""
    best, level, weight = np.full(known[0].shape, np.inf), known[0].copy(), np.ones(known[0].shape)
    for alpha in np.linspace(0.05, 1.0, 20):
        state, square, count = known[0].copy(), np.zeros(known[0].shape), np.zeros(known[0].shape)
        for piece in known[1:]:
            seen = ~np.isnan(piece)
            error = np.where(seen & ~np.isnan(state), piece - state, 0.0)
            square, count = square + error**2, count + (seen & ~np.isnan(state))
            state = np.where(np.isnan(state), piece, state + alpha * error)
        mean = square / np.maximum(count, 1)
        better = mean < best
        best, weight = np.where(better, mean, best), np.where(better, alpha, weight)
        level = np.where(better, state, level)
    steps = np.arange(h)[:, None, None]
    reach = 1.96 * np.sqrt(best * (1 + steps * weight**2))
    value = np.repeat(level[None], h, axis=0)
    return value, value - reach, value + reach


def row_of(name, X, rank, smoothness):
    """One line of the table."""
    values = np.asarray(X)
    h = max(1, round(len(values) / 10))
    known, actual = X[:-h], values[-h:]
    own = tp.TParafac2(rank, smoothness, **COMMON).fit(known)
    soft = tp.TParafac2(rank, smoothness, rigidity=1.0, **COMMON).fit(known)
    static = tp.CP(rank, nonnegative_strengths=True, **COMMON).fit(known)
    ahead = {} if timeline(own.result_).values[-1] == len(values) - h - 1 else {"times": X.time.values[-h:]}
    steps = ahead or {"h": h}
    cells = [name, str(h)]
    for model, data in ((own, None), (own, known), (soft, known), (static, known)):
        cells.append(judged(actual, *model.forecast(**steps, X=data, level=LEVEL).fitted))
    cells.append(judged(actual, *last_slice(np.asarray(known), h)))
    cells.append(judged(actual, *smoothed_cells(np.asarray(known), h)))
    fitted = tp.TParafac2(rank, smoothness, **COMMON).fit(X).reconstruct()[-h:]
    cells.append(judged(actual, fitted))
    print("| " + " | ".join(cells) + " |", flush=True)


def names_of_2014(folder):
    """What a forecast made with data up to 2014 says of later years, beside what came."""
    data = {name: X for name, X, *_ in real(folder)}["baby names, F"]
    known = data.sel(time=slice(None, 2014))
    model = tp.TParafac2(6, 1e-4, **COMMON).fit(tp.Preparation("sqrt").apply(known))
    ahead = model.forecast(10, X=known).to_dataset()
    print("\n| name | share of births in 2014, % | forecast for 2024 (95 %), mean of states | 2024 |")
    print("|---|---|---|---|")
    for name in ("Emma", "Olivia", "Sophia", "Isabella", "Charlotte", "Harper", "Jennifer", "Linda"):
        one = [
            100 * ahead[part].sel(columns=name, time=2024).mean()
            for part in ("fitted", "fitted_lower", "fitted_upper")
        ]
        came = [100 * data.sel(columns=name, time=year).mean() for year in (2014, 2024)]
        print(f"| {name} | {came[0]:.2f} | {one[0]:.2f} ({one[1]:.2f} to {one[2]:.2f}) | {came[1]:.2f} |")
    actual = data.sel(time=slice(2015, None))
    inside = (actual >= ahead.fitted_lower) & (actual <= ahead.fitted_upper)
    print("coverage by year", inside.mean(("rows", "columns")).values.round(3))
    for year in (2015, 2019, 2024):
        error = actual.sel(time=year) - ahead.fitted.sel(time=year)
        still = actual.sel(time=year) - data.sel(time=2014)
        size = np.linalg.norm(actual.sel(time=year))
        print(
            year,
            "error",
            round(float(np.linalg.norm(error) / size), 3),
            "of the last slice",
            round(float(np.linalg.norm(still) / size), 3),
        )


def synthetic(seeds=range(6)):
    """Coverage where the truth is known: patterns that turn or overlap, and random walks."""
    cases = {
        "easy": tp.synthetic.easy,
        "one weak": tp.synthetic.almost_zero,
        "overlapping": tp.synthetic.overlapping,
    }
    makers = {
        name: (lambda seed, make=make: make(seed=seed, noise=0.5, n_times=40, n_rows=40, n_columns=50).X)
        for name, make in cases.items()
    }
    makers["random walks"] = random_walks
    print(
        "\n| data | hindsight, coverage at 1, 2, 3, 4 steps | with X | patterns with X | strengths | error | "
        "last slice |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, make in makers.items():
        held, shapes, errors = {"hindsight": [], "with X": []}, [], []
        inner = []
        for seed in seeds:
            X = make(seed)
            known, actual = X[:-4], X[-4:]
            model = tp.TParafac2(3, 1e-3, **COMMON).fit(known)
            later = model.append(actual).normalised()
            for kind, data in (("hindsight", None), ("with X", known)):
                ahead = model.forecast(4, X=data)
                fitted = ahead.fitted
                held[kind].append(((actual >= fitted.lower) & (actual <= fitted.upper)).mean(axis=(1, 2)))
            found = (later.B[-4:] >= ahead.patterns.lower) & (later.B[-4:] <= ahead.patterns.upper)
            shapes.append(found.mean())
            inner.append(
                ((later.C[-4:] >= ahead.strengths.lower) & (later.C[-4:] <= ahead.strengths.upper)).mean()
            )
            errors.append(
                [np.linalg.norm(actual - one) / np.linalg.norm(actual) for one in (fitted.value, X[-5])]
            )
        told = [", ".join(f"{100 * one:.1f}" for one in np.mean(each, axis=0)) for each in held.values()]
        error = np.mean(errors, axis=0)
        print(
            f"| {name} | {told[0]} | {told[1]} | {100 * np.mean(shapes):.1f} | {100 * np.mean(inner):.1f} | "
            f"{error[0]:.3f} | {error[1]:.3f} |",
            flush=True,
        )


def random_walks(seed):
    """Patterns that are random walks, and strengths about a mean: what the model implies."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((30, 3)) + np.cumsum(0.2 * rng.standard_normal((40, 30, 3)), axis=0)
    C = 2.0 + np.array([0.9**k for k in range(40)])[:, None] + 0.3 * rng.standard_normal((40, 3))
    signal = np.einsum("ir,kr,kjr->kij", rng.standard_normal((40, 3)), C, B)
    return signal + 0.5 * signal.std() * rng.standard_normal(signal.shape)


def main():
    warnings.simplefilter("ignore")
    synthetic()
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        print(
            "\n| set | hidden times | tPARAFAC2 | with X | rigidity 1, with X | static CP, with X | "
            "last slice | each cell smoothed | (fit that saw them) |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for name, raw, preparation, rank, smoothness in real(folder):
            X = raw.copy(data=np.asarray(preparation.apply(raw).data))
            row_of(name, X, rank, smoothness)
        names_of_2014(folder)


if __name__ == "__main__":
    main()
