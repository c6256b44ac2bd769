"""What an iteration and a whole fit cost with each of the further terms on the patterns, beside plain ones.

python benchmarks/terms.py
"""

import time
import warnings
from collections.abc import Iterator

import numpy as np

import tparafac2 as tp
from tparafac2.penalties import (
    L1,
    Box,
    GeneralisedRidge,
    NormBall,
    Penalty,
    Simplex,
    TotalVariation,
    Unimodal,
    laplacian,
)

FEW, MANY, REPEATS, STARTS = 5, 25, 4, 4


def terms_for(model: tp.TParafac2) -> Iterator[tuple[str, list[Penalty]]]:
    """Terms of a weight that matters, from the size of the patterns of a plain fit."""
    B, J = model.B_, model.B_.shape[1]
    strength = model.result_.terms.B[1].strength
    largest, norm = np.abs(B).max(), np.linalg.norm(B, axis=1).mean()
    chain = laplacian([(j, j + 1) for j in range(J - 1)], J)
    yield "plain", []
    yield "L1", [L1(0.2 * strength)]
    yield "Box", [Box(-0.7 * largest, 0.7 * largest)]
    yield "Simplex", [Simplex(float(np.abs(B).sum(axis=1).mean()))]
    yield "NormBall", [NormBall(0.8 * norm)]
    yield "Unimodal", [Unimodal()]
    yield "TotalVariation", [TotalVariation(0.2 * strength)]
    yield "GeneralisedRidge", [GeneralisedRidge(chain, 0.2 * strength)]


def seconds(X: np.ndarray, terms: list[Penalty], **settings: object) -> tuple[float, tp.TParafac2]:
    """Processor time of a fit, and the fit."""
    model = tp.TParafac2(3, 1e-3, penalties_b=terms, n_starts=STARTS, random_state=0, n_jobs=1, **settings)
    began = time.process_time()
    model.fit(X)
    return time.process_time() - began, model


def per_iteration(X: np.ndarray, terms: list[Penalty]) -> float:
    """Milliseconds of a start's iteration: many iterations less few, the best of some runs each."""
    fixed = {"tol": 0.0, "feasibility_tol": 1e-300, "compress": False}
    few, many = (min(seconds(X, terms, max_iter=n, **fixed)[0] for _ in range(REPEATS)) for n in (FEW, MANY))
    return 1e3 * (many - few) / (MANY - FEW) / STARTS


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", tp.ConvergenceWarning)
    X = tp.synthetic.easy(seed=0, noise=0.5).X
    base = None
    print("| term on the patterns | ms | over plain | whole fit, s | iterations | starts that converged |")
    print("|---|---|---|---|---|---|")
    for name, terms in terms_for(seconds(X, [])[1]):
        ms = per_iteration(X, terms)
        base = base or ms
        whole, model = seconds(X, terms)
        ended = int(model.starts_["converged"].sum())
        times = f"{ms:.2f} | {ms / base:.1f}x | {whole:.1f}"
        print(f"| {name} | {times} | {model.n_iter_} | {ended} of {STARTS} |", flush=True)


if __name__ == "__main__":
    main()
