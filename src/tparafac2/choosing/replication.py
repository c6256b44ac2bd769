"""What hidden entries and halves of the rows, the same for all, say of models that are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.halves import Split, split_likeness, usable_splits
from tparafac2.choosing.hidden import hidden_error
from tparafac2.choosing.hiding import Hidden
from tparafac2.choosing.likeness import Likeness, likeness
from tparafac2.choosing.parts import Parts
from tparafac2.choosing.rules import REPLICABLE, verdicts
from tparafac2.choosing.search import beyond_halves
from tparafac2.choosing.workers import Workers
from tparafac2.errors import InvalidValue
from tparafac2.models import Decomposition
from tparafac2.result import Trust, courses

_SPLITS = 5
_SEED = 0  # the same for all who compare: tables of one data set can be set side by side


class Replication:
    """Hidden entries and halves of the rows of some data.

    Parameters
    ----------
    models : sequence of estimators
        Those that will be measured.
    data
        Whatever `fit` takes, but for slices of different widths.
    **fit
        Further arguments of `fit`.

    Raises
    ------
    ValueError, TypeError
        If no entries can be hidden in these data, or halves are too small for one of the models.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> X = tp.synthetic.easy(seed=0, n_times=6, n_rows=20, n_columns=20, n_concepts=2).X
    >>> model = tp.CP(1, n_starts=2, random_state=0)
    >>> found = Replication([model], X).measure({"CP": model.fit(X)})
    >>> list(found["CP"])
    ['notes', 'hidden_error', 'replicability', 'chance', 'components_there', 'components_replicable']
    """

    def __init__(self, models: Sequence[Decomposition], data: Any, **fit: Any) -> None:
        self.parts = {}
        for asked in {_reading(model) for model in models}:
            dtype, bridge = asked
            self.parts[asked] = Parts.of(data, dtype=dtype, bridge=bridge, **fit)
        first = self.parts[_reading(models[0])]
        if told := beyond_halves(first.shape, max(model.rank for model in models)):
            raise InvalidValue(f"{told}: ask for fewer, or give more rows.")
        draws, halves = (np.random.default_rng(one) for one in np.random.SeedSequence(_SEED).spawn(2))
        self.hidden = first.draw(draws)
        self.splits = usable_splits(halves, first, _SPLITS, None)

    def measure(
        self,
        models: Mapping[str, Decomposition],
        n_jobs: int = 1,
        progress: bool | None = None,
        client: Any = None,
    ) -> dict[str, dict[str, Any]]:
        """Measure fitted models; after Ctrl-C those that were finished.

        What halves of the rows say of each component is then with the model (`Result.trust`).

        Parameters
        ----------
        models : mapping of label to fitted model
        n_jobs : int
            Fits that run side by side, each in a process of its own.
        progress : bool, optional
            Show a line of progress; by default only on a terminal.
        client : distributed.Client, optional
            Of a Dask cluster, whose workers do the fits.
        """
        alone = {label: _alone(model) for label, model in models.items()}
        with Workers(n_jobs, progress, client) as workers:
            workers.expect(len(models) * (1 + len(self.splits)))
            parts = {label: self.parts[_reading(model)] for label, model in models.items()}
            errors = workers.do(_hide, [(parts[label], self.hidden, model) for label, model in alone.items()])
            pieces = [
                (parts[label], split, alone[label], courses(model.result_))
                for label, model in models.items()
                for split in self.splits
            ]
            crossed = workers.do(_halve, pieces)
        found = {}
        for place, (label, error) in enumerate(zip(models, errors)):
            mine = slice(place * len(self.splits), (place + 1) * len(self.splits))
            own = [one for one in crossed[mine] if one is not None]
            if error is not None and len(own) == len(self.splits):
                alike = likeness(own)
                _note(models[label], alike)
                found[label] = {
                    "notes": len(models[label].notes_),
                    "hidden_error": error,
                    **_columns(alike),
                }
        return found


def _reading(model: Decomposition) -> tuple[str, bool]:
    """How a model takes data in: precision, and bridges between columns."""
    return model.dtype, bool(model.bridge)


def _note(model: Decomposition, found: Likeness) -> None:
    """Keep with a model how far its components are replicable, as a choice does."""
    told: dict[str, Any] = {"replicability": found.own, "chance": found.chance, "verdict": verdicts(found)}
    model._take(replace(model.result_, trust=Trust(**told, threshold=REPLICABLE, n_splits=_SPLITS)))


def _columns(found: Likeness) -> dict[str, Any]:
    """What is said of a whole model: its least replicable component, and how many there are of each kind."""
    least, kinds = int(np.argmin(found.own)), verdicts(found)
    return {
        "replicability": float(found.own[least]),
        "chance": float(found.chance[least]),
        "components_there": sum(kind != "not there" for kind in kinds),
        "components_replicable": kinds.count("replicable"),
    }


def _alone(model: Decomposition) -> Decomposition:
    """The same settings without a result, for another process."""
    return type(model)(**model.get_params())


def _hide(parts: Parts, sets: Sequence[Hidden], model: Decomposition) -> float:
    return hidden_error(parts, sets, model, _SEED)


def _halve(
    parts: Parts, split: Split, model: Decomposition, whole: NDArray[np.float64]
) -> NDArray[np.float64]:
    return split_likeness(parts, split, [model], whole, _SEED)
