"""Random graphs, models and data sets; a short path to `golem.model.simulation` and `category_simulation`."""

from golem.model import category_simulation, simulation
from golem.model.category_simulation import *  # noqa: F403
from golem.model.simulation import *  # noqa: F403

__all__ = sorted([*simulation.__all__, *category_simulation.__all__])
