"""What an iteration costs with non-negative patterns, or a constraint that gives way, beside a plain one.

python benchmarks/constraints.py
"""

import time
import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import tparafac2 as tp

SIZES = ((150, 100, 20, 3, 10), (35, 105, 52, 4, 10), (60, 100, 500, 4, 4), (1000, 500, 20, 5, 5))
FEW, MANY, REPEATS = 5, 25, 3


def draw(rows: int, columns: int, times: int, rank: int) -> np.ndarray:
    """Non-negative factors that drift, and half as much noise."""
    rng = np.random.default_rng(0)
    A, C = rng.random((rows, rank)), rng.random((times, rank)) + 0.5
    drift = 0.1 * np.cumsum(rng.normal(size=(times, columns, rank)), axis=0)
    X = np.einsum("ir,kjr,kr->kij", A, np.abs(drift + rng.random((columns, rank))), C)
    noise = rng.normal(size=X.shape)
    return X + 0.5 * noise * np.linalg.norm(X) / np.linalg.norm(noise)


def per_iteration(X: Any, shape: tuple[int, int, int], rank: int, n_starts: int, **settings: Any) -> float:
    """Milliseconds of a start's iteration: many iterations less few, the best of some runs each."""
    rng = np.random.default_rng(1)
    K, I, J = shape
    # The same starts for all, and without the way down that a finite rigidity would take from drawn ones.
    init = [(rng.random((I, rank)), rng.random((K, J, rank)), rng.random((K, rank))) for _ in range(n_starts)]

    def seconds(iterations: int) -> float:
        model = tp.TParafac2(
            rank,
            1e-3,
            init=init,
            max_iter=iterations,
            tol=0.0,
            feasibility_tol=1e-300,
            compress=False,
            **settings,
        )
        began = time.perf_counter()
        model.fit(X)
        return time.perf_counter() - began

    seconds(2)
    few, many = (min(seconds(iterations) for _ in range(REPEATS)) for iterations in (FEW, MANY))
    return 1e3 * (many - few) / (MANY - FEW) / n_starts


def row(name: str, X: Any, shape: tuple[int, int, int], rank: int, n_starts: int) -> str:
    """One line of the table."""
    plain, bounded, soft = (
        per_iteration(X, shape, rank, n_starts, **more)
        for more in ({}, {"nonnegative": "patterns"}, {"rigidity": 1.0})
    )
    ratios = f"{bounded / plain:.2f}x | {soft / plain:.2f}x"
    return f"| {name} | {plain:.3f} | {ratios} |"


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", tp.ConvergenceWarning)
    print("| rows x columns x times | plain, ms | non-negative patterns | rigidity 1 |")
    print("|---|---|---|---|")
    for rows, columns, times, rank, n_starts in SIZES:
        X = draw(rows, columns, times, rank)
        print(row(f"{rows} x {columns} x {times}, R = {rank}", X, X.shape, rank, n_starts), flush=True)
    rng = np.random.default_rng(2)
    X = draw(150, 100, 20, 3)
    holed = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    print(row("150 x 100 x 20, R = 3, a fifth missing", holed, X.shape, 3, 10), flush=True)
    sparse = [csr_array(np.where(rng.random(piece.shape) < 0.05, np.abs(piece), 0.0)) for piece in X]
    print(row("150 x 100 x 20, R = 3, sparse (5 %)", sparse, X.shape, 3, 10), flush=True)


if __name__ == "__main__":
    main()
