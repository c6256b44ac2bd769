"""Settings that can be chosen: a rank, a smoothness, a rigidity, bounds and kinds of change."""

import math
from typing import Any, NamedTuple

from tparafac2.models import MODELS, Decomposition

SMOOTHNESS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
RIGIDITY = (math.inf, 100.0, 10.0, 1.0, 0.1, 0.0)
_STEPS = (math.inf, 10.0, 1.0)
LEAST_FLEXIBLE = 3e-4  # a relaxed constraint goes with the smoothness: below, nothing holds patterns

_OF_SMOOTH = ("period", "sparsity", "smooth_strengths", "bridge")


class Candidate(NamedTuple):
    """One setting of everything that can be chosen.

    Attributes
    ----------
    rank : int
    smoothness : float, optional
        None for models that are not smooth.
    rigidity : float
        Infinite where the PARAFAC2 constraint is not relaxed.
    nonnegative : str, optional
        "rows", "patterns" or "both".
    changes : str
        "smooth" or "sudden".
    model : str
        Name of the estimator class.

    Examples
    --------
    >>> Candidate(3, 1e-3, 1.0).name
    'relaxed tPARAFAC2, rank 3, smoothness 0.001, rigidity 1'
    >>> Candidate(3, None, model="CP", nonnegative="both").label
    'CP, non-negative rows and patterns'
    """

    rank: int
    smoothness: float | None = None
    rigidity: float = math.inf
    nonnegative: str | None = None
    changes: str = "smooth"
    model: str = "TParafac2"

    @property
    def label(self) -> str:
        """Name of the model, without its rank and smoothness."""
        name = {"TParafac2": "tPARAFAC2", "Parafac2": "PARAFAC2"}.get(self.model, self.model)
        relaxed = "relaxed " if self.is_relaxed else ""
        bound = {"rows": "rows", "patterns": "patterns", "both": "rows and patterns"}
        sudden = ", sudden changes" if self.changes == "sudden" else ""
        return f"{relaxed}{name}{sudden}" + (
            f", non-negative {bound[self.nonnegative]}" if self.nonnegative else ""
        )

    @property
    def name(self) -> str:
        """The label with all settings."""
        smooth = "" if self.smoothness is None else f", smoothness {self.smoothness:g}"
        rigid = f", rigidity {self.rigidity:g}" if self.is_relaxed else ""
        return f"{self.label}, rank {self.rank}{smooth}{rigid}"

    @property
    def is_relaxed(self) -> bool:
        """Whether patterns may change their sizes and angles."""
        return self.rigidity < math.inf

    @property
    def hard(self) -> "Candidate":
        """The same with the constraint."""
        return self._replace(rigidity=math.inf)

    @property
    def path(self) -> list["Candidate"]:
        """What is fitted on the way to it: random starts are unreliable where the constraint is relaxed."""
        return [self._replace(rigidity=step) for step in _STEPS if step > self.rigidity] + [self]

    def estimator(self, **options: Any) -> Decomposition:
        """The model with these settings, and further parameters of its constructor."""
        own: dict[str, Any] = {"nonnegative": self.nonnegative}
        if self.model == "TParafac2":
            own |= {"smoothness": self.smoothness, "rigidity": self.rigidity, "changes": self.changes}
        else:  # which have no norm penalties
            options = {name: one for name, one in options.items() if name not in _OF_SMOOTH}
        return MODELS[self.model](self.rank, **own, **options)
