"""Files in, preparations, and results out."""

from tparafac2.io import samples as samples
from tparafac2.io.by_rows import store_by_rows
from tparafac2.io.describing import describe
from tparafac2.io.folders import check_folder
from tparafac2.io.reading import read
from tparafac2.io.results import require_figure_kinds, tidy_tables, write_comparison, write_results
from tparafac2.io.selecting import Selection
from tparafac2.io.textfiles import TextLayout, text_layout
from tparafac2.preparing import Preparation, Prepared, undo

__all__ = [
    "Preparation",
    "Prepared",
    "Selection",
    "describe",
    "read",
    "store_by_rows",
    "tidy_tables",
    "undo",
    "write_comparison",
    "write_results",
]
