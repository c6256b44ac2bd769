"""From a saved file back to a fitted model."""

import os

from tparafac2.models.estimators import MODELS, Decomposition
from tparafac2.result import load_result


def load(path: str | os.PathLike[str]) -> Decomposition:
    """Read a fitted model.

    Parameters
    ----------
    path : path
        A file written by `save`.

    Returns
    -------
    estimator
        Of the class that was saved, fitted, with its parameters.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, shape=(20, 20, 6))
    >>> model = tp.CP(rank=2, n_starts=2, random_state=0).fit(data.X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "model.nc")
    ...     again = tp.load(pathlib.Path(folder) / "model.nc")
    >>> again, bool((again.B_ == model.B_).all())
    (CP(rank=2, n_starts=2, random_state=0), True)
    """
    result = load_result(path)
    if result.model not in MODELS:
        raise ValueError(
            f"{os.fspath(path)} holds a {result.model!r}, which this version does not know: upgrade."
        )
    kind = MODELS[result.model]
    known = kind._parameter_names()
    model = kind(**{name: value for name, value in result.parameters.items() if name in known})
    model._take(result)
    return model
