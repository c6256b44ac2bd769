"""Several models on the same data, side by side."""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from tparafac2.clusters import Cluster, count_threads, is_unwanted
from tparafac2.fitting import ConvergenceWarning, check_jobs, count_jobs, told
from tparafac2.models import Decomposition
from tparafac2.result import Kind, count_same_objective, share_alike
from tparafac2.starts import Interrupt, Progress, flag_file, helping, in_processes, no_orphans, one_of_several

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.result import Result


def compare_models(
    models: Mapping[str, Decomposition],
    data: Any,
    *,
    n_jobs: int = 1,
    client: Any = None,
    **fit: Any,
) -> pd.DataFrame:
    """Fit each model, and give one line for each.

    Parameters
    ----------
    models : mapping of label to model
        They are fitted in place.
    data
        Whatever `fit` takes.
    n_jobs : int
        How many models are fitted at the same time, each in a process of its own; -1 for one per core. With
        more than one, `n_jobs` of the models is not used. The answer does not depend on it.
    client : distributed.Client, optional
        Of a Dask cluster, whose workers fit the models instead of processes.
    **fit
        Further arguments of `fit`, such as times.

    Returns
    -------
    DataFrame
        Explained variance; whether the fit converged; how many starts were made; how many of those other
        than the chosen one ended at its objective (`same_objective`), and what share of them found its
        components, with a factor match score of .99 or better (`agreement`; NaN if there is no other): near 1
        it can be trusted. After Ctrl-C the models that were not finished have no line.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20).X
    >>> models = {f"rank {r}": tp.CP(r, n_starts=2, random_state=0) for r in (1, 2)}
    >>> compare_models(models, X)["model"].to_list()
    ['rank 1', 'rank 2']
    """
    import pandas as pd

    if not isinstance(models, Mapping) or not all(isinstance(one, Decomposition) for one in models.values()):
        raise TypeError(
            f"models must be a mapping of labels to models, such as {{'CP': CP(2)}}; got {told(models)}."
        )
    if not models:
        raise ValueError("there are no models to compare: give at least one.")
    return pd.DataFrame(compared(models, data, n_jobs=n_jobs, client=client, **fit))


def compared(
    models: Mapping[str, Decomposition], data: Any, *, n_jobs: int = 1, client: Any = None, **fit: Any
) -> Iterator[dict[str, Any]]:
    """Give the lines of `compare_models`, each as soon as its model is fitted; the last ends with Ctrl-C."""
    check_jobs(n_jobs)
    jobs = min(count_jobs(n_jobs) if client is None else count_threads(client), len(models))
    if client is None and jobs < 2:
        fits = _one_by_one(models, data, fit)
    else:
        fits = _side_by_side(models, data, fit, jobs, None if client is None else Cluster(client))
    for label, seconds in fits:
        model = models[label]
        starts = model.result_.starts
        agreement = share_alike(starts)
        yield {
            "model": label,
            "explained_variance": model.explained_variance_,
            "converged": model.converged_,
            "iterations": model.n_iter_,
            "same_objective": count_same_objective(starts),
            "starts": len(starts["objective"]),
            "agreement": math.nan if agreement is None else agreement,
            "degenerate": int(starts["degenerate"].sum()),
            "notes": len(model.notes_),
            "seconds": seconds,
        }


class _Fitted(NamedTuple):
    result: Result
    seconds: float
    warnings: list[Warning]


def _one_by_one(
    models: Mapping[str, Decomposition], data: Any, fit: Mapping[str, Any]
) -> Iterator[tuple[str, float]]:
    for number, (label, model) in enumerate(models.items(), start=1):
        began = time.perf_counter()
        with one_of_several(f"model {number} of {len(models)} ({label})"):
            _fit(model, data, fit)
        if was_interrupted(model):
            return  # half a fit beside whole ones would be no comparison
        yield label, time.perf_counter() - began


def _side_by_side(
    models: Mapping[str, Decomposition], data: Any, fit: Mapping[str, Any], jobs: int, cluster: Cluster | None
) -> Iterator[tuple[str, float]]:
    progress = Progress(of="models")
    progress.expect([1] * len(models))
    with ExitStack() as stack:
        stack.callback(progress.close)
        interrupt = stack.enter_context(Interrupt())
        flag = stack.enter_context(flag_file(interrupt))
        stack.enter_context(no_orphans())
        alone = [_alone(model) for model in models.values()]
        if cluster is None:
            fits = in_processes(_fit_elsewhere, [(flag, one, data, fit) for one in alone], jobs)
        else:
            pieces = [(is_unwanted, one, data, fit) for one in alone]
            fits = cluster.do(_fit_elsewhere, pieces, lambda: interrupt.requested)
        for (label, model), fitted in zip(models.items(), fits):
            if fitted is None:  # it had not begun when the user interrupted
                continue
            model._take(replace(fitted.result, parameters=model.get_params()))
            progress.batch_done()
            for one in fitted.warnings:
                warnings.warn(one, stacklevel=2)
            if not was_interrupted(model):
                yield label, fitted.seconds


def _alone(model: Decomposition) -> Decomposition:
    """A copy for another process, with the numbers that the model would draw if it were fitted here, now."""
    model = copy.copy(model)
    if isinstance(model.random_state, np.random.Generator):  # models may share it, processes do not
        model.random_state = np.random.SeedSequence(int(model.random_state.integers(2**63)))
    return model


def _fit_elsewhere(
    stop: str | Callable[[], bool], model: Decomposition, data: Any, fit: Mapping[str, Any]
) -> _Fitted | None:
    began = time.perf_counter()
    with helping(stop), Interrupt() as interrupt, warnings.catch_warnings(record=True) as said:
        if interrupt.requested:
            return None
        warnings.simplefilter("always")
        _fit(model, data, fit)
    heard = [one.message for one in said if isinstance(one.message, Warning)]
    return _Fitted(model.result_, time.perf_counter() - began, heard)


def _fit(model: Decomposition, data: Any, fit: Mapping[str, Any]) -> None:
    # One thread, here as in other processes: rounding depends on their number, and processes are enough.
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says it
        model.fit(data, **fit)


def was_interrupted(model: Decomposition) -> bool:
    """Tell whether Ctrl-C ended the fit of a model before its time.

    The chosen start may have converged before: what counts is whether all of them came to their end, and
    all that chose the settings.
    """
    if (model.result_.choice or {}).get("interrupted"):
        return True
    return any(finding.kind is Kind.INTERRUPTED_STARTS for finding in model.findings_)
