"""Loadings of rows that were held out, and entries that were hidden.

python new_rows.py FOLDER: on real data, which are in the folder.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import tparafac2 as tp
from tparafac2.metrics import match_components

SPLITS = 3
FIT = {"smoothness": 1e-3, "n_starts": 5, "random_state": 0}


def sets(folder):
    """Name, data (time, rows, columns), times, preparation, rank, and the scale on which errors are told."""
    votes = np.load(folder / "unvotes" / "unvotes_country_country_year.npz")
    gut = np.load(folder / "ecam_infants" / "ecam_subject_genus_month19.npz")
    names = np.load(folder / "babynames_state" / "babynames_state_name_year.npz")
    yield "votes", votes["agreement"].transpose(2, 0, 1), votes["years"], tp.Preparation(), 4, np.asarray
    clr = tp.Preparation("clr", pseudocount=0.5)
    yield "gut bacteria", gut["counts"].transpose(2, 0, 1), gut["months"], clr, 3, lambda x: np.log(x + 0.5)
    for sex, what in (("F", "girls' names"), ("M", "boys' names")):
        shares = names[f"{sex}_counts"] / names[f"{sex}_total"][:, None, :]
        yield what, shares.transpose(2, 0, 1), names["years"], tp.Preparation("sqrt"), 4, np.sqrt


def held_out(X, times, preparation, rank, seed):
    """Cosine of each component, and relative error, of held-out rows beside those of the fit to all rows."""
    rows = np.random.default_rng(seed).permutation(X.shape[1])
    out, kept = np.sort(rows[: len(rows) // 5]), np.sort(rows[len(rows) // 5 :])
    whole = tp.TParafac2(rank, **FIT).fit(preparation.apply(X), times=times)
    part = tp.TParafac2(rank, **FIT).fit(preparation.apply(X[:, kept]), times=times)
    order = match_components(part, whole, modes="BC").permutation
    new, fitted = part.transform(X[:, out])[:, order], part.A_[:, order]
    # The scale of a component may be anywhere: as the rows that both fits have say.
    size = (fitted * whole.A_[kept]).sum(axis=0) / (fitted**2).sum(axis=0)
    expected = whole.A_[out]
    cosines = (new * expected).sum(axis=0) / np.linalg.norm(new, axis=0) / np.linalg.norm(expected, axis=0)
    error = np.linalg.norm(new * size - expected) / np.linalg.norm(expected)
    between = np.linalg.norm(fitted * size - whole.A_[kept]) / np.linalg.norm(whole.A_[kept])
    return [*cosines * np.sign(size)], error, between, part.score(X[:, out]), whole.explained_variance_


def completed(X, times, preparation, rank, seed, scale):
    """Relative error of hidden entries, and that of means of their column and time."""
    rng = np.random.default_rng(seed)
    hidden = (rng.random(X.shape) < 0.1) & ~np.isnan(X)
    holed = np.where(hidden, np.nan, X)
    model = tp.TParafac2(rank, **FIT).fit(preparation.apply(holed), times=times)
    truth, guess = scale(X)[hidden], scale(model.complete(holed))[hidden]
    plain = np.broadcast_to(np.nanmean(scale(holed), axis=1, keepdims=True), X.shape)[hidden]
    return [np.linalg.norm(one - truth) / np.linalg.norm(truth) for one in (guess, plain)]


def on_real_data(folder):
    """Two tables."""
    lines = {"held out": [], "hidden": []}
    for name, X, times, preparation, rank, scale in sets(folder):
        kept = ~np.isnan(X).all(axis=(0, 1))
        X = X[:, :, kept]
        rows = [held_out(X, times, preparation, rank, seed) for seed in range(SPLITS)]
        cosines = np.mean([row[0] for row in rows], axis=0)
        lowest = np.min([row[0] for row in rows])
        error, between, score, explained = np.mean([row[1:] for row in rows], axis=0)
        lines["held out"].append(
            f"| {name} ({X.shape[1]} x {X.shape[2]} x {X.shape[0]}, rank {rank}) | "
            f"{' '.join(f'{one:.3f}' for one in cosines)} | {lowest:.3f} | {error:.3f} | {between:.3f} | "
            f"{score:.3f} | {explained:.3f} |"
        )
        model, plain = np.mean(
            [completed(X, times, preparation, rank, seed, scale) for seed in range(SPLITS)], axis=0
        )
        lines["hidden"].append(f"| {name} | {model:.3f} | {plain:.3f} |")
        print(lines["held out"][-1], lines["hidden"][-1], sep="\n", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    on_real_data(Path(sys.argv[1]))
