"""Find patterns that change in time.

>>> import tparafac2 as tp
>>> data = tp.synthetic.easy(seed=0, n_times=8, n_rows=30, n_columns=24)
>>> model = tp.TParafac2(rank=3, n_starts=3, random_state=0).fit(data.X)
>>> model.A_.shape, model.B_.shape, model.C_.shape
((30, 3), (8, 24, 3), (8, 3))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tparafac2 import data, io, metrics, penalties, plots, report, synthetic
    from tparafac2.choosing import Choice, choose, compare_models
    from tparafac2.data import Table
    from tparafac2.large import Stored
    from tparafac2.models import (
        CP,
        ConvergenceWarning,
        NotFittedError,
        Parafac2,
        TemporalCMF,
        TParafac2,
        load,
    )
    from tparafac2.preparing import Preparation

__version__ = "0.2.0.dev0"

_MODULES = ("data", "io", "metrics", "penalties", "plots", "report", "synthetic")
_MODELS = ("CP", "ConvergenceWarning", "NotFittedError", "Parafac2", "TParafac2", "TemporalCMF", "load")

__all__ = [
    "CP",
    "Choice",
    "ConvergenceWarning",
    "NotFittedError",
    "Parafac2",
    "Preparation",
    "Stored",
    "TParafac2",
    "Table",
    "TemporalCMF",
    "__version__",
    "choose",
    "compare_models",
    "data",
    "io",
    "load",
    "metrics",
    "penalties",
    "plots",
    "report",
    "synthetic",
]


def __getattr__(name: str) -> Any:
    # Heavy parts load when they are used, so that `import tparafac2` costs next to nothing.
    if name in _MODULES:
        return import_module(f"tparafac2.{name}")
    if name == "Table":
        return import_module("tparafac2.data").Table
    if name == "Stored":
        return import_module("tparafac2.large").Stored
    if name == "Preparation":
        return import_module("tparafac2.preparing").Preparation
    if name in ("Choice", "choose", "compare_models"):
        return getattr(import_module("tparafac2.choosing"), name)
    if name in _MODELS:
        return getattr(import_module("tparafac2.models"), name)
    raise AttributeError(f"module 'tparafac2' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
