"""Sudden against smooth changes: how well patterns are met, how sharp a jump stays, and what it costs.

python benchmarks/sudden.py recovery          # ten seeds of three kinds of drift, smoothness by the data
python benchmarks/sudden.py votes FILE.npz    # agreement of countries by year: who leaves, and when
python benchmarks/sudden.py time              # seconds over plain, per iteration and per fit
"""

import argparse
import time
import warnings

import numpy as np

import tparafac2 as tp
from tparafac2.penalties import L1, TemporalSmoothness
from tparafac2.synthetic import (
    Concept,
    Constant,
    Decreasing,
    Gradual,
    Incremental,
    Periodic,
    Sudden,
    generate,
)

CHANGES = ("smooth", "sudden")
SIZES = {"150 x 100 x 20, R = 3": (20, 150, 100, 3), "35 x 105 x 52, R = 4": (52, 35, 105, 4)}


def drifting(kind, seed, noise, fresh):
    """The paper's easy case, with drifts of one kind only."""
    rng = np.random.default_rng(seed)
    concepts = []
    for strength in (Constant(), Periodic(), Decreasing()):
        moment = int(rng.integers(4, 16))
        drift = {"sudden": Sudden, "gradual": Gradual, "incremental": Incremental}[kind](moment)
        concepts.append(Concept(drift, strength))
    return generate(concepts, seed=seed, noise=noise, fresh_importances=fresh)


def width(course, moment):
    """Times from a tenth to nine tenths of the way from the mean before to the mean after; 0.8 is a jump."""
    before, after = course[:moment].mean(axis=0), course[moment:].mean(axis=0)
    way = after - before
    place = (course - before) @ way / (way @ way)
    times = np.arange(len(place), dtype=float)
    # From the middle outwards, to where it was last below a tenth, and is first above nine tenths.
    low = max((k for k in range(moment) if place[k] <= 0.1), default=0)
    high = min((k for k in range(moment, len(place)) if place[k] >= 0.9), default=len(place) - 1)
    crossing = [np.interp(share, place[low : high + 1], times[low : high + 1]) for share in (0.1, 0.9)]
    return float(crossing[1] - crossing[0])


def recovery(seeds, noises):
    for kind in ("sudden", "gradual", "incremental"):
        for fresh in (False, True):
            for noise in noises:
                lines = [compared(kind, drifting(kind, seed, noise, fresh)) for seed in range(seeds)]
                told(f"{kind:12} {'fresh' if fresh else 'kept':5} noise {noise}", lines)


def compared(kind, data):
    """Scores and widths of both kinds of changes, and the kind that the data take."""
    models = [choose(data.X, changes) for changes in CHANGES]
    scores = [tp.metrics.factor_match_score(model, data) for model in models]
    widths = [mean_width(model, data) for model in models] if kind == "sudden" else [np.nan, np.nan]
    return (*scores, *widths, choose(data.X, "auto").changes == "sudden")


def mean_width(model, data):
    order = np.abs(data.A.T @ model.A_).argmax(axis=1)
    courses = model.result_.normalised().B.transpose(2, 0, 1)[order]
    switches = (np.diff(data.B > 0, axis=0) != 0).sum(axis=1)  # words that come or go, (K - 1, R)
    return np.median([width(course, int(k) + 1) for course, k in zip(courses, switches.argmax(axis=0))])


def told(name, lines):
    smooth, sudden, *widths, taken = np.array(lines, dtype=float).T
    wide = "" if np.isnan(widths).all() else "; width {:.2f}, {:.2f}".format(*np.median(widths, axis=1))
    print(
        f"{name}: smooth {smooth.mean():.4f}, sudden {sudden.mean():.4f}, lower by more than .01 in "
        f"{np.sum(sudden < smooth - 0.01)}; auto takes sudden in {taken.sum():.0f} of {len(lines)}{wide}",
        flush=True,
    )


def choose(X, changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tp.choose(
            X,
            ranks=3,
            rigidity=np.inf,
            nonnegative=None,
            changes=changes,
            n_starts=6,
            random_state=0,
        ).model


def votes(path, rank, smoothness):
    held = np.load(path, allow_pickle=False)
    years, countries = held["years"], [str(one) for one in held["countries"]]
    X = np.moveaxis(held["agreement"], 2, 0)
    X = X - np.nanmean(X, axis=1, keepdims=True)
    span = (years >= 1984) & (years <= 1996)
    for changes in CHANGES:
        model = tp.TParafac2(rank, smoothness, changes=changes, n_starts=6, random_state=0)
        model.fit(X, times=years.astype(float))
        print(f"\n{changes}: explained {model.explained_variance_:.4f}, {model.n_iter_} iterations")
        B = model.result_.normalised().B
        east = max(range(rank), key=lambda r: leaves(B[:, :, r], countries, years))
        for country in ("Poland", "Hungary", "Bulgaria", "Romania", "Czechoslovakia"):
            course = B[span][:, countries.index(country), east]
            print(f"  {country:15}", " ".join(f"{one:+.2f}" for one in course))
        for one in model.findings_:
            if one.kind == "sudden":
                print("  change point: component", one.component, one.times, dict(one.numbers))


def leaves(pattern, countries, years):
    """How far Poland and Hungary go between 1988 and 1993."""
    places = [countries.index(one) for one in ("Poland", "Hungary")]
    ends = pattern[np.flatnonzero(years == 1993)[0]] - pattern[np.flatnonzero(years == 1988)[0]]
    return float(np.abs(ends[places]).sum())


def times(repeats):
    for name, (K, I, J, R) in SIZES.items():
        data = tp.synthetic.easy(seed=0, noise=0.5, n_times=K, n_rows=I, n_columns=J, n_concepts=R)
        strength = 0.003 * np.linalg.norm(data.X) ** (5 / 3)
        ridge = 1e-3 * np.linalg.norm(data.X) ** (4 / 3)
        kinds = {
            "plain": {},
            "sudden": {"changes": "sudden"},
            "L1 on patterns": {"penalties_b": [L1(strength)]},
            "L1 on rows": {"penalties_a": [L1(strength)]},
            "smooth strengths": {"penalties_c": [TemporalSmoothness(10 * ridge, 0.0)]},
            "non-negative patterns": {"nonnegative": "patterns"},
        }
        found = {kind: measure(data.X, R, given, repeats) for kind, given in kinds.items()}
        print(f"\n{name}: ms per start and iteration, seconds of a fit of 10 starts, over plain")
        for kind, (step, whole) in found.items():
            print(
                f"  {kind:22} {step:6.3f} ms ({step / found['plain'][0]:.2f}x)  "
                f"{whole:6.2f} s ({whole / found['plain'][1]:.2f}x)"
            )


def measure(X, R, given, repeats):
    """Best of several: CPU time of 60 iterations of 10 starts, each; and of a whole fit."""
    common = {"n_starts": 10, "random_state": 0, "n_jobs": 1, "compress": False}
    steps, wholes = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tp.TParafac2(R, 1e-3, max_iter=2, **common, **given).fit(X)  # what is compiled is compiled now
        for _ in range(repeats):
            spans = []
            for iterations in (10, 70):
                began = time.process_time()
                tp.TParafac2(R, 1e-3, max_iter=iterations, tol=0.0, **common, **given).fit(X)
                spans.append(time.process_time() - began)
            steps.append(1e3 * (spans[1] - spans[0]) / 600)
            began = time.process_time()
            tp.TParafac2(R, 1e-3, **common, **given).fit(X)
            wholes.append(time.process_time() - began)
    return min(steps), min(wholes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("recovery", "votes", "time"))
    parser.add_argument("file", nargs="?")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.5, 1.0])
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--smoothness", type=float, default=3e-3)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    if asked.what == "recovery":
        recovery(asked.seeds, asked.noise)
    elif asked.what == "votes":
        votes(asked.file, asked.rank, asked.smoothness)
    else:
        times(asked.repeats)
