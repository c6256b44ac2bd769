"""The paper's figures: from the generator, from a table of results and from fitted components."""

from tparafac2.experiments.figures.example import example_figure
from tparafac2.experiments.figures.generator import drifts_figure, strengths_figure
from tparafac2.experiments.figures.saving import save_figure
from tparafac2.experiments.figures.scores import (
    almost_zero_figure,
    easy_figure,
    overlapping_figure,
    score_figures,
)

__all__ = [
    "almost_zero_figure",
    "drifts_figure",
    "easy_figure",
    "example_figure",
    "overlapping_figure",
    "save_figure",
    "score_figures",
    "strengths_figure",
]
