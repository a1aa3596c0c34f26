"""Ways to minimize the score: one file a solver, each returning a `Solution`."""

from golem.solvers.adam import Adam
from golem.solvers.lbfgs import LBFGS
from golem.solvers.solution import Callback, Progress, Solution, Status, TracePoint

__all__ = ["LBFGS", "Adam", "Callback", "Progress", "Solution", "Status", "TracePoint"]
