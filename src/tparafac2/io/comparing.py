"""Several models on the same data, side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tparafac2.models.conventions import ConvergenceWarning
from tparafac2.result.agreement import count_same_objective
from tparafac2.solver import Status
from tparafac2.starts import one_of_several

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.models.estimators import Decomposition


def compare_models(models: Mapping[str, Decomposition], data: Any, **fit: Any) -> pd.DataFrame:
    """Fit each model, and give one line for each.

    Parameters
    ----------
    models : mapping of label to model
        They are fitted in place.
    data
        Whatever `fit` takes.
    **fit
        Further arguments of `fit`, such as times.

    Returns
    -------
    DataFrame
        Explained variance; whether the fit converged; how many of the starts ended at the same objective, and
        the median factor match score of the starts with the chosen one: near 1 it can be trusted. After
        Ctrl-C the models that were not finished have no line.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, shape=(20, 20, 6)).X
    >>> models = {f"rank {r}": tp.CP(r, n_starts=2, random_state=0) for r in (1, 2)}
    >>> compare_models(models, X)["model"].to_list()
    ['rank 1', 'rank 2']
    """
    import pandas as pd

    return pd.DataFrame(list(compared(models, data, **fit)))


def compared(models: Mapping[str, Decomposition], data: Any, **fit: Any) -> Iterator[dict[str, Any]]:
    """Give the lines of `compare_models`, each as soon as its model is fitted; the last ends with Ctrl-C.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, shape=(20, 20, 6)).X
    >>> lines = compared({"one": tp.CP(1, n_starts=2), "two": tp.CP(2, n_starts=2)}, X)
    >>> next(lines)["starts"]
    2
    """
    for number, (label, model) in enumerate(models.items(), start=1):
        began = time.perf_counter()
        with warnings.catch_warnings(), one_of_several(f"model {number} of {len(models)} ({label})"):
            warnings.simplefilter("ignore", ConvergenceWarning)  # the table says it
            model.fit(data, **fit)
        if was_interrupted(model):
            return  # half a fit beside whole ones would be no comparison
        starts = model.starts_
        yield {
            "model": label,
            "explained_variance": model.explained_variance_,
            "converged": model.converged_,
            "iterations": model.n_iter_,
            "same_objective": count_same_objective(model.result_.starts),
            "starts": len(starts),
            "agreement": float(starts["fms_to_chosen"].median()),
            "degenerate": int(starts["degenerate"].sum()),
            "notes": len(model.notes_),
            "seconds": time.perf_counter() - began,
        }


def was_interrupted(model: Decomposition) -> bool:
    """Tell whether Ctrl-C ended the fit of a model before its time.

    The chosen start may have converged before: what counts is whether all of them came to their end.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> was_interrupted(tp.CP(1, n_starts=2).fit(tp.synthetic.easy(seed=0, shape=(20, 20, 6)).X))
    False
    """
    status = model.result_.starts["status"]
    several = len(model.init) if isinstance(model.init, list) else 1
    asked = model.n_starts if isinstance(model.init, str) else several
    return len(status) < asked or Status.INTERRUPTED.name.lower() in status
