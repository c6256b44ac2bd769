"""What is run: cases at their levels, methods with their penalties, and one fit of a method to a data set."""

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import tparafac2 as tp

RANK, NOISE = 3, 0.5
RIDGE = 0.1  # lambda_A and lambda_D of the paper
HEADLINE = 1000.0  # the lambda_B that the verdicts stand on, fixed before any result was seen
WEAK = 0.01  # the strength of a concept that has almost vanished
STARTS_APART = 10**9  # starts and data must not be drawn from the same stream

# The cases, and what is varied in each: noise, number of weak concepts, share of common words.
VARIED = {"easy": "noise", "almost_zero": "n_weak", "overlapping": "overlap"}
LEVELS = {"easy": (0.25, 0.5, 0.75, 1.0), "almost_zero": (1, 2), "overlapping": (0.1, 0.2, 0.4)}

SMOOTH = ("tPARAFAC2", "tCMF", "NNtCMF")  # the models of the paper with a lambda_B; PARAFAC2 has none
# Methods whose smoothness (and, if flexible, rigidity) each data set chooses by held-out data. The rank is
# given, as for all methods; the truth is not used. A coarse choice tries fewer settings.
HARD, FLEXIBLE = CHOSEN = ("tPARAFAC2, chosen", "flexible tPARAFAC2, chosen")
COARSE = {"smoothness": (1e-3, 3e-3, 1e-2), "rigidity": (math.inf, 1.0)}


class Task(NamedTuple):
    """One method and one data set: the unit of work."""

    case: str
    level: float
    dataset: int
    model: str
    lambda_b: float | None = None

    @property
    def method(self) -> str:
        """The name of the model with its penalty."""
        return self.model if self.lambda_b is None else f"{self.model} {self.lambda_b:g}"


@dataclass(frozen=True)
class Plan:
    """How much is run. Data set i is the same however many there are."""

    cases: tuple[str, ...] = tuple(LEVELS)
    datasets: int = 20
    lambdas: tuple[float, ...] = (1.0, 10.0, 100.0, HEADLINE)
    starts: int = 20
    size: tuple[int, int, int] = (20, 150, 100)  # times, rows, columns
    max_iter: int = 2000
    coarse: bool = False

    @property
    def settings(self) -> str:
        """All that decides a single result, but not how many there are."""
        return f"{replace(self, cases=(), datasets=0, lambdas=())}, tparafac2 {tp.__version__}"

    def tasks(self) -> Iterator[Task]:
        """Give all tasks, data set by data set, so that an unfinished run has seen a bit of everything."""
        methods = [(model, lambda_b) for model in SMOOTH for lambda_b in self.lambdas]
        groups = [(case, level) for case in self.cases for level in LEVELS[case]]
        for dataset in range(self.datasets):
            for case, level in groups:
                for model, lambda_b in [("PARAFAC2", None), *methods, (HARD, None), (FLEXIBLE, None)]:
                    yield Task(case, level, dataset, model, lambda_b)

    def data(self, case: str, level: float, dataset: int) -> tp.synthetic.SyntheticData:
        """Make a data set; its number is its seed."""
        size = dict(zip(("n_times", "n_rows", "n_columns"), self.size))
        return getattr(tp.synthetic, case)(dataset, **{"noise": NOISE, VARIED[case]: level}, **size)

    def effort(self, dataset: int) -> dict[str, Any]:
        """Give what is the same for every method: the starts, and how long they may take."""
        starts = {"n_starts": self.starts, "random_state": STARTS_APART + dataset}
        return {**starts, "max_iter": self.max_iter, "n_jobs": 1, "progress": False}


QUICK = Plan(datasets=6, lambdas=(100.0, HEADLINE), starts=4, size=(12, 60, 45), max_iter=1000, coarse=True)


def level_name(case: str, level: float) -> str:
    """Give a level in words."""
    if case == "almost_zero":
        return f"{level:g} weak concept{'s' if level > 1 else ''}"
    return f"noise {level:g}" if case == "easy" else f"overlap {100 * level:g} %"


def estimator(model: str, lambda_b: float | None) -> Any:
    """Give a model with the penalties of the paper, not fitted."""
    if model == "PARAFAC2":
        return tp.Parafac2(rank=RANK)
    if model == "tPARAFAC2":
        return tp.TParafac2(rank=RANK, lambda_a=RIDGE, lambda_b=lambda_b, lambda_d=RIDGE)
    nonnegative = "rows" if model == "NNtCMF" else None
    return tp.TemporalCMF(rank=RANK, lambda_a=RIDGE, lambda_b=lambda_b, nonnegative=nonnegative)


def fit(task: Task, plan: Plan) -> tuple[tp.synthetic.SyntheticData, Any]:
    """Give the data set of a task, and the fitted model."""
    data, effort = plan.data(*task[:3]), plan.effort(task.dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.ConvergenceWarning)  # the record counts how starts ended
        if task.model not in CHOSEN:
            return data, estimator(task.model, task.lambda_b).set_params(**effort, tol=1e-8).fit(data.X)
        search = (COARSE if plan.coarse else {}) | ({"rigidity": math.inf} if task.model == HARD else {})
        search |= {"ranks": RANK, "nonnegative": None, "compare": False}
        choice = tp.choose(data.X, **search, **effort)
        if choice.record["interrupted"]:
            raise KeyboardInterrupt  # a choice from what was measured so far is no result here
        return data, choice.model


def measure(task: Task, plan: Plan) -> tuple[Task, dict[str, Any]]:
    """Do a task, and give it with what came out: one row of the table of results."""
    with threadpool_limits(limits=1):  # tasks side by side are the parallelism here
        begin = time.perf_counter()
        data, model = fit(task, plan)
        seconds = time.perf_counter() - begin
    starts = model.starts_
    if "interrupted" in set(starts["status"]):
        raise KeyboardInterrupt  # nor is half a fit, of which the best so far is given back
    kept = starts[starts["converged"] & starts["feasible"] & ~starts["degenerate"]]
    # How far the better half of the kept starts agree with the best, in objective and in factors.
    best = kept.nsmallest(max(2, math.ceil(len(kept) / 2)), "objective")
    several, low, high = len(best) > 1, best["objective"].min(), best["objective"].max()
    chosen = task.model in CHOSEN
    return task, {
        **task._asdict(),
        "method": task.method,
        **_scores(model, data, task.model),
        "objective": model.objective_,
        "explained_variance": model.explained_variance_,
        "iterations": model.n_iter_,
        "seconds": seconds,
        "smoothness": model.smoothness if chosen else model.result_.smoothness,
        "rigidity": model.rigidity if chosen else math.nan,
        "starts": len(starts),
        "kept": len(kept),
        "hit_max_iter": int(starts["status"].isin(["max_iter", "infeasible"]).sum()),
        "degenerate": int(starts["degenerate"].sum()),
        "objective_spread": (high - low) / low if several else math.nan,
        "agreement": best.loc[~best["chosen"], "fms_to_chosen"].median() if several else math.nan,
    }


def unit_form(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give patterns length 1 at each time, and strengths all size: else, changing sizes do not compare."""
    sizes = np.linalg.norm(B, axis=1)
    return A, B / np.where(sizes > 0, sizes, 1.0)[:, None], C * sizes


def factors_of(model: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the factors as they are scored: in unit form if flexible, since its patterns change sizes."""
    factors = model.A_, np.asarray(model.B_), model.C_
    return unit_form(*factors) if name == FLEXIBLE else factors


def _scores(model: Any, data: tp.synthetic.SyntheticData, name: str) -> dict[str, float]:
    estimate, in_unit_form = factors_of(model, name), unit_form(*data.factors)
    truth = in_unit_form if name == FLEXIBLE else data.factors
    modes = "AB" if name in ("tCMF", "NNtCMF") else "ABC"  # strengths fixed to one are not compared
    score, match = tp.metrics.factor_match_score, tp.metrics.match_components(estimate, truth, modes)
    unit = tp.metrics.match_components(unit_form(*estimate), in_unit_form)
    return {
        "fms": match.score,
        "fms_slicewise": score(estimate, truth, modes, "slicewise"),
        "fms_scaled": score(estimate, truth, modes, "scaled"),
        **{f"fms_{mode.lower()}": float(np.mean(cosines)) for mode, cosines in match.per_mode.items()},
        "fms_unit": unit.score,
        "fms_unit_c": float(np.mean(unit.per_mode["C"])),
        "weak_patterns": _weak_patterns(estimate[1][:, :, match.permutation], data),
    }


def _weak_patterns(patterns: np.ndarray, data: tp.synthetic.SyntheticData) -> float:
    """Mean cosine of true and estimated patterns where a concept has almost no strength; NaN if nowhere."""
    weak = (data.C <= WEAK) & (data.case == "almost_zero")
    lengths = np.linalg.norm(patterns, axis=1) * np.linalg.norm(data.B, axis=1)
    cosines = np.abs(np.sum(patterns * data.B, axis=1)) / np.where(lengths > 0, lengths, 1.0)
    return float(cosines[weak].mean()) if weak.any() else math.nan
