"""From a saved file back to a fitted model."""

import os

from tparafac2.models.estimators import MODELS, Decomposition
from tparafac2.result import load_result
from tparafac2.result.parameters import GIVEN_FACTORS


def load(path: str | os.PathLike[str]) -> Decomposition:
    """Read a fitted model.

    Parameters
    ----------
    path : path
        A file written by `save`.

    Returns
    -------
    estimator
        Of the class that was saved, fitted, with its parameters. Where `init` was given as factors, it is now
        the fitted ones: another fit goes on from there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tparafac2 as tp
    >>> data = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20)
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
    parameters = {name: value for name, value in result.parameters.items() if name in known}
    if parameters.get("init") == GIVEN_FACTORS:  # the file has the end of that way, not its beginning
        parameters["init"] = (result.A, result.B, result.C)
    model = kind(**parameters)
    model._take(result)
    return model
