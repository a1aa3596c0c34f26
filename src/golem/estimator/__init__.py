"""`Golem`, the scikit-learn estimator: settings in, solver and directions called, fitted attributes out."""

from golem.estimator.golem import Golem

__all__ = ["Golem"]
