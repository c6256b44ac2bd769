"""Measure speed, memory and start-up against the peers; print the tables and write docs/benchmarks.md.

One thread each, best of several, all set-up counted. `--quick` leaves out what takes long.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from objective import objective
from peers import matcouply_tparafac2, tensorly_parafac2
from real_data import incomplete, sparse
from threadpoolctl import threadpool_limits
from whole_fits import SIZES as FIT_SIZES
from whole_fits import VERSION_0_1, beside_plain, data_of, whole_fits

import tparafac2 as tp
from tparafac2.data import sketch, take_in
from tparafac2.models import TParafac2
from tparafac2.penalties import NonNegative, Parafac2, Ridge, TemporalSmoothness
from tparafac2.solver import Settings, build_problem
from tparafac2.solver.loop import Batch
from tparafac2.solver.run import finish
from tparafac2.starts import batch_size, child_seeds, fit_size, uniform_start

LAMBDAS = (0.1, 1000.0, 0.1)
STARTS = 20
SIZES = [  # rows, columns, times, rank, our iterations, peer's iterations, aim
    (150, 100, 20, 3, 200, 60, 60),
    (1000, 500, 20, 5, 100, 10, 10),
    (50, 20_000, 20, 5, 200, 6, 20),
    (60, 100, 500, 4, 100, 6, 25),
]
OUT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def best(function, repeats):
    """Shortest of several times, in seconds."""
    return best_in_turn([function], repeats)[0]


def best_in_turn(functions, repeats):
    """Shortest of several times of each, taken in turn: a busy machine is then busy for all of them."""
    times = [[] for _ in functions]
    for _ in range(repeats):
        for function, seconds in zip(functions, times):
            began = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - began)
    return [min(seconds) for seconds in times]


def fit_ours(X, rank, iterations, model=tp.TParafac2, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = {"n_starts": STARTS, "max_iter": iterations, "tol": 0.0, "random_state": 0, "n_jobs": 1}
        return model(rank, **asked, **parameters).fit(X)


def paper_lambdas():
    return dict(zip(("lambda_a", "lambda_b", "lambda_d"), LAMBDAS))


def speed(quick):
    """Time of one start's outer iteration, ours against matcouply's."""
    rows = []
    for I, J, K, rank, iterations, theirs, aim in SIZES[: 1 if quick else None]:
        X = tp.synthetic.easy(0, n_times=K, n_rows=I, n_columns=J, n_concepts=rank).X
        fit_ours(X[:, :, :50], rank, 2, **paper_lambdas())  # compiled before the clock starts
        ours, peer = best_in_turn(
            [
                lambda X=X, r=rank, n=iterations: fit_ours(X, r, n, **paper_lambdas()),
                lambda X=X, r=rank, n=theirs: matcouply_tparafac2(X, r, LAMBDAS, n),
            ],
            repeats=6 if X.size < 1e6 else 3,
        )
        ours, peer = ours / STARTS / iterations, peer / theirs
        products = bare_products(X, rank)
        rows.append(
            [
                f"{I} x {J} x {K}, R = {rank}",
                f"{1e3 * ours:.3f}",
                f"{1e3 * peer:.1f}",
                f"**{peer / ours:.0f}x**",
                f"{aim}x",
                f"{1e3 * products:.3f}",
                f"{ours / products:.1f}x",
            ]
        )
        report(rows[-1])
    return table(
        ["size", "tparafac2, ms", "matcouply, ms", "ratio", "aim", "two bare products, ms", "over products"],
        rows,
    )


def beside_products(quick):
    """Time of an iteration on the data and on their sketch, over the two bare products with the data."""
    rows = []
    sizes = [
        *FIT_SIZES,
        ("150 x 100 x 20, R = 8", 150, 100, 20, 8),
        ("150 x 100 x 20, R = 16", 150, 100, 20, 16),
    ]
    for name, I, J, K, rank, *_ in sizes[: 1 if quick else None]:
        X = data_of(name, I, J, K, min(rank, 8))
        data = take_in(X).data
        small = sketch(data, rank)
        products = bare_products(X, rank, 10)
        whole = iteration_seconds(data, rank)
        rough = whole if small is None else iteration_seconds(small.compressed.data, rank)
        rows.append(
            [
                name,
                f"{1e3 * products:.3f}",
                f"{1e3 * whole:.3f} ({whole / products:.1f}x)",
                f"{1e3 * rough:.3f} ({rough / products:.1f}x)" if small else "none",
            ]
        )
        report(rows[-1])
    return table(["data", "two products", "an iteration on the data", "on the sketch"], rows)


def iteration_seconds(data, rank, starts=10):
    """Seconds per start and iteration, best of several stretches; set-up is not counted."""
    problem = problem_of(data, rank)
    together = min(starts, batch_size(data.shape, rank))
    begun = [
        fit_size(uniform_start(seed, data.shape, rank), fixed_strengths=False)
        for seed in child_seeds(0, together)
    ]
    with threadpool_limits(limits=1):
        batch = Batch(problem, begun, replace(Settings(), tol=0.0))
        for _ in range(3):
            batch.stop(batch.step())
        count = max(2, min(50, int(1e8 / (data.shape[0] * data.shape[2] * rank * together * 30))))
        return best(lambda: [batch.stop(batch.step()) for _ in range(count)], 5) / count / together


def bare_products(X, rank, starts=STARTS):
    """The two matrix products of an iteration, per start, for so many starts together."""
    K, I, J = X.shape
    together = starts
    flat = np.ascontiguousarray(X.transpose(1, 0, 2)).reshape(I, K * J)
    rng = np.random.default_rng(0)
    At, W = rng.random((together * rank, I)), rng.random((together * rank, K * J))
    G = np.empty((together * rank, K * J))
    return (best(lambda: np.matmul(At, flat, out=G), 5) + best(lambda: W @ flat.T, 5)) / together


def parafac2_speed(quick):
    """PARAFAC2 without smoothness, against both peers."""
    rows = []
    for I, J, K, rank, iterations, theirs, _ in SIZES[: 1 if quick else 2]:
        X = tp.synthetic.easy(0, n_times=K, n_rows=I, n_columns=J, n_concepts=rank).X
        fit_ours(X, rank, 2, tp.Parafac2)
        ours, matcouply, tensorly = best_in_turn(
            [
                lambda X=X, r=rank, n=iterations: fit_ours(X, r, n, tp.Parafac2),
                lambda X=X, r=rank, n=theirs: matcouply_tparafac2(X, r, (0, 0, 0), n),
                lambda X=X, r=rank, n=theirs: tensorly_parafac2(X, r, n),
            ],
            repeats=3,
        )
        ours, matcouply, tensorly = ours / STARTS / iterations, matcouply / theirs, tensorly / theirs
        rows.append(
            [
                f"{I} x {J} x {K}, R = {rank}",
                f"{1e3 * ours:.3f}",
                f"{1e3 * matcouply:.1f} ({matcouply / ours:.0f}x)",
                f"{1e3 * tensorly:.1f} ({tensorly / ours:.0f}x)",
            ]
        )
        report(rows[-1])
    return table(["size", "tparafac2, ms", "matcouply, ms", "tensorly (ALS), ms"], rows)


def problem_of(data, rank):
    terms = (
        [Ridge(LAMBDAS[0])],
        [Parafac2(), TemporalSmoothness(LAMBDAS[1])],
        [Ridge(LAMBDAS[2]), NonNegative()],
    )
    return build_problem(data, rank, terms)


def race(X, rank, target):
    """Seconds per start until each start's feasible objective is at the target; only the steps are timed."""
    problem = problem_of(take_in(X).data, rank)
    starts = [
        fit_size(uniform_start(seed, X.shape, rank), fixed_strengths=False) for seed in child_seeds(0, STARTS)
    ]
    settings = replace(Settings(), tol=0.0)
    batch = Batch(problem, starts, settings)
    square, spent = problem.data.scale**2, 0.0
    reached = np.full(STARTS, np.nan)
    while np.isnan(reached).any() and batch.iteration < 1500:
        began = time.perf_counter()
        batch.stop(batch.step())
        spent += time.perf_counter() - began
        for i in np.flatnonzero(np.isnan(reached)):
            if finish(problem, batch.point(int(i))).objective * square <= target:
                reached[i] = spent / STARTS
    return np.nan_to_num(reached, nan=np.inf)


def to_peer_objective(quick):
    """How long each start needs to where matcouply is after 1,000 iterations, and who ends lower."""
    rows = []
    for seed in range(1 if quick else 10):
        X = tp.synthetic.easy(seed).X
        began = time.perf_counter()
        factors = matcouply_tparafac2(X, 3, LAMBDAS, 1000)
        peer_seconds = time.perf_counter() - began
        peer = objective(X, *factors, LAMBDAS)
        seconds = np.median(race(X, 3, peer))
        model = TParafac2(3, n_starts=STARTS, random_state=0, **paper_lambdas()).fit(X)
        ours = objective(X, model.A_, model.B_, model.C_, LAMBDAS)
        rows.append(
            [
                f"easy, seed {seed}",
                f"{peer:.2f}",
                f"{ours:.2f}",
                "yes" if ours <= peer * (1 + 1e-9) else "**no**",
                f"{peer_seconds:.1f}",
                f"{1e3 * seconds:.1f}",
                f"**{peer_seconds / seconds:.0f}x**",
            ]
        )
        report(rows[-1])
    header = [
        "data",
        "matcouply's objective",
        "ours",
        "not above",
        "matcouply, s",
        "median start, ms",
        "ratio",
    ]
    return table(header, rows)


def agreement(quick):
    """Starts that end at the same minimum."""
    rows = []
    for case, make in (
        ("easy", tp.synthetic.easy),
        ("overlapping 40 %", lambda seed: tp.synthetic.overlapping(seed, overlap=0.4)),
    ):
        for seed in range(2 if quick else 10):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = TParafac2(
                    3,
                    n_starts=STARTS,
                    max_iter=600,
                    tol=1e-13,
                    random_state=0,
                    compress=False,
                    **paper_lambdas(),
                ).fit(make(seed).X)
            objectives = np.sort(model.starts_["objective"])
            spread = (objectives - objectives[0]) / objectives[0]
            rows.append(
                [
                    f"{case}, seed {seed}",
                    f"{int(model.starts_['feasible'].sum())} of {STARTS}",
                    f"{int((spread < 1e-8).sum())} of {STARTS}",
                    f"{spread[9]:.0e}",
                    f"{spread[-1]:.0e}",
                ]
            )
            report(rows[-1])
    return table(["data", "feasible", "agree to 1e-8", "spread of ten best", "spread of all"], rows)


def in_new_process(code, **environment):
    """Run code in a fresh interpreter; gives its wall time and what it printed."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - began, done.stdout.strip()


FIT = (
    "import numpy; import tparafac2 as tp; X = tp.synthetic.easy(0).X; "
    "tp.TParafac2(3, lambda_a=.1, lambda_b=1000., lambda_d=.1, n_starts=1, random_state=0).fit(X)"
)


def start_up():
    """Import, first fit ever, and first fit of a process."""
    imports = "import time; t = time.perf_counter(); import tparafac2; print(time.perf_counter() - t)"
    importing = min(float(in_new_process(imports)[1]) for _ in range(5))
    with tempfile.TemporaryDirectory() as folder:
        cold = in_new_process(FIT, NUMBA_CACHE_DIR=folder)[0]
        holed = in_new_process(
            FIT.replace(".fit(X)", ".fit(numpy.where(X > X.max() / 2, numpy.nan, X))"), NUMBA_CACHE_DIR=folder
        )[0]
        warm = min(in_new_process(FIT, NUMBA_CACHE_DIR=folder)[0] for _ in range(3))
    rows = [
        ["`import tparafac2`", f"{importing:.3f} s", "0.3 s"],
        ["first fit in a new environment (compiles), whole process", f"{cold:.1f} s", "10 s"],
        ["first fit with missing entries after that (compiles), whole process", f"{holed:.1f} s", "10 s"],
        ["first fit with a warm cache, whole process", f"{warm:.2f} s", "1.5 s"],
    ]
    for row in rows:
        report(row)
    return table(["what", "time", "aim"], rows)


def memory(quick):
    """Peak memory of a whole process over the size of X (and over the process without a fit)."""
    rows = []
    for I, J, K, rank, *_ in SIZES[: 1 if quick else None]:
        make = (
            "import warnings; warnings.simplefilter('ignore'); import numpy as np; import tparafac2 as tp; "
            "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]); "
            f"X = np.random.default_rng(0).random(({K}, {I}, {J})); "
            "small = np.random.default_rng(0).random((3, 9, 8)); "
            f"tp.TParafac2({rank}, n_starts=1, max_iter=2).fit(small); "
            "base = peak(); "
            f"tp.TParafac2({rank}, n_starts=20, max_iter=30, random_state=0).fit(X); "
            "print(base, peak(), X.nbytes)"
        )
        base, peak, size = map(int, in_new_process(make)[1].split())
        extra = (peak - base) * 1024
        rows.append(
            [
                f"{I} x {J} x {K}, R = {rank}",
                f"{size / 1e6:.0f} MB",
                f"{extra / 1e6:.0f} MB",
                f"{extra / size:.1f}x",
            ]
        )
        report(rows[-1])
    return table(["size", "X", "peak beyond X itself", "over X"], rows)


def corpus(seed=0, K=77, I=198, J=1500, rank=5):
    """Square roots of counts, of which about 60 % are not zero."""
    data = tp.synthetic.easy(seed, noise=0.0, n_times=K, n_rows=I, n_columns=J, n_concepts=rank)
    rng = np.random.default_rng(seed)
    rates = np.abs(data.X) / np.abs(data.X).mean() + rng.gamma(1.0, 1.0, J)
    return np.sqrt(rng.poisson(rates))


def choosing(quick):
    """How long the data take to choose, beside one fit whose settings were given."""
    sets = [("150 x 100 x 20", tp.synthetic.overlapping(0, overlap=0.4).X)]
    if not quick:
        sets.append(("198 x 1500 x 77, counts", corpus()))
    rows = []
    for name, X in sets:
        tp.TParafac2(3, n_starts=1, max_iter=200).fit(X[:4])  # compiles
        began = time.perf_counter()
        tp.TParafac2(3, n_starts=STARTS, random_state=0).fit(X)
        one = time.perf_counter() - began
        began = time.perf_counter()
        choice = tp.choose(X, ranks=range(1, 7), random_state=0, n_jobs=-1)
        all_of_it = time.perf_counter() - began
        tried = choice.table["rank"].max()
        chosen = choice.record["chosen"]["name"]
        rows.append(
            [name, f"{one:.1f}", f"{all_of_it:.0f}", f"{all_of_it / one:.0f}x", f"1 to {tried}", chosen]
        )
        report(rows[-1])
    return table(["size", "one fit, 20 starts, s", "choose, s", "ratio", "ranks tried", "chosen"], rows)


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(row):
    print("  " + " | ".join(row).replace("**", ""), flush=True)


def reported(header, rows):
    for row in rows:
        report(row)
    return table(header, rows)


def previous_sections():
    """What the last run wrote, by title."""
    pieces = OUT.read_text().split("\n## ")[1:] if OUT.exists() else []
    return {piece.splitlines()[0]: piece.rstrip().splitlines()[1:] for piece in pieces}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one size and one data set; writes no file")
    parser.add_argument(
        "--only", nargs="*", help="measure only sections whose titles have one of these words"
    )
    asked = parser.parse_args()
    quick = asked.quick
    sections = [
        (
            "Whole fits",
            "`tp.TParafac2(R, smoothness=1e-3, random_state=0).fit(X)`: 10 starts, default settings, to "
            f"convergence, against version 0.1 (commit {VERSION_0_1}) with the same packages. Objectives "
            "within 1e-6 count as the same. matcouply runs one start with the same penalties, on one core, "
            "for ten times as long as all of our fit on two cores, but 20 to 60 s.",
            lambda: table(*whole_fits(quick, report)),
        ),
        (
            "Other models beside the plain one",
            "Whole default fits of tPARAFAC2, smoothness 1e-3, on two cores.",
            lambda: table(*beside_plain(quick, report)),
        ),
        (
            "An iteration beside the two products",
            "Milliseconds per start and outer iteration, 10 starts, one core: on the data themselves, and on "
            "the sketch that the starts run on; beside the two products with all of the data, batched.",
            lambda: beside_products(quick),
        ),
        (
            "Speed: one start's outer iteration",
            "tPARAFAC2, lambdas .1, 1000, .1, 20 starts, 5 inner iterations, one thread. Set-up and "
            "compression are counted; both start from random factors. The last columns compare with the two "
            "matrix products alone, uncompressed, that any such algorithm needs.",
            lambda: speed(quick),
        ),
        ("PARAFAC2 without smoothness", "The same, per start and iteration.", lambda: parafac2_speed(quick)),
        (
            "Time to the peer's objective",
            "150 x 100 x 20, R = 3. Both programs' factors are put on the PARAFAC2 set and balanced, then "
            "evaluated by one function. The ratio is matcouply's time for 1,000 iterations over the time our "
            "median start needs to the same objective.",
            lambda: to_peer_objective(quick),
        ),
        (
            "Do the starts agree?",
            "150 x 100 x 20, R = 3, noise .5, lambdas .1, 1000, .1, at most 600 iterations, 20 starts.",
            lambda: agreement(quick),
        ),
        ("Start-up", "Fresh interpreters; the fit is one start at 150 x 100 x 20.", start_up),
        ("Memory", "20 starts; what the fit adds to the process that holds X.", lambda: memory(quick)),
        (
            "Choosing",
            "`tp.choose(X, ranks=range(1, 7), n_jobs=-1)`, all that it does, against one fit of rank 3.",
            lambda: choosing(quick),
        ),
        (
            "Missing entries",
            "tPARAFAC2, smoothness 1e-3, 20 starts, per start and outer iteration, against complete data.",
            lambda: reported(*incomplete()),
        ),
        (
            "Sparse slices",
            "tPARAFAC2, one start. The bare products are SciPy's X_k' A and X_k W_k, in the better of two "
            "formats; an iteration also updates patterns that are not sparse. Peak by tracemalloc.",
            lambda: reported(*sparse()),
        ),
    ]
    text = [
        "# Benchmarks",
        "",
        f"Made by `make bench` on {platform.machine()}, {os.cpu_count()} cores, one thread per program, "
        f"Python {platform.python_version()}, NumPy {np.__version__}. Best of several; times vary with the "
        "machine, ratios less.",
    ]
    before = previous_sections()
    for title, what, measure in sections:
        if asked.only and not any(word.lower() in title.lower() for word in asked.only):
            text += ["", f"## {title}", *before.get(title, ["", "Not measured."])]
            continue
        print(title, flush=True)
        text += ["", f"## {title}", "", what, "", measure()]
    if not quick:
        OUT.write_text("\n".join(text) + "\n")
        print(f"written: {OUT}")


if __name__ == "__main__":
    main()
