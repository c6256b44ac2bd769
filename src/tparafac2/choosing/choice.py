"""What the data chose, why, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.evidence import Evidence
from tparafac2.choosing.rules import TIE_BAND, RankChoice
from tparafac2.models import Decomposition
from tparafac2.reasons import sentences, to_html
from tparafac2.result import Result
from tparafac2.words import PYTHON, Words

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What `choose` gives back; all of it is kept with the model, and can be made of a model from a file.

    Parameters
    ----------
    model : estimator
        Fitted with what was chosen.
    models : mapping of str to estimator
        Other models that were fitted to all data, where they were to be kept.

    Attributes
    ----------
    record : mapping
        All of it in plain values, as it is kept with the model.

    Examples
    --------
    >>> import tparafac2 as tp
    >>> Choice(tp.TParafac2(2))
    Traceback (most recent call last):
    tparafac2.models.conventions.NotFittedError: This TParafac2 is not fitted yet: call fit(X) before result_.
    """

    model: Decomposition
    models: Mapping[str, Decomposition] = field(default_factory=dict)
    record: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, Decomposition):
            raise TypeError(
                f"Choice takes a model that was fitted by choose; got {type(self.model).__name__}. For a "
                "file: Choice(load(path))."
            )
        if self.model.result_.choice is None:
            raise ValueError(
                "this model's settings were given, not chosen: there is nothing to say of why. Use choose(X)."
            )

        object.__setattr__(self, "record", self.model.result_.choice)  # a model may be fitted again

    @property
    def result_(self) -> Result:
        """The result of the chosen model: pictures and pages of a choice are those of its model."""
        return self.model.result_

    @property
    def table(self) -> pd.DataFrame:
        """One line for each setting that was tried.

        `hidden_error` is the squared error at hidden entries relative to their own squares, and
        `choosing_error` at the half of them that decides between settings of a rank;
        `z_behind_chosen` how clearly it is behind the chosen setting at these entries; `tied`
        whether it predicts as well as the best of its rank; `replicability` the likeness of its least
        replicable component between halves of the rows; `agreement` the share of the other
        starts that found the components of the best (match of .99 or better).
        """
        return self._frame("tried")

    @property
    def components(self) -> pd.DataFrame:
        """One line for each component of every setting whose components were looked for in halves."""
        return self._frame("components")

    @property
    def ranks(self) -> pd.DataFrame:
        """One line for each rank at its best setting: `z` says how clearly the last component helped."""
        return self._frame("ranks")

    @property
    def compared(self) -> pd.DataFrame:
        """One line for each kind of model at the chosen rank, at its best setting."""
        return self._frame("compared")

    def summary(self, words: Words = PYTHON) -> str:
        """Say in a few sentences what was chosen, why, and how sure that is."""
        return "\n".join(sentences(self.record, words))

    def _repr_html_(self) -> str:
        return to_html(self.record)

    def __repr__(self) -> str:
        return f"Choice({self.model!r})"

    def _frame(self, name: str) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.record[name])


def as_record(
    evidence: Evidence, rank: RankChoice, chosen: Candidate, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that was measured, in plain values."""
    settled = evidence.settled[chosen.rank]
    return {
        "chosen": _settings(evidence, chosen),
        "hard": None if settled.hard is None else _settings(evidence, settled.hard),
        "rank": {**rank._asdict(), "doubts": list(rank.doubts)},
        "z": settled.z,
        "gain": settled.gain,
        "tie_band": TIE_BAND,
        "tied": len(settled.band),
        "paid": evidence.paid.get(chosen.rank, 0.0),
        "ranks": _by_rank(evidence),
        "compared": _compared(evidence, chosen),
        "tried": evidence.table(chosen),
        "components": evidence.components(),
        **facts,
    }


def _settings(evidence: Evidence, one: Candidate) -> dict[str, Any]:
    return {**one._asdict(), "label": one.label, "name": one.name, "hidden_error": evidence.error(one)}


def _by_rank(evidence: Evidence) -> dict[str, list[Any]]:
    found = evidence.by_rank()
    settings = [evidence.settled[one.rank].chosen for one in found]
    hard = [evidence.settled[one.rank].hard for one in found]
    return {
        "rank": [one.rank for one in found],
        "hidden_error": [one.error for one in found],
        "z": [None if math.isinf(one.z) else one.z for one in found],
        "agreement": [one.agreement for one in found],
        "all_there": [None if one.verdicts is None else one.all_there for one in found],
        "all_replicable": [None if one.verdicts is None else one.all_replicable for one in found],
        "model": [one.label for one in settings],
        "smoothness": [one.smoothness for one in settings],
        "rigidity": [one.rigidity for one in settings],
        "hard_smoothness": [None if one is None else one.smoothness for one in hard],
    }


def _compared(evidence: Evidence, chosen: Candidate) -> dict[str, list[Any]]:
    """The best of every kind of model at the chosen rank, beside the chosen one."""
    best: dict[str, Candidate] = {chosen.label: chosen}
    for one in evidence.whole:  # only what was settled on is fitted to all data
        if one.rank == chosen.rank and one.label != chosen.label:
            best[one.label] = min(best.get(one.label, one), one, key=evidence.error)
    table = evidence.table(chosen)
    places = [list(evidence.errors).index(one) for one in best.values()]
    order = sorted(places, key=lambda place: float(table["hidden_error"][place]))
    left_out = ("tied", "best_of_rank", "rank")
    return {name: [column[i] for i in order] for name, column in table.items() if name not in left_out}
