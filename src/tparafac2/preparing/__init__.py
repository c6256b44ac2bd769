"""What is done to data before a fit, recorded with it, and undone for fitted values."""

from tparafac2.preparing.preparation import Preparation, Prepared, describe_record, undo

__all__ = ["Preparation", "Prepared", "describe_record", "undo"]
