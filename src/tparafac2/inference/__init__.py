"""How sure the parts of a fit are, and what they have to do with what else is known of the rows."""

from tparafac2.inference.asked import Request
from tparafac2.inference.associations import NOTE, associations
from tparafac2.inference.procedure import intervals_of

__all__ = ["NOTE", "Request", "associations", "intervals_of"]
