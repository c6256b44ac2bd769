"""How sure the parts of a fit are: refits to data drawn anew from those of the fit."""

from tparafac2.inference.asked import Request
from tparafac2.inference.procedure import intervals_of

__all__ = ["Request", "intervals_of"]
