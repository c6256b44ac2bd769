"""What is done to data before a fit, recorded with it, and undone for fitted values."""

from tparafac2.preparing.adjustment import Adjustment
from tparafac2.preparing.again import (
    PreparedAgain,
    as_preparation,
    prepare_again,
    prepare_sparse_again,
    prepare_stored_again,
    prepares,
    undo_beside,
)
from tparafac2.preparing.further import Further, by_entry, is_plain, prepare_further
from tparafac2.preparing.preparation import Preparation, Prepared, as_prepared, describe_record, undo
from tparafac2.preparing.steps import deviations, largest, means

__all__ = ["Preparation", "Prepared", "as_prepared", "describe_record", "undo"]
