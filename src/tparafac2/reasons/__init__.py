"""Why these settings: what a result remembers of a choice, as points, in sentences and as a table."""

from tparafac2.reasons.points import ComponentPoint, ModelPoint, Panels, RankPoint, Setting, above, panels
from tparafac2.reasons.wording import rank_table, sentences, to_html

__all__ = [
    "ComponentPoint",
    "ModelPoint",
    "Panels",
    "RankPoint",
    "Setting",
    "above",
    "panels",
    "rank_table",
    "sentences",
    "to_html",
]
