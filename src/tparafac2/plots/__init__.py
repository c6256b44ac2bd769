"""Pictures. Nothing here needs a display; matplotlib is loaded when a picture is made.

Every function takes a fitted model (or its result) and, where it is to draw into axes of the user's, ``ax``;
it gives back the Axes, whose ``figure`` can be saved. In a notebook pictures show themselves, and where
pyplot is in use ``plt.show()`` shows them; elsewhere pyplot is not touched.
"""

from tparafac2.plots.bars import loadings, movers
from tparafac2.plots.choice_page import choice
from tparafac2.plots.course_lines import courses
from tparafac2.plots.figures import save
from tparafac2.plots.group_lines import group_courses
from tparafac2.plots.overview_page import overview
from tparafac2.plots.pattern_dots import snapshots
from tparafac2.plots.pattern_maps import pattern, pattern_heatmap
from tparafac2.plots.row_scatter import scatter
from tparafac2.plots.slice_residuals import residuals
from tparafac2.plots.strength_lines import strengths
from tparafac2.plots.trust import agreement, convergence

__all__ = [
    "agreement",
    "choice",
    "convergence",
    "courses",
    "group_courses",
    "loadings",
    "movers",
    "overview",
    "pattern",
    "pattern_heatmap",
    "residuals",
    "save",
    "scatter",
    "snapshots",
    "strengths",
]
