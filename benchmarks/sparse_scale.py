"""Large sparse data: what they cost to take in, an iteration beside the bare products, and a whole fit.

    python benchmarks/sparse_scale.py --numbers 1e7
    python benchmarks/sparse_scale.py --numbers 1e8          # 100,000 x 50,000 x 20, some 10 GB

The data are counts of words, say, drawn from components whose patterns change with time: nothing dense is
ever made of them.
"""

import argparse
import json
import resource
import time
import warnings

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

import tparafac2 as tp
from tparafac2.data import teamwork
from tparafac2.data.intake import take_in
from tparafac2.solver import Settings, Start, build_problem
from tparafac2.solver.loop import Batch

K, J, RANK = 20, 50_000, 10
ROWS = 1e-3  # rows for each stored number
SMOOTHNESS = 1e-3
SEED = 0


def draw(numbers, form):
    """K slices of counts, each from a mixture of components, in one format."""
    rng = np.random.default_rng(SEED)
    I = max(1000, int(ROWS * numbers))
    kind = csr_array if form == "csr" else csc_array
    row_shares = np.cumsum(rng.pareto(2.0, (RANK, I)), axis=1)
    first, second = (rng.pareto(1.5, (RANK, J)) for _ in range(2))
    for turn in np.linspace(0.0, 1.0, K):
        shares = 1.0 + 0.5 * np.sin(6.0 * turn + np.arange(RANK))
        counts = rng.multinomial(int(numbers / K), shares / shares.sum())
        columns = np.cumsum((1.0 - turn) * first + turn * second, axis=1)
        i = np.concatenate([_drawn(rng, row_shares[r], n) for r, n in enumerate(counts)])
        j = np.concatenate([_drawn(rng, columns[r], n) for r, n in enumerate(counts)])
        yield kind(coo_array((np.ones(len(i)), (i, j)), shape=(I, J)))


def _drawn(rng, cumulated, count):
    places = np.searchsorted(cumulated, cumulated[-1] * np.sort(rng.random(count)))
    return rng.permutation(places.astype(np.int32))


def peak():
    """Largest resident memory so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def seconds(work, times=3):
    """The shortest of some tries."""
    tries = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        tries.append(time.perf_counter() - began)
    return min(tries)


def bare(slices):
    """X_k' A and X_k W_k of all slices by SciPy, with operands as it likes them, on one thread."""
    A, W = np.ones((slices[0].shape[0], RANK)), np.ones((J, RANK))
    return seconds(lambda: [one.T @ A for one in slices]), seconds(lambda: [one @ W for one in slices])


def products(data, threads):
    """The two products as the solver has them."""
    At, W = np.ones((1, RANK, data.shape[1])), np.ones((1, RANK, K, J))
    with teamwork(threads):
        return seconds(lambda: data.project(At)), seconds(lambda: data.accumulate(W))


def iteration(data, threads):
    """One iteration of one start on the data themselves."""
    terms = tp.penalties.TemporalSmoothness(SMOOTHNESS), tp.penalties.Parafac2()
    rng, settings = np.random.default_rng(SEED), Settings()
    problem = build_problem(data, RANK, ((), terms, ()), fixed_strengths=False, absorb=True)
    start = Start(rng.random((data.shape[1], RANK)), rng.random((K, J, RANK)), rng.random((K, RANK)))
    batch = Batch(problem, [start], settings)
    batch.step()
    with teamwork(threads):
        return seconds(lambda: batch.stop(batch.step()))


def main():
    """Print one line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numbers", type=float, default=1e7, help="numbers stored, about")
    parser.add_argument("--form", choices=("csr", "csc"), default="csr")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--starts", type=int, default=3, help="of the whole fit; 0 for none")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    tp.TParafac2(2, max_iter=20, n_starts=2, dtype=asked.dtype).fit(
        np.random.default_rng(0).random((4, 30, 20))
    )
    slices = list(draw(asked.numbers, asked.form))
    size = sum(a.nbytes for one in slices for a in (one.data, one.indices, one.indptr))
    said = {"shape": (K, *slices[0].shape), "stored": sum(one.nnz for one in slices), "X": size}
    tell(said | {"peak": peak()})
    began, before = time.perf_counter(), peak()
    data = take_in(slices, dtype=asked.dtype).data
    tell({"taking in": time.perf_counter() - began, "peak over X": 1 + (peak() - before) / size})
    tell({"bare products": bare(slices)})
    tell({f"products, {n} threads": products(data, n) for n in (1, 2)})
    tell({f"iteration, {n} threads": iteration(data, n) for n in (1, 2)})
    del data
    if asked.starts:
        fit(slices, asked)


def fit(slices, asked):
    """A whole fit."""
    began = time.perf_counter()
    model = tp.TParafac2(
        RANK, smoothness=SMOOTHNESS, n_starts=asked.starts, random_state=SEED, dtype=asked.dtype
    ).fit(slices)
    tell({"fit": time.perf_counter() - began, "objective": model.objective_, "peak": peak()})
    tell(
        {
            "explained": model.explained_variance_,
            "iterations": int(model.n_iter_),
            "ok": bool(model.converged_),
        }
    )


def tell(line):
    """One line, for people and programs."""
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
