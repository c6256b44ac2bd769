"""A fit as one page to open, offline, and to explore; several models side by side."""

from tparafac2.report.comparison import explore_comparison, write_comparison
from tparafac2.report.entries import is_affordable
from tparafac2.report.notebook import PageView, explore
from tparafac2.report.page import write_page

__all__ = ["PageView", "explore", "explore_comparison", "write_comparison", "write_page"]
