"""`Golem`, the scikit-learn estimator: checks the settings, calls the solvers, sets the fitted attributes."""

from golem.estimator.golem import Golem
from golem.estimator.stacked_fits import fit_stacked

__all__ = ["Golem", "fit_stacked"]
