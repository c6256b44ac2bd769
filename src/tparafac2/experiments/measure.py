"""Fit one method to one data set, and measure what came out."""

import time
import warnings
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from tparafac2 import __version__
from tparafac2.experiments.plan import Protocol, Task
from tparafac2.experiments.records import Record, head
from tparafac2.fitting import ConvergenceWarning
from tparafac2.metrics import Definition, match_components
from tparafac2.synthetic import SyntheticData

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

WEAK = 0.01
"""The strength of a concept that has almost vanished."""


def fit(task: Task, protocol: Protocol) -> tuple[SyntheticData, "Decomposition"]:
    """The data set of a task, and the method fitted to it from the protocol's starts."""
    data = task.setting.make(protocol.data_seed(task.dataset), protocol.size)
    model = task.method.estimator().set_params(
        n_starts=protocol.starts,
        max_iter=protocol.max_iter,
        tol=protocol.tol,
        random_state=protocol.start_seed(task.dataset),
        progress=False,
    )
    with warnings.catch_warnings():
        # The record says for every start how it ended; a warning would say it a second time.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X)
    return data, model


def measure(task: Task, protocol: Protocol) -> Record:
    """Do a task, and give its record: equal for equal task and protocol, apart from ``fit.seconds``.

    Examples
    --------
    >>> from tparafac2.experiments.plan import Plan
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
        scores = {kind: _scores(model, data, task.method.modes, kind) for kind in get_args(Definition)}
    starts = _starts(model)
    if any(start["status"] == "interrupted" for start in starts):
        raise KeyboardInterrupt  # a fit gives back its best so far, but half a fit is no result here
    return {
        **head(task, protocol),
        "scores": scores,
        "weak_patterns": _weak_patterns(model, data, task.method.modes),
        "fit": {
            "objective": model.objective_,
            "explained_variance": model.explained_variance_,
            "iterations": model.n_iter_,
            "status": model.status_,
            "feasibility_gaps": model.feasibility_gaps_,
            "sound": any(start["kept"] for start in starts),
            "seconds": seconds,
        },
        "starts": starts,
    }


def _scores(model: Any, data: SyntheticData, modes: str, definition: Definition) -> dict[str, Any]:
    match = match_components(model, data, modes, definition)
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


def _weak_patterns(model: Any, data: SyntheticData, modes: str) -> float | None:
    """Mean cosine of true and estimated patterns where a concept has almost no strength; None if nowhere."""
    weak = data.C <= WEAK
    if data.case != "almost_zero" or not weak.any():
        return None
    order = match_components(model, data, modes).permutation
    estimate = model.B_[:, :, order]
    lengths = np.linalg.norm(estimate, axis=1) * np.linalg.norm(data.B, axis=1)
    inner = np.abs(np.einsum("kjr,kjr->kr", estimate, data.B))
    cosines = inner / np.where(lengths > 0, lengths, 1.0)
    return float(cosines[weak].mean())
