"""The solver: one loop for every model, on an explicit state."""

from tparafac2.solver.extending import best_rows, extend
from tparafac2.solver.loop import Entry, Info, solve
from tparafac2.solver.problem import Problem, build_problem
from tparafac2.solver.run import Run, Start, Status, Trace, finish
from tparafac2.solver.settings import Settings
