"""Times appended one by one over the last quarter, beside a fit to all of them: python appending.py FOLDER.

FOLDER has the public sets of the forecasts; without it only the synthetic ones are measured.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

import tparafac2 as tp


def synthetic():
    """Name, data (time, rows, columns), rank, truth."""
    cases = {
        "easy": tp.synthetic.easy,
        "one weak": tp.synthetic.almost_zero,
        "overlapping": tp.synthetic.overlapping,
    }
    for name, make in cases.items():
        for seed in range(3):
            data = make(seed=seed, noise=0.5, n_times=40, n_rows=60, n_columns=80)
            yield f"{name}, seed {seed}", data.X, 3, data


def real(folder):
    """Name, labelled data before preparation, preparation, rank, smoothness."""

    def labelled(values, rows, columns, years, name):
        coords = {"rows": rows, "columns": columns, "time": years}
        array = xr.DataArray(values, dims=("rows", "columns", "time"), coords=coords, name=name)
        return array.transpose("time", "rows", "columns")

    votes = np.load(folder / "unvotes" / "unvotes_country_country_year.npz")
    land = votes["countries"]
    agreement = labelled(votes["agreement"].astype(float), land, land, votes["years"], "agreement")
    yield "UN votes", agreement, tp.Preparation(), 3, 1e-3
    names = np.load(folder / "babynames_state" / "babynames_state_name_year.npz")
    for sex in "FM":
        counts, total = names[f"{sex}_counts"], names[f"{sex}_total"]
        shares = labelled(
            counts / total[:, None, :], names["states"], names[f"{sex}_names"], names["years"], "share"
        )
        yield f"baby names, {sex}", shares, tp.Preparation("sqrt"), 4, 1e-4
    gut = np.load(folder / "ecam_infants" / "ecam_subject_genus_month19.npz")
    counts = labelled(gut["counts"].astype(float), gut["subjects"], gut["genera"], gut["months"], "count")
    yield "gut bacteria", counts, tp.Preparation("clr", pseudocount=0.5), 3, 1e-3


def fitted(model, X):
    began = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - began


def measured(name, X, model, preparation, truth=None):
    """One row of the table: appended one by one, and the fit to all with the same lambdas."""
    K = len(X)
    known = K - K // 4
    model, seconds = fitted(model, preparation.apply(X[:known]))
    longer, each = model, []
    for k in range(known, K):
        began = time.perf_counter()
        longer = longer.append(X[k])
        each.append(time.perf_counter() - began)
    warm, _ = longer.append(X, refit=True), None
    whole = type(model)(**warm.get_params()).fit(preparation.apply(X))
    prepared = preparation.apply(X)

    def fms(one, other):
        return tp.metrics.factor_match_score(one.normalised(), other)

    row = [
        name,
        f"{known} + {K - known}",
        f"{longer.evaluate(prepared).objective / whole.objective_ - 1:+.2%}",
        f"{warm.objective_ / whole.objective_ - 1:+.3%}",
        f"{longer.explained_variance_:.4f}, {whole.explained_variance_:.4f}",
        f"{fms(longer, whole.normalised()):.3f}",
        "" if truth is None else f"{fms(longer, truth):.3f}, {fms(whole, truth):.3f}",
        f"{1e3 * np.median(each):.0f} ms of {seconds:.2f} s ({np.median(each) / seconds:.1%})",
    ]
    print(" | ".join(row), flush=True)
    return row


def main():
    warnings.simplefilter("ignore")
    print(
        "set | times | objective appended / fit to all | refit | explained, appended, all | FMS to all | "
        "FMS to truth, appended, all | one append of one fit"
    )
    common = {"n_starts": 4, "random_state": 0, "n_jobs": 1}
    tp.TParafac2(2, 1e-3, **common).fit(np.random.default_rng(0).random((5, 8, 7)))  # compiles
    for name, X, rank, truth in synthetic():
        measured(name, X, tp.TParafac2(rank, 1e-3, **common), _Nothing, truth)
    if len(sys.argv) > 1:
        for name, X, preparation, rank, smoothness in real(Path(sys.argv[1])):
            for rigidity in (np.inf, 1.0):
                model = tp.TParafac2(rank, smoothness, rigidity=rigidity, **common)
                measured(f"{name}, rigidity {rigidity:g}", X, model, preparation)


class _Nothing:
    @staticmethod
    def apply(X):
        return X


if __name__ == "__main__":
    main()
