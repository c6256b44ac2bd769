"""The paper's experiments: three kinds of data, four models, figures, and a verdict on every claim.

:func:`paper` does all of it, from a :class:`Plan`, into one folder.
"""

from tparafac2.experiments.plan import QUICK, Plan
from tparafac2.experiments.reproduction import Outcome, paper
from tparafac2.experiments.running import TasksDone

__all__ = ["QUICK", "Outcome", "Plan", "TasksDone", "paper"]
