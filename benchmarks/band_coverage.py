"""How often the bands of `intervals` cover the truth.

Data with a known truth, 60 rows x 40 columns x 15 times, three components, three noise levels; smoothness
chosen by the data, the rank being the true one. "turning" patterns turn slowly and obey the PARAFAC2
constraint; "easy" ones obey it and change at once, as no smooth model can; "overlapping" ones break it;
"static" ones never change, so that every move whose band excludes zero is false.
Widths are beside those of an oracle: 1.96 standard deviations of the same fit to fresh noise on both sides.

    python benchmarks/band_coverage.py --seeds 10 --undersmoothing 1 4
    python benchmarks/band_coverage.py --cases static --first 500 --smoothness 3e-3 --oracle 0

The tables are in docs/uncertainty.md and docs/decisions/intervals.md.
"""

import argparse
import sys
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import tparafac2 as tp
from tparafac2.inference.moves import extremes
from tparafac2.inference.spread import Factors, matched

SIZES = {"n_times": 15, "n_rows": 60, "n_columns": 40}
RANK = 3
WEAK = 0.1  # entries below this share of the pattern's largest are weak


@dataclass(frozen=True)
class Truth:
    """Factors, and data with fresh noise as often as wanted."""

    A: Any
    B: Any
    C: Any

    @property
    def signal(self) -> Any:
        return np.einsum("ir,kr,kjr->kij", self.A, self.C, self.B)

    def data(self, noise: float, seed: int) -> Any:
        signal = self.signal
        fresh = np.random.default_rng([seed, 1]).standard_normal(signal.shape)
        return signal + noise * np.linalg.norm(signal) / np.linalg.norm(fresh) * fresh


def turning(seed: int) -> Truth:
    """Patterns P_k Delta that turn slowly, strengths that come and go, loadings of both signs."""
    rng = np.random.default_rng(seed)
    K, I, J = SIZES["n_times"], SIZES["n_rows"], SIZES["n_columns"]
    time = np.linspace(0, 1, K)
    first = np.linalg.qr(rng.standard_normal((J, 2 * RANK)))[0]
    Delta = np.linalg.cholesky(0.7 * np.eye(RANK) + 0.3).T
    angles = time[:, None] * rng.uniform(0.6, 1.6, RANK) + 0.2 * np.sin(
        2 * np.pi * (time[:, None] + rng.random(RANK))
    )
    P = first[:, :RANK] * np.cos(angles)[:, None, :] + first[:, RANK:] * np.sin(angles)[:, None, :]
    C = 1.0 + 0.8 * np.sin(2 * np.pi * (time[:, None] * rng.uniform(0.5, 1.5, RANK) + rng.random(RANK)))
    A = rng.standard_normal((I, RANK)) * np.array([1.5, 1.0, 0.7])
    return Truth(A, P @ Delta, C)


def easy(seed: int) -> Truth:
    return Truth(*tp.synthetic.easy(seed=seed, **SIZES).factors)


def overlapping(seed: int) -> Truth:
    return Truth(*tp.synthetic.overlapping(seed=seed, overlap=0.4, **SIZES).factors)


def static(seed: int) -> Truth:
    """Patterns that never change, under the strengths and loadings of `turning`."""
    truth = turning(seed)
    B = np.random.default_rng([seed, 2]).standard_normal((SIZES["n_columns"], RANK))
    return Truth(truth.A, np.broadcast_to(B, truth.B.shape), truth.C)


CASES = {"turning": turning, "easy": easy, "overlapping": overlapping, "static": static}


def oracle_widths(truth: Truth, model: Any, noise: float, undersmoothing: float, count: int) -> Any:
    """Widths of bands from fits to fresh data, by component."""
    found = []
    reference = Factors.of(*(np.asarray(one) for one in (truth.A, truth.B, truth.C)))
    for seed in range(count):
        lower = model.result_.smoothness / undersmoothing
        init = (model.A_, model.B_, model.C_)
        rigidity = model.result_.terms.rigidity
        again = tp.TParafac2(RANK, smoothness=lower, rigidity=rigidity, init=init)
        again.fit(truth.data(noise, 10_000 + seed))
        same, _ = matched(Factors.of(again.A_, again.B_, again.C_), reference)
        found.append(same)
    return {
        name: 2 * 1.96 * np.std([getattr(one, name) for one in found], axis=0).reshape(-1, RANK).mean(axis=0)
        for name in "ABC"
    }


def covered(truth: Truth, model: Any, bands: Any) -> list[dict[str, Any]]:
    """Shares of entries whose truth is in the band, one line for each component."""
    centre = Factors(bands.loadings.centre, bands.patterns.centre, bands.strengths.centre)
    true, found = matched(Factors.of(truth.A, truth.B, truth.C), centre)
    inside = {
        "B": _inside(bands.patterns, true.B).reshape(-1, RANK),
        "C": _inside(bands.strengths, true.C),
        "A": _inside(bands.loadings, true.A),
    }
    lines = []
    sizes = np.abs(true.B)
    weak = (sizes < WEAK * sizes.max(axis=1, keepdims=True)).reshape(-1, RANK)
    widths = {
        "A": bands.loadings.width,
        "B": bands.patterns.width.reshape(-1, RANK),
        "C": bands.strengths.width,
    }
    for r in range(RANK):
        line: dict[str, Any] = {"component": r + 1, "found": bool(found[r] and not bands.unstable[r])}
        for name, flags in inside.items():
            line[name] = flags[:, r].mean() if line["found"] else np.nan
            line[f"width_{name}"] = widths[name][:, r].mean()
        line["B_weak"] = inside["B"][weak[:, r], r].mean() if line["found"] and weak[:, r].any() else np.nan
        line["B_other"] = inside["B"][~weak[:, r], r].mean() if line["found"] else np.nan
        lines.append(line)
    return lines


def largest_moves(model: Any) -> list[tuple[int, int, int, int]]:
    """The largest rises, then the largest falls, as contrasts: bands for each of them alone."""
    ends = np.stack(extremes(np.asarray(model.normalised().B)))
    return [
        (r + 1, j, *(int(k) for k in ends[way, :, j, r])) for way, r, j in np.ndindex(2, RANK, ends.shape[2])
    ]


def moved(truth: Truth, bands: Any, component: int) -> dict[str, int]:
    """How many moves are there and how many are not, by bands for all moves together and for each alone."""
    centre = Factors(bands.loadings.centre, bands.patterns.centre, bands.strengths.centre)
    true = matched(Factors.of(truth.A, truth.B, truth.C), centre)[0].B
    place = np.array(bands.asked).T
    change = true[place[3], place[1], place[0] - 1] - true[place[2], place[1], place[0] - 1]
    real = (np.abs(change) > 1e-9) & (change * bands.contrasts.centre > 0)
    together = np.concatenate([~band.includes_zero.T.ravel() for band in (bands.rises, bands.falls)])
    mine = place[0] == component
    found: dict[str, int] = {}
    for name, sure in (("all", together), ("each", ~bands.contrasts.includes_zero)):
        found |= {
            f"true_{name}": int((sure & real & mine).sum()),
            f"false_{name}": int((sure & ~real & mine).sum()),
        }
    return found


def _inside(band: Any, true: Any) -> Any:
    return (band.lower <= true) & (true <= band.upper)


def one(case: str, noise: float, seed: int, asked: Any) -> list[dict[str, Any]]:
    truth = CASES[case](seed)
    X = truth.data(noise, seed)
    if asked.smoothness is None:
        model = tp.choose(X, ranks=[RANK], compare=False, random_state=seed, n_jobs=1).model
    else:
        model = tp.TParafac2(RANK, smoothness=asked.smoothness, n_starts=5, random_state=seed).fit(X)
    lines = []
    for undersmoothing, over in product(asked.undersmoothing, asked.over):
        bands = model.intervals(
            X,
            n_resamples=asked.resamples,
            over=over,
            undersmoothing=undersmoothing,
            contrasts=largest_moves(model),
            n_jobs=1,
        )
        oracle = oracle_widths(truth, model, noise, undersmoothing, asked.oracle) if asked.oracle else {}
        common = {
            "case": case,
            "noise": noise,
            "seed": seed,
            "smoothness": model.result_.smoothness,
            "rigidity": model.result_.terms.rigidity,
            "under": undersmoothing,
            "over": over,
        }
        for line in covered(truth, model, bands):
            r = line["component"] - 1
            size = np.linalg.norm(bands.strengths.centre[:, r]) if oracle else 1.0
            for name in oracle:
                fair = oracle[name][r]
                if name == "C":
                    fair = fair * size / np.linalg.norm(Factors.of(truth.A, truth.B, truth.C).C[:, r])
                line[f"ratio_{name}"] = line[f"width_{name}"] / fair
            if line["found"]:
                line |= moved(truth, bands, line["component"])
            lines.append(common | line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    parser.add_argument("--noises", nargs="+", type=float, default=[0.25, 0.5, 1.0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--smoothness", type=float, help="chosen by the data, unless given")
    parser.add_argument("--undersmoothing", nargs="+", type=float, default=[4.0])
    parser.add_argument("--over", nargs="+", default=["rows"])
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--oracle", type=int, default=30)
    parser.add_argument("--out")
    asked = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for case, noise, seed in product(
        asked.cases, asked.noises, range(asked.first, asked.first + asked.seeds)
    ):
        lines += one(case, noise, seed, asked)
        sys.stderr.write(f"{case} {noise} {seed}\n")
        if asked.out:
            pd.DataFrame(lines).to_csv(asked.out, index=False)
    table = pd.DataFrame(lines)
    shown = ["B", "B_weak", "B_other", "C", "A", "ratio_B", "ratio_C", "ratio_A"]
    means = table.groupby(["case", "noise", "over", "under"])[[c for c in shown if c in table]].mean()
    means["found"] = table.groupby(["case", "noise", "over", "under"])["found"].mean()
    print(means.round(3).to_string())
    groups = table[table["found"]].groupby(["case", "noise", "over", "under"])
    moves = groups[["true_all", "true_each", "false_all", "false_each"]].sum()
    for name in ("all", "each"):
        moves[f"any_false_{name}"] = groups[f"false_{name}"].agg(lambda count: (count > 0).mean())
    print(moves.round(3).to_string())
    print(table.groupby(["case", "over", "under", "component"])[["B", "C", "A", "found"]].mean().round(3))


if __name__ == "__main__":
    main()
