"""Ways to minimize the score: one file per solver, each returning a `Solution`."""

from golem.solvers.adam import Adam
from golem.solvers.augmented_lagrangian import AugmentedLagrangian
from golem.solvers.lbfgs import LBFGS
from golem.solvers.order.solver import Order
from golem.solvers.solution import Callback, Progress, Solution, Status, TracePoint

__all__ = ["LBFGS", "Adam", "AugmentedLagrangian", "Callback", "Order", "Progress", "Solution", "Status", "TracePoint"]
