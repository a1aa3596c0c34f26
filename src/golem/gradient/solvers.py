"""The gradient solvers that have a name; a new one is one more line here, or an entry made by another package."""

from golem.gradient.adam import Adam
from golem.gradient.gradient_solver import GradientSolver
from golem.gradient.lbfgs import LBFGS

SOLVERS: dict[str, GradientSolver] = {"adam": Adam(), "lbfgs": LBFGS()}
