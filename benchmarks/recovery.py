"""How well the truth is found again when much of the data is missing; see docs/missing.md.

Synthetic data at the paper's size lose entries, fibres or slices. Scores, completion errors, objectives and
seconds go into a CSV file, which a later run takes up where it was; then the tables are printed and
docs/images/missing.png is drawn. Run under one thread, so that CPU seconds mean something:

    OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/recovery.py
"""

import argparse
import csv
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from objective import objective, project

import tparafac2 as tp
from tparafac2.plots.style import PAGE_WIDTH, new_figure, print_style

RANK = 3
SMOOTHNESS = 3e-3
SHARES = {"entries": (0.1, 0.3, 0.5, 0.8), "fibres": (0.1, 0.3, 0.5, 0.8), "slices": (0.1, 0.3, 0.5)}
DATA = {"easy": tp.synthetic.easy, "overlapping": tp.synthetic.overlapping}
PEER = {"starts": 2, "iterations": 200}
DRAWS = 5  # of the mask, where half of the entries are missing
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "missing.png"


class Cell(NamedTuple):
    """One fit; a share of 0 is complete data."""

    data: str
    pattern: str
    share: float
    seed: int
    method: str
    draw: int = 0


class Look(NamedTuple):
    """How a method is drawn."""

    label: str
    colour: str
    marker: str
    line: str
    size: float


LOOKS = {
    "ours": Look("tparafac2", "#0072B2", "o", "-", 3),
    "matcouply": Look("matcouply", "#767676", "^", ":", 4),
}


def hidden(cell, shape):
    """Which entries (K, I, J) are missing: the same ones for every method."""
    K, I, J = shape
    kind = list(SHARES).index(cell.pattern)
    rng = np.random.default_rng([cell.seed, kind, round(100 * cell.share), cell.draw])
    if cell.pattern == "entries":
        return rng.random(shape) < cell.share
    if cell.pattern == "fibres":
        each = 1 - np.sqrt(1 - cell.share)  # of the rows of a slice, and of its columns
        return (rng.random((K, I, 1)) < each) | (rng.random((K, 1, J)) < each)
    gone = rng.permutation(K)[: round(cell.share * K)]
    return np.isin(np.arange(K), gone)[:, np.newaxis, np.newaxis] & np.ones(shape, dtype=bool)


def fit_ours(X, cell):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tp.TParafac2(RANK, smoothness=SMOOTHNESS, n_starts=5, random_state=cell.seed).fit(X)
    return (model.A_, model.B_, model.C_), model.objective_, model.n_iter_


def fit_matcouply(X, cell):
    """The best of a few starts, by the objective over the observed entries that ours is judged by too."""
    weight = SMOOTHNESS * np.sqrt(np.nansum(X**2)) ** (4 / 3)
    found = []
    for start in range(PEER["starts"]):
        factors = matcouply_start(X, weight, [cell.seed, start])
        A, B, C = factors[0], project(factors[1]), np.maximum(factors[2], 0.0)
        filled = np.where(np.isnan(X), tp.metrics.reconstruct(A, B, C), X)
        found.append((objective(filled, A, B, C, (weight,) * 3), factors))
    value, factors = min(found, key=lambda one: one[0])
    return factors, value, PEER["iterations"]


def matcouply_start(X, weight, seed):
    """One start; conventions as in peers.py. Its own starts cannot take a slice of which nothing is seen."""
    from matcouply.decomposition import parafac2_aoadmm
    from matcouply.penalties import TemporalSmoothnessPenalty

    (K, I, J), rng = X.shape, np.random.default_rng(seed)
    init = (None, (rng.random((K, RANK)), list(rng.random((K, J, RANK))), rng.random((I, RANK))))
    seen = ~np.isnan(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, (C, B, A) = parafac2_aoadmm(
            [x.T.copy() for x in np.nan_to_num(X)],
            RANK,
            n_iter_max=PEER["iterations"],
            init="random" if seen.any(axis=(1, 2)).all() else init,
            non_negative=[True, False, False],
            l2_penalty=[weight, 0, weight],
            regs=[[], [TemporalSmoothnessPenalty(weight / 2)], []],
            tol=None,
            absolute_tol=None,
            inner_n_iter_max=5,
            random_state=int(rng.integers(2**31)),
            mask=None if seen.all() else [m.T.astype(float) for m in seen],
        )
    return np.asarray(A), np.stack(B), np.asarray(C)


def warm_up():
    """Load the compiled code of a process, which is no part of what a fit costs."""
    X = tp.synthetic.easy(0, n_times=8, n_rows=30, n_columns=24).X
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in (X, holed):
            tp.TParafac2(RANK, SMOOTHNESS, n_starts=2, max_iter=3).fit(data)


def measure(cell):
    """One row of the results; the error is against the noiseless signal, where the entries were hidden."""
    warm_up()
    data = DATA[cell.data](cell.seed, noise=0.5)
    gone = hidden(cell, data.X.shape) if cell.share else np.zeros(data.X.shape, dtype=bool)
    X = np.where(gone, np.nan, data.X)
    began = time.process_time()
    factors, value, iterations = (fit_matcouply if cell.method == "matcouply" else fit_ours)(X, cell)
    seconds = time.process_time() - began
    where, signal = gone if cell.share else ~gone, data.signal()
    wrong = np.linalg.norm((signal - tp.metrics.reconstruct(*factors))[where])
    return {
        **cell._asdict(),
        "score": tp.metrics.factor_match_score(factors, data),
        "error": wrong / np.linalg.norm(signal[where]),
        "objective": value,
        "seconds": seconds,
        "iterations": iterations,
    }


def plan(seeds, peer_seeds):
    """All cells: ours, the same with other masks where half of the entries are missing, and the peer's."""
    settings = [("none", 0.0), *((pattern, share) for pattern in SHARES for share in SHARES[pattern])]
    cells = [
        Cell(data, *setting, seed, "ours") for seed in range(seeds) for data in DATA for setting in settings
    ]
    cells += [
        Cell(data, "entries", 0.5, seed, "ours", draw)
        for seed in range(seeds)
        for data in DATA
        for draw in range(1, DRAWS)
    ]
    return cells + [
        Cell(data, *setting, seed, "matcouply")
        for seed in range(peer_seeds)
        for data in DATA
        for setting in settings
    ]


def collect(cells, path):
    """The results of all cells, from the file where they are in it."""
    known = set()
    if path.exists():
        known = {Cell(*row) for row in pd.read_csv(path)[list(Cell._fields)].itertuples(index=False)}
    left = [cell for cell in cells if cell not in known]
    with path.open("a", newline="") as file:
        rows = Parallel(n_jobs=2, return_as="generator_unordered")(delayed(measure)(cell) for cell in left)
        for count, row in enumerate(rows, start=1):
            writer = csv.DictWriter(file, row)
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(f"\r{count} of {len(left)}", end="", file=sys.stderr, flush=True)
    table = pd.read_csv(path)
    wanted = set(cells)
    return table[[Cell(*row) in wanted for row in table[list(Cell._fields)].itertuples(index=False)]]


def spread(table, column):
    """A column by method and seed, one row for each setting."""
    return table.pivot_table(
        index=["data", "pattern", "share"], columns=["method", "seed"], values=column, sort=False
    )


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def setting(key):
    data, pattern, share = key
    return [data, f"{share:.0%} of {pattern}" if share else "nothing"]


def ours(table):
    """Medians over all data sets, and the loss against complete data."""
    score, error, seconds = (spread(table, name)["ours"] for name in ("score", "error", "seconds"))
    rows = []
    for key in score.index:
        lost = score.loc[(key[0], "none", 0.0)] - score.loc[key]
        rows.append(
            [
                *setting(key),
                f"{score.loc[key].median():.3f}",
                f"{lost.median():.3f} ({lost.max():.3f})" if key[2] else "",
                f"{error.loc[key].median():.3f}",
                f"{seconds.loc[key].median():.1f}",
            ]
        )
    return markdown(["data", "missing", "score", "loss: median (most)", "error", "seconds"], rows)


def beside_matcouply(table):
    """Medians over the data sets that matcouply was run on, for both."""
    seeds = table.loc[table["method"] == "matcouply", "seed"].unique()
    table = table[table["seed"].isin(seeds)]
    score, error, value, seconds = (
        table.groupby(["data", "pattern", "share", "method"], sort=False)[name].median().unstack()
        for name in ("score", "error", "objective", "seconds")
    )
    pair = ["ours", "matcouply"]
    rows = [
        [
            *setting(key),
            *(f"{part.loc[key, name]:.3f}" for part in (score, error) for name in pair),
            f"{value.loc[key, 'matcouply'] / value.loc[key, 'ours'] - 1:.1%}" if key[1] != "slices" else "",
            *(f"{seconds.loc[key, name]:.1f}" for name in pair),
        ]
        for key in score.index
    ]
    header = ["data", "missing", "score: ours", "matcouply", "error: ours", "matcouply"]
    return markdown([*header, "its objective above ours", "seconds: ours", "matcouply"], rows)


def mask_draws(table):
    """What another draw of the mask does, half of the entries missing: all losses of score."""
    lines = []
    for data, rows in table[table["method"] == "ours"].groupby("data", sort=False):
        complete = rows[rows["share"] == 0].set_index("seed")["score"]
        half = rows[(rows["pattern"] == "entries") & (rows["share"] == 0.5)].set_index("seed")["score"]
        lost = complete[half.index].to_numpy() - half.to_numpy()
        lines.append(
            f"{data}, 50% of entries, {len(lost)} masks: loss of score {np.median(lost):.3f} in the median, "
            f"{lost.max():.3f} at most, above .03 in {np.sum(lost > 0.03)}."
        )
    return "\n".join(lines)


def draw(table, path):
    """One column per pattern of missingness; for each measure, one row per kind of data."""
    measures = {"score": ("Factor match score", (0.3, 1.0)), "error": ("Completion error", (0.0, 1.1))}
    with print_style():
        figure = new_figure(PAGE_WIDTH, 17)
        axes = figure.subplots(2 * len(DATA), len(SHARES), sharex=True, sharey="row")
        for row, (name, data) in enumerate((name, data) for name in measures for data in DATA):
            for ax, pattern in zip(axes[row], SHARES):
                there = (table["data"] == data) & table["pattern"].isin([pattern, "none"])
                draw_panel(ax, table[there], name)
                ax.set_title(f"{data}: {pattern} missing")
            axes[row, 0].set_ylabel(measures[name][0])
            axes[row, 0].set_ylim(measures[name][1])
        for ax in axes[-1]:
            ax.set_xlabel("Share missing")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
        figure.savefig(path, dpi=200)


def draw_panel(ax, table, measure):
    """Medians as lines, all data sets between the ends of a bar; complete data stand apart at 0."""
    for method, look in LOOKS.items():
        values = table[table["method"] == method].groupby("share")[measure]
        middle, low, high = values.median(), values.min(), values.max()
        paint = {"color": look.colour, "linewidth": 1, "marker": look.marker, "markersize": look.size}
        sets = table.loc[table["method"] == method, "seed"].nunique()
        label = f"{look.label} ({sets} data set{'s' if sets > 1 else ''})"
        ax.plot(middle[middle.index > 0], look.line, label=label, **paint)
        ax.plot(middle[middle.index == 0], **paint)
        ax.vlines(middle.index, low, high, color=look.colour, linewidth=1)
    complete = table.loc[(table["share"] == 0) & (table["method"] == "ours"), measure].median()
    ax.axhline(complete, color="black", linewidth=0.5, zorder=0, label="complete data")
    ax.set_xticks([0, 0.1, 0.3, 0.5, 0.8], ["0", "10%", "30%", "50%", "80%"])
    ax.grid(axis="y", linewidth=0.3, color="#dddddd")
    ax.spines[["top", "right"]].set_visible(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "tparafac2-recovery.csv")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--peer-seeds", type=int, default=1)
    given = parser.parse_args()
    began = time.perf_counter()
    table = collect(plan(given.seeds, given.peer_seeds), given.cache)
    print(f"\nTook {time.perf_counter() - began:.0f} s.")
    first = table[table["draw"] == 0]
    print(ours(first), mask_draws(table), beside_matcouply(first), sep="\n\n")
    draw(first, IMAGE)


if __name__ == "__main__":
    main()
