"""Several models on the same data, side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tparafac2.models.conventions import ConvergenceWarning

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.models.estimators import Decomposition

_SAME = 1e-6


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
        the median factor match score of the starts with the chosen one: near 1 it can be trusted.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, shape=(20, 20, 6)).X
    >>> models = {f"rank {r}": tp.CP(r, n_starts=2, random_state=0) for r in (1, 2)}
    >>> compare_models(models, X)["model"].to_list()
    ['rank 1', 'rank 2']
    """
    import pandas as pd

    lines = []
    for label, model in models.items():
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the table says it
            model.fit(data, **fit)
        starts = model.starts_
        lines.append(
            {
                "model": label,
                "explained_variance": model.explained_variance_,
                "converged": model.converged_,
                "iterations": model.n_iter_,
                "same_objective": int((starts["objective"] <= model.objective_ * (1 + _SAME)).sum()),
                "starts": len(starts),
                "agreement": float(starts["fms_to_chosen"].median()),
                "degenerate": int(starts["degenerate"].sum()),
                "notes": len(model.notes_),
                "seconds": time.perf_counter() - began,
            }
        )
    return pd.DataFrame(lines)
