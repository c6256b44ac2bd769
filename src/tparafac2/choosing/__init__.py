"""Rank, smoothness and rigidity, chosen by the data, with a report on how far to trust them."""

from tparafac2.choosing.choice import Choice
from tparafac2.choosing.parts import Parts
from tparafac2.choosing.procedure import choose

__all__ = ["Choice", "choose"]
