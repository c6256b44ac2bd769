"""Rank, smoothness and rigidity, chosen by the data, with a report on how far to trust them."""

from tparafac2.choosing.choice import Choice
from tparafac2.choosing.comparing import compare_models, compared, was_interrupted
from tparafac2.choosing.search import check_search, choose

__all__ = ["Choice", "choose", "compare_models"]
