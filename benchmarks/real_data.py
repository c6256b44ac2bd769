"""What missing entries and sparse slices cost, per iteration."""

import time
import tracemalloc
import warnings

import numpy as np

import tparafac2 as tp
from tparafac2.data import SparseData

STARTS = 20


def iterations(X, iterations, **parameters):
    """Seconds of the processor per start and iteration; the set-up is counted."""
    model = tp.TParafac2(max_iter=iterations, tol=0.0, random_state=0, **parameters)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return (time.process_time() - began) / iterations / model.n_starts


def with_holes(X):
    """X with entries missing at random, and with samples that were not taken: rows of single slices."""
    rng = np.random.default_rng(0)
    for share in (0.1, 0.3):
        yield f"{share:.0%} of entries", np.where(rng.random(X.shape) < share, np.nan, X)
    yield "10% of samples", np.where(rng.random(X.shape[:2])[..., None] < 0.1, np.nan, X)


def incomplete(repeats=5):
    """Rows of the table: complete data and missing entries at the paper's size, in turn, best of several."""
    X = tp.synthetic.easy(seed=0, noise=0.5).X
    rows = []
    for rank in (3, 8):
        common = {"rank": rank, "smoothness": 1e-3, "n_starts": STARTS}
        for missing, holed in with_holes(X):
            runs = {
                "complete": lambda common=common: iterations(X, 100, **common),
                "missing": lambda common=common, X=holed: iterations(X, 100, **common),
            }
            for run in runs.values():
                run()  # compiles
            best = {name: min(run() for _ in range(repeats)) for name, run in runs.items()}
            rows.append(
                [
                    f"150 x 100 x 20, R = {rank}, {missing} missing",
                    f"{1e3 * best['complete']:.3f}",
                    f"{1e3 * best['missing']:.3f} ({best['missing'] / best['complete']:.1f}x)",
                ]
            )
    return ["size", "complete, ms", "missing, ms (aim 2.5x)"], rows


def sparse_slices(rows, columns, times, nonzeros, seed=0):
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    each = nonzeros // times
    return [
        csr_array(
            (rng.random(each), (rng.integers(0, rows, each), rng.integers(0, columns, each))),
            shape=(rows, columns),
        )
        for _ in range(times)
    ]


def sparse(repeats=3):
    """Rows of the table: one start on large sparse slices, beside the two products that it needs."""
    I, J, K, R, nonzeros = 20_000, 50_000, 20, 10, 5_000_000
    slices = sparse_slices(I, J, K, nonzeros)
    rng = np.random.default_rng(1)
    A, W = rng.random((I, R)), rng.random((K, J, R))
    by_columns = [piece.tocsc() for piece in slices]

    def bare(pieces):
        began = time.process_time()
        for piece, w in zip(pieces, W):
            piece.T @ A
            piece @ w
        return time.process_time() - began

    products = min(min(bare(slices), bare(by_columns)) for _ in range(repeats))
    settings = {"rank": R, "smoothness": 1e-3, "n_starts": 1}
    short, long = (iterations(slices, n, **settings) * n for n in (2, 12))
    per_iteration = (long - short) / 10
    held = SparseData.from_slices(slices).nbytes
    size_of_b = 8 * K * J * R
    tracemalloc.start()
    iterations(slices, 3, **settings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return [
        "size",
        "bare products, s",
        "one iteration, s",
        "data held",
        "one array like B",
        "peak of the fit",
    ], [
        [
            f"{I:,} x {J:,} x {K}, {nonzeros:,} non-zeros, R = {R}",
            f"{products:.3f}",
            f"{per_iteration:.3f} ({per_iteration / products:.1f}x)",
            f"{held / 1e6:.0f} MB",
            f"{size_of_b / 1e6:.0f} MB",
            f"{peak / 1e6:.0f} MB (data + {(peak - held) / size_of_b:.1f} arrays like B)",
        ]
    ]
