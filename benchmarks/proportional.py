"""From which cosine of their strengths on two components are mixed with each other.

    python benchmarks/proportional.py [--seeds 4] [--first-seed 100]

Three components; the strengths of the second are those of the first times 1 + delta * course. The PARAFAC2
constraint holds (patterns move together), or is broken (two come nearer, or each has its own speed). A fit
has lost the pair if the match of its worse component is lower by .1 or more than on the same data with
delta = 1. The last column says how often halves of the rows agree on a pair that was lost.
"""

import argparse
import warnings
from typing import Any

import numpy as np

import tparafac2 as tp

K, I, J = 14, 50, 24
DELTAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 1.0)
NOISES = (0.3, 1.0)
EDGES = (0.0, 0.96, 0.97, 0.98, 0.985, 0.99, 1.01)
LOST, AGREE = 0.1, 0.9
SETTINGS = {"n_starts": 3, "random_state": 0, "max_iter": 500}
MODELS = {
    "PARAFAC2": lambda: tp.Parafac2(3, **SETTINGS),
    "tPARAFAC2 1e-3": lambda: tp.TParafac2(3, 1e-3, **SETTINGS),
    "tPARAFAC2 1e-2": lambda: tp.TParafac2(3, 1e-2, **SETTINGS),
    "tPARAFAC2 1e-1": lambda: tp.TParafac2(3, 1e-1, **SETTINGS),
    "1e-2, rigidity 1": lambda: tp.TParafac2(3, 1e-2, rigidity=1.0, **SETTINGS),
    "1e-2, non-negative": lambda: tp.TParafac2(3, 1e-2, nonnegative="patterns", **SETTINGS),
}


SPEEDS = {
    "holds": lambda seed: np.full(3, 0.3),
    "two come nearer": lambda seed: np.array([0.4, 0.2, 0.3]),
    "own speeds": lambda seed: np.random.default_rng(seed).uniform(0.0, 0.5, 3),
}


def truth(seed: int, delta: float, speeds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loadings, moving bumps, and strengths of which the first two are proportional but for delta."""
    rng = np.random.default_rng(seed)
    A = rng.exponential(size=(I, 3))
    centres = np.array([0.15, 0.45, 0.8]) + rng.uniform(-0.05, 0.05, 3)
    away = np.arange(J)[:, None] / J - centres - speeds * np.arange(K)[:, None, None] / K
    B = np.exp(-0.5 * (((away + 0.5) % 1.0 - 0.5) / 0.09) ** 2)
    course = np.convolve(rng.standard_normal(K + 2), np.ones(3), "valid")
    course = (course - course.mean()) / np.abs(course - course.mean()).max()
    first, third = rng.uniform(0.5, 1.5, K), rng.uniform(0.2, 1.5, K)
    return A, B, np.stack([first, first * (1 + 0.98 * delta * course), third], axis=1)


def halves_agree(X: np.ndarray, model: Any, fitted: Any, pair: np.ndarray) -> bool:
    """Whether both components of the pair are found in each half of the rows."""
    order = np.random.default_rng(0).permutation(I)
    parts = [model().fit(X[:, rows]) for rows in (order[: I // 2], order[I // 2 :])]
    first = tp.metrics.match_components(parts[0], fitted, "BC", "slicewise").permutation[pair]
    return bool(
        tp.metrics.match_components(parts[1], parts[0], "BC", "slicewise").per_component[first].min() >= AGREE
    )


def measured(seed: int, case: str, noise: float, name: str) -> list[tuple[float, float, bool]]:
    """For every delta: cosine of the fitted strengths, match of the pair's worse component, halves agree."""
    found = []
    for delta in DELTAS:
        factors = truth(seed, delta, SPEEDS[case](seed))
        X = tp.metrics.reconstruct(*factors)
        E = np.random.default_rng(seed + 1).standard_normal(X.shape)
        X = X + noise * np.linalg.norm(X) / np.linalg.norm(E) * E
        model = MODELS[name]().fit(X)
        match = tp.metrics.match_components(model, factors, "AB", "slicewise")
        pair = match.permutation[:2]
        C = model.normalised().C[:, pair]
        cosine = float(C[:, 0] @ C[:, 1] / np.linalg.norm(C, axis=0).prod())
        agree = halves_agree(X, MODELS[name], model, pair)
        found.append((cosine, float(match.per_component[:2].min()), agree))
    return found


def main() -> None:
    """Print a table: how many fits have lost the pair, by the cosine of its strengths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=100)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", tp.ConvergenceWarning)
    print("| lost of fits, by cosine | " + " | ".join(f"from {edge}" for edge in EDGES[:-1]) + " | halves |")
    for name in MODELS:
        for case in SPEEDS:
            cosines, lost, agree = [], [], []
            for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
                for noise in NOISES:
                    found = measured(seed, case, noise, name)
                    cosines += [one[0] for one in found]
                    lost += [found[-1][1] - one[1] > LOST for one in found]
                    agree += [one[2] for one in found]
            place, gone = np.digitize(cosines, EDGES) - 1, np.array(lost)
            cells = [f"{gone[place == k].sum()} of {(place == k).sum()}" for k in range(len(EDGES) - 1)]
            cells.append(f"{np.array(agree)[gone].sum()} of {gone.sum()}")
            print(f"| {name}, {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
