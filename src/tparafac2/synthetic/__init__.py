"""Data with a known truth: concepts whose words drift and whose strength changes in time.

A *concept* is a group of rows (authors), a set of columns (words) that changes in time, and a strength.
:func:`easy`, :func:`almost_zero` and :func:`overlapping` make the three published cases from a seed;
:func:`generate` makes anything else from a list of :class:`Concept`.
"""

from tparafac2.synthetic.cases import almost_zero, easy, overlapping
from tparafac2.synthetic.dataset import SyntheticData, generate
from tparafac2.synthetic.drifts import Drift, Gradual, Incremental, Reoccurring, Sudden
from tparafac2.synthetic.factors import PlacedConcept
from tparafac2.synthetic.recipe import Concept, Recipe
from tparafac2.synthetic.strengths import Constant, Decreasing, Increasing, Periodic, Strength, Weakened

__all__ = [
    "Concept",
    "Constant",
    "Decreasing",
    "Drift",
    "Gradual",
    "Increasing",
    "Incremental",
    "Periodic",
    "PlacedConcept",
    "Recipe",
    "Reoccurring",
    "Strength",
    "Sudden",
    "SyntheticData",
    "Weakened",
    "almost_zero",
    "easy",
    "generate",
    "overlapping",
]
