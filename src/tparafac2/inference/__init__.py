"""How sure the parts of a fit are, and what they have to do with what else is known of the rows."""

from tparafac2.inference.associations import NOTE, associations

__all__ = ["associations"]
