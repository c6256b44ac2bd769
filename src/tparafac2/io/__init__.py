"""Files in, preparations, and results out."""

from tparafac2.io.preparation import Preparation, Prepared, undo
from tparafac2.io.reading import read
from tparafac2.io.results import check_folder, require_figure_kinds, tidy_tables, write_results
from tparafac2.io.textfiles import TextLayout, text_layout

__all__ = [
    "Preparation",
    "Prepared",
    "TextLayout",
    "check_folder",
    "read",
    "require_figure_kinds",
    "text_layout",
    "tidy_tables",
    "undo",
    "write_results",
]
