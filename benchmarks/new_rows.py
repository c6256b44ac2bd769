"""Loadings of rows that were held out, and entries that were hidden.

python new_rows.py FOLDER: on real data, which are in the folder.
python new_rows.py: how often bounds hold on synthetic data.
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
    """Relative error of hidden entries, that of means of their column and time, and how often bounds hold."""
    rng = np.random.default_rng(seed)
    hidden = (rng.random(X.shape) < 0.1) & ~np.isnan(X)
    holed = np.where(hidden, np.nan, X)
    model = tp.TParafac2(rank, **FIT).fit(preparation.apply(holed), times=times)
    found = model.complete(holed, level=0.95)
    inside = ((found.lower <= X) & (found.upper >= X))[hidden].mean()
    truth, guess = scale(X)[hidden], scale(found.values)[hidden]
    plain = np.broadcast_to(np.nanmean(scale(holed), axis=1, keepdims=True), X.shape)[hidden]
    return *(np.linalg.norm(one - truth) / np.linalg.norm(truth) for one in (guess, plain)), inside


def bounds(kind, new, seed):
    """How often bounds of level .8 and .95 hold, of rows of the fit or of new ones."""
    rng = np.random.default_rng(100 + seed)
    data = tp.synthetic.easy(seed=seed, n_times=15, n_rows=60, n_columns=40, noise=0.5)
    signal = np.einsum("ir,kr,kjr->kij", data.A, data.C, data.B)
    noise = rng.normal(size=signal.shape) * (data.X - signal).std()
    noise *= {"rows": np.exp(rng.normal(size=(60, 1)) / 2), "columns": np.exp(rng.normal(size=40) / 2)}.get(
        kind, 1.0
    )
    X = signal[:, rng.permutation(60)] + noise
    hidden = rng.random(X.shape) < (0.6 if kind == "most" else 0.2)
    holed = np.where(hidden, np.nan, X)
    model = tp.TParafac2(3, **FIT).fit(holed[:, :40] if new else holed)
    rows = slice(40, None) if new else slice(None)
    X, hidden, found = X[:, rows], hidden[:, rows], []
    for level in (0.8, 0.95):
        _, lower, upper = model.complete(holed[:, rows], level=level)
        found.append(((lower <= X) & (upper >= X))[hidden].mean())
    return found


def on_synthetic_data():
    """One line for each kind of noise."""
    for kind, what in (
        ("even", "20 % missing"),
        ("rows", "20 % missing, noise differs between rows"),
        ("columns", "20 % missing, noise differs between columns"),
        ("most", "60 % missing"),
    ):
        for new in (False, True):
            found = np.array([bounds(kind, new, seed) for seed in range(10)])
            low, high = found.mean(axis=0)
            least, most = found[:, 1].min(), found[:, 1].max()
            rows = "new" if new else "of the fit"
            print(f"| {what} | {rows} | {low:.3f} | {high:.3f} ({least:.3f} to {most:.3f}) |", flush=True)


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
        model, plain, inside = np.mean(
            [completed(X, times, preparation, rank, seed, scale) for seed in range(SPLITS)], axis=0
        )
        lines["hidden"].append(f"| {name} | {model:.3f} | {plain:.3f} | {inside:.3f} |")
        print(lines["held out"][-1], lines["hidden"][-1], sep="\n", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    on_real_data(Path(sys.argv[1])) if len(sys.argv) > 1 else on_synthetic_data()
