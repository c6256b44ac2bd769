"""The paper's experiments: three kinds of data, four models, figures, and a verdict on every claim.

Claims about tPARAFAC2 are judged at the paper's penalties, and again with those that the data choose.

:func:`paper` does all of it, from a :class:`Plan`, into one folder.
"""

from tparafac2.experiments.plan import QUICK, Plan
from tparafac2.experiments.reproduction import Outcome, paper
from tparafac2.experiments.running import TasksDone

__all__ = ["QUICK", "Outcome", "Plan", "TasksDone", "paper"]
