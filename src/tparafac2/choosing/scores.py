"""Errors of held-out rows, for every setting and draw of the folds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tparafac2.choosing.candidates import Candidate
from tparafac2.choosing.rules import paired_z, relative_gain

FloatArray = NDArray[np.float64]


@dataclass
class Scores:
    """One table of all that was measured: the squared error of every row, by setting and draw.

    Attributes
    ----------
    errors : dict of Candidate to dict of int to ndarray (I,)
        By draw.
    squares : ndarray (I,)
        Sum of squares of every row.
    """

    errors: dict[Candidate, dict[int, FloatArray]] = field(default_factory=dict)
    squares: FloatArray = field(default_factory=lambda: np.ones(1))

    def add(self, found: Mapping[Candidate, FloatArray], draw: int) -> None:
        """Take in what was measured in one draw."""
        for setting, errors in found.items():
            self.errors.setdefault(setting, {})[draw] = errors

    def draws(self, *settings: Candidate) -> list[int]:
        """Draws in which all these settings were tried."""
        return sorted(set.intersection(*(set(self.errors[one]) for one in settings)))

    def error(self, setting: Candidate, draws: list[int] | None = None) -> float:
        """Mean error relative to the squares of the data."""
        return float(self.by_row(setting, draws).sum() / self.squares.sum())

    def by_row(self, setting: Candidate, draws: list[int] | None = None) -> FloatArray:
        """Mean over draws of the error of every row."""
        some = self.draws(setting) if draws is None else draws
        return np.asarray(np.mean([self.errors[setting][draw] for draw in some], axis=0))

    def gains(self, worse: Candidate, better: Candidate) -> FloatArray:
        """By how much every row is predicted better, in the draws that both have."""
        draws = self.draws(worse, better)
        return self.by_row(worse, draws) - self.by_row(better, draws)

    def gain(self, worse: Candidate, better: Candidate) -> float:
        """The relative gain in the draws that both have."""
        draws = self.draws(worse, better)
        return relative_gain(self.error(worse, draws), self.error(better, draws))

    def z(self, worse: Candidate, better: Candidate) -> float:
        """Paired z of the gain, over rows."""
        return paired_z(self.gains(worse, better))
