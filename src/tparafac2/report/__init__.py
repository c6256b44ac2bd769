"""A fit as one page to open, offline, and to explore."""

from tparafac2.report.page import write_page

__all__ = ["write_page"]
