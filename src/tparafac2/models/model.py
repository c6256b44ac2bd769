"""A model as the sum of its terms."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from tparafac2.data import Intake
from tparafac2.penalties import Penalty, on_clock


class Model(NamedTuple):
    """What is to be fitted: terms on loadings, patterns and strengths, in the user's units."""

    penalties: tuple[Sequence[Penalty], Sequence[Penalty], Sequence[Penalty]]
    fixed_strengths: bool = False

    def on_clock(self, intake: Intake, period: float | None) -> Self:
        """The model for slices that were taken when these were."""
        if intake.times is None and period is None:
            return self
        a, b, c = self.penalties
        times = intake.clock[list(intake.order)]
        return self._replace(penalties=(a, on_clock(b, times, period), on_clock(c, times, period)))
