"""A model as the sum of its terms."""

from collections.abc import Sequence
from typing import NamedTuple

from tparafac2.penalties import NonNegative, Penalty


class Model(NamedTuple):
    """What is to be fitted: terms on loadings, patterns and strengths, in the user's units."""

    penalties: tuple[Sequence[Penalty], Sequence[Penalty], Sequence[Penalty]]
    fixed_strengths: bool = False

    @property
    def is_unique(self) -> bool:
        """Whether components are determined, and not only their span."""
        return not self.fixed_strengths or has_term(self.penalties[0], NonNegative)


def has_term(terms: Sequence[Penalty], kind: type) -> bool:
    """Tell whether a term of a kind is among these."""
    return any(isinstance(term, kind) for term in terms)
