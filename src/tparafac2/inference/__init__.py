"""How sure the parts of a fit are, by data drawn anew, and what they have to do with groups of rows."""

from tparafac2.inference.asked import Request
from tparafac2.inference.associations import associations
from tparafac2.inference.procedure import intervals_of

__all__ = ["Request", "associations", "intervals_of"]
