"""Random graphs, models and data sets; a short path to `golem.model`."""

from golem.model import category_simulation, series_simulation, simulation
from golem.model.category_simulation import *  # noqa: F403
from golem.model.series_simulation import *  # noqa: F403
from golem.model.simulation import *  # noqa: F403

__all__ = sorted([*simulation.__all__, *category_simulation.__all__, *series_simulation.__all__])
