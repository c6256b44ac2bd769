"""How well the data choose, on data that no rule was tuned on: recovery at rank 3, and the rank itself.

    python benchmarks/choice.py run [--seeds 10] [--first-seed 200] [--jobs 2] [--out out/choice]
    python benchmarks/choice.py table [--out out/choice]

`run` writes one small file for each data set, and goes on where it was interrupted. Nothing is left out of
the table. Rules were tuned on seeds 1 to 3 only.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import expm
from threadpoolctl import threadpool_limits

import tparafac2 as tp
from tparafac2.choosing.candidates import RIGIDITY, SMOOTHNESS

RANKS = range(1, 7)
TRUE_RANK = 3
WEAK = 0.011  # strengths below are those of weak slices


class Made(NamedTuple):
    """Data and the factors behind them."""

    X: np.ndarray
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray


def _noisy(A: np.ndarray, B: np.ndarray, C: np.ndarray, E: np.ndarray, noise: float) -> Made:
    X = np.einsum("ir,kr,kjr->kij", A, C, B)
    return Made(X + noise * np.linalg.norm(X) / np.linalg.norm(E) * E, A, B, C)


def _slow(rng: np.random.Generator, K: int, R: int) -> np.ndarray:
    t = np.linspace(0, 1, K)[:, None]
    turns = rng.uniform(0.3, 1.0, R) * t + rng.random(R)
    return 1.2 + np.sin(2 * np.pi * turns) * rng.uniform(0.5, 1.0, R)


def rotating(seed: int, K: int = 20, I: int = 120, J: int = 80) -> Made:
    """Patterns that turn fast and keep their sizes and angles; strengths that change slowly."""
    R, rng = TRUE_RANK, np.random.default_rng([seed, 11])
    A, C = rng.standard_normal((I, R)), _slow(rng, K, R)
    Delta = np.linalg.cholesky(0.3 + 0.7 * np.eye(R)).T
    basis = np.linalg.qr(rng.standard_normal((J, J)))[0][:, : 2 * R]
    S = rng.standard_normal((2 * R, 2 * R))
    S = 0.35 * (S - S.T) / np.abs(np.linalg.eigvals(S - S.T)).max()
    B = np.stack([basis @ expm(k * S)[:, :R] @ Delta for k in range(K)])
    return _noisy(A, B, C, rng.standard_normal((K, I, J)), 0.75)


def crossing(seed: int, K: int = 20, I: int = 120, J: int = 80) -> Made:
    """Bumps that wander, widen and cross, so that sizes and angles change; strengths that change slowly."""
    R, rng = TRUE_RANK, np.random.default_rng([seed, 12])
    A = np.abs(rng.standard_normal((I, R))) + 0.2 * rng.standard_normal((I, R))
    C, j = _slow(rng, K, R), np.arange(J)[:, None]
    places = [rng.permutation(np.linspace(15, 65, R)) for _ in range(2)]
    widths = [rng.uniform(4, 9, R) for _ in range(2)]
    bumps = []
    for s in np.linspace(0, 1, K):
        place, width = ((1 - s) * first + s * last for first, last in (places, widths))
        bumps.append(np.exp(-0.5 * ((j - place) / width) ** 2))
    return _noisy(A, np.stack(bumps), C, rng.standard_normal((K, I, J)), 0.75)


def lasting_noise(seed: int) -> Made:
    """The easy case with noise that lasts: AR(1) in time with coefficient .6."""
    data, rng = tp.synthetic.easy(seed=seed, noise=0.0), np.random.default_rng([seed, 13])
    E = rng.standard_normal(data.X.shape)
    for k in range(1, len(E)):
        E[k] = 0.6 * E[k - 1] + 0.8 * E[k]
    return _noisy(data.A, data.B, data.C, E, 0.75)


def noisy_rows(seed: int) -> Made:
    """Overlapping patterns, and a tenth of the rows four times as noisy as the others."""
    data = tp.synthetic.overlapping(seed=seed, overlap=0.2, noise=0.0)
    rng = np.random.default_rng([seed, 14])
    E = rng.standard_normal(data.X.shape)
    E[:, rng.random(E.shape[1]) < 0.1] *= 4
    return _noisy(data.A, data.B, data.C, E, 0.75)


SETS: dict[str, Callable[[int], Any]] = {
    "overlapping .1": lambda seed: tp.synthetic.overlapping(seed=seed, overlap=0.1),
    "overlapping .2": lambda seed: tp.synthetic.overlapping(seed=seed, overlap=0.2),
    "overlapping .4": lambda seed: tp.synthetic.overlapping(seed=seed, overlap=0.4),
    "easy, noise 1": lambda seed: tp.synthetic.easy(seed=seed, noise=1.0),
    "almost zero, 1": lambda seed: tp.synthetic.almost_zero(seed=seed, n_weak=1),
    "almost zero, 2": lambda seed: tp.synthetic.almost_zero(seed=seed, n_weak=2),
    "rotating": rotating,
    "crossing": crossing,
    "lasting noise": lasting_noise,
    "noisy rows": noisy_rows,
}
METHODS = ("PARAFAC2", "NNtCMF, best", "hard, best", "hard, chosen", "flexible, best", "flexible, chosen")


def seen(factors: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loadings and patterns of length 1, all size in the strengths: for fits and truth alike."""
    A, B, C = (getattr(factors, name) for name in "ABC")
    a, b = np.linalg.norm(A, axis=0), np.linalg.norm(B, axis=1)
    return A / a, B / np.maximum(b, 1e-300)[:, None], C * a * b


def grid(X: np.ndarray) -> dict[tuple[float, float], Any]:
    """Fits to all data at every setting, each from where a neighbour ended."""
    middle, found = SMOOTHNESS.index(1e-3), {}

    def fit(s: float, r: float, before: Any) -> Any:
        begin = (
            {"n_starts": 5, "random_state": 0} if before is None else {"init": (before.A, before.B, before.C)}
        )
        found[s, r] = tp.TParafac2(TRUE_RANK, s, rigidity=r, **begin).fit(X).result_
        return found[s, r]

    first = fit(SMOOTHNESS[middle], np.inf, None)
    for way in (SMOOTHNESS[:middle][::-1], SMOOTHNESS[middle + 1 :]):
        before = first
        for s in way:
            before = fit(s, np.inf, before)
    for s in SMOOTHNESS[1:]:
        before = found[s, np.inf]
        for r in RIGIDITY[1:]:
            before = fit(s, r, before)
    return found


def weak_cosine(factors: Any, data: Any) -> float | None:
    """Mean cosine of the patterns with the true ones where a component almost vanishes; None if none does."""
    weak = data.C < WEAK
    if not weak.any():
        return None
    order = tp.metrics.match_components(seen(factors), seen(data)).permutation
    cosines = np.abs(np.einsum("kjr,kjr->kr", seen(factors)[1][:, :, order], seen(data)[1]))
    return float(cosines[weak].mean())


def measure(name: str, seed: int, out: Path) -> None:
    """Everything about one data set, written to a file of its own."""
    path = out / f"{name.replace(' ', '_').replace(',', '').replace('.', '')}-{seed}.json"
    if path.exists():
        return
    warnings.simplefilter("ignore", tp.ConvergenceWarning)
    data = SETS[name](seed)
    with threadpool_limits(limits=1):
        began = time.process_time()
        choice = tp.choose(data.X, ranks=RANKS, random_state=seed)
        seconds = time.process_time() - began
        fits = grid(data.X)
        peers = {"n_starts": 5, "random_state": 0}
        parafac2 = tp.Parafac2(TRUE_RANK, **peers).fit(data.X).result_
        bound = [
            tp.TemporalCMF(TRUE_RANK, s, nonnegative="rows", **peers).fit(data.X) for s in SMOOTHNESS[1:5]
        ]
    ranks = choice.table.set_index("rank").loc[TRUE_RANK]
    hard, flexible = fits[ranks["hard_smoothness"], np.inf], fits[ranks["smoothness"], ranks["rigidity"]]
    truth = seen(data)
    score = {setting: tp.metrics.factor_match_score(seen(fit), truth) for setting, fit in fits.items()}
    found = {
        "PARAFAC2": tp.metrics.factor_match_score(seen(parafac2), truth),
        "NNtCMF, best": max(tp.metrics.factor_match_score(seen(fit.result_), truth) for fit in bound),
        "hard, best": max(value for (_, r), value in score.items() if r == np.inf),
        "hard, chosen": tp.metrics.factor_match_score(seen(hard), truth),
        "flexible, best": max(score.values()),
        "flexible, chosen": tp.metrics.factor_match_score(seen(flexible), truth),
    }
    record = {
        "set": name,
        "seed": seed,
        "scores": found,
        "weak": weak_cosine(flexible, data),
        "weak_hard": weak_cosine(hard, data),
        "rank": {"rank": choice.rank, "sure": choice.sure, "doubts": choice.record["doubts"]},
        "seconds": seconds,
        "ranks": choice.record["ranks"],
    }
    path.write_text(json.dumps(record))


def _records(out: Path) -> dict[str, list[dict[str, Any]]]:
    found = [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))]
    return {name: [one for one in found if one["set"] == name] for name in SETS}


def _figures(values: list[float]) -> str:
    return f"{np.median(values):.3f} ({np.quantile(values, 0.1):.3f})"


def print_tables(out: Path) -> None:
    """Recovery, then ranks: medians and worst deciles, nothing left out."""
    records = _records(out)
    print("| data: median match score (worst decile) |", " | ".join(METHODS), "| weak patterns above .5 |")
    print("|---" * (len(METHODS) + 2) + "|")
    for name, those in records.items():
        cells = [_figures([one["scores"][method] for one in those]) for method in METHODS]
        weak = [one["weak"] for one in those if one["weak"] is not None]
        said = f"{sum(value > 0.5 for value in weak)} of {len(weak)}" if weak else ""
        print(f"| {name} |", " | ".join(cells), f"| {said} |")
    print("\n| data | rank right | one off | further off | sure and right | sure and wrong | seconds |")
    print("|---" * 7 + "|")
    totals = np.zeros(5, dtype=int)
    for name, those in records.items():
        off = np.array([abs(one["rank"]["rank"] - TRUE_RANK) for one in those])
        sure = np.array([one["rank"]["sure"] for one in those], dtype=bool)
        counts = [(off == 0).sum(), (off == 1).sum(), (off > 1).sum(), (sure & (off == 0)).sum()]
        counts.append((sure & (off > 0)).sum())
        totals += counts
        seconds = np.median([one["seconds"] for one in those])
        print(f"| {name} |", " | ".join(map(str, counts)), f"| {seconds:.0f} |")
    print("| all |", " | ".join(map(str, totals)), "| |")


def main() -> None:
    """Measure, or show what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/choice"))
    asked = parser.parse_args()
    if asked.what == "run":
        asked.out.mkdir(parents=True, exist_ok=True)
        seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
        work = (delayed(measure)(name, seed, asked.out) for seed in seeds for name in SETS)
        Parallel(n_jobs=asked.jobs)(work)
    print_tables(asked.out)


if __name__ == "__main__":
    main()
