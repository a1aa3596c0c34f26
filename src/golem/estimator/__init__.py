"""`Golem`, the scikit-learn estimator: settings in, solver and directions called, fitted attributes out."""

from golem.estimator.golem import Golem
from golem.estimator.stacked_fits import fit_stacked

__all__ = ["Golem", "fit_stacked"]
