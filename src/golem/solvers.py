"""Ways to minimize the score, each returning a `Solution`; a short path to `golem.gradient` and `golem.search`."""

from golem.gradient.adam import Adam
from golem.gradient.augmented_lagrangian import AugmentedLagrangian
from golem.gradient.lbfgs import LBFGS
from golem.score.solution import Callback, Progress, Solution, Status, TracePoint
from golem.search.solver import Order

__all__ = ["LBFGS", "Adam", "AugmentedLagrangian", "Callback", "Order", "Progress", "Solution", "Status", "TracePoint"]
