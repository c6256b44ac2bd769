"""Questions that can be put to data: each is a model with all its settings."""

import math
from typing import Any, NamedTuple

from tparafac2.models import MODELS, Decomposition

SMOOTHNESS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
RIGIDITY = (math.inf, 100.0, 10.0, 1.0, 0.1, 0.0)
LEAST_FLEXIBLE = 3e-4  # a constraint that gives way goes with the smoothness: below, nothing holds patterns

_OF_SMOOTH = ("period", "sparsity", "smooth_strengths")
"""Options of models with smoothness, and so with norm penalties."""


class Candidate(NamedTuple):
    """One question.

    Attributes
    ----------
    rank : int
    smoothness : float, optional
        None for models that are not smooth.
    rigidity : float
        Infinite where the PARAFAC2 constraint does not give way.
    nonnegative : str, optional
        "rows", "patterns" or "both".
    model : str
        Name of the estimator class.
    changes : str
        "smooth" or "sudden".

    Examples
    --------
    >>> Candidate(3, 1e-3, 1.0).label
    'flexible tPARAFAC2'
    >>> Candidate(3, None, model="CP", nonnegative="both").label
    'CP, non-negative rows and patterns'
    """

    rank: int
    smoothness: float | None = None
    rigidity: float = math.inf
    nonnegative: str | None = None
    model: str = "TParafac2"
    changes: str = "smooth"

    @property
    def label(self) -> str:
        """What the model is called, without its rank and smoothness."""
        name = {"TParafac2": "tPARAFAC2", "Parafac2": "PARAFAC2"}.get(self.model, self.model)
        flexible = "flexible " if self.is_flexible else ""
        bound = {"rows": "rows", "patterns": "patterns", "both": "rows and patterns"}
        sudden = ", sudden changes" if self.changes == "sudden" else ""
        return f"{flexible}{name}{sudden}" + (
            f", non-negative {bound[self.nonnegative]}" if self.nonnegative else ""
        )

    @property
    def name(self) -> str:
        """The label with everything that was chosen."""
        smooth = "" if self.smoothness is None else f", smoothness {self.smoothness:g}"
        rigid = f", rigidity {self.rigidity:g}" if self.is_flexible else ""
        return f"{self.label}, rank {self.rank}{smooth}{rigid}"

    @property
    def is_flexible(self) -> bool:
        """Whether patterns may change their sizes and angles."""
        return self.rigidity < math.inf

    def estimator(self, **options: Any) -> Decomposition:
        """The model that asks this question, with further parameters of its constructor."""
        own: dict[str, Any] = {"nonnegative": self.nonnegative}
        if self.model == "TParafac2":
            own |= {"smoothness": self.smoothness, "rigidity": self.rigidity, "changes": self.changes}
        else:  # which has no norm penalties
            options = {name: one for name, one in options.items() if name not in _OF_SMOOTH}
        return MODELS[self.model](self.rank, **own, **options)
