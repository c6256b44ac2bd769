"""What is varied: the cases with their levels, and the methods with their penalties."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tparafac2 import synthetic
from tparafac2.synthetic.recipe import Size

if TYPE_CHECKING:
    from tparafac2.models import Decomposition

NOISE = 0.5
RIDGE = 0.1
"""The paper's lambda_A and lambda_D."""

LAMBDAS = (1.0, 10.0, 100.0, 1000.0)
"""The values of lambda_B."""

HEADLINE = 1000.0
"""The lambda_B that the verdicts stand on, fixed before any result was seen."""

RANK = 3

LEVELS: dict[str, tuple[float, ...]] = {
    "easy": (0.25, 0.5, 0.75, 1.0),
    "almost_zero": (1, 2),
    "overlapping": (0.1, 0.2, 0.4),
}
"""The cases, and what is varied in each: noise, number of weak concepts, share of common words."""


class Setting(NamedTuple):
    """One group of data sets: a case at one level.

    Examples
    --------
    >>> Setting("overlapping", 0.2).label
    'overlap 20 %'
    >>> Setting("overlapping", 0.2).make(0, synthetic.recipe.Size(8, 30, 24)).X.shape
    (8, 30, 24)
    """

    case: str
    level: float

    @property
    def label(self) -> str:
        """The level in words."""
        if self.case == "easy":
            return f"noise {self.level:g}"
        if self.case == "almost_zero":
            return f"{self.level:g} weak concept{'s' if self.level > 1 else ''}"
        return f"overlap {self.level:.0%}".replace("%", " %")

    @property
    def name(self) -> str:
        """The level as part of a path."""
        return f"{self.case}-{self.level:g}"

    def make(self, seed: int, size: Size) -> synthetic.SyntheticData:
        """Make the data set of a seed."""
        if self.case == "easy":
            return synthetic.easy(seed, noise=self.level, **size._asdict())
        if self.case == "almost_zero":
            return synthetic.almost_zero(seed, n_weak=int(self.level), noise=NOISE, **size._asdict())
        return synthetic.overlapping(seed, overlap=self.level, noise=NOISE, **size._asdict())


@dataclass(frozen=True)
class Method:
    """One model with its penalties.

    Examples
    --------
    >>> Method("tPARAFAC2", 1000.0).label
    'tPARAFAC2 1000'
    >>> Method("NNtCMF", 10.0).estimator()
    TemporalCMF(rank=3, lambda_a=0.1, lambda_b=10.0, nonnegative_rows=True)
    """

    model: str
    lambda_b: float | None = None

    @property
    def label(self) -> str:
        """The name people read: the model, and lambda_B where it has one."""
        return self.model if self.lambda_b is None else f"{self.model} {self.lambda_b:g}"

    @property
    def name(self) -> str:
        """The method as part of a path."""
        return self.label.replace(" ", "-")

    @property
    def modes(self) -> str:
        """The factors to score: models with fixed strengths have none to compare."""
        return "AB" if self.model in ("tCMF", "NNtCMF") else "ABC"

    def estimator(self) -> "Decomposition":
        """The model, not fitted."""
        from tparafac2.models import Parafac2, TemporalCMF, TParafac2

        if self.model == "PARAFAC2":
            return Parafac2(rank=RANK)
        if self.model == "tPARAFAC2":
            return TParafac2(rank=RANK, lambda_a=RIDGE, lambda_b=self.lambda_b, lambda_d=RIDGE)
        return TemporalCMF(
            rank=RANK, lambda_a=RIDGE, lambda_b=self.lambda_b, nonnegative_rows=self.model == "NNtCMF"
        )


METHODS = (
    Method("PARAFAC2"),
    *(Method(model, lambda_b) for model in ("tPARAFAC2", "tCMF", "NNtCMF") for lambda_b in LAMBDAS),
)
"""The paper's methods: one without penalties, three with four values of lambda_B."""
