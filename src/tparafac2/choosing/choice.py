"""What the data chose, why, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tparafac2.models import Decomposition
from tparafac2.result import Result, choice_html, choice_sentences, choice_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What `choose` gives back; all of it is kept with the model, and can be made of a model from a file.

    Parameters
    ----------
    model : estimator
        Fitted with what was chosen.

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
    def rank(self) -> int:
        """The chosen rank."""
        return int(self.record["chosen"]["rank"])

    @property
    def sure(self) -> bool:
        """Whether nothing speaks against the chosen rank."""
        return bool(self.record["sure"])

    @property
    def table(self) -> pd.DataFrame:
        """One line for each rank at its best setting.

        `error` is the squared error of held-out rows relative to their squares; `gain` the part by which it
        is lower than one rank before, `null` what that gain has to exceed, `z` its mean over rows in standard
        errors, and `rows` on how many rows it rests; `agreement` is the share of the starts that found the
        same components.
        """
        return self._frame("ranks")

    @property
    def settings(self) -> pd.DataFrame:
        """One line for each setting that was tried."""
        return self._frame("tried")

    @property
    def components(self) -> pd.DataFrame:
        """One line for each component of every rank: its similarity between folds, and between halves.

        Columns that end in `_alone` are after the part that it shares with other components is taken out.
        """
        return self._frame("components")

    @property
    def compared(self) -> pd.DataFrame:
        """One line for each kind of model at the chosen rank, where that was asked for."""
        return self._frame("compared")

    def summary(self) -> str:
        """The table of ranks and a few sentences: what was chosen, why, and how sure that is."""
        return "\n".join([choice_table(self.record), "", *choice_sentences(self.record)])

    def _repr_html_(self) -> str:
        return choice_html(self.record)

    def __repr__(self) -> str:
        return f"Choice({self.model!r})"

    def _frame(self, name: str) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.record[name])
