"""Data larger than memory: in blocks of rows, on a disk or on other machines."""

from tparafac2.large.blocks import Reads
from tparafac2.large.intake import take_stored
from tparafac2.large.sources import ALL, Source
from tparafac2.large.stored import Stored, read_memory, stored_if_large

__all__ = ["Stored"]
