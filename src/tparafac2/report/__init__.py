"""A fit as one page to open, offline, and to explore."""

from tparafac2.report.entries import is_affordable
from tparafac2.report.notebook import PageView, explore
from tparafac2.report.page import write_page

__all__ = ["PageView", "explore", "write_page"]
