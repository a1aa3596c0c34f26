"""Random graphs, models and data sets; a short path to `golem.model.simulation`."""

from golem.model.simulation import *  # noqa: F403
from golem.model.simulation import __all__ as __all__
