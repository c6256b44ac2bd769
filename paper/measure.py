"""Fit one method to one data set, and measure what came out."""

import math
import time
import warnings
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray
from plan import RANK, Method, Protocol, Task
from records import Record, head
from threadpoolctl import threadpool_limits

from tparafac2 import __version__
from tparafac2.choosing import choose
from tparafac2.fitting import ConvergenceWarning
from tparafac2.metrics import Definition, match_components
from tparafac2.synthetic import SyntheticData

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

WEAK = 0.01
"""The strength of a concept that has almost vanished."""

Factors = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def fit(task: Task, protocol: Protocol, **settled: float) -> tuple[SyntheticData, "Decomposition"]:
    """The data set of a task, and the method fitted to it from the protocol's starts.

    A method whose penalties the data choose is given what they chose before, or has them choose now.
    """
    data = task.setting.make(protocol.data_seed(task.dataset), protocol.size)
    effort: dict[str, Any] = {
        "n_starts": protocol.starts,
        "max_iter": protocol.max_iter,
        "random_state": protocol.start_seed(task.dataset),
        "progress": False,
    }
    with warnings.catch_warnings():
        # The record says for every start how it ended; a warning would say it a second time.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if task.method.is_chosen and not settled:
            return data, _chosen(data, effort | task.method.search(protocol.coarse))
        model = task.method.estimator(**settled).set_params(**effort, tol=protocol.tol)
        return data, model.fit(data.X)


def unit_form(factors: Any) -> Factors:
    """The same components with patterns of length 1 at each time, and all size in the strengths.

    Where patterns change their sizes, only in one form can fit and truth be compared.

    Examples
    --------
    >>> A, B, C = unit_form((np.ones((2, 1)), np.full((3, 4, 1), 5.0), np.ones((3, 1))))
    >>> float(B[0, 0, 0]), float(C[0, 0])
    (0.5, 10.0)
    """
    A, B, C = (np.asarray(one, dtype=float) for one in factors)
    sizes = np.linalg.norm(B, axis=1)
    return A, B / np.where(sizes > 0, sizes, 1.0)[:, None], C * sizes


def measure(task: Task, protocol: Protocol) -> Record:
    """Do a task, and give its record: equal for equal task and protocol, apart from ``fit.seconds``.

    Examples
    --------
    >>> from plan import Plan
    >>> plan = Plan(starts=2, n_times=8, n_rows=30, n_columns=36)
    >>> record = measure(next(plan.tasks()), plan.protocol)
    >>> record["task"]["model"], record["scores"]["stacked"]["score"] > 0.5
    ('PARAFAC2', True)
    """
    if protocol.version != __version__:
        raise RuntimeError(
            f"this process has tparafac2 {__version__}, but the results are of {protocol.version}: "
            "install the same version everywhere."
        )
    # One thread each: workers side by side are the parallelism here.
    with threadpool_limits(limits=1):
        begin = time.perf_counter()
        data, model = fit(task, protocol)
        seconds = time.perf_counter() - begin
        scores, weak_patterns = _compare(model, data, task.method)
    starts = _starts(model)
    if any(start["status"] == "interrupted" for start in starts):
        raise KeyboardInterrupt  # a fit gives back its best so far, but half a fit is no result here
    return {
        **head(task, protocol),
        "scores": scores,
        "weak_patterns": weak_patterns,
        "chosen": _what_was_chosen(model),
        "fit": {
            "objective": model.objective_,
            "explained_variance": model.explained_variance_,
            "iterations": model.n_iter_,
            "status": model.status_,
            "smoothness": model.result_.smoothness,
            "feasibility_gaps": model.feasibility_gaps_,
            "sound": any(start["kept"] for start in starts),
            "seconds": seconds,
        },
        "starts": starts,
    }


def _chosen(data: SyntheticData, search: dict[str, Any]) -> "Decomposition":
    """The model with what the data choose, rank apart; the truth is not looked at."""
    choice = choose(data.X, ranks=RANK, nonnegative=None, compare=False, n_splits=0, **search)
    if choice.record["interrupted"]:
        raise KeyboardInterrupt  # a choice from what was measured so far is no result here
    return choice.model


def _what_was_chosen(model: Any) -> dict[str, float | None] | None:
    """What hidden entries decided; no rigidity where the constraint does not give way."""
    choice = model.result_.choice
    if choice is None:
        return None
    chosen = choice["chosen"]
    rigid = math.isinf(chosen["rigidity"])
    return {
        "smoothness": chosen["smoothness"],
        "rigidity": None if rigid else chosen["rigidity"],
        "hidden_error": chosen["hidden_error"],
    }


def _compare(model: Any, data: SyntheticData, method: Method) -> tuple[dict[str, Any], float | None]:
    """Scores by definition and, last, in unit form, where every model has strengths; and weak patterns."""
    units = unit_form((model.A_, model.B_, model.C_)), unit_form(data.factors)
    estimate, truth = (model, data) if method.keeps_sizes else units
    scores = {kind: _scores(estimate, truth, method.modes, kind) for kind in get_args(Definition)}
    scores["unit"] = _scores(*units, "ABC", "stacked")
    order = match_components(estimate, truth, method.modes).permutation
    return scores, _weak_patterns(model.B_[:, :, order], data)


def _scores(estimate: Any, truth: Any, modes: str, definition: Definition) -> dict[str, Any]:
    match = match_components(estimate, truth, modes, definition)
    return {"score": match.score, "per_component": match.per_component, **match.per_mode}


def _starts(model: Any) -> list[dict[str, Any]]:
    """What became of each start; the paper discards those that hit the limit or are degenerate."""
    return [
        {
            "objective": one.objective,
            "iterations": one.n_iter,
            "status": one.status,
            "feasible": one.feasible,
            "degenerate": one.degenerate,
            "kept": one.converged and one.feasible and not one.degenerate,
            "chosen": one.chosen,
            "fms_to_chosen": one.fms_to_chosen,
        }
        for one in model.starts_.itertuples()
    ]


def _weak_patterns(estimate: NDArray[np.float64], data: SyntheticData) -> float | None:
    """Mean cosine of true and estimated patterns where a concept has almost no strength; None if nowhere."""
    weak = data.C <= WEAK
    if data.case != "almost_zero" or not weak.any():
        return None
    lengths = np.linalg.norm(estimate, axis=1) * np.linalg.norm(data.B, axis=1)
    inner = np.abs(np.einsum("kjr,kjr->kr", estimate, data.B))
    cosines = inner / np.where(lengths > 0, lengths, 1.0)
    return float(cosines[weak].mean())
